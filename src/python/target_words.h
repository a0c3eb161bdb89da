// A target from what Python says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/target.h"

namespace heddle::python {

struct TargetWords {
  std::string mesh = {};                                          // "dp=2,tp=4"
  std::vector<std::pair<std::string, std::string>> layouts = {};  // name or pattern, words
  std::string plan = {};                                          // a plan file
  std::vector<std::pair<std::size_t, std::size_t>> carried = {};  // argument, result
  std::vector<bool> donated = {};
  bool ranks = false;
  std::int64_t micro_batches = 1;
  std::string pipeline = {};   // the axis of stages
  int interleave = 0;          // parts of the program that each stage has; 0: nothing is said
  int stages = 1;              // that a search is to find; 0: it says how many
  std::string device = "cpu";  // as find_device() has it
  int rank = 0;
  std::string schedule = {};  // its text, or auto
};

// Throws Error where a file cannot be read.
Target target_from(const Program& program, const TargetWords& words);

}  // namespace heddle::python
