// Writes ops on the slices that the devices of a group have.
#pragma once

#include "schedule/steps/differs.h"
#include "schedule/steps/edit.h"
#include "schedule/steps/meeting.h"
#include "schedule/steps/op_slices.h"

namespace heddle {

// An all_gather, and the slice that cuts off what it has beyond the end.
struct Gathered {
  OpId op = kNone, crop = kNone;
  Meeting meeting;
  ValueId slice = kNone, whole = kNone;  // what it takes; what it gives, cut off
  SlicedDim dim;
};
Expected<Gathered> gathered_by(const Program& program, OpId op,
                               const std::vector<std::vector<OpId>>& users);

class SliceWriter {
 public:
  SliceWriter(Edit& edit, const Differs& differs, const Meeting& meeting,
              const std::vector<std::vector<OpId>>& users)
      : edit_(edit), from_(edit.from()), differs_(differs), meeting_(meeting), users_(users) {}

  // What each device has of a value in these slices, where that is known already.
  void have(ValueId v, const SlicedDim& dim) { slices_[v] = {dim, kNone}; }
  void written(ValueId v, ValueId slice) { slices_.at(v).now = slice; }
  bool has(ValueId v) const { return slices_.contains(v); }
  const SlicedDim& dim_of(ValueId v) const { return slices_.at(v).dim; }
  ValueId slice_of(ValueId v) const { return slices_.at(v).now; }

  // Whether all operands of an op can be had as its slices want them, operand `from` apart.
  Verdict check(const Op& op, const OpSlices& slices, int apart = -1) const;
  // The op on the slices of this device; `given` stands for operand `apart`.
  Expected<std::vector<ValueId>> write(RegionId at, const Op& op, const OpSlices& slices,
                                       int apart = -1, ValueId given = kNone);

 private:
  struct Known {
    SlicedDim dim;
    ValueId now = kNone;  // once it is written
  };

  std::vector<ValueId> operands_of(const Op& op) const;
  Verdict check_slice(ValueId v, const SlicedDim& dim) const;
  bool is_gathered(ValueId v, const SlicedDim& dim, Gathered& found) const;
  ValueId take(RegionId at, const Op& op, ValueId v, const SlicedDim& dim);
  ValueId cut(RegionId at, const Op& op, ValueId v, const SlicedDim& dim);
  std::optional<ValueId> broadcast_slice(RegionId at, const Op& op, ValueId v,
                                         const SlicedDim& dim);
  void neutralise(RegionId at, const Op& op, const OpSlices& slices,
                  std::vector<ValueId>& operands);

  Edit& edit_;
  const Program& from_;
  const Differs& differs_;
  const Meeting& meeting_;
  const std::vector<std::vector<OpId>>& users_;
  std::unordered_map<ValueId, Known> slices_;
};

}  // namespace heddle
