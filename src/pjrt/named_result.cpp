#include "pjrt/named_result.h"

#include <algorithm>

#include "pjrt/op_sharding.h"

namespace heddle::pjrt {

namespace {

// Which devices follow each other along an axis or a part of one: from every `low`-th to `high`.
struct Span {
  std::int64_t low = 1, high = 1;
};

std::vector<Span> spans_of(const Mesh& mesh) {
  std::vector<Span> spans(mesh.axes().size());
  std::int64_t low = 1;
  for (std::size_t a = spans.size(); a-- > 0; low *= mesh.axes()[a].size)
    spans[a] = {low, low * mesh.axes()[a].size};
  return spans;
}

// How many of the digits, from the first on, are whole axes of the mesh, one after the other.
std::size_t count_named(const SplitAxes& digits, const std::vector<Span>& axes,
                        const std::vector<Span>& named) {
  std::size_t good = 0;
  const Span* open = nullptr;  // the axis that is not yet complete
  std::int64_t reached = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::int64_t low = axes[static_cast<std::size_t>(digits[i].axis)].low * digits[i].stride;
    const std::int64_t high = low * digits[i].extent;
    if (open == nullptr) {
      const auto begins = std::ranges::find_if(
          named, [&](const Span& s) { return s.high == high && s.low < s.high; });
      if (begins == named.end()) return good;
      open = &*begins;
    } else if (high != reached) {
      return good;
    }
    if (low < open->low) return good;
    reached = low;
    if (low > open->low) continue;
    open = nullptr;
    good = i + 1;
  }
  return good;
}

ShardingAxis axis_of(const SplitDigit& digit, const Mesh& mesh) {
  const MeshAxis& axis = mesh.axes()[static_cast<std::size_t>(digit.axis)];
  if (digit.extent == axis.size) return {axis.name};
  return {axis.name, axis.size / (digit.extent * digit.stride), digit.extent};
}

}  // namespace

std::optional<Sharding> nearest_named(const Split& split, const MeshDecl& on,
                                      const std::vector<Mesh>& named) {
  Sharding nearest;
  nearest.dims.resize(split.dims.size());
  if (!split.pending.empty() || !has_op_sharding(split)) return nearest;
  const std::vector<Span> axes = spans_of(on.mesh);
  bool all = true;
  for (std::size_t d = 0; d < split.dims.size(); ++d) {
    const SplitAxes digits = split.dims[d].axes();
    std::size_t good = digits.size();
    for (const Mesh& mesh : named) good = std::min(good, count_named(digits, axes, spans_of(mesh)));
    for (std::size_t i = 0; i < good; ++i)
      nearest.dims[d].axes.push_back(axis_of(digits[i], on.mesh));
    all = all && good == digits.size();
  }
  if (all) return std::nullopt;
  return nearest;
}

std::vector<Mesh> naming_meshes(const Program& program, std::int64_t devices) {
  std::vector<Mesh> meshes;
  auto add = [&](const Mesh& mesh) {
    if (mesh.devices() == devices && std::ranges::find(meshes, mesh) == meshes.end())
      meshes.push_back(mesh);
  };
  for (const MeshDecl& decl : program.meshes)
    if (meshes.empty()) add(decl.mesh);
  for (ValueId v = 0; v < program.value_count(); ++v)
    if (const ValueLayout* layout = program.layout_of(v); layout && program.value(v).op != kNone)
      add(program.meshes[layout->mesh].mesh);
  return meshes;
}

}  // namespace heddle::pjrt
