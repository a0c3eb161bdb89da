#include "kernel/stage_writer.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/eval/scalar_function.h"
#include "stitch/group.h"

namespace heddle {

namespace {

// More than this in one stage means that a value is computed again and again.
constexpr std::size_t kMostNodes = 6000;

}  // namespace

std::uint32_t KernelWriter::add_buffer(Reach reach, DType dtype, std::int64_t elements) {
  KernelBuffer buffer;
  buffer.reach = reach;
  buffer.dtype = kernel_type(dtype);
  buffer.elements = elements;
  kernel.buffers.push_back(buffer);
  return static_cast<std::uint32_t>(kernel.buffers.size() - 1);
}

std::uint32_t KernelWriter::buffer_of(ValueId value) {
  if (auto it = buffers.find(value); it != buffers.end()) return it->second;
  const Type& type = program.type_of(value);
  const bool inside = members.contains(program.value(value).op);
  const Reach reach = inside ? Reach::output : Reach::input;
  const std::uint32_t b = is_complex(type.dtype)
                              ? add_buffer(reach, part_dtype(type.dtype), 2 * type.elements())
                              : add_buffer(reach, type.dtype, type.elements());
  kernel.buffers[b].value = value;
  buffers.emplace(value, b);
  return b;
}

StageWriter::StageWriter(KernelWriter& kernel, int level, bool tail)
    : space(nodes),
      kernel_(kernel),
      program_(kernel.program),
      loop_plan_(kernel.loop_plan),
      level_(level),
      tail_(tail) {}

void StageWriter::open(const AxisList& axes) {
  for (int a : axes) {
    if (axis_leaves_.contains(a)) continue;
    const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(a)];
    if (!axis.is_inner()) continue;
    const int number = static_cast<int>(loops_.size());
    NodeId node = nodes.loop(number);
    if (axis.outer >= 0) {
      loops_.push_back({axis.block, axis.outer});
      node = nodes.scalar(ScalarOp::add, DType::i64, nodes.outer(axis.outer), node);
    } else {
      loops_.push_back({axis.size, -1});
    }
    axis_leaves_[a] = space.leaf(node, axis.size);
    loop_leaves_.push_back(axis_leaves_[a]);
    loop_axes_.push_back(a);
  }
}

void StageWriter::open_run(const AxisList& axes) {
  std::int64_t size = 1;
  for (int a : axes) size *= loop_plan_.axes[static_cast<std::size_t>(a)].size;
  run_ = loops_.size();
  IndexSum rest = IndexSpace::of(open(size));
  loop_axes_.back() = axes[0];
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t own = loop_plan_.axes[static_cast<std::size_t>(axes[i])].size;
    const IndexSum along = i == 0 ? rest : space.remainder(rest, own);
    axis_leaves_[axes[i]] = along.terms[0].leaf;
    rest = space.quotient(rest, own);
  }
}

bool StageWriter::runs_evenly() const {
  bool any = false;
  for (const Access& a : accesses_) {
    const IndexSpace::Step step = space.step(a.index, loop_leaves_[run_]);
    any |= step.known && step.size == 1;
    if (step.known && (step.size == 0 || step.size == 1)) continue;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      const IndexSpace::Step other = space.step(a.index, loop_leaves_[l]);
      if (l != run_ && (!other.known || other.size != 0)) return false;
    }
  }
  return any;
}

LeafId StageWriter::open(std::int64_t size) {
  const int number = static_cast<int>(loops_.size());
  loops_.push_back({size, -1});
  loop_axes_.push_back(-1);
  loop_leaves_.push_back(space.leaf(nodes.loop(number), size));
  return loop_leaves_.back();
}

LeafId StageWriter::open_row(std::int64_t size) {
  const LeafId leaf = open(size);
  loop_axes_.back() = 0;
  return leaf;
}

LeafId StageWriter::open_flat(std::int64_t extent, std::int64_t block) {
  const int number = static_cast<int>(loops_.size());
  loops_.push_back({block, 0});
  loop_axes_.push_back(0);
  loop_leaves_.push_back(space.leaf(
      nodes.scalar(ScalarOp::add, DType::i64, nodes.outer(0), nodes.loop(number)), extent));
  return loop_leaves_.back();
}

Expected<LeafId> StageWriter::position(int axis) {
  if (auto it = axis_leaves_.find(axis); it != axis_leaves_.end()) return it->second;
  const GroupAxis& a = loop_plan_.axes[static_cast<std::size_t>(axis)];
  if (tail_ || a.is_inner()) return Reason{"an index is needed that no loop of the stage has"};
  return axis_leaves_[axis] = space.leaf(nodes.outer(a.outer), a.size);
}

