// Pipelines: a step of training in micro-batches that pass through stages, each on devices of its
// own. What a stage does, and in which order, is fixed before the run.
//
// Positions. A micro-batch passes through 2V positions, one after the other: forward through the
// virtual stages 0 to V-1, then backward through V-1 to 0. A program without a way back has
// positions 0 to V-1 only. Values go from lower positions to higher ones. Virtual stage k lies on
// the devices of stage k % stages. All stages have equally many devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/error.h"

namespace heddle {

struct PipelineShape {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;        // virtual stages of each stage; more than 1: interleaved
  bool backward = true;  // whether there is a way back

  int virtual_stages() const { return stages * chunks; }
  int positions() const { return backward ? 2 * virtual_stages() : virtual_stages(); }
  int virtual_stage_of(int position) const {
    return position < virtual_stages() ? position : 2 * virtual_stages() - 1 - position;
  }
  int stage_of(int position) const { return virtual_stage_of(position) % stages; }
  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

// ---- order

struct PipelineTask {
  enum class Kind : std::uint8_t {
    forward,
    backward,
    update,  // what comes once, when all micro-batches are through
  } kind = Kind::forward;
  int chunk = 0;  // of the stage: virtual stage chunk * stages + stage
  int micro_batch = 0;
  friend bool operator==(const PipelineTask&, const PipelineTask&) = default;
};
std::string_view name(PipelineTask::Kind kind);
// The position of a task of this stage; the number of positions for an update.
int position_of(const PipelineShape& shape, int stage, const PipelineTask& task);

// What each stage does, by stage.
using PipelineOrder = std::vector<std::vector<PipelineTask>>;

// One forward, one backward: a stage goes on forward only as far as the way to the end and back
// is long, so that few micro-batches are under way. With several chunks interleaved, for which
// micro-batches come in groups as large as there are stages. A reason where the shape has no order.
Expected<PipelineOrder> pipeline_order(const PipelineShape& shape);

// ---- messages

// Something goes from one position to a later one, for every micro-batch.
struct PipelineEdge {
  int from = 0, to = 0;
  friend auto operator<=>(const PipelineEdge&, const PipelineEdge&) = default;
};

// What others can notice of a stage. Messages of one channel between two stages arrive in the order
// in which they are sent. A receive waits for its message, a send only for room.
struct PipelineStep {
  enum class Kind : std::uint8_t { work, send, receive } kind = Kind::work;
  PipelineTask task = {};
  int other = 0;             // the stage that is sent to or received from
  int channel = 0;           // of those between the two
  std::int64_t message = 0;  // of the channel: both sides call it alike
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};
using PipelineSteps = std::vector<std::vector<PipelineStep>>;  // by stage

// Each task receives what comes from other stages, works, and sends what goes to others. Each edge
// between two stages has a channel, its number in `edges`; messages are numbered by micro-batch.
PipelineSteps steps_of(const PipelineShape& shape, const PipelineOrder& order,
                       const std::vector<PipelineEdge>& edges);

// Proves that no run of these steps can stop for ever, whatever takes how long, where each channel
// has room for so many messages that nobody has received; with a reason that names who waits for
// whom where it can.
Verdict free_of_deadlock(const PipelineSteps& steps, int room = 1);

// ---- times

// What a pipeline is made of, by position and by stage; seconds and bytes of one device.
struct PipelineCosts {
  struct Transfer {  // of one micro-batch; between positions of different stages
    int from = 0, to = 0;
    double seconds = 0;
  };
  std::vector<double> seconds;           // by position: of one micro-batch
  std::vector<double> once;              // by stage: of the update
  std::vector<Transfer> transfers;       // those between positions of one stage take no time
  std::vector<std::int64_t> resident;    // by stage: there all the time
  std::vector<std::int64_t> kept;        // by virtual stage: from forward to backward
  std::vector<std::int64_t> while_busy;  // by position: beside that, while it works
};

struct PipelineTimes {
  struct Span {  // of a task
    PipelineTask task;
    double begin = 0, end = 0;
    std::int64_t bytes = 0;  // that the stage holds meanwhile
  };
  struct Stage {
    double busy = 0;
    std::int64_t peak_bytes = 0;
    double peak_at = 0;  // when that is
    std::vector<Span> spans;
  };
  double seconds = 0;  // of a step
  double bubble = 0;   // the share of it in which stages wait, on the average
  std::vector<Stage> stages;
  std::int64_t peak_bytes() const;  // of the fullest stage
};

// The order step by step: a task begins when the one before it has ended and what it needs has
// come. Messages go while stages work; those from one stage to another go one after the other.
Expected<PipelineTimes> time_pipeline(const PipelineShape& shape, const PipelineOrder& order,
                                      const PipelineCosts& costs);

// ---- cuts

// Which position each op of a function has that is run per micro-batch.
struct StageCut {
  PipelineShape shape;
  // By OpId; -1: it is no op of the function's own region, or it is computed wherever it is needed,
  // as no micro-batch changes it. What is done once, when all micro-batches are through, has the
  // number of positions and its stage.
  std::vector<int> positions;
  // By argument: the stage that it lies on, the first of those that use it; -1: no op uses it. Data
  // of which every micro-batch has its own are read wherever they are used.
  std::vector<int> arguments;
  // That one device of every stage may hold of values together; as a search has found the cut.
  std::int64_t memory = INT64_MAX;

  int position_of(std::uint32_t op) const { return op < positions.size() ? positions[op] : -1; }
  friend bool operator==(const StageCut&, const StageCut&) = default;
};

}  // namespace heddle
