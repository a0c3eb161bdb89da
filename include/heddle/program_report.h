// Reports on programs that do not run: whether they are well formed, what they compile to, and the
// ops that they may use.
#pragma once

#include <string>

#include "heddle/compile_options.h"
#include "heddle/execute.h"
#include "heddle/style.h"

namespace heddle {

struct VerifyReport {
  std::string file;
  std::size_t programs = 0, functions = 0, ops = 0;
  double read_seconds = 0, verify_seconds = 0;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// What a program becomes.
struct CompiledReport {
  std::string file, entry;
  double read_seconds = 0;
  CompileReport stages = {};
  Execution execution = {};  // without runs
  bool explain = false;      // step by step

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// The op table.
struct OpsReport {
  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

}  // namespace heddle
