#include "pjrt/op_sharding.h"

#include <algorithm>
#include <numeric>

#include "pjrt/wire.h"

namespace heddle::pjrt {

namespace {

// Fields of OpSharding and its kinds.
constexpr int kType = 1, kTileDims = 3, kDevices = 4, kCopiesLast = 6;
constexpr std::uint64_t kOther = 3;

std::int64_t tiles_of(const DimSplit& dim) { return dim.size == 0 ? 1 : total(dim.axes()); }

// Which tile of all a device has, row-major.
std::int64_t tile_of(const Split& split, const Mesh& mesh, std::int64_t device) {
  std::int64_t tile = 0;
  for (const DimSplit& dim : split.dims)
    for (const SplitDigit& digit : dim.digits)
      if (!digit.local()) tile = tile * digit.extent + coordinate(digit, mesh, device);
  return tile;
}

}  // namespace

bool has_op_sharding(const Split& split) {
  return split.pending.empty() && std::ranges::all_of(split.dims, [](const DimSplit& dim) {
           return dim.whole() || (dim.is_block() && dim.padded() == dim.size);
         });
}

std::string replicated_sharding() { return {}; }

std::string op_sharding(const Split& split, const Mesh& mesh) {
  if (split.is_whole()) return replicated_sharding();
  const std::int64_t count = mesh.devices();
  std::vector<std::int64_t> dims;
  std::int64_t tiles = 1;
  for (const DimSplit& dim : split.dims) {
    dims.push_back(tiles_of(dim));
    tiles *= dims.back();
  }
  const std::int64_t copies = count / tiles;
  std::vector<std::int64_t> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  std::ranges::stable_sort(
      devices, {}, [&](std::int64_t device) { return tile_of(split, mesh, device); });
  if (copies > 1) dims.push_back(copies);
  WireWriter writer;
  writer.number(kType, kOther);
  writer.packed(kTileDims, dims);
  writer.packed(kDevices, devices);
  if (copies > 1) writer.number(kCopiesLast, 1);
  return writer.text();
}

}  // namespace heddle::pjrt
