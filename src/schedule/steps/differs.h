// Along which axes of the mesh a value of a per-device program may differ from device to device.
// CoCoNet's layouts follow from it: what does not differ along the axes of a group is replicated
// there, everything else is local.
#pragma once

#include <unordered_map>
#include <vector>

#include "heddle/spmd.h"

namespace heddle {

class Differs {
 public:
  // How arguments lie says where they differ; the rest follows from what ops do.
  Differs(const Program& program, const Function& function, const SpmdFunction& placed);

  // Bit a: along axis a of the mesh.
  using Axes = std::uint64_t;
  Axes along(ValueId v) const { return along_[v]; }
  bool is_same(ValueId v, const SplitAxes& axes) const;

  // A whole number that follows from the device alone, by its position on the mesh; null where it
  // is not known before the run.
  const std::vector<std::int64_t>* number(ValueId v) const;

  // "dp"
  std::string text(ValueId v, const SplitAxes& axes) const;

 private:
  void follow(RegionId region);
  void follow_op(const Op& op);
  void follow_collective(const Op& op);
  void follow_loop(const Op& op);
  void follow_branches(const Op& op);
  Axes of_operands(const Op& op) const;
  void set_results(const Op& op, Axes axes);
  std::vector<ValueId> yielded(RegionId region) const;
  bool find_number(const Op& op);
  Axes axes_of(const std::vector<std::int64_t>& by_position) const;

  const Program& program_;
  const MeshDecl& mesh_;
  const std::uint32_t mesh_number_;
  const Axes all_;
  std::vector<Axes> along_;  // by ValueId
  std::unordered_map<ValueId, std::vector<std::int64_t>> numbers_;
};

// Bits of these axes, those too of which only a part is meant.
Differs::Axes axis_bits(const SplitAxes& axes);

}  // namespace heddle
