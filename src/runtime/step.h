// Steps: what an executable does, one after the other. Memory is named by slot: a place in a table
// of addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "heddle/device.h"
#include "heddle/loop_work.h"
#include "heddle/program.h"
#include "runtime/collective.h"
#include "runtime/row_products.h"

namespace heddle::runtime {

using SlotId = std::uint32_t;

// Kernels, as the device has prepared them.
struct LaunchStep {
  std::unique_ptr<Launch> launch;
  // Of one that may go into a collective: elements of a block, where it can be done in parts.
  std::int64_t grain = 0;
};

struct LibraryStep {
  std::unique_ptr<LibraryCall> call;
  std::vector<SlotId> operands = {}, results = {};
  SlotId workspace = kNone;
  // Of a product that may go into a collective: its mark, and its rows or why it has none.
  std::int64_t fused = -1;
  std::shared_ptr<RowProducts> rows = {};
  std::string why_whole = {};
};

// A program of one op, interpreted.
struct ReferenceStep {
  std::shared_ptr<const Program> program;
  // Constants are written out before the first run: the interpreter would do it in several at once.
  std::shared_ptr<std::once_flag> written_out = std::make_shared<std::once_flag>();
  std::vector<SlotId> operands = {}, results = {};
};

struct CopyStep {
  SlotId from = kNone, to = kNone;
  std::int64_t bytes = 0;
};

// An op between devices begins. Until the step that waits for it, nobody writes to its operands or
// touches its results: what runs between the two runs while the data travel.
struct StartStep {
  std::shared_ptr<const CollectiveOp> op;
  std::size_t number = 0;  // among the collectives of the executable
  std::vector<SlotId> operands = {}, results = {};
  bool beside = false;  // other work runs until the wait
};

// Its results are there.
struct WaitStep {
  std::shared_ptr<const CollectiveOp> op;
  std::size_t number = 0;
  std::vector<SlotId> results = {};
};

// A reduce_scatter, a launch that works on its result and an all_gather of what that makes, as one
// chunk program: a chunk of sums is used while it is in the cache, and travels on at once. Products
// at both ends make rows while others travel, and use those that have come. Any of these may be
// missing, but for one of the collectives.
struct FusedStep {
  std::shared_ptr<const CollectiveOp> reduce = {}, gather = {};
  std::size_t number = 0;  // of the first of them
  std::unique_ptr<Launch> launch = {};
  std::int64_t grain = 0;                 // elements of a block of the launch; 0: it is done whole
  SlotId given = kNone, sum = kNone;      // of the reduce_scatter
  SlotId made = kNone, gathered = kNone;  // of the all_gather
  struct Product {
    std::shared_ptr<RowProducts> rows = {};  // null: there is none
    std::array<SlotId, 2> operands = {kNone, kNone};
    SlotId result = kNone;
  } produce = {}, consume = {};
  // A norm: launches on all of the slice, numbers of theirs that are summed over the devices, and
  // launches on what comes of it. Then only does the launch above go chunk by chunk.
  struct Norm {
    std::shared_ptr<const CollectiveOp> op = {};  // null: there is none
    std::vector<SlotId> operands = {}, results = {};
    std::vector<std::unique_ptr<Launch>> before = {}, after = {};
  } norm = {};
  // On a device of its own: the same one by one, for ranks that do not share the device, and for
  // what comes before a norm is known.
  struct Apart {
    StartStep scatter = {};
    WaitStep scattered = {};
    StartStep norm = {};
    WaitStep normed = {};
    StartStep gather = {};
    WaitStep gathered = {};
  };
  std::optional<Apart> apart = {};

  const CollectiveOp& first() const { return reduce ? *reduce : *gather; }
};

struct Step;

// Steps of a list, one after the other, that a queue may keep and do again at once where all
// that can lie elsewhere lies where it did.
struct Stretch {
  std::size_t begin = 0, end = 0;     // steps
  std::size_t number = 0;             // among those of the executable
  std::vector<SlotId> changing = {};  // slots that it touches and that may lie elsewhere
};

struct StepList {
  std::vector<Step> steps;
  std::vector<Stretch> stretches = {};  // in order
  // Slots that loops of the list exchange: they go back home before the list begins.
  std::vector<SlotId> moved = {};
};

struct LoopStep {
  StepList condition, body;
  std::optional<std::int64_t> trips = {};        // where its text says so
  std::optional<std::int64_t> exact_trips = {};  // where there is no doubt
  SlotId predicate = kNone;
  // Each pair changes places after the body: what it wrote is what the next turn reads.
  std::vector<std::pair<SlotId, SlotId>> swaps = {};
  std::vector<SlotId> carried = {};        // hold something before and after
  std::unique_ptr<LoopLaunch> whole = {};  // all turns, where the device can
};

struct BranchStep {
  SlotId index = kNone;
  bool is_case = false;  // by a number, out of range: the last one; else truth picks the first
  std::vector<StepList> branches = {};
};

struct Step {
  std::variant<LaunchStep, LibraryStep, ReferenceStep, CopyStep, StartStep, WaitStep, FusedStep,
               LoopStep, BranchStep>
      work;
  std::uint32_t info = 0;  // into the executable's list
  std::vector<SlotId> reads = {}, writes = {};
  std::int64_t time = 0;  // of the table of slots
};

}  // namespace heddle::runtime
