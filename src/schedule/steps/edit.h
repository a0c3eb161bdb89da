// A copy of a per-device program in which some ops become others: what the steps of a schedule
// write with.
#pragma once

#include <functional>
#include <map>

#include "schedule/copier.h"
#include "spmd/writer.h"

namespace heddle {

// What a step has made of a program.
struct Rewritten {
  Program program;
  ValueMap values;                // what became of the values that are still there
  std::vector<ValueId> made;      // what the step gives names to, in its order
  std::vector<std::string> said;  // what it did, for --explain
};

class Edit : public Copier {
 public:
  // Writes what stands in an op's place; defines its results, or leaves them away.
  using Write = std::function<Verdict(RegionId at, const Op& op)>;

  Edit(const Program& from, std::uint32_t mesh);

  void replace(OpId op, Write write) { instead_[op] = std::move(write); }
  void leave_out(OpId op) {
    instead_[op] = [](RegionId, const Op&) { return yes(); };
  }
  // Another order of a region's ops.
  void reorder(RegionId region, std::vector<OpId> ops) { order_[region] = std::move(ops); }
  // An argument of another type.
  void retype(ValueId argument, const Type& type) { types_.emplace(argument, type); }

  const Program& from() const { return from_; }
  Program& out() { return out_; }
  // What became of a value; it must have been written.
  ValueId now(ValueId v) const { return values_.at(v); }
  void define(ValueId v, ValueId now) { values_[v] = now; }
  OpId copy(RegionId at, const Op& op) { return copy_op(at, op); }
  // Writes to the end of a region, under the place of an op.
  Writer& writer(RegionId at, const Op& op);
  // Position of the device along the axes, in this region; written once.
  ValueId position(RegionId at, const Op& op, const SplitAxes& axes);
  // Ops that were added without a place get that of `op`.
  void locate(RegionId at, const Op& op);

  // The verified copy.
  Expected<Rewritten> done();

 private:
  RegionId copy_region(RegionId region) override;

  std::map<OpId, Write> instead_;
  std::map<RegionId, std::vector<OpId>> order_;
  std::map<ValueId, Type> types_;
  Writer writer_;
  std::map<std::pair<RegionId, SplitAxes>, ValueId> positions_;
  std::optional<Reason> mistake_;
};

// For each value the ops that use it, those included that only have it inside of a region.
std::vector<std::vector<OpId>> users_of(const Program& program);

// "%name: tensor<4xf32>": what a value is called in messages: its op and where that came from.
std::string value_text(const Program& program, ValueId v);

}  // namespace heddle