// The index of one dimension, from the positions of its atoms.
Expected<IndexSum> StageWriter::dim_here(ValueId value, std::size_t dim) {
  IndexSum sum = IndexSpace::constant(0);
  std::int64_t stride = 1;
  const AtomList atoms = loop_plan_.space.atoms(value, dim);
  for (std::size_t i = atoms.size(); i-- > 0;) {
    const int axis = loop_plan_.axis_of.at(atoms[i]);
    HEDDLE_TRY(const LeafId leaf, position(axis));
    IndexSum at = IndexSpace::of(leaf);
    const AtomList& all = loop_plan_.axes[static_cast<std::size_t>(axis)].atoms;
    for (std::size_t k = all.size(); k-- > 0 && all[k] != atoms[i];)
      at = space.quotient(at, loop_plan_.space.size(all[k]));
    const std::int64_t size = loop_plan_.space.size(atoms[i]);
    if (atoms[i] != all.front()) at = space.remainder(at, size);
    sum = space.add(sum, space.scaled(at, stride));
    stride *= size;
  }
  return sum;
}

Expected<Indices> StageWriter::here(ValueId value) {
  Indices all;
  for (std::size_t d = 0; d < program_.type_of(value).rank(); ++d) {
    HEDDLE_TRY(IndexSum dim, dim_here(value, d));
    all.push_back(std::move(dim));
  }
  return all;
}

IndexSum StageWriter::flat(const Shape& shape, const Indices& at) {
  IndexSum sum = IndexSpace::constant(0);
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1) sum = space.add(sum, space.scaled(at[d], stride));
    stride *= shape[d];
  }
  return sum;
}

Indices StageWriter::unflat(const Shape& shape, const IndexSum& flat) {
  Indices all(shape.size(), IndexSpace::constant(0));
  IndexSum rest = flat;
  std::size_t first = 0;  // the most major dimension with more than one element takes what is left
  while (first < shape.size() && shape[first] == 1) ++first;
  for (std::size_t d = shape.size(); d-- > first;) {
    if (shape[d] == 1) continue;
    all[d] = d == first ? rest : space.remainder(rest, shape[d]);
    rest = space.quotient(rest, shape[d]);
  }
  return all;
}

// A block holds a value for its own positions only: along outer axes the index must be here.
Expected<IndexSum> StageWriter::kept_index(ValueId value, const Indices& at) {
  const Shape& shape = program_.type_of(value).shape;
  // The index of every atom of the value.
  std::unordered_map<AtomId, IndexSum> digits;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    IndexSum rest = at[d];
    const AtomList atoms = loop_plan_.space.atoms(value, d);
    for (std::size_t i = atoms.size(); i-- > 0;) {
      const std::int64_t size = loop_plan_.space.size(atoms[i]);
      digits[atoms[i]] = i == 0 ? rest : space.remainder(rest, size);
      rest = space.quotient(rest, size);
    }
  }
  IndexSum sum = IndexSpace::constant(0);
  std::int64_t stride = 1;
  const AxisList axes = loop_plan_.axes_of(value);
  for (std::size_t i = axes.size(); i-- > 0;) {
    const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(axes[i])];
    IndexSum along = IndexSpace::constant(0);
    std::int64_t inner = 1;
    for (std::size_t k = axis.atoms.size(); k-- > 0;) {
      along = space.add(along, space.scaled(digits.at(axis.atoms[k]), inner));
      inner *= loop_plan_.space.size(axis.atoms[k]);
    }
    if (axis.outer >= 0) {
      HEDDLE_TRY(const LeafId leaf, position(axes[i]));
      if (!along.is(leaf)) return Reason{"a block would need what another block computes"};
      if (axis.block == 1) continue;
      along = in_block(leaf, axis.block);
    }
    sum = space.add(sum, space.scaled(along, stride));
    stride *= axis.outer >= 0 ? axis.block : axis.size;
  }
  return sum;
}

// The position inside of the block, where the leaf is one along an outer axis.
IndexSum StageWriter::in_block(LeafId leaf, std::int64_t block) {
  for (std::size_t l = 0; l < loops_.size(); ++l)
    if (loop_leaves_[l] == leaf) {
      if (!block_leaves_.contains(l))
        block_leaves_[l] = space.leaf(nodes.loop(static_cast<int>(l)), block);
      return IndexSpace::of(block_leaves_.at(l));
    }
  return IndexSpace::of(leaf);
}

Expected<IndexSum> StageWriter::local_index(const AxisList& axes) {
  IndexSum sum = IndexSpace::constant(0);
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const GroupAxis& axis = loop_plan_.axes[static_cast<std::size_t>(axes[i])];
    if (!axis.is_inner()) continue;
    HEDDLE_TRY(const LeafId leaf, position(axes[i]));
    const bool outer = axis.outer >= 0;
    const IndexSum along = outer ? in_block(leaf, axis.block) : IndexSpace::of(leaf);
    sum = space.add(sum, space.scaled(along, stride));
    stride *= outer ? axis.block : axis.size;
  }
  return sum;
}

NodeId StageWriter::load(std::uint32_t buffer, DType dtype, const IndexSum& index, NodeId guard) {
  dtype = kernel_type(dtype);
  accesses_.push_back({index, buffer, false});
  return nodes.load(buffer, dtype, space.node(index), guard);
}

