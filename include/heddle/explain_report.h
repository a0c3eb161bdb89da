// What a compiled program does, step by step, and what each step costs.
#pragma once

#include <string>

#include "heddle/execute.h"
#include "heddle/style.h"

namespace heddle {

struct ExplainReport {
  Execution execution = {};

  // "12 kernels in 8 launches, 4 library calls, 1 op by reference"
  std::string counts() const;
  // A line per step with its share of the time, ops, bytes and rate, the longest first; below it
  // the user's lines that it came from, and why it stands alone.
  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
  // HEDDLE_LOG=1: one line per kernel.
  void log() const;
};

// Of one program, with the times that RunOptions::times has of it; none: nothing was measured.
ExplainReport explain(const Executable& executable, std::vector<StepTime> times = {});

// What the machine copies with all cores, bytes read and written per second; measured once.
double copy_rate();

}  // namespace heddle
