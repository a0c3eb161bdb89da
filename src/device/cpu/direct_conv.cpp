#include "device/cpu/direct_conv.h"

#include <algorithm>

#include "device/cpu/element.h"

namespace heddle::cpu::direct {

std::int64_t product_of(const Dims& sizes) {
  std::int64_t all = 1;
  for (std::int64_t size : sizes) all *= size;
  return all;
}

Dims in_order(const Dims& strides, std::size_t skipped, std::size_t places) {
  Dims all = {strides[skipped], strides.back()};
  const std::size_t there = strides.size() - skipped - 2;
  all.insert(all.end(), places - there, strides[skipped]);
  all.insert(all.end(), strides.begin() + static_cast<std::ptrdiff_t>(skipped) + 1,
             strides.end() - 1);
  return all;
}

std::optional<Copy> Copy::make(const Images& images, const Dims& strides, std::int64_t start,
                               bool to_dense) {
  const Images one = images.of(1, images.places[0]);
  const auto dense = one.desc(), apart = Desc::strided(one.dtype, one.dims(), strides);
  if (!dense || !apart) return {};
  const auto primitive =
      to_dense ? Primitive::reorder(*apart, *dense) : Primitive::reorder(*dense, *apart);
  if (!primitive) return {};
  return Copy{start, strides[0], *dense, *apart, *primitive};
}

std::optional<Dims> result_strides(const Rearrangement& move, const Shape& result,
                                   std::size_t places) {
  const std::vector<std::int64_t> steps = steps_of(result);
  Dims strides(places + 2, result.empty() ? 1 : steps[0] * result[0]);
  const std::size_t missing = places + 2 - move.axes.size();
  for (std::size_t d = 0; d < move.dims.size(); ++d) {
    const Rearrangement::Dim& dim = move.dims[d];
    if (dim.step != 1 || dim.size != move.axes[dim.axis].size || move.axes[dim.axis].offset != 0)
      return {};
    strides[dim.axis < 2 ? dim.axis : dim.axis + missing] = steps[d];
  }
  return strides;
}

std::string DirectConv::text() const {
  static constexpr const char* kKinds[] = {"conv", "conv gradient", "conv kernel gradient"};
  return fmt::format("{} {}x{}x{} {}, onednn", kKinds[static_cast<int>(form_.kind)], rows(),
                     form_.features, depth(), name(types_.operand));
}

StepWork DirectConv::work() const {
  StepWork all;
  if (parts_ > 1) ++all.launches;
  const auto parts = static_cast<double>(parts_);
  const auto rows_of_part = static_cast<double>(rows()) / parts;
  all.products.push_back({rows_of_part, static_cast<double>(form_.features),
                          static_cast<double>(depth()), parts,
                          static_cast<double>(byte_size(types_.operand)) / 4, parts});
  return all;
}

std::optional<DirectConv::Source> DirectConv::source_of(const Rearrangement& move,
                                                        const Images& images) {
  if (!move.is_view()) return {};
  if (move.is_identity()) return Source{};
  const Dims strides = in_order(move.strides(), 0, images.places.size());
  if (std::ranges::any_of(strides, [](std::int64_t s) { return s <= 0; })) return {};
  auto copy = Copy::make(images, strides, move.start(), true);
  if (!copy) return {};
  return Source{std::move(copy), room(images.bytes())};
}

const std::byte* DirectConv::read(const CallFrame& frame, std::size_t operand, const Source& source,
                                  const Images& images) const {
  const std::byte* from = frame.operands[operand];
  if (!source.copy) return from;
  const Copy& copy = *source.copy;
  const std::int64_t size = byte_size(images.dtype);
  std::byte* to = frame.workspace + source.at;
  frame.pool.parallel_for(images.batch, [&](std::int64_t i, int worker) {
    const Memory apart(copy.apart, from + (copy.start + i * copy.image_step) * size);
    const Memory dense(copy.dense, to + i * images.image() * size);
    copy.primitive.run(apart, nullptr, dense, scratch(frame, worker));
  });
  return to;
}

}  // namespace heddle::cpu::direct
