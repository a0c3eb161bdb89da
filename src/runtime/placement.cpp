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

// What lies on several stages lies alike on all of them.
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
  std::vector<Array> parts = all;
  if (!on_->stages.empty()) {
    parts.clear();
    for (int device : stage_devices())
      if (static_cast<std::size_t>(device) < all.size())
        parts.push_back(all[static_cast<std::size_t>(device)]);
  }
  if (static_cast<std::int64_t>(parts.size()) != devices())
    return reason("{} has a part on each of {} devices, and {} were given", name_, devices(),
                  parts.size());
  if (!type_.is_tensor()) return parts[0];
  const Type part = part_type();
  std::vector<Array> by_position;
  for (std::int64_t p = 0; p < devices(); ++p) {
    const auto device = static_cast<std::size_t>(device_at(mesh(), p));
    if (parts[device].type() != part)
      return reason("{} is {} on each device, and device {} has {}", name_, part.str(), device,
                    parts[device].type().str());
    by_position.push_back(parts[device]);
  }
  if (split_.is_whole()) return by_position[0];
  return whole_of(by_position, type_, split_, mesh());
}

Expected<Array> PlacedValue::whole(const Array& part, Transport& ranks) const {
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<int> everyone(count);
  std::iota(everyone.begin(), everyone.end(), 0);
  // Ranks that have nothing of it take part.
  const Array mine = number_on_mesh(ranks.rank()) ? part : Array(part_type());
  const auto bytes = mine.bytes();
  std::vector<std::byte> all(bytes.size() * count);
  HEDDLE_TRY(const GroupId group, ranks.group(everyone));
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = bytes.data();
  c.out = all.data();
  c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(bytes.size())};
  c.what = "sharing results";
  if (!bytes.empty()) HEDDLE_TRY_VOID(run_collective(ranks, c));
  std::vector<Array> parts;
  for (std::size_t r = 0; r < count; ++r)
    parts.emplace_back(mine.type(),
                       std::span<const std::byte>(all).subspan(r * bytes.size(), bytes.size()));
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
      if (argument.number_on_mesh(device)) bytes += argument.part_type().bytes();
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
