// Placement: where the arguments and results of an executable lie. It cuts whole arrays into the
// parts that devices have, and puts such parts together again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/checkpoint.h"
#include "heddle/executable.h"
#include "heddle/row_parts.h"
#include "heddle/split.h"

namespace heddle {

class Transport;

// The meshes of a program, which its placements share.
struct PlacedOn {
  AxisRegistry axes = AxisRegistry::standard();
  std::vector<MeshDecl> meshes;
  // The devices of each stage of a pipeline, as their mesh numbers them; none: there is one program
  // for all devices.
  std::vector<std::vector<int>> stages;
};

// One argument or result: its type as a whole, and which device has what of it.
class PlacedValue {
 public:
  PlacedValue(std::string name, Type type, Split split, std::shared_ptr<const PlacedOn> on,
              std::uint32_t mesh)
      : name_(std::move(name)),
        type_(std::move(type)),
        split_(std::move(split)),
        on_(std::move(on)),
        mesh_(mesh) {}

  const std::string& name() const { return name_; }  // "argument 3"
  const Type& type() const { return type_; }
  const Split& split() const { return split_; }
  const MeshDecl& mesh() const { return on_->meshes[mesh_]; }
  // Of the mesh, which is that of one stage in a pipeline.
  std::int64_t devices() const { return mesh().mesh.devices(); }
  // In a pipeline: the stages that have it. All others have an empty array in its place.
  // With `rows`, by stage, each has these of its first dimension alone, behind each other.
  void lie_on(std::vector<int> stages, std::vector<std::vector<RowRange>> rows = {}) {
    stages_ = std::move(stages);
    rows_ = std::move(rows);
  }
  const std::vector<int>& stages() const { return stages_; }
  bool lies_in_rows() const { return !rows_.empty(); }
  // The rows that a device has; none: all.
  std::vector<RowRange> rows_on(std::int64_t device) const;
  // The devices of the first of them, as the mesh numbers them; empty without a pipeline.
  std::vector<int> stage_devices() const;
  std::int64_t all_devices() const;  // of all stages
  bool lies_on_devices_of(const PlacedValue& other) const {
    return on_->stages == other.on_->stages && stages_ == other.stages_ && rows_ == other.rows_;
  }
  // The number that the mesh gives to a device; none where that has nothing of the value.
  std::optional<std::int64_t> number_on_mesh(std::int64_t device) const;
  // The layout on the mesh; where a part's elements lie in a device's memory, row-major.
  Expected<Layout> layout() const;
  // Who has which rows, and how these lie on a mesh of the same axes; none where all have all.
  Expected<std::vector<CheckpointValue::Rows>> rows_by_stage(const Mesh& on, AxisId mem) const;
  // What one device has, places beyond the end included.
  Type part_type() const;
  Type part_type_on(std::int64_t device) const;
  // What that is of an array that has all rows.
  Expected<Array> only_rows(const Array& all_rows, std::int64_t device) const;

  // What a device has of a whole array, zeros beyond the end; and what all of them have, by their
  // numbers.
  Expected<Array> part_of(const Array& whole, std::int64_t device) const;
  Expected<std::vector<Array>> parts_of(const Array& whole) const;

  // The whole from what all devices have. There is none where a sum is pending.
  Verdict has_whole() const;
  Expected<Array> whole(const std::vector<Array>& parts) const;
  // The same where each device is a rank: all of them call it together, each with its part.
  Expected<Array> whole(const Array& part, Transport& ranks) const;

 private:
  std::string name_;
  Type type_;
  Split split_;
  std::shared_ptr<const PlacedOn> on_;
  std::uint32_t mesh_;
  std::vector<int> stages_;
  std::vector<std::vector<RowRange>> rows_;  // by stage of `stages_`; empty: all of it

  Expected<Array> whole_on(std::vector<int> devices, const Type& type,
                           const std::vector<Array>& all) const;
};

class Placement {
 public:
  // On one device, whole.
  static Placement on_one_device(const std::vector<Type>& arguments,
                                 const std::vector<Type>& results);
  // On the devices of a mesh. Arguments and results may lie on meshes of equal axes, whose devices
  // come in another order.
  Placement(std::shared_ptr<const PlacedOn> on, std::uint32_t mesh)
      : on_(std::move(on)), mesh_(mesh) {}

  const MeshDecl& mesh() const { return on_->meshes[mesh_]; }  // of one stage in a pipeline
  std::int64_t devices() const;
  std::string mesh_text() const;  // "dp=2", "2 stages of dp=2"
  bool on_mesh() const { return !one_device_; }
  // The devices of each stage; none without a pipeline.
  const std::vector<std::vector<int>>& stages() const { return on_->stages; }
  int stage_of(std::int64_t device) const;
  // Which arguments or results a device has; its program takes and gives these in order.
  std::vector<std::size_t> on_device(const std::vector<PlacedValue>& values,
                                     std::int64_t device) const;
  std::int64_t argument_bytes() const;  // on one device, that of the fullest stage

  std::vector<PlacedValue> arguments, results;
  // Without a mesh: how many copies of the program the module asks for, and of how many parts each.
  std::int64_t replicas = 1, partitions = 1;
  // In a pipeline: who sends to whom, by stages; and a number for all that stages do together.
  std::vector<ChannelEnds> channels;
  std::uint64_t fingerprint = 0;

  // A reason where a result has no whole.
  Verdict has_wholes() const;
  // The devices as checkpoints see them; a reason where an argument lies on them in another order.
  Expected<CheckpointMesh> for_checkpoints() const;

 private:
  std::shared_ptr<const PlacedOn> on_;
  std::uint32_t mesh_ = 0;
  bool one_device_ = false;
};

}  // namespace heddle
