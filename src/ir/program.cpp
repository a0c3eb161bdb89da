#include "heddle/program.h"

#include <algorithm>

#include "heddle/hash.h"
#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/shape_rules.h"

namespace heddle {

Program::Program() : locations_(1) {}
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

const Function* Program::find_function(std::string_view wanted) const {
  for (const Function& f : functions)
    if (f.name == wanted) return &f;
  return nullptr;
}

const AttrDict& Program::attrs_of(const Op& op) const {
  static const AttrDict none;
  return op.attrs == kNone ? none : attr_table_[op.attrs];
}

std::string Program::where(LocId loc) const {
  const Location& l = locations_[loc];
  const std::string name = file.empty() ? "program" : file;
  return l.line == 0 ? name : fmt::format("{}:{}:{}", name, l.line, l.column);
}

TypeId Program::intern(const Type& type) {
  const std::uint64_t h = type.hash();
  auto [first, last] = type_ids_.equal_range(h);
  for (; first != last; ++first)
    if (types_[first->second] == type) return first->second;
  types_.push_back(type);
  type_hashes_.push_back(h);
  const auto id = static_cast<TypeId>(types_.size() - 1);
  type_ids_.emplace(h, id);
  return id;
}

std::span<const LayoutId> Program::operand_layouts(const Op& op) const {
  if (op.layouts == kNone) return {};
  return {operand_layout_table_.data() + op.layouts, op.operand_count};
}

const MeshDecl* Program::find_mesh(std::string_view wanted) const {
  for (const MeshDecl& mesh : meshes)
    if (mesh.name == wanted) return &mesh;
  return nullptr;
}

Verdict Program::add_mesh(std::string mesh_name, const AxisSizes& mesh_axes,
                          std::vector<std::int64_t> device_ids, AttrDict mesh_attrs) {
  if (find_mesh(mesh_name) != nullptr) return reason("mesh @{} is defined twice", mesh_name);
  auto mesh = make_mesh(mesh_axes, axes);
  if (!mesh) return reason("mesh @{}: {}", mesh_name, mesh.reason());
  meshes.push_back({std::move(mesh_name), *mesh, std::move(device_ids), std::move(mesh_attrs)});
  return yes();
}

LayoutId Program::intern(const ValueLayout& layout) {
  const std::uint64_t h = hash_combine(layout.layout.hash(), layout.mesh);
  auto [first, last] = layout_ids_.equal_range(h);
  for (; first != last; ++first)
    if (layouts_[first->second] == layout) return first->second;
  layouts_.push_back(layout);
  layout_hashes_.push_back(h);
  const auto id = static_cast<LayoutId>(layouts_.size() - 1);
  layout_ids_.emplace(h, id);
  return id;
}

Expected<LayoutId> Program::add_layout(const Sharding& sharding, const Type& type) {
  const MeshDecl* mesh = find_mesh(sharding.mesh);
  if (mesh == nullptr) return reason("there is no mesh @{}", sharding.mesh);
  HEDDLE_TRY(ValueLayout layout, to_layout(sharding, *mesh, type, axes.mem()));
  layout.mesh = static_cast<std::uint32_t>(mesh - meshes.data());
  return intern(layout);
}

void Program::set_layout(ValueId value, LayoutId layout) {
  // A sum, because layouts come in any order and may be replaced.
  auto part = [&](LayoutId id) {
    return id == kNone ? 0 : hash_combine(value_hashes_[value], layout_hashes_[id]);
  };
  placed_ += part(layout) - part(values_[value].layout);
  values_[value].layout = layout;
}

void Program::set_operand_layouts(OpId op, std::span<const LayoutId> layouts) {
  HEDDLE_CHECK(layouts.size() == ops_[op].operand_count);
  ops_[op].layouts = static_cast<std::uint32_t>(operand_layout_table_.size());
  operand_layout_table_.insert(operand_layout_table_.end(), layouts.begin(), layouts.end());
}

LocId Program::add_location(Location location) {
  locations_.push_back(std::move(location));
  return static_cast<LocId>(locations_.size() - 1);
}

ValueId Program::add_arg(RegionId region, TypeId type) {
  const auto id = static_cast<ValueId>(values_.size());
  Region& at = regions_[region];
  const auto index = static_cast<std::uint32_t>(at.args.size());
  values_.push_back({type, kNone, region, index});
  value_hashes_.push_back(hash_combine(type_hashes_[type], index));
  at.args.push_back(id);
  return id;
}

// Enters an op into the tables, yet without results.
Op Program::write_op(const OpDef& def, std::span<const ValueId> operands, AttrDict attrs,
                     std::span<const RegionId> regions, LocId loc) {
  Op op;
  op.def = &def;
  op.operands = static_cast<std::uint32_t>(operand_table_.size());
  op.operand_count = static_cast<std::uint32_t>(operands.size());
  operand_table_.insert(operand_table_.end(), operands.begin(), operands.end());
  op.regions = static_cast<std::uint32_t>(region_table_.size());
  op.region_count = static_cast<std::uint32_t>(regions.size());
  region_table_.insert(region_table_.end(), regions.begin(), regions.end());
  op.results = kNone;
  op.loc = loc;
  if (!attrs.empty()) {
    op.attrs = static_cast<std::uint32_t>(attr_table_.size());
    attr_table_.push_back(std::move(attrs));
  }
  return op;
}

void Program::erase_op(const Op& op) {
  operand_table_.resize(op.operands);
  region_table_.resize(op.regions);
  if (op.attrs != kNone) attr_table_.pop_back();
}

OpId Program::place_op(RegionId region, Op op, std::span<const TypeId> results) {
  const auto id = static_cast<OpId>(ops_.size());
  Region& at = regions_[region];
  // What an operand is called does not count, only what gave it.
  std::uint64_t h = hash_combine(at.hash, op.def->hash + op.region_count);
  for (ValueId v : operands(op))
    if (v < value_hashes_.size())
      h = hash_combine(h, value_hashes_[v]);  // else verify() refuses it
  if (op.attrs != kNone) h = hash_combine(h, hash_of(attr_table_[op.attrs]));
  for (TypeId type : results) h = hash_combine(h, type_hashes_[type]);
  at.hash = h;
  op.results = static_cast<ValueId>(values_.size());
  op.result_count = static_cast<std::uint32_t>(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    values_.push_back({results[i], id, kNone, static_cast<std::uint32_t>(i)});
    value_hashes_.push_back(h + i);
  }
  ops_.push_back(op);
  at.ops.push_back(id);
  if (op.region_count > 0) at.nested.push_back(id);
  return id;
}

OpId Program::add_op(RegionId region, const OpDef& def, std::span<const ValueId> operands,
                     std::span<const TypeId> results, AttrDict attrs,
                     std::span<const RegionId> regions, LocId loc) {
  return place_op(region, write_op(def, operands, std::move(attrs), regions, loc), results);
}

Expected<OpId> Program::infer_op(RegionId region, const OpDef& def,
                                 std::span<const ValueId> operands, AttrDict attrs,
                                 std::span<const RegionId> regions, LocId loc) {
  const Op op = write_op(def, operands, std::move(attrs), regions, loc);
  const Expected<ResultTypes> types = infer_types(*this, op);
  if (!types) {
    erase_op(op);
    return types.why();
  }
  auto id_of = [&](const ResultType& result) {
    return result.id == kNone ? intern(result.type) : result.id;
  };
  if (types->size() == 1) {
    const TypeId only = id_of((*types)[0]);
    return place_op(region, op, {&only, 1});
  }
  std::vector<TypeId> ids;
  for (std::size_t i = 0; i < types->size(); ++i) ids.push_back(id_of((*types)[i]));
  return place_op(region, op, ids);
}

std::uint64_t Program::region_hash(RegionId id, int depth) const {
  const Region& region = regions_[id];
  std::uint64_t h = region.hash;
  for (ValueId arg : region.args) h = hash_combine(h, value_hashes_[arg]);
  if (depth == kMostNesting) return h;  // verify() will refuse it
  for (OpId op : region.nested)
    for (RegionId inner : regions(ops_[op])) h = hash_combine(h, region_hash(inner, depth + 1));
  return h;
}

std::uint64_t Program::hash() const {
  std::uint64_t h = hash_combine(hash_of(attrs), name);
  for (const MeshDecl& mesh : meshes) h = hash_combine(h, mesh.name);
  for (const Function& f : functions) {
    h = hash_combine(hash_combine(h, f.name), hash_of(f.attrs) + (f.is_private ? 1 : 0));
    for (TypeId type : f.results) h = hash_combine(h, type_hashes_[type]);
    for (const AttrDict& dict : f.arg_attrs) h = hash_combine(h, hash_of(dict));
    for (const AttrDict& dict : f.result_attrs) h = hash_combine(h, hash_of(dict));
    for (TypeId type : f.inputs) h = hash_combine(h, type_hashes_[type]);
    if (f.body != kNone) h = hash_combine(h, region_hash(f.body, 0));
  }
  return hash_combine(h, placed_);
}

namespace {

// Walks two programs side by side; values correspond by the order in which they are defined.
class ProgramComparison {
 public:
  ProgramComparison(const Program& a, const Program& b)
      : a_(a), b_(b), map_(a.value_count(), kNone), types_(a.type_count(), kNone) {}

