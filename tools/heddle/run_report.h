// What `heddle run` was asked for, what came of it, and how that is told.
#pragma once

#include <string>
#include <vector>

#include "execute.h"
#include "heddle/saving.h"
#include "mesh_request.h"
#include "program_commands.h"
#include "ranks.h"
#include "terminal.h"

namespace heddle::cli {

// A run of many steps.
struct StepsRequest {
  std::int64_t steps = 0;            // to reach; 0: one, as without
  std::vector<std::string> carry;    // "arg0-85=result1-86"; empty: what is evident
  std::string restore;               // a checkpoint, or a folder of them
  std::vector<std::string> batches;  // NAME=SOURCE, or SOURCE: an array for each step
  bool cycle = false;                // the first batch follows the last
  SaveRequest save;
  bool given() const { return steps > 0 || !restore.empty(); }
};

struct RunRequest {
  std::string file, entry, io, output, trace, until = "read";
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance;
  std::string memory;  // the most for values, as 16GB; empty: half of the machine's
  ExecuteRequest execute;
  MeshRequest mesh;
  RankRequest ranks;
  StepsRequest steps;
  bool explain = false;
  ReportOptions report;
};

// Where the function is to run: as the command line says, else on the program's own mesh where that
// has a number of devices that threads, or the ranks at hand, can stand for.
Target target_to_run(const Program& program, const Function& function, const RunRequest& request);

// What a run of many steps tells beside its results.
struct StepsDone {
  std::int64_t first = 0, last = 0;  // steps that ran; last 0: this was no such run
  std::string restored, saved;       // the newest checkpoint
  std::string carry;
  std::int64_t batches = 0;
  // Results that are numbers and not carried, of some steps.
  std::vector<std::size_t> scalars;
  std::vector<std::pair<std::int64_t, std::vector<double>>> history;
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
  StepsDone steps;
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
