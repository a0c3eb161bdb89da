// How a program is dealt out over a mesh, what its devices tell each other, and why it is so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heddle/axis.h"
#include "heddle/device_memory.h"
#include "heddle/layout.h"
#include "heddle/pipeline_report.h"
#include "heddle/spmd.h"
#include "heddle/style.h"
#include "heddle/target.h"

namespace heddle {

struct PlanReportOptions {
  // What one device has, in bytes: the program is compiled for it, and the report fails where that
  // is too little. Nothing: nobody asks.
  std::optional<std::int64_t> memory = {};
  bool explain = false;  // pictures of layouts, and every choice with what was rejected
};

// One function of the plan.
struct PlannedFunction {
  struct Value {                   // an argument or a result
    std::string name;              // as the program gives it; may be empty
    std::string type;              // of the whole
    std::string sharding;          // [{"dp"}, {}]
    std::string part;              // the type of one device's part; empty for what is no tensor
    std::vector<int> stages = {};  // of a pipeline, that have it; none: all devices do
    std::vector<std::int64_t> rows = {};  // that each of these has; none: it has all
  };
  struct Drawn {  // values of one type that lie alike, split over devices
    std::string names, type;
    Layout layout;
  };
  struct Moved {
    std::string kind, over;  // "all-reduce", "dp, tp"
    std::int64_t bytes = 0;  // that one device receives
    double seconds = 0;
    std::string needed_by, value;
    int loops = 0;  // around it
    // Of a pipeline: the stage that needs it (-1: what comes after all micro-batches), and how
    // often it comes in a step.
    int stage = -1;
    std::int64_t times = 1;
  };
  struct Rejected {
    std::string what;  // "a over dp (local)"
    double seconds = 0;
  };
  struct Chosen {         // for an op, and those that are alike
    std::string op, how;  // "dot_general at f.mlir:2:6", "[{"dp"}, {}] -> [{"dp"}, {}]"
    std::size_t alike = 1;
    Rejected chosen;  // what was not rejected
    std::vector<Rejected> rejected;
  };
  struct Disagreement {
    std::string op, what;
  };
  struct AxisWords {  // what an axis of the mesh does
    std::string axis, text;
  };
  // Who works on what when, by predicted times: one lane for each stage of a pipeline.
  struct Timeline {
    struct Span {
      std::size_t lane = 0;
      double begin = 0, end = 0;  // seconds
      std::string kind;           // "forward", "backward", "update"
      int micro_batch = 0;        // each has a colour
      int chunk = 0;              // of the stage
      std::int64_t bytes = 0;     // that a device holds meanwhile
    };
    std::vector<std::string> lanes;
    std::vector<Span> spans;
  };
  struct Search {                      // what found the plan
    double cost = 0, bound = 0;        // seconds of one run; none takes less than the bound
    double gap = 0;                    // how much less that could be, as a share
    double moves = 0, exposed = 0;     // of moves; those that nothing runs beside
    double seconds = 0;                // that it took
    std::size_t ops = 0, choices = 0;  // of which each was made once for all ops that are alike
    std::int64_t peak_bytes = 0;       // of one device, by its count
    std::int64_t memory = 0;           // that it was to take at most; 0: whatever it takes
    std::int64_t too_much = 0;         // of a device that no plan leaves free; 0: this one does
    // What is computed again instead of being kept: the effort, how many ops, the bytes of a device
    // that are not kept, and what that takes. No ops: nothing is.
    int effort = 0;
    std::size_t again = 0;
    std::int64_t again_bytes = 0;
    double again_seconds = 0;
    std::shared_ptr<const PlanDetails> details = {};  // where a report wants them
  };

  std::string name;
  std::string mesh = {};  // empty: on one device, and the rest is too
  std::int64_t devices = 1;
  std::vector<AxisWords> layout = {};
  std::vector<Value> arguments = {}, results = {};
  std::vector<Drawn> drawn = {};
  std::vector<Moved> moved = {};
  std::vector<Chosen> choices = {};
  std::vector<Disagreement> conflicts = {};
  std::int64_t collectives = 0;                                       // that the moves became
  std::int64_t argument_bytes = 0, result_bytes = 0, peak_bytes = 0;  // on one device
  std::optional<DeviceMemory> memory = {};
  std::optional<double> compute_seconds = {}, bring_seconds = {};
  std::optional<Search> search = {};
  std::optional<Timeline> timeline = {};
};

struct PlanReport {
  std::vector<PlannedFunction> functions;
  AxisRegistry axes;                            // of the layouts
  std::optional<PipelineReport> pipeline = {};  // where stages and micro-batches were searched for
  std::vector<StepTaken> schedule = {};         // what its steps did
  std::string failure = {};  // what is too much for a device; empty where all fits
  double propagate_seconds = 0, decide_seconds = 0, partition_seconds = 0;
  std::size_t ops = 0;  // of the program of one device
  bool explain = false;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
  // A picture of how values of a function lie, as a whole SVG file.
  std::string svg(const PlannedFunction::Drawn& drawn) const;
};

PlanReport plan_report(const Spmd& spmd, const PlanReportOptions& options = {});
// The same of a plan without stages that a search among pipelines has found.
PlanReport plan_report(const Spmd& spmd, const FoundPipeline& found,
                       const PlanReportOptions& options = {});
// Of a pipeline, as its devices have it; by the search that found it, where one has.
PlanReport plan_report(const Pipeline& pipeline, const FoundPipeline* found = nullptr,
                       const PlanReportOptions& options = {});
// A page for a browser, in one file that needs nothing else. `title` names the program.
std::string plan_page(const Spmd& spmd, const PlanReport& report, const std::string& title,
                      std::optional<std::int64_t> memory = {});
// Of a program that has not been dealt out yet.
Expected<PlanReport> plan_report(const Program& program, const Target& target,
                                 const PlanReportOptions& options = {});

}  // namespace heddle
