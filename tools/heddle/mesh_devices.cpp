#include "mesh_devices.h"

#include <fmt/format.h>

#include <numeric>

namespace heddle::cli {

MeshDevices::MeshDevices(const Spmd& spmd, const SpmdFunction& function, Transport* ranks,
                         const WatchdogOptions& watchdog)
    : function_(function),
      meshes_(spmd.program.meshes),
      mesh_(meshes_[function.mesh]),
      axes_(spmd.program.axes),
      ranks_(ranks) {
  constexpr std::int64_t kMostDevices = 1024;
  const std::int64_t devices = mesh_.mesh.devices();
  if (ranks != nullptr) {
    if (ranks->size() != devices)
      throw Error(fmt::format("mesh {} has {} devices, but {} ranks were started: start {}",
                              mesh_.mesh.str(), devices, ranks->size(), devices));
    device_ = {ranks->rank()};
    return;
  }
  if (devices > kMostDevices)
    throw Error(
        fmt::format("{} devices are more than threads of one process can stand for, which "
                    "is {}; heddle plan shows the program without running it",
                    devices, kMostDevices));
  device_.resize(static_cast<std::size_t>(devices));
  std::iota(device_.begin(), device_.end(), 0);
  ThreadMeshOptions options;
  options.watchdog = watchdog;
  threads_ = std::make_unique<ThreadMesh>(static_cast<int>(devices), options);
}

CheckpointMesh MeshDevices::for_checkpoints() const {
  for (const std::uint32_t m : function_.argument_meshes)
    if (meshes_[m].device_ids != mesh_.device_ids)
      throw Error(
          fmt::format("checkpoints need all arguments on mesh @{}, but one lies on @{}, "
                      "whose devices come in another order",
                      mesh_.name, meshes_[m].name));
  return {mesh_.mesh, axes_, mesh_.device_ids};
}

std::vector<Array> MeshDevices::parts_of(const Array& whole, std::size_t argument) const {
  std::vector<Array> parts;
  const MeshDecl& mesh = meshes_[function_.argument_meshes[argument]];
  const CheckpointMesh order{mesh.mesh, axes_, mesh.device_ids};
  for (const std::int64_t device : device_)
    parts.push_back(part_of(whole, function_.arguments[argument], mesh, order.position_of(device)));
  return parts;
}

DeviceParts MeshDevices::run(const Executable& executable, DeviceParts arguments,
                             RunOptions options) {
  if (threads_) return threads_->run(executable, std::move(arguments), options).value();
  options.transport = ranks_;
  return {executable.run(std::move(arguments[0]), options).value()};
}

std::vector<Array> MeshDevices::gathered(const Array& part) {
  const auto ranks = static_cast<std::size_t>(ranks_->size());
  std::vector<int> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  const auto bytes = part.bytes();
  std::vector<std::byte> parts(bytes.size() * ranks);
  Collective c{.kind = CollectiveKind::all_gather, .group = ranks_->group(everyone).value()};
  c.in = bytes.data();
  c.out = parts.data();
  c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(bytes.size())};
  c.what = "sharing results";
  if (!bytes.empty()) (void)run_collective(*ranks_, c).value();
  std::vector<Array> all;
  for (std::size_t r = 0; r < ranks; ++r)
    all.emplace_back(part.type(),
                     std::span<const std::byte>(parts).subspan(r * bytes.size(), bytes.size()));
  return all;
}

Array MeshDevices::whole_result(const DeviceParts& results, std::size_t result) {
  const std::vector<Array> others = threads_ ? std::vector<Array>{} : gathered(results[0][result]);
  std::vector<Array> by_position;
  const MeshDecl& mesh = meshes_[function_.result_meshes[result]];
  for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p) {
    const auto at = static_cast<std::size_t>(p);
    const auto device = static_cast<std::size_t>(mesh.device_ids.empty() ? p : mesh.device_ids[at]);
    by_position.push_back(threads_ ? results[device][result] : others[device]);
  }
  return whole_of(by_position, function_.result_types[result], function_.results[result], mesh);
}

void want_whole_results(const SpmdFunction& function) {
  for (std::size_t i = 0; i < function.results.size(); ++i)
    if (!function.results[i].pending.empty())
      throw Error(fmt::format("result {} is unreduced, so that there is no whole of it", i));
}

}  // namespace heddle::cli
