#include "heddle/placement.h"

#include <algorithm>
#include <numeric>

#include "heddle/sharding.h"
#include "heddle/spmd.h"
#include "heddle/transport.h"
#include "ir/replica_groups.h"

namespace heddle {

namespace {

// Where on the mesh a device stands.
std::int64_t position_of(const MeshDecl& mesh, std::int64_t device) {
  const auto at = std::ranges::find(mesh.device_ids, device);
  return mesh.device_ids.empty() ? device : at - mesh.device_ids.begin();
}

}  // namespace

Expected<Layout> PlacedValue::layout() const {
  return layout_of(split_, mesh().mesh, on_->axes.mem());
}

Type PlacedValue::part_type() const {
  return type_.is_tensor() ? local_type(type_, split_) : type_;
}

Type PlacedValue::part_type_on(std::int64_t device) const {
  Type type = part_type();
  if (!lies_in_rows()) return type;
  type.shape[0] = 0;
  for (const RowRange& rows : rows_on(device)) type.shape[0] += rows.count();
  return type;
}

std::vector<RowRange> PlacedValue::rows_on(std::int64_t device) const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (std::ranges::count(on_->stages[static_cast<std::size_t>(stages_[i])],
                           static_cast<int>(device)) > 0)
      return rows_[i];
  return {};
}

Expected<std::vector<CheckpointValue::Rows>> PlacedValue::rows_by_stage(const Mesh& on,
                                                                        AxisId mem) const {
  std::vector<CheckpointValue::Rows> all;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::vector<int>& devices = on_->stages[static_cast<std::size_t>(stages_[i])];
    Type some = type_;
    some.shape[0] = part_type_on(devices[0]).shape[0];
    Split split = split_;
    split.dims[0] = Split::whole(some).dims[0];
    HEDDLE_TRY(Layout layout, layout_of(split, on, mem));
    all.push_back({rows_[i], devices, std::move(layout)});
  }
  return all;
}

Expected<Array> PlacedValue::only_rows(const Array& all_rows, std::int64_t device) const {
  if (!lies_in_rows()) return all_rows;
  Array made(part_type_on(device));
  if (all_rows.type() != part_type())
    return reason("{} has {} rows, and {} were given", name_, type_.shape[0],
                  all_rows.type().str());
  const std::size_t row = all_rows.bytes().size() / static_cast<std::size_t>(type_.shape[0]);
  auto to = made.mutable_bytes().begin();
  for (const RowRange& rows : rows_on(device)) {
    const auto some = all_rows.bytes().subspan(static_cast<std::size_t>(rows.begin) * row,
                                               static_cast<std::size_t>(rows.count()) * row);
    to = std::ranges::copy(some, to).out;
  }
  return made;
}

// What lies on several stages lies alike on all of them, but for rows.
std::vector<int> PlacedValue::stage_devices() const {
  if (on_->stages.empty()) return {};
  return on_->stages[static_cast<std::size_t>(stages_[0])];
}

std::int64_t PlacedValue::all_devices() const {
  return std::max<std::int64_t>(static_cast<std::int64_t>(on_->stages.size()), 1) * devices();
}

std::optional<std::int64_t> PlacedValue::number_on_mesh(std::int64_t device) const {
  if (on_->stages.empty()) return device;
  for (int stage : stages_) {
    const std::vector<int>& devices = on_->stages[static_cast<std::size_t>(stage)];
    const auto at = std::ranges::find(devices, static_cast<int>(device));
    if (at != devices.end()) return at - devices.begin();
  }
  return {};
}

Expected<Array> PlacedValue::part_of(const Array& whole, std::int64_t numbered) const {
  const auto on_mesh = number_on_mesh(numbered);
  if (!on_mesh) return Array();
  const std::int64_t device = *on_mesh;
  if (!type_.is_tensor()) return whole;
  if (whole.type() != type_)
    return reason("{} is {}, and an array of {} was given", name_, type_.str(), whole.type().str());
  if (device < 0 || device >= devices())
    return reason("{}: there is no device {} on mesh {}", name_, device, mesh().mesh.str());
  if (lies_in_rows()) {
    HEDDLE_TRY(const Array all_rows,
               split_.is_whole()
                   ? Expected<Array>(whole)
                   : heddle::part_of(whole, split_, mesh(), position_of(mesh(), device)));
    return only_rows(all_rows, numbered);
  }
  if (split_.is_whole()) {
    Array copy = whole;
    const bool shared = devices() > 1 || !on_->stages.empty();
    if (shared) (void)copy.mutable_bytes();  // each device may overwrite its own
    return copy;
  }
  return heddle::part_of(whole, split_, mesh(), position_of(mesh(), device));
}

Expected<std::vector<Array>> PlacedValue::parts_of(const Array& whole) const {
  std::vector<Array> parts;
  for (std::int64_t device = 0; device < devices(); ++device) {
    HEDDLE_TRY(Array part, part_of(whole, device));
    parts.push_back(std::move(part));
  }
  return parts;
}

Verdict PlacedValue::has_whole() const {
  if (split_.pending.empty()) return yes();
  return reason("{} is unreduced, so that there is no whole of it", name_);
}

Expected<Array> PlacedValue::whole(const std::vector<Array>& all) const {
  HEDDLE_TRY_VOID(has_whole());
  if (on_->stages.empty()) return whole_on({}, type_, all);
  if (!lies_in_rows()) return whole_on(stage_devices(), type_, all);
  Array made(type_);
  const std::size_t row = made.bytes().size() / static_cast<std::size_t>(type_.shape[0]);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Type type = type_;
    type.shape[0] = 0;
    for (const RowRange& rows : rows_[i]) type.shape[0] += rows.count();
    HEDDLE_TRY(const Array some,
               whole_on(on_->stages[static_cast<std::size_t>(stages_[i])], type, all));
    std::size_t from = 0;
    for (const RowRange& rows : rows_[i]) {
      const std::size_t bytes = static_cast<std::size_t>(rows.count()) * row;
      std::ranges::copy(
          some.bytes().subspan(from, bytes),
          made.mutable_bytes().begin() +
              static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows.begin) * row));
      from += bytes;
    }
  }
  return made;
}

