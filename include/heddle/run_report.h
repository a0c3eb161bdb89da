// What functions that ran have given: results in a few figures, how they compare, what it cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/compare.h"
#include "heddle/execute.h"
#include "heddle/step_loop.h"
#include "heddle/style.h"

namespace heddle {

// One function that ran.
struct FunctionRun {
  std::string name;
  Execution execution = {};                  // with its results
  std::vector<std::string> titles = {};      // of the results
  std::vector<Type> types = {};              //
  std::vector<Comparison> comparisons = {};  // one per result, where they were compared
  std::string written = {};                  // what was written of them
  std::optional<StepsDone> steps = {};       // of a run of many

  FunctionRun(const Program& program, const Function& function);
  // Of the result that lies furthest outside of its tolerance; empty where all agree.
  std::string disagreement() const;
};

struct RunReport {
  std::string file;
  std::string engine = "compiled";
  std::string output = {};         // where results went
  std::string compared_with = {};  // a file; empty: nothing was compared
  bool explain = false;            // step by step
  std::vector<FunctionRun> functions = {};
  std::string failure = {};  // of any of them

  // Results, and what was written.
  std::string text(const Style& style = Style::plain()) const;
  // The last line: that all went well.
  std::string verdict() const;
  std::string json() const;
};

}  // namespace heddle
