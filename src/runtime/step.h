// Steps: what an executable does, one after the other. Memory is named by slot: a place in a table
// of pointers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "device/cpu/library.h"
#include "heddle/kernel.h"
#include "heddle/program.h"
#include "runtime/collective.h"
#include "runtime/compiled.h"

namespace heddle::runtime {

using SlotId = std::uint32_t;

// One kernel of a launch, with the memory that it works on.
struct LaunchKernel {
  Kernel kernel;
  std::shared_ptr<const CpuKernel> code;  // none: it is interpreted
  std::vector<SlotId> slots = {};         // by buffer; kNone: of reach `block`
  std::vector<std::int64_t> shift = {};   // by buffer: bytes from the start of the slot
  std::vector<std::int64_t> bytes = {};   // by buffer
  std::size_t first_pointer = 0;          // of its buffers, in the run's table
};

// Consecutive blocks of one phase of one kernel, done by one worker.
struct LaunchPart {
  std::uint32_t kernel = 0;
  std::int64_t first = 0, last = 0, chunk = 0;
};

// Parts that run at the same time; everybody waits before the next ones.
struct LaunchPhase {
  std::uint32_t phase = 0;
  std::vector<LaunchPart> parts = {};
  bool alone = false;  // too little to wake others for
};

struct LaunchStep {
  std::vector<LaunchKernel> kernels = {};
  std::vector<LaunchPhase> phases = {};
};

struct LibraryStep {
  std::unique_ptr<cpu::LibraryCall> call;
  std::vector<SlotId> operands = {}, results = {};
  SlotId workspace = kNone;
};

// A program of one op, interpreted.
struct ReferenceStep {
  std::shared_ptr<const Program> program;
  // The interpreter writes constants out where it meets them: one device at a time.
  std::shared_ptr<std::mutex> turn = std::make_shared<std::mutex>();
  std::vector<SlotId> operands = {}, results = {};
};

struct CopyStep {
  SlotId from = kNone, to = kNone;
  std::int64_t bytes = 0;
};

// An op between devices.
struct CollectiveStep {
  std::shared_ptr<const CollectiveOp> op;
  std::size_t number = 0;  // among the collectives of the executable
  std::vector<SlotId> operands = {}, results = {};
};

struct Step;

struct StepList {
  std::vector<Step> steps;
  // Slots that loops of the list exchange: they go back home before the list begins.
  std::vector<SlotId> moved = {};
};

struct LoopStep {
  StepList condition, body;
  SlotId predicate = kNone;
  // Each pair changes places after the body: what it wrote is what the next turn reads.
  std::vector<std::pair<SlotId, SlotId>> swaps = {};
};

struct BranchStep {
  SlotId index = kNone;
  bool is_case = false;  // by a number, out of range: the last one; else truth picks the first
  std::vector<StepList> branches = {};
};

struct Step {
  std::variant<LaunchStep, LibraryStep, ReferenceStep, CopyStep, CollectiveStep, LoopStep,
               BranchStep>
      work;
  std::uint32_t info = 0;  // into the executable's list
  std::vector<SlotId> reads = {}, writes = {};
  std::vector<std::uint32_t> after = {};  // earlier steps of the same list that it waits for
};

}  // namespace heddle::runtime