// The whole, of this type, from what these devices have; none are named: from all.
Expected<Array> PlacedValue::whole_on(std::vector<int> on, const Type& type,
                                      const std::vector<Array>& all) const {
  std::vector<Array> parts = all;
  if (!on.empty()) {
    parts.clear();
    for (int device : on)
      if (static_cast<std::size_t>(device) < all.size())
        parts.push_back(all[static_cast<std::size_t>(device)]);
  }
  if (static_cast<std::int64_t>(parts.size()) != devices())
    return reason("{} has a part on each of {} devices, and {} were given", name_, devices(),
                  parts.size());
  if (!type.is_tensor()) return parts[0];
  const Type part = on.empty() ? part_type() : part_type_on(on[0]);
  Split split = split_;
  if (lies_in_rows()) split.dims[0] = Split::whole(type).dims[0];
  std::vector<Array> by_position;
  for (std::int64_t p = 0; p < devices(); ++p) {
    const auto device = static_cast<std::size_t>(device_at(mesh(), p));
    if (parts[device].type() != part)
      return reason("{} is {} on each device, and device {} has {}", name_, part.str(), device,
                    parts[device].type().str());
    by_position.push_back(parts[device]);
  }
  if (split.is_whole()) return by_position[0];
  return whole_of(by_position, type, split, mesh());
}

Expected<Array> PlacedValue::whole(const Array& part, Transport& ranks) const {
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  // Ranks that have nothing of it take part; all send as much as the one that has most.
  std::vector<Type> types;
  std::size_t most = 0;
  for (std::size_t r = 0; r < count; ++r) {
    types.push_back(lies_in_rows() ? part_type_on(static_cast<std::int64_t>(r)) : part_type());
    most = std::max(most, Array(types.back()).bytes().size());
  }
  std::vector<std::byte> mine(most), all(most * count);
  if (number_on_mesh(ranks.rank())) std::ranges::copy(part.bytes(), mine.begin());
  HEDDLE_TRY(const GroupId group, ranks.group(everyone));
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = mine.data();
  c.out = all.data();
  c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(most)};
  c.what = "sharing results";
  if (most > 0) HEDDLE_TRY_VOID(run_collective(ranks, c));
  std::vector<Array> parts;
  for (std::size_t r = 0; r < count; ++r)
    parts.emplace_back(types[r], std::span<const std::byte>(all).subspan(
                                     r * most, Array(types[r]).bytes().size()));
  return whole(parts);
}

Placement Placement::on_one_device(const std::vector<Type>& arguments,
                                   const std::vector<Type>& results) {
  auto on = std::make_shared<PlacedOn>();
  on->meshes.push_back({"device", make_mesh({{"device", 1}}, on->axes).value(), {}, {}});
  Placement placement(on, 0);
  placement.one_device_ = true;
  const auto place = [&](const char* what, const std::vector<Type>& types,
                         std::vector<PlacedValue>& values) {
    for (std::size_t i = 0; i < types.size(); ++i)
      values.emplace_back(fmt::format("{} {}", what, i), types[i], Split::whole(types[i]), on, 0);
  };
  place("argument", arguments, placement.arguments);
  place("result", results, placement.results);
  return placement;
}

std::int64_t Placement::devices() const {
  const auto stages = static_cast<std::int64_t>(on_->stages.size());
  return std::max<std::int64_t>(stages, 1) * mesh().mesh.devices();
}

std::string Placement::mesh_text() const {
  if (on_->stages.empty()) return mesh().mesh.str();
  return fmt::format("{} stages of {}", on_->stages.size(), mesh().mesh.str());
}

int Placement::stage_of(std::int64_t device) const {
  for (std::size_t s = 0; s < on_->stages.size(); ++s)
    if (std::ranges::count(on_->stages[s], static_cast<int>(device)) > 0)
      return static_cast<int>(s);
  return 0;
}

std::vector<std::size_t> Placement::on_device(const std::vector<PlacedValue>& values,
                                              std::int64_t device) const {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].number_on_mesh(device)) there.push_back(i);
  return there;
}

std::int64_t Placement::argument_bytes() const {
  std::int64_t most = 0;
  for (std::size_t s = 0; s < std::max<std::size_t>(on_->stages.size(), 1); ++s) {
    const std::int64_t device = on_->stages.empty() ? 0 : on_->stages[s][0];
    std::int64_t bytes = 0;
    for (const PlacedValue& argument : arguments)
      if (argument.number_on_mesh(device)) bytes += argument.part_type_on(device).bytes();
    most = std::max(most, bytes);
  }
  return most;
}

Verdict Placement::has_wholes() const {
  for (const PlacedValue& result : results) HEDDLE_TRY_VOID(result.has_whole());
  return yes();
}

Expected<CheckpointMesh> Placement::for_checkpoints() const {
  for (const PlacedValue& argument : arguments)
    if (argument.mesh().device_ids != mesh().device_ids)
      return reason(
          "checkpoints need all arguments on mesh @{}, but one lies on @{}, whose devices come in "
          "another order",
          mesh().name, argument.mesh().name);
  return CheckpointMesh{mesh().mesh, on_->axes, mesh().device_ids, devices()};
}

}  // namespace heddle