  Verdict run() {
    if (a_.name != b_.name) return reason("the modules are named {} and {}", a_.name, b_.name);
    if (a_.attrs != b_.attrs) return reason("the modules have different attributes");
    if (a_.meshes != b_.meshes) return reason("the modules have different meshes");
    if (a_.functions.size() != b_.functions.size())
      return reason("there are {} and {} functions", a_.functions.size(), b_.functions.size());
    for (std::size_t i = 0; i < a_.functions.size(); ++i) {
      const Function& f = a_.functions[i];
      const Function& g = b_.functions[i];
      if (f.name != g.name || f.is_private != g.is_private || f.arg_attrs != g.arg_attrs ||
          f.result_attrs != g.result_attrs || f.attrs != g.attrs ||
          f.results.size() != g.results.size())
        return reason("function {} differs from {} in its head", f.name, g.name);
      for (std::size_t r = 0; r < f.results.size(); ++r)
        if (!same_type(f.results[r], g.results[r]))
          return reason("result {} of {} has another type", r, f.name);
      for (std::size_t r = 0; r < f.results.size(); ++r)
        if (!same_layout(result_layout(f, r), result_layout(g, r)))
          return reason("result {} of {} has another layout", r, f.name);
      const bool declared = f.body == kNone || g.body == kNone;
      HEDDLE_TRY_VOID(declared ? declarations(f, g) : regions(f.body, g.body));
    }
    return yes();
  }

