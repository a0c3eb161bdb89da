// Target: what a program is compiled for. One device, or those of a mesh; how its values lie there;
// and options.
#pragma once

#include <atomic>
#include <stop_token>
#include <string>
#include <vector>

#include "heddle/cluster.h"
#include "heddle/compile_options.h"
#include "heddle/micro_batches.h"
#include "heddle/parallel.h"
#include "heddle/pipeline.h"
#include "heddle/plan_file.h"
#include "heddle/schedule_text.h"
#include "heddle/shards.h"

namespace heddle {

// What the user says of where values lie; the rest follows from it, by propagation.
struct GivenLayouts {
  std::vector<ShardEntry> shards;  // in words: "arg0=dp,_"; a later one counts more
  std::vector<Seed> seeds;         // by number; these count more than words
  std::string batch;               // axes over which batches lie, along their first dimension
  bool closed = false;             // arguments and results of which nothing is said stay whole
  // Where nothing is said, the best layouts are searched for: 2 in seconds, 3 thoroughly; 0: what
  // is said propagates.
  int search = 0;
  bool search_details = false;       // for a report: see SearchOptions
  std::stop_token search_stop = {};  // asks a search for what it has found so far
  double search_seconds = 0;         // that it may take; 0: as long as it needs
  const std::atomic<double>* search_to_beat = nullptr;  // as SearchOptions has it
  std::int64_t device_memory = INT64_MAX;               // that a plan may take of each device
  std::optional<int> recompute = {};                    // as SearchOptions has it
  friend bool operator==(const GivenLayouts&, const GivenLayouts&) = default;
};

// The program's own mesh, whichever its shardings name; one device where they name none.
inline constexpr const char* kOwnMesh = "@";

struct Target {
  // "dp=2,tp=4"; "@name" or "@" of the program; empty: one device, whatever the program says.
  std::string mesh = {};
  GivenLayouts layouts = {};
  // Results that the next run takes as arguments: they lie alike.
  std::vector<Carried> carried = {};
  // The batch is cut into so many parts, which are worked on one after the other; along which
  // dimension is found where nobody says it. 0: a search says how many (pipeline_search.h).
  std::int64_t micro_batches = 1;
  std::optional<BatchDim> batch = {};
  // The axis of the mesh along which stages lie that micro-batches pass through; empty: none does.
  std::string pipeline = {};
  int chunks = 1;  // of the program that each stage has; more than 1: interleaved
  // How many stages a search is to find, where no axis is named; 0: it says how many itself.
  int stages = 1;
  // Which op of a micro-batch (micro_batches.h) is at which position; none: as a search finds it,
  // or as balances stages.
  std::optional<StageCut> cut = {};
  // Steps that are taken with the program of each device (schedule_text.h); none: none.
  std::optional<DeviceSchedule> schedule = {};
  // Whose figures a plan is made with; none: those that are assumed of any machine.
  std::optional<Cluster> cluster = {};
  // Each device is a process of its own, a rank; else all of them are threads of this one, and
  // share its cores.
  bool ranks = false;
  int rank = 0;  // which of them this process is; counts only where they have programs of their own
  CompileOptions options = {};
};

// All that a plan file says but its mesh: shardings, around which it searches, and the pipeline.
Verdict take_plan(Target& target, const PlanFile& plan);

// Compiling for it, a search too, ends with an Error when the stop is requested.
void end_on(Target& target, const std::stop_token& stop);

// For a mesh in words: {"dp=2", {"arg1=dp,_"}}.
Expected<Target> mesh_target(const std::string& mesh, const std::vector<std::string>& shards = {});

}  // namespace heddle
