#include "pjrt/op_sharding.h"

#include <algorithm>
#include <numeric>

#include "pjrt/wire.h"

namespace heddle::pjrt {

namespace {

// Fields of OpSharding, and kinds of what lies beside the tiles.
constexpr int kType = 1, kTileDims = 3, kDevices = 4, kBesideTiles = 8;
constexpr std::int64_t kCopies = 0, kOther = 3, kPending = 6;

std::int64_t tiles_of(const DimSplit& dim) { return dim.whole() ? 1 : total(dim.axes()); }

std::int64_t number_of(const SplitAxes& digits, const Mesh& mesh, std::int64_t device) {
  std::int64_t number = 0;
  for (const SplitDigit& digit : digits)
    number = number * digit.extent + coordinate(digit, mesh, device);
  return number;
}

// Where a device stands: which tile, then which of the contributions to it. What is left are
// copies, in the order of the devices.
struct Standing {
  std::int64_t tile = 0, copy = 0, part = 0;
  friend auto operator<=>(const Standing&, const Standing&) = default;
};

Standing standing(const Split& split, const Mesh& mesh, std::int64_t device) {
  Standing s;
  for (const DimSplit& dim : split.dims)
    s.tile = s.tile * tiles_of(dim) + number_of(dim.axes(), mesh, device);
  s.part = number_of(split.pending, mesh, device);
  s.copy = device;
  std::int64_t step = mesh.devices();
  for (std::size_t a = 0; a < mesh.axes().size(); ++a) {
    step /= mesh.axes()[a].size;
    for (const SplitDigit& digit : split.pending)
      if (digit.axis == static_cast<int>(a))
        s.copy -= coordinate(digit, mesh, device) * digit.stride * step;
  }
  return s;
}

}  // namespace

bool has_op_sharding(const Split& split) {
  return std::ranges::all_of(split.dims, [](const DimSplit& dim) {
    return dim.whole() || (dim.is_block() && dim.padded() == dim.size);
  });
}

std::string replicated_sharding() { return {}; }

std::string op_sharding(const Split& split, const MeshDecl& on) {
  const Mesh& mesh = on.mesh;
  if (split.is_whole() && split.pending.empty()) return replicated_sharding();
  std::vector<std::int64_t> dims, beside;
  std::int64_t copies = mesh.devices() / total(split.pending);
  for (const DimSplit& dim : split.dims) {
    dims.push_back(tiles_of(dim));
    copies /= dims.back();
  }
  if (copies > 1) dims.push_back(copies), beside.push_back(kCopies);
  if (!split.pending.empty()) dims.push_back(total(split.pending)), beside.push_back(kPending);
  std::vector<std::int64_t> devices(static_cast<std::size_t>(mesh.devices()));
  std::iota(devices.begin(), devices.end(), 0);
  std::ranges::sort(devices, {},
                    [&](std::int64_t device) { return standing(split, mesh, device); });
  if (!on.device_ids.empty())
    for (std::int64_t& device : devices) device = on.device_ids[static_cast<std::size_t>(device)];
  WireWriter writer;
  writer.number(kType, kOther);
  writer.packed(kTileDims, dims);
  writer.packed(kDevices, devices);
  if (!beside.empty()) writer.packed(kBesideTiles, beside);
  return writer.text();
}

}  // namespace heddle::pjrt
