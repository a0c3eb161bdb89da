// What heddle plan is asked for, and what it has made of it.
#pragma once

#include <optional>

#include "commands.h"
#include "heddle/compile.h"
#include "heddle/pipeline_search.h"
#include "heddle/pipelined.h"
#include "mesh_request.h"
#include "option_values.h"
#include "stoppable.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {

struct PlanRequest {
  std::string file, entry;
  MeshRequest mesh;
  bool explain = false, program = false, values = false;
  std::string memory;              // of one device
  std::vector<std::string> carry;  // as a run of many steps has it
  int level = 0;                   // of a search; 0: as the plan says
  std::string output;              // a plan file
  std::string html;                // a page for a browser
  std::string why;                 // a value, an op's line or an axis that somebody asks about
  std::optional<double> seconds;   // that it may take
  ReportOptions report;
};

// A program dealt out over devices: all of them alike, or in stages.
struct Dealt {
  std::optional<FoundPipeline> found;  // where stages or micro-batches were searched for
  std::optional<Spmd> whole;
  std::optional<Pipeline> pipeline;
  int stopped_by = 0;  // the signal that came before the search was through
  const Spmd& spmd() const { return pipeline ? pipeline->spmd : *whole; }
};

// With a line for who waits; Ctrl-C asks for the best plan so far.
template <typename Work>
auto stoppably(Target& target, Work work, int* stopped_by = nullptr) {
  const Stoppable stoppable;
  Waiting waiting;
  target.options.progress = &waiting.progress;
  target.layouts.search_stop = stoppable.token();
  auto done = work(target);
  target.options.progress = nullptr;
  if (stopped_by != nullptr && stoppable.is_stopped()) *stopped_by = stoppable.signal();
  if (done && stoppable.is_stopped())
    say("heddle: stopped; this is the best plan that was found, with its collectives one by one");
  return of_option(std::move(done));
}

// What a device has, where somebody says it.
std::optional<std::int64_t> memory_of_device(const PlanRequest& request);

// --why: what else something could be. `asked` is what the plan was made for.
void answer_why(const Program& program, const Dealt& dealt, const Target& asked,
                const PlanRequest& request);

}  // namespace heddle::cli