Verdict StageWriter::store_output(ValueId value, const Indices& at) {
  const Type& type = program_.type_of(value);
  const IndexSum place = flat(type.shape, at);
  const std::uint32_t buffer = kernel_.buffer_of(value);
  if (!is_complex(type.dtype)) {
    HEDDLE_TRY(const NodeId node, value_at(value, at));
    store(buffer, place, node);
    return yes();
  }
  const auto parts = program_.operands(program_.op(program_.value(value).op));
  for (std::size_t part = 0; part < 2; ++part) {
    HEDDLE_TRY(const NodeId node, value_at(parts[part], at));
    store(buffer, part_index(place, part), node);
  }
  return yes();
}

void StageWriter::store(std::uint32_t buffer, const IndexSum& index, NodeId value, NodeId guard) {
  accesses_.push_back({index, buffer, true});
  Statement s;
  s.buffers = {buffer};
  s.index = space.node(index);
  s.values = {value};
  s.guard = guard;
  statements_.push_back(std::move(s));
}

void StageWriter::update(const std::vector<std::uint32_t>& buffers, const IndexSum& index,
                         const std::vector<NodeId>& values, NodeId guard, Combiner combiner,
                         bool in_order) {
  in_order |= combiner.op == ScalarOp::none;
  accesses_.push_back({index, buffers[0], false, true, in_order});
  Statement s;
  s.kind = Statement::Kind::update;
  s.buffers = buffers;
  s.index = space.node(index);
  s.values = values;
  s.guard = guard;
  s.any_order = !in_order;
  s.combiner = std::move(combiner);
  statements_.push_back(std::move(s));
}

void StageWriter::scan(std::uint32_t carry, const IndexSum& index, NodeId value, std::uint32_t to,
                       const IndexSum& to_index, Combiner combiner) {
  update({carry, to}, index, {value}, kNone, std::move(combiner));
  Statement& s = statements_.back();
  s.kind = Statement::Kind::scan;
  s.scan_index = space.node(to_index);
  s.any_order = false;
  accesses_.push_back({to_index, to, true});
}

Expected<NodeId> StageWriter::value_at(ValueId value, const Indices& at, NodeId guard) {
  const auto key = std::make_tuple(value, at, guard);
  if (auto it = known_.find(key); it != known_.end()) return it->second;
  if (nodes.size() > kMostNodes) return Reason{"too much of it would be computed again and again"};
  const Type& type = program_.type_of(value);
  const OpId id = program_.value(value).op;
  NodeId node = kNone;
  const auto kept = loop_plan_.kept.find(value);
  const bool is_kept = kept != loop_plan_.kept.end() && !tail_ && kept->second.level < level_;
  // An input is there in memory as well, for places that the block does not keep.
  const bool is_input = !kernel_.members.contains(id);
  Expected<IndexSum> kept_place = Reason{"not kept"};
  if (is_kept && is_input) kept_place = kept_index(value, at);
  if (kept_place) {
    node = load(kernel_.kept.at(value), type.dtype, *kept_place, guard);
  } else if (is_input) {
    const Attr* attr = id == kNone ? nullptr : program_.attr(program_.op(id), "value");
    const Array* array =
        attr && program_.op(id).def->form == Form::constant ? attr->get<Array>() : nullptr;
    const IndexSum place = flat(type.shape, at);
    const bool one = array && (array->is_splat() || array->elements() == 1);
    const bool known =
        array && place.terms.empty() && place.offset >= 0 && place.offset < array->elements();
    if (one || known) {
      std::uint64_t bits = 0;
      const auto bytes = array->element(one ? 0 : place.offset);
      std::memcpy(&bits, bytes.data(), bytes.size());
      node = nodes.constant(kernel_type(type.dtype), bits);
    } else {
      node = load(kernel_.buffer_of(value), type.dtype, place, guard);
    }
  } else if (kernel_.rows.contains(value)) {
    HEDDLE_TRY(const IndexSum index, index_in_rows(value, at));
    node = load(kernel_.rows.at(value).buffer, type.dtype, index, guard);
  } else if (auto it = kernel_.whole.find(value); it != kernel_.whole.end()) {
    if (!tail_) return Reason{"a reduction over blocks is needed inside of a block"};
    node = load(it->second, type.dtype, flat(type.shape, at), guard);
  } else if (tail_ && loop_plan_.read_back.contains(value)) {
    node = load(kernel_.buffer_of(value), type.dtype, flat(type.shape, at), guard);
  } else if (is_kept) {
    HEDDLE_TRY(const IndexSum index, kept_index(value, at));
    node = load(kernel_.kept.at(value), type.dtype, index, guard);
  } else {
    const Op& op = program_.op(id);
    if (is_reducer(program_, op)) return Reason{"a reduction is needed before it is there"};
    HEDDLE_TRY(node, compute(op, at, guard));
  }
  known_.emplace(key, node);
  return node;
}

}  // namespace heddle
