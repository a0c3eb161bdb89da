// The work of assemble(), region by region.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "runtime/assemble.h"
#include "runtime/boundary.h"
#include "runtime/dependences.h"
#include "runtime/lifetimes.h"
#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Where a value that a region gives back is wanted.
struct Target {
  SlotId slot = kNone;
  SlotId in_place = kNone;  // the only other place that will do
  bool any_place = false;   // every place that the caller can keep will do
};

// What a region is assembled with: targets by operand of its terminator.
struct RegionTask {
  RegionId region = kNone;
  std::vector<Target> targets;
  int depth = 0;
};

class Assembler {
 public:
  Assembler(const CompiledProgram& compiled, const AssembleOptions& options);

  // The whole function; slots of the results in `outputs`.
  StepList assemble_entry();

  SlotTable slots;
  std::vector<StepInfo> infos;
  std::vector<SlotId> outputs;
  std::vector<Array> constants;
  std::vector<OpId> meetings;  // ops between devices, in the order in which they begin
  Verdict trouble = yes();     // the first that the device has with a launch

 private:
  // ---- assemble.cpp
  StepList region(const RegionTask& task, const std::vector<SlotId>* results_of_function = nullptr);
  void unit(const CompiledUnit& unit, std::size_t number);
  void launch(const CompiledUnit& unit, std::size_t number);
  // How many kernels of a launch read a value, by its root.
  std::unordered_map<ValueId, std::size_t> readers_of(const CompiledUnit& unit) const;
  LaunchKernel launch_kernel(const CompiledKernel& compiled,
                             const std::unordered_map<ValueId, std::size_t>& readers,
                             std::size_t number);
  bool may_be_fused(ValueId v) const;
  std::int64_t fused_grain(const CompiledUnit& unit) const;
  void library(const CompiledUnit& unit, std::unique_ptr<LibraryCall> call, std::size_t number);
  void set_rows(const CompiledUnit& unit, const FusedMark& mark, LibraryStep& work) const;
  void reference(const CompiledUnit& unit);
  void collective(OpId id, std::size_t number);
  void copy(SlotId from, SlotId to, const Type& type);

  // ---- places
  SlotId slot(ValueId v);
  SlotId new_arena(ValueId v, std::int64_t bytes);
  // Memory for a result of a unit; `over` are the inputs that it may be written over.
  SlotId place(ValueId v, std::size_t number, const std::vector<ValueId>& over);
  SlotId argument_without_use(std::int64_t bytes, std::size_t number) const;
  bool may_take(SlotId from, const Target* target) const;
  void set_slot(ValueId v, SlotId s) { slot_of_[lifetimes_.root(v)] = s; }
  void set_targets(const RegionTask& task);

  // ---- assemble_control.cpp
  void while_loop(const Op& op, std::size_t number);
  void branches(const Op& op);
  SlotId carried_slot(const Op& op, std::size_t i, std::size_t number,
                      std::unordered_set<SlotId>& taken);

  // ---- steps
  Step& emit(Step step, StepInfo info);
  void append(Step step);
  // Puts it behind the others, with what it depends on; its times are known already.
  void push(Step step);
  // Waits for the collectives that a step depends on, those that the regions of an op will use, and
  // at the end of a region for all of them.
  void wait_before(const Step& step);
  void wait_before_regions(const Op& op);
  void wait_for_all();
  void append_wait(Step wait);
  // Whether a collective that is under way reads or writes it.
  bool is_under_way(SlotId slot) const;
  StepInfo info_of(const Op& op, std::string kind) const;
  std::int64_t bytes_of(const Op& op) const;

  // A collective of the list that has begun, and the step that will wait for it.
  struct UnderWay {
    std::uint32_t start = 0;
    Step wait;
  };

  // What belongs to the region that is being assembled.
  struct Scope {
    RegionId region = kNone;
    int depth = 0;
    StepList list = {};
    Boundaries boundaries = {};
    Touches touches = {};                              // of the list so far
    std::vector<UnderWay> under_way = {};              // in the order in which they began
    std::unordered_map<ValueId, Target> targets = {};  // by root
    std::unordered_set<SlotId> written = {};           // by the unit at hand
  };

  const CompiledProgram& compiled_;
  const Program& program_;
  Lifetimes lifetimes_;
  std::vector<SlotId> slot_of_;               // by root
  std::unordered_set<ValueId> fused_values_;  // by root
  bool overlaps_ = true;
  Scope scope_;
};

}  // namespace heddle::runtime
