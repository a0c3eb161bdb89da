// Program: functions of ops over values in SSA form. Flat and index-based: everything is a number
// into one of the program's tables, so that building, hashing and copying are cheap.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/attr.h"
#include "heddle/error.h"
#include "heddle/sharding.h"
#include "heddle/type.h"

namespace heddle {

struct OpDef;

using ValueId = std::uint32_t;
using OpId = std::uint32_t;
using RegionId = std::uint32_t;
using TypeId = std::uint32_t;
using LocId = std::uint32_t;  // 0: unknown
using LayoutId = std::uint32_t;
inline constexpr std::uint32_t kNone = UINT32_MAX;

// Where something stands in the text, and what the text says it came from.
struct Location {
  std::uint32_t line = 0, column = 0;
  std::string user;   // "model.py:57", from loc(...)
  int position = -1;  // that it has in a pipeline (pipeline.h), also for what is written for it
  friend bool operator==(const Location&, const Location&) = default;
};

struct Value {
  TypeId type = 0;
  OpId op = kNone;          // that gives it, or kNone for an argument of a region
  RegionId region = kNone;  // whose argument it is
  std::uint32_t index = 0;  // which result or argument
  LayoutId layout = kNone;  // where the program says that it lies
};

struct Op {
  const OpDef* def = nullptr;
  std::uint32_t operands = 0, operand_count = 0;  // into the program's operand table
  ValueId results = 0;
  std::uint32_t result_count = 0;
  std::uint32_t regions = 0, region_count = 0;  // into the region table
  std::uint32_t attrs = kNone;                  // into the attribute table
  std::uint32_t layouts = kNone;  // into the table of operand layouts; none: takes what comes
  LocId loc = 0;
};

// One block: arguments, then ops in order.
struct Region {
  std::vector<ValueId> args;
  std::vector<OpId> ops;
  std::vector<OpId> nested;  // those of the ops that have regions
  std::uint64_t hash = 0;    // of the ops, their regions apart
};

struct Function {
  std::string name;
  bool is_private = false;
  std::vector<TypeId> results;
  RegionId body = kNone;       // none: a declaration
  std::vector<TypeId> inputs;  // arguments of a declaration; those of a body are the region's
  std::vector<AttrDict> arg_attrs, result_attrs;  // one per argument and result
  std::vector<LayoutId> result_layouts;           // one per result, or none at all
  AttrDict attrs;
  LocId loc = 0;
};

class Program {
 public:
  Program();
  // Out of line: their code is long, and dozens of sources copy programs.
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  // ---- reading
  std::string name;  // of the module; may be empty
  std::string file;  // it was read from; for messages
  AttrDict attrs;
  std::vector<MeshDecl> meshes;
  AxisRegistry axes = AxisRegistry::standard();  // of all meshes, and mem
  std::vector<Function> functions;

  const Function* find_function(std::string_view wanted) const;
  const Op& op(OpId id) const { return ops_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  const Region& region(RegionId id) const { return regions_[id]; }
  const Type& type(TypeId id) const { return types_[id]; }
  const Type& type_of(ValueId id) const { return types_[values_[id].type]; }
  const Location& location(LocId id) const { return locations_[id]; }
  std::span<const ValueId> operands(const Op& op) const {
    return {operand_table_.data() + op.operands, op.operand_count};
  }
  std::span<const RegionId> regions(const Op& op) const {
    return {region_table_.data() + op.regions, op.region_count};
  }
  ValueId result(const Op& op, std::size_t i) const { return op.results + static_cast<ValueId>(i); }
  const AttrDict& attrs_of(const Op& op) const;
  const Attr* attr(const Op& op, std::string_view wanted) const {
    return find_attr(attrs_of(op), wanted);
  }
  std::size_t op_count() const { return ops_.size(); }
  std::size_t value_count() const { return values_.size(); }
  std::size_t region_count() const { return regions_.size(); }
  std::size_t type_count() const { return types_.size(); }

  // Layouts ride on values; null where the program says nothing.
  const ValueLayout* layout_of(ValueId id) const { return layout(values_[id].layout); }
  const ValueLayout* layout(LayoutId id) const { return id == kNone ? nullptr : &layouts_[id]; }
  // How an op takes its operands, one each; empty for ops that take what comes.
  std::span<const LayoutId> operand_layouts(const Op& op) const;
  // The sharding that a layout was read from.
  Expected<Sharding> sharding(const ValueLayout& layout, const Type& type) const {
    return to_sharding(layout, meshes[layout.mesh], type, axes.mem());
  }
  const MeshDecl* find_mesh(std::string_view wanted) const;

  // "train.mlir:212:10"
  std::string where(LocId loc) const;

  // Equal for programs that same_program() calls equal, and the same in every process. It grows
  // with each op, so that asking takes time only for functions and regions.
  std::uint64_t hash() const;

  // ---- building
  TypeId intern(const Type& type);
  LocId add_location(Location location);
  void set_location(OpId op, LocId loc) { ops_[op].loc = loc; }
  // Its axes enter the registry; a name that is taken is refused.
  Verdict add_mesh(std::string mesh_name, const AxisSizes& mesh_axes,
                   std::vector<std::int64_t> device_ids = {}, AttrDict mesh_attrs = {});
  // The layout of a value of this type; refused where the sharding does not fit mesh or type.
  Expected<LayoutId> add_layout(const Sharding& sharding, const Type& type);
  LayoutId intern(const ValueLayout& layout);
  void set_layout(ValueId value, LayoutId layout);
  void set_operand_layouts(OpId op, std::span<const LayoutId> layouts);  // one per operand
  RegionId add_region() {
    regions_.emplace_back();
    return static_cast<RegionId>(regions_.size() - 1);
  }
  ValueId add_arg(RegionId region, TypeId type);
  // Appends an op to a region; its results get the given types.
  OpId add_op(RegionId region, const OpDef& def, std::span<const ValueId> operands,
              std::span<const TypeId> results, AttrDict attrs = {},
              std::span<const RegionId> regions = {}, LocId loc = 0);
  // The same where the result types follow from the type rule; a reason, and no op, where not.
  Expected<OpId> infer_op(RegionId region, const OpDef& def, std::span<const ValueId> operands,
                          AttrDict attrs = {}, std::span<const RegionId> regions = {},
                          LocId loc = 0);

 private:
  Op write_op(const OpDef& def, std::span<const ValueId> operands, AttrDict attrs,
              std::span<const RegionId> regions, LocId loc);
  void erase_op(const Op& op);
  OpId place_op(RegionId region, Op op, std::span<const TypeId> results);
  std::uint64_t region_hash(RegionId id, int depth) const;

  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::vector<Region> regions_;
  std::vector<ValueId> operand_table_;
  std::vector<RegionId> region_table_;
  std::vector<AttrDict> attr_table_;
  std::vector<std::uint64_t> value_hashes_;  // of what stands before and gives the value
  std::vector<Type> types_;
  std::vector<std::uint64_t> type_hashes_;
  std::unordered_multimap<std::uint64_t, TypeId> type_ids_;
  std::vector<Location> locations_;
  std::vector<ValueLayout> layouts_;
  std::vector<std::uint64_t> layout_hashes_;
  std::uint64_t placed_ = 0;  // sums up which values have which layouts
  std::unordered_multimap<std::uint64_t, LayoutId> layout_ids_;
  std::vector<LayoutId> operand_layout_table_;
};

// Same functions, ops, attributes and types in the same order; names of values and locations apart.
// Says what differs first.
Verdict same_program(const Program& a, const Program& b);

}  // namespace heddle