 private:
  Verdict declarations(const Function& f, const Function& g) {
    if (f.body != g.body) return reason("only one of the functions {} has a body", f.name);
    const bool alike =
        std::ranges::equal(f.inputs, g.inputs, [&](TypeId x, TypeId y) { return same_type(x, y); });
    if (!alike) return reason("the declarations of {} take other arguments", f.name);
    return yes();
  }

  Verdict regions(RegionId ra, RegionId rb) {
    const Region& x = a_.region(ra);
    const Region& y = b_.region(rb);
    if (x.args.size() != y.args.size())
      return reason("a region has {} and {} arguments", x.args.size(), y.args.size());
    for (std::size_t i = 0; i < x.args.size(); ++i) HEDDLE_TRY_VOID(define(x.args[i], y.args[i]));
    if (x.ops.size() != y.ops.size())
      return reason("a region has {} and {} ops", x.ops.size(), y.ops.size());
    for (std::size_t i = 0; i < x.ops.size(); ++i)
      HEDDLE_TRY_VOID(ops(a_.op(x.ops[i]), b_.op(y.ops[i])));
    return yes();
  }

  Verdict define(ValueId va, ValueId vb) {
    if (!same_type(a_.value(va).type, b_.value(vb).type))
      return reason("a value is {} and {}", a_.type_of(va).str(), b_.type_of(vb).str());
    if (!same_layout(a_.value(va).layout, b_.value(vb).layout))
      return reason("a value of type {} has another layout", a_.type_of(va).str());
    map_[va] = vb;
    return yes();
  }

  // Types are compared once: their numbers may differ from program to program.
  bool same_type(TypeId x, TypeId y) {
    if (types_[x] == y) return true;
    if (!(a_.type(x) == b_.type(y))) return false;
    types_[x] = y;
    return true;
  }

  static LayoutId result_layout(const Function& f, std::size_t i) {
    return i < f.result_layouts.size() ? f.result_layouts[i] : kNone;
  }
  bool same_layout(LayoutId x, LayoutId y) const {
    const ValueLayout* p = a_.layout(x);
    const ValueLayout* q = b_.layout(y);
    return p == nullptr || q == nullptr ? p == q : *p == *q;
  }

  Verdict ops(const Op& x, const Op& y) {
    auto at = [&] { return a_.where(x.loc); };
    if (x.def != y.def) return reason("{}: {} became {}", at(), x.def->name, y.def->name);
    if (x.operand_count != y.operand_count || x.result_count != y.result_count ||
        x.region_count != y.region_count)
      return reason("{}: {} has other numbers of operands, results or regions", at(), x.def->name);
    const auto of_x = a_.operands(x), of_y = b_.operands(y);
    for (std::size_t i = 0; i < of_x.size(); ++i)
      if (of_x[i] >= map_.size() || map_[of_x[i]] != of_y[i])
        return reason("{}: operand {} of {} is another value", at(), i, x.def->name);
    if (!std::ranges::equal(a_.operand_layouts(x), b_.operand_layouts(y),
                            [&](LayoutId l, LayoutId m) { return same_layout(l, m); }))
      return reason("{}: {} takes operands in other layouts", at(), x.def->name);
    if (x.attrs != kNone || y.attrs != kNone) HEDDLE_TRY_VOID(attributes(x, y));
    for (std::size_t i = 0; i < x.region_count; ++i)
      HEDDLE_TRY_VOID(regions(a_.regions(x)[i], b_.regions(y)[i]));
    for (std::size_t i = 0; i < x.result_count; ++i)
      HEDDLE_TRY_VOID(define(a_.result(x, i), b_.result(y, i)));
    return yes();
  }

  Verdict attributes(const Op& x, const Op& y) const {
    const AttrDict& p = a_.attrs_of(x);
    const AttrDict& q = b_.attrs_of(y);
    if (p.size() != q.size())
      return reason("{}: {} has {} and {} attributes", a_.where(x.loc), x.def->name, p.size(),
                    q.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Attr* other = p[i].name == q[i].name ? &q[i].value : find_attr(q, p[i].name);
      if (other == nullptr || !(*other == p[i].value))
        return reason("{}: attribute {} of {} differs", a_.where(x.loc), p[i].name, x.def->name);
    }
    return yes();
  }

  const Program& a_;
  const Program& b_;
  std::vector<ValueId> map_;   // from values of a to those of b
  std::vector<TypeId> types_;  // from types of a to the equal ones of b
};

}  // namespace

Verdict same_program(const Program& a, const Program& b) { return ProgramComparison(a, b).run(); }

}  // namespace heddle
