#include "spmd/writer.h"

#include <algorithm>
#include <numeric>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "ir/eval/scalar.h"

namespace heddle {

std::string_view combining_op(ReduceOp op) {
  static constexpr std::string_view names[] = {"stablehlo.add",     "stablehlo.multiply",
                                               "stablehlo.minimum", "stablehlo.maximum",
                                               "stablehlo.and",     "stablehlo.or"};
  return names[static_cast<int>(op)];
}

Attr integer_list(std::vector<std::int64_t> values) {
  return Attr{Attr::Integers(std::move(values))};
}

ValueId Writer::op(std::string_view name, std::vector<ValueId> operands, const Type& result,
                   AttrDict attrs, std::vector<RegionId> regions) {
  const TypeId type = out.intern(result);
  const OpId id =
      out.add_op(at, *find_op(name), operands, {&type, 1}, std::move(attrs), regions, loc);
  return out.result(out.op(id), 0);
}

ValueId Writer::constant(Array value) {
  const Type type = value.type();
  return op("stablehlo.constant", {}, type, {{"value", Attr{std::move(value)}}});
}

ValueId Writer::number(std::int64_t value) {
  return constant(Array(Type::tensor(DType::i64, {}), std::as_bytes(std::span(&value, 1))));
}

ValueId Writer::zero(DType dtype) {
  auto [known, is_new] = zeros_.try_emplace({at, dtype}, kNone);
  if (is_new) known->second = constant(Array(Type::tensor(dtype, {})));
  return known->second;
}

ValueId Writer::convert(ValueId scalar, DType dtype) {
  Type wanted = type(scalar);
  if (wanted.dtype == dtype) return scalar;
  wanted.dtype = dtype;
  return op("stablehlo.convert", {scalar}, wanted);
}

ValueId Writer::over(ValueId scalar, const Type& wanted) {
  if (wanted.rank() == 0) return scalar;
  return op("stablehlo.broadcast_in_dim", {scalar}, wanted,
            {{"broadcast_dimensions", integer_list({})}});
}

ValueId Writer::reshape(ValueId v, Shape shape) {
  if (type(v).shape == shape) return v;
  const Type wanted = Type::tensor(type(v).dtype, std::move(shape));
  return op("stablehlo.reshape", {v}, wanted);
}

ValueId Writer::transpose(ValueId v, const std::vector<std::int64_t>& order) {
  if (std::ranges::is_sorted(order)) return v;
  Type wanted = type(v);
  for (std::size_t d = 0; d < order.size(); ++d)
    wanted.shape[d] = type(v).shape[static_cast<std::size_t>(order[d])];
  return op("stablehlo.transpose", {v}, wanted, {{"permutation", integer_list(order)}});
}

ValueId Writer::slice(ValueId v, std::size_t dim, std::int64_t start, std::int64_t count,
                      std::int64_t stride) {
  Type wanted = type(v);
  if (start == 0 && stride == 1 && count == wanted.shape[dim]) return v;
  std::vector<std::int64_t> starts(wanted.rank(), 0), limits = wanted.shape,
                                                      strides(wanted.rank(), 1);
  starts[dim] = start;
  limits[dim] = count == 0 ? start : start + (count - 1) * stride + 1;
  strides[dim] = stride;
  wanted.shape[dim] = count;
  return op("stablehlo.slice", {v}, wanted,
            {{"limit_indices", integer_list(limits)},
             {"start_indices", integer_list(starts)},
             {"strides", integer_list(strides)}});
}

ValueId Writer::pad(ValueId v, std::size_t dim, std::int64_t low, std::int64_t high, ValueId fill) {
  if (low == 0 && high == 0) return v;
  Type wanted = type(v);
  const std::vector<std::int64_t> none(wanted.rank(), 0);
  std::vector<std::int64_t> lows = none, highs = none;
  lows[dim] = low;
  highs[dim] = high;
  wanted.shape[dim] += low + high;
  return op("stablehlo.pad", {v, fill}, wanted,
            {{"edge_padding_high", integer_list(highs)},
             {"edge_padding_low", integer_list(lows)},
             {"interior_padding", integer_list(none)}});
}

ValueId Writer::concatenate(std::vector<ValueId> parts, std::size_t dim) {
  if (parts.size() == 1) return parts[0];
  Type wanted = type(parts[0]);
  wanted.shape[dim] = 0;
  for (ValueId p : parts) wanted.shape[dim] += type(p).shape[dim];
  return op("stablehlo.concatenate", std::move(parts), wanted,
            {{"dimension", Attr{Attr::Integer{static_cast<std::int64_t>(dim), "i64"}}}});
}

ValueId Writer::dynamic_slice(ValueId v, std::size_t dim, ValueId start, std::int64_t count) {
  Type wanted = type(v);
  wanted.shape[dim] = count;
  const ValueId origin = number(0);
  std::vector<ValueId> operands{v};
  for (std::size_t d = 0; d < wanted.rank(); ++d) operands.push_back(d == dim ? start : origin);
  return op("stablehlo.dynamic_slice", std::move(operands), wanted,
            {{"slice_sizes", integer_list(wanted.shape)}});
}

ValueId Writer::select(ValueId truth, ValueId yes, ValueId no) {
  const Type wanted = type(yes);
  return op("stablehlo.select", {truth, yes, no}, wanted);
}

ValueId Writer::compare(ValueId a, ValueId b, const char* direction) {
  const Type wanted = Type::tensor(DType::i1, type(a).shape);
  return op("stablehlo.compare", {a, b}, wanted,
            {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", direction}}}});
}

ValueId Writer::add(ValueId a, ValueId b) {
  const Type wanted = type(a);
  return op("stablehlo.add", {a, b}, wanted);
}

ValueId Writer::reduce(ValueId v, std::size_t dim, ReduceOp kind) {
  Type wanted = type(v);
  wanted.shape.erase(wanted.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  const ValueId start = constant(neutral_array(kind, Type::tensor(wanted.dtype, {})));
  return op("stablehlo.reduce", {v, start}, wanted,
            {{"dimensions", integer_list({static_cast<std::int64_t>(dim)})}},
            {reducer(kind, wanted.dtype)});
}

std::vector<ValueId> Writer::sort(const std::vector<ValueId>& values, std::size_t dim,
                                  RegionId order) {
  std::vector<TypeId> types;
  for (ValueId v : values) types.push_back(out.value(v).type);
  const AttrDict attrs{{"dimension", Attr{Attr::Integer{static_cast<std::int64_t>(dim), "i64"}}},
                       {"is_stable", Attr{true}}};
  const OpId id =
      out.add_op(at, *find_op("stablehlo.sort"), values, types, attrs, {&order, 1}, loc);
  std::vector<ValueId> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) sorted.push_back(out.result(out.op(id), i));
  return sorted;
}

ValueId Writer::spread(ValueId v, const Type& wanted, std::size_t dim) {
  std::vector<std::int64_t> dims;
  for (std::size_t d = 0; d < wanted.rank(); ++d)
    if (d != dim) dims.push_back(static_cast<std::int64_t>(d));
  return op("stablehlo.broadcast_in_dim", {v}, wanted,
            {{"broadcast_dimensions", integer_list(dims)}});
}

ValueId Writer::multiply(ValueId a, std::int64_t by) {
  if (by == 1) return a;
  const Type wanted = type(a);
  return op("stablehlo.multiply", {a, over(number(by), wanted)}, wanted);
}

// ---- the device

std::int64_t Writer::device_at(std::int64_t position) const {
  return mesh.device_ids.empty() ? position : mesh.device_ids[static_cast<std::size_t>(position)];
}

void Writer::write_position() {
  ValueId device = op("stablehlo.partition_id", {}, Type::tensor(DType::ui32, {}));
  device = convert(device, DType::i64);
  if (!mesh.device_ids.empty()) {
    // Which position the device has: the numbers turned round.
    const auto n = static_cast<std::int64_t>(mesh.device_ids.size());
    Array positions(Type::tensor(DType::i64, {n}));
    for (std::int64_t p = 0; p < n; ++p)
      positions.as_mutable<std::int64_t>()[static_cast<std::size_t>(device_at(p))] = p;
    device = reshape(dynamic_slice(constant(std::move(positions)), 0, device, 1), {});
  }
  along_.clear();
  const Type scalar = Type::tensor(DType::i64, {});
  std::int64_t inner = mesh.mesh.devices();
  for (const MeshAxis& axis : mesh.mesh.axes()) {
    inner /= axis.size;
    ValueId c = device;
    if (inner > 1) c = op("stablehlo.divide", {c, number(inner)}, scalar);
    if (inner * axis.size < mesh.mesh.devices())
      c = op("stablehlo.remainder", {c, number(axis.size)}, scalar);
    along_.push_back(c);
  }
}

ValueId Writer::position(const SplitAxes& axes) {
  const Type scalar = Type::tensor(DType::i64, {});
  ValueId sum = kNone;
  std::int64_t step = 1;
  for (std::size_t i = axes.size(); i-- > 0; step *= axes[i].extent) {
    const SplitDigit& d = axes[i];
    ValueId c = along_[static_cast<std::size_t>(d.axis)];
    if (d.stride > 1) c = op("stablehlo.divide", {c, number(d.stride)}, scalar);
    if (d.stride * d.extent < mesh.mesh.axes()[static_cast<std::size_t>(d.axis)].size)
      c = op("stablehlo.remainder", {c, number(d.extent)}, scalar);
    c = multiply(c, step);
    sum = sum == kNone ? c : add(sum, c);
  }
  return sum == kNone ? number(0) : sum;
}

ValueId Writer::is_first(const SplitAxes& axes) { return compare(position(axes), number(0), "EQ"); }

ValueId Writer::places(const Type& type, std::size_t dim, ValueId begin) {
  const ValueId counted =
      op("stablehlo.iota", {}, type,
         {{"iota_dimension", Attr{Attr::Integer{static_cast<std::int64_t>(dim), "i64"}}}});
  return add(counted, over(convert(begin, type.dtype), type));
}

// The bounds are brought to the part's own places first, so that 32 bits do for these.
ValueId Writer::between(Shape shape, std::size_t dim, ValueId first, ValueId end) {
  const std::int64_t count = shape[dim];
  const DType type = count < (std::int64_t{1} << 31) - 1 ? DType::i32 : DType::i64;
  const Type places = Type::tensor(type, {count}), scalar = Type::tensor(DType::i64, {});
  const ValueId place =
      op("stablehlo.iota", {}, places, {{"iota_dimension", Attr{Attr::Integer{0, "i64"}}}});
  auto bounded = [&](ValueId bound, const char* direction) {
    const ValueId held = op("stablehlo.clamp", {number(0), bound, number(count)}, scalar);
    return compare(place, over(convert(held, type), places), direction);
  };
  ValueId inside = kNone;
  if (first != kNone) inside = bounded(first, "GE");
  if (end != kNone) {
    const ValueId before = bounded(end, "LT");
    inside = inside == kNone
                 ? before
                 : op("stablehlo.and", {inside, before}, Type::tensor(DType::i1, places.shape));
  }
  return op("stablehlo.broadcast_in_dim", {inside}, Type::tensor(DType::i1, std::move(shape)),
            {{"broadcast_dimensions", integer_list({static_cast<std::int64_t>(dim)})}});
}

ValueId Writer::masked(ValueId v, std::size_t dim, ValueId begin, std::int64_t size, ValueId fill) {
  const Type here = type(v);
  const ValueId first = multiply(begin, -1);
  return select(between(here.shape, dim, first, add(first, number(size))), v, over(fill, here));
}

// ---- collectives

AttrDict Writer::groups(const SplitAxes& axes, bool global_ids) {
  Attr::List refs;
  for (const SplitDigit& d : axes) {
    const MeshAxis& axis = mesh.mesh.axes()[static_cast<std::size_t>(d.axis)];
    AttrDict fields{{"name", Attr{axis.name}}};
    if (d.extent != axis.size)
      fields.push_back({"sub_axis_info",
                        Attr{fmt::format("({}){}", axis.size / d.extent / d.stride, d.extent)}});
    refs.push_back(Attr{Attr::Struct{"axis_ref", std::move(fields)}});
  }
  AttrDict attrs;
  attrs.push_back(
      {"channel_handle", Attr{Attr::Struct{"channel_handle",
                                           {{"handle", Attr{Attr::Integer{++channel_, "i64"}}},
                                            {"type", Attr{Attr::Integer{1, "i64"}}}}}}});
  attrs.push_back({"replica_groups", Attr{Attr::Struct{"replica_group_mesh_axes",
                                                       {{"mesh", Attr{Attr::Symbol{mesh.name}}},
                                                        {"axes", Attr{std::move(refs)}}}}}});
  if (global_ids) attrs.push_back({"use_global_device_ids", Attr{Attr::Unit{}}});
  return attrs;
}

RegionId Writer::reducer(ReduceOp kind, DType dtype) {
  const RegionId body = out.add_region();
  const Type scalar = Type::tensor(dtype, {});
  const TypeId id = out.intern(scalar);
  const ValueId a = out.add_arg(body, id), b = out.add_arg(body, id);
  const RegionId back = at;
  at = body;
  const ValueId both = op(combining_op(kind), {a, b}, scalar);
  out.add_op(body, *find_op("stablehlo.return"), {&both, 1}, {}, {}, {}, loc);
  at = back;
  return body;
}

namespace {

NamedAttr integer(std::string_view name, std::size_t value) {
  return {name, Attr{Attr::Integer{static_cast<std::int64_t>(value), "i64"}}};
}

}  // namespace

ValueId Writer::all_gather(ValueId v, std::size_t dim, const SplitAxes& axes) {
  Type wanted = type(v);
  wanted.shape[dim] *= total(axes);
  AttrDict attrs = groups(axes, true);
  attrs.insert(attrs.begin(), integer("all_gather_dim", dim));
  return op("stablehlo.all_gather", {v}, wanted, std::move(attrs));
}

ValueId Writer::all_reduce(ValueId v, const SplitAxes& axes, ReduceOp kind) {
  const Type wanted = type(v);
  AttrDict attrs = groups(axes, true);
  return op("stablehlo.all_reduce", {v}, wanted, std::move(attrs), {reducer(kind, wanted.dtype)});
}

ValueId Writer::reduce_scatter(ValueId v, std::size_t dim, const SplitAxes& axes, ReduceOp kind) {
  Type wanted = type(v);
  wanted.shape[dim] /= total(axes);
  AttrDict attrs = groups(axes, true);
  attrs.insert(attrs.begin() + 2, integer("scatter_dimension", dim));
  return op("stablehlo.reduce_scatter", {v}, wanted, std::move(attrs),
            {reducer(kind, wanted.dtype)});
}

ValueId Writer::all_to_all(ValueId v, std::size_t dim, const SplitAxes& axes) {
  const Type wanted = type(v);
  AttrDict attrs = groups(axes, false);
  attrs.insert(attrs.begin() + 1, integer("concat_dimension", dim));
  attrs.push_back(integer("split_count", static_cast<std::size_t>(total(axes))));
  attrs.push_back(integer("split_dimension", dim));
  return op("stablehlo.all_to_all", {v}, wanted, std::move(attrs));
}

ValueId Writer::permute(ValueId v, const Array& pairs) {
  const Type wanted = type(v);
  AttrDict attrs = groups({}, false);
  attrs.pop_back();
  attrs.push_back({"source_target_pairs", Attr{pairs}});
  return op("stablehlo.collective_permute", {v}, wanted, std::move(attrs));
}

Array Writer::pairs(const SplitAxes& axes,
                    const std::function<std::int64_t(std::int64_t)>& to) const {
  std::vector<std::int64_t> steps;  // of a device's number along each of the axes
  for (const SplitDigit& d : axes) {
    std::int64_t inner = d.stride;
    for (std::size_t a = static_cast<std::size_t>(d.axis) + 1; a < mesh.mesh.axes().size(); ++a)
      inner *= mesh.mesh.axes()[a].size;
    steps.push_back(inner);
  }
  std::vector<std::int64_t> listed;
  const std::int64_t count = total(axes);
  for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p) {
    std::int64_t here = 0, base = p;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t c = coordinate(axes[i], mesh.mesh, p);
      here = here * axes[i].extent + c;
      base -= c * steps[i];
    }
    std::int64_t there = to(here);
    if (there < 0 || there >= count) continue;
    for (std::size_t i = axes.size(); i-- > 0; there /= axes[i].extent)
      base += there % axes[i].extent * steps[i];
    listed.insert(listed.end(), {device_at(p), device_at(base)});
  }
  const auto n = static_cast<std::int64_t>(listed.size() / 2);
  return Array(Type::tensor(DType::i64, {n, 2}), std::as_bytes(std::span(listed)));
}

const Array& Writer::known_pairs(const DigitChanges& changes, const std::function<Array()>& make) {
  std::vector<std::int64_t> key;
  for (const auto& [from, to] : changes)
    for (const SplitDigit& d : {from, to}) key.insert(key.end(), {d.extent, d.axis, d.stride});
  auto [it, is_new] = changed_.try_emplace(std::move(key));
  if (is_new) it->second = make();
  return it->second;
}

const Array& Writer::shift_pairs(const SplitAxes& axes, std::int64_t by) {
  std::vector<std::int64_t> key;
  for (const SplitDigit& d : axes) key.insert(key.end(), {d.extent, d.axis, d.stride});
  auto [it, is_new] = shifts_.try_emplace({key, by});
  if (is_new) it->second = pairs(axes, [&](std::int64_t here) { return here + by; });
  return it->second;
}

Array Writer::mirror_pairs(const SplitAxes& axes) const {
  return pairs(axes, [&](std::int64_t here) { return total(axes) - 1 - here; });
}

Array Writer::pair(const SplitAxes& axes, std::int64_t from, std::int64_t to) const {
  return pairs(axes, [&](std::int64_t here) { return here == from ? to : -1; });
}

Array Writer::targets(const SplitAxes& axes, const std::vector<std::int64_t>& to) const {
  return pairs(axes, [&](std::int64_t here) { return to[static_cast<std::size_t>(here)]; });
}

Array Writer::neighbour_pairs(const SplitAxes& axes, std::int64_t parity) const {
  return pairs(axes, [&](std::int64_t here) { return here % 2 == parity ? here + 1 : here - 1; });
}

}  // namespace heddle
