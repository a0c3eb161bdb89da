// What `heddle run` was asked for, what came of it, and how that is told.
#pragma once

#include <string>
#include <vector>

#include "execute.h"
#include "mesh_request.h"
#include "program_commands.h"
#include "ranks.h"
#include "terminal.h"

namespace heddle::cli {

struct RunRequest {
  std::string file, entry, io, output, trace, until = "read";
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance;
  std::string memory;  // the most for values, as 16GB; empty: half of the machine's
  ExecuteRequest execute;
  MeshRequest mesh;
  RankRequest ranks;
  bool explain = false;
  ReportOptions report;
};

// One function that ran.
struct Outcome {
  const Function* function = nullptr;
  double seconds = 0;   // the median, where it ran more than once
  Execution execution;  // its results are in `results`
  std::vector<Array> results;
  std::vector<Type> types;
  std::vector<Comparison> comparisons;  // one per result under --check
  std::string written;                  // what --output did
};

// The result that lies furthest outside, or -1; and what to say of it.
std::ptrdiff_t worst_result(const Outcome& outcome);
std::string disagreement(const Outcome& outcome, std::size_t worst);

// Results, and what was written.
void write_tables(const std::vector<Outcome>& outcomes, const RunRequest& request);
void write_report(const std::vector<Outcome>& outcomes, const RunRequest& request,
                  const std::string& failure);
// The last line: that all went well.
std::string verdict(const std::vector<Outcome>& outcomes, const RunRequest& request);

}  // namespace heddle::cli
