// What a device has of an array, and the array from what all devices have.
#include <cstring>

#include "heddle/op_piece.h"
#include "heddle/spmd.h"
#include "ir/eval/index_space.h"

namespace heddle {

namespace {

// Elements that follow one another in the part and in the whole.
struct Run {
  std::int64_t part, whole, count;
};

// Runs along one dimension, in elements of that dimension.
std::vector<Run> runs_of(const DimSplit& dim, const Mesh& mesh, std::int64_t position) {
  std::vector<Run> runs;
  const std::vector<std::int64_t> places = elements_of(dim, mesh, position);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const auto at = static_cast<std::int64_t>(i);
    Run* last = runs.empty() ? nullptr : &runs.back();
    if (last && last->part + last->count == at && last->whole + last->count == places[i])
      ++last->count;
    else
      runs.push_back({at, places[i], 1});
  }
  return runs;
}

// Calls `copy` for every run of elements that device `position` has.
template <typename Copy>
void for_each_run(const Type& part, const Type& whole, const Split& split, const Mesh& mesh,
                  std::int64_t position, const Copy& copy) {
  std::size_t inner = split.dims.size();  // dimensions from here on are whole
  while (inner > 0 && split.dims[inner - 1].whole()) --inner;
  std::int64_t block = 1;
  for (std::size_t d = inner; d < whole.shape.size(); ++d) block *= whole.shape[d];
  std::vector<std::vector<Run>> dims;
  for (std::size_t d = 0; d < inner; ++d) dims.push_back(runs_of(split.dims[d], mesh, position));
  const Index part_strides = row_major_strides(part.shape);
  const Index whole_strides = row_major_strides(whole.shape);
  const auto walk = [&](const auto& self, std::size_t d, std::int64_t from,
                        std::int64_t to) -> void {
    if (d == inner) return copy(Run{from, to, block});
    for (const Run& run : dims[d]) {
      if (d + 1 == inner) {
        copy(Run{from + run.part * part_strides[d], to + run.whole * whole_strides[d],
                 run.count * block});
        continue;
      }
      for (std::int64_t i = 0; i < run.count; ++i)
        self(self, d + 1, from + (run.part + i) * part_strides[d],
             to + (run.whole + i) * whole_strides[d]);
    }
  };
  walk(walk, 0, 0, 0);
}

}  // namespace

Array part_of(const Array& whole, const Split& split, const MeshDecl& mesh, std::int64_t position) {
  const Type type = local_type(whole.type(), split);
  for (const SplitDigit& d : split.pending)
    if (coordinate(d, mesh.mesh, position) != 0) return neutral_array(split.reduce, type);
  Array part(type);
  if (part.elements() == 0) return part;
  const auto size = static_cast<std::size_t>(byte_size(type.dtype));
  std::byte* const to = part.mutable_bytes().data();
  const std::byte* const from = whole.bytes().data();
  for_each_run(type, whole.type(), split, mesh.mesh, position, [&](const Run& run) {
    std::memcpy(to + static_cast<std::size_t>(run.part) * size,
                from + static_cast<std::size_t>(run.whole) * size,
                static_cast<std::size_t>(run.count) * size);
  });
  return part;
}

Array whole_of(const std::vector<Array>& parts, const Type& type, const Split& split,
               const MeshDecl& mesh) {
  Array whole(type);
  if (whole.elements() == 0) return whole;
  const auto size = static_cast<std::size_t>(byte_size(type.dtype));
  std::byte* const to = whole.mutable_bytes().data();
  // The first of several copies counts.
  for (std::size_t p = parts.size(); p-- > 0;) {
    const std::byte* const from = parts[p].bytes().data();
    for_each_run(parts[p].type(), type, split, mesh.mesh, static_cast<std::int64_t>(p),
                 [&](const Run& run) {
                   std::memcpy(to + static_cast<std::size_t>(run.whole) * size,
                               from + static_cast<std::size_t>(run.part) * size,
                               static_cast<std::size_t>(run.count) * size);
                 });
  }
  return whole;
}

}  // namespace heddle
