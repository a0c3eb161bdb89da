#include "spmd/partitioner.h"

#include <algorithm>
#include <utility>

#include "ir/clone.h"
#include "ir/replica_groups.h"
#include "spmd/transition.h"
#include "ir/unused.h"

namespace heddle {

int SplitTable::id(Split split) {
  split.settle();
  const std::uint64_t hash = split.hash();
  const auto [first, last] = ids_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if ((*this)[it->second] == split) return it->second;
  const int id = static_cast<int>(splits_.size());
  splits_.push_back(std::make_shared<const Split>(std::move(split)));
  ids_.emplace(hash, id);
  return id;
}

// ---- routes

const Route& Routes::find(int from, int to, std::int64_t bits) {
  const Key key{from, to, bits};
  const auto it = routes_.find(key);
  return it != routes_.end() ? it->second
                             : routes_.emplace(key, planned(from, to, bits)).first->second;
}

Route Routes::planned(int from, int to, std::int64_t bits) {
  if (from == to) return {};
  Route direct;
  direct.seconds = 1e-3;
  direct.steps.push_back({to, MoveKind::exchange, 0, 1e-3, ""});
  // Parts become contributions with zeros around them; nothing is sent.
  for (const DimSplit& dim : splits_[from].dims)
    for (const SplitDigit& d : dim.digits)
      if (overlap(splits_[to].pending, d)) return direct;
  const auto a = layout_of(splits_[from], mesh_, axes_.mem());
  const auto b = layout_of(splits_[to], mesh_, axes_.mem());
  if (!a || !b) return direct;
  const auto plan = plan_redistribution(*a, *b, mesh_, axes_, {.element_bits = bits});
  if (!plan) return direct;
  Route route;
  route.seconds = plan->seconds;
  int at = from;
  for (const Move& move : plan->moves) {
    auto split = split_of(move.to, mesh_);
    if (!split) return direct;
    std::string over;
    for (const SubAxis& part : move.over)
      if (const MeshAxis* axis = mesh_.find(part.axis))
        over += (over.empty() ? "" : ", ") + axis->name +
                (part.extent == axis->size
                     ? ""
                     : fmt::format(":({}){}", axis->size / part.extent / part.stride, part.extent));
    const int next = splits_.id(*std::move(split));
    if (next == at) continue;
    route.steps.push_back({next, move.kind, move.bytes, move.seconds, over});
    at = next;
  }
  if (at != to) return direct;
  return route;
}

// ---- values

Partitioner::Partitioner(const Program& from, Program& to, const Function& function,
                         RuleCache& rules, const MeshDecl& mesh, const Propagation& layouts,
                         std::int64_t memory_limit)
    : from_(from),
      out_(to),
      function_(function),
      rules_(rules),
      mesh_(mesh),
      layouts_(layouts),
      memory_limit_(memory_limit),
      routes_(splits_, mesh.mesh, from.axes),
      w_(to, mesh),
      forms_(from.value_count()),
      uses_(use_counts(from)) {}

int Partitioner::whole_id(ValueId v) { return split_id(Split::whole(type_of(v))); }

int Partitioner::resting(ValueId v) {
  const Split& split = layouts_.splits[v];
  if (split.dims.empty()) return whole_id(v);
  Split wanted = split;
  if (from_.layout_of(v) == nullptr) wanted.pending.clear();
  return split_id(std::move(wanted));
}

void Partitioner::define(ValueId v, int split, ValueId local) {
  forms_[v].push_back({split, local, scope_});
  trail_.push_back(v);
}

void Partitioner::forget_since(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back())
    if (!forms_[trail_.back()].empty()) forms_[trail_.back()].pop_back();
}

// Values that are as cheap to write anew as to move.
bool Partitioner::write_cheap(ValueId v, int split) {
  const OpId id = from_.value(v).op;
  if (id == kNone) return false;
  const Op& op = from_.op(id);
  if (!op.def->name.ends_with(".constant")) return false;
  const Array& value = *from_.attr(op, "value")->get<Array>();
  const bool splat = value.is_splat() || value.elements() <= 1;
  if (!splat && !forms_[v].empty()) return false;
  if (splat && splits_[split].pending.empty() && value.elements() > 0) {
    const Type local = local_type(value.type(), splits_[split]);
    define(v, split, w_.constant(Array::splat(local, value.element(0))));
    return true;
  }
  if (!forms_[v].empty()) return false;
  define(v, whole_id(v), w_.constant(value));
  return true;
}

const Partitioner::Form* Partitioner::cheapest(ValueId v, int split, double* seconds) {
  const Form* best = nullptr;
  const std::int64_t width = bits(type_of(v).dtype);
  for (const Form& form : forms_[v]) {
    if (form.split == split) {
      *seconds = 0;
      return &form;
    }
    const double cost = routes_.find(form.split, split, width).seconds;
    if (best == nullptr || cost < *seconds) {
      best = &form;
      *seconds = cost;
    }
  }
  return best;
}

double Partitioner::cost_to(ValueId v, int split) {
  double seconds = 0;
  cheapest(v, split, &seconds);
  return seconds;
}

ValueId Partitioner::get(ValueId v, int split) {
  if (!type_of(v).is_tensor()) return forms_[v].back().local;
  double seconds = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const Form& form : forms_[v])
      if (form.split == split) return form.local;
    if (!write_cheap(v, split)) break;
  }
  const Form* best = cheapest(v, split, &seconds);
  HEDDLE_CHECK(best != nullptr, "value {} is used before it is there", v);
  int at = best->split;
  ValueId local = best->local;
  // What does not change in a loop is brought there before it.
  const std::size_t here = std::exchange(scope_, home_of(*best));
  const int depth = depth_;
  for (std::size_t s = scope_; s < here; ++s) --depth_;
  w_.at = scopes_[scope_].at;
  const Route route = routes_.find(at, split, bits(type_of(v).dtype));
  for (const Route::Step& step : route.steps) {
    const std::size_t before = out_.region(w_.at).ops.size();
    local = write_transition(w_, local, splits_[at], splits_[step.to]);
    record(step, v, at, before);
    at = step.to;
    define(v, at, local);
  }
  scope_ = here;
  depth_ = depth;
  w_.at = scopes_[scope_].at;
  return local;
}

// The outermost region from which only loops lead to the one that is being written.
std::size_t Partitioner::home_of(const Form& form) const {
  std::size_t scope = scope_;
  while (scope > form.scope && scopes_[scope].loop) --scope;
  return scope;
}

namespace {

// What a collective op is, and what one device receives by it.
std::optional<std::pair<MoveKind, double>> received(const Program& program, const Op& op) {
  if (op.operand_count == 0) return std::nullopt;
  const auto in = static_cast<double>(program.type_of(program.operands(op)[0]).bytes());
  const auto out = static_cast<double>(program.type_of(program.result(op, 0)).bytes());
  const std::string_view name = op.def->short_name();
  if (name == "all_gather") return std::pair(MoveKind::all_gather, out - in);
  if (name == "reduce_scatter") return std::pair(MoveKind::reduce_scatter, in - out);
  if (name == "all_reduce") return std::pair(MoveKind::all_reduce, 2 * in);
  if (name == "all_to_all") return std::pair(MoveKind::all_to_all, in);
  if (name == "collective_permute") return std::pair(MoveKind::permute, in);
  return std::nullopt;
}

// The axes along which its members lie: "dp, tp:(1)2".
std::string group_axes(const Program& program, const Op& op) {
  const Attr* groups = program.attr(op, "replica_groups");
  const auto* along = groups == nullptr ? nullptr : groups->get<Attr::Struct>();
  const Attr* axes = along == nullptr ? nullptr : find_attr(along->fields, "axes");
  std::string text;
  if (axes == nullptr) return text;
  for (const Attr& axis : *axes->get<Attr::List>()) {
    text += text.empty() ? "" : ", ";
    for (const NamedAttr& field : axis.get<Attr::Struct>()->fields)
      text += (field.name == "name" ? "" : ":") + *field.value.get<std::string>();
  }
  return text;
}

// The axes along which devices that a collective brings together differ, by its first group.
AxisList axes_of_groups(const Program& program, const Op& op, const MeshDecl& mesh) {
  const bool pairs = op.def->short_name() == "collective_permute";
  const auto groups = pairs ? source_target_pairs(program, op) : replica_groups(program, op);
  AxisList axes;
  if (!groups || groups->empty()) return axes;
  const std::int64_t devices = mesh.mesh.devices();
  const std::vector<std::int64_t> position = positions_of_devices(mesh);
  for (std::size_t a = 0; a < mesh.mesh.axes().size(); ++a) {
    const SplitDigit digit{mesh.mesh.axes()[a].size, static_cast<int>(a), 1};
    std::optional<std::int64_t> first;
    bool differ = false;
    for (std::int64_t id : groups->front()) {
      if (id < 0 || id >= devices) return {};
      const std::int64_t at = coordinate(digit, mesh.mesh, position[static_cast<std::size_t>(id)]);
      differ = differ || (first && *first != at);
      first = at;
    }
    if (differ) axes.push_back(digit);
  }
  return axes;
}

}  // namespace

// One entry per collective that stands for the step.
void Partitioner::record(const Route::Step& step, ValueId v, int from, std::size_t first) {
  std::vector<std::pair<MoveKind, double>> made;
  std::vector<std::string> over;
  const std::vector<OpId>& ops = out_.region(w_.at).ops;
  for (std::size_t i = first; i < ops.size(); ++i)
    if (const auto one = received(out_, out_.op(ops[i]))) {
      made.push_back(*one);
      over.push_back(group_axes(out_, out_.op(ops[i])));
      if (over.back().empty()) over.back() = step.over;
    }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& [kind, bytes] = made[i];
    // The planner knows best what a move of its own costs.
    const bool same = made.size() == 1 && step.bytes > 0;
    result_.communications.push_back(
        {kind, over[i], same ? step.bytes : static_cast<std::int64_t>(bytes),
         step.seconds / static_cast<double>(made.size()), current_,
         fmt::format("{} {} -> {}", type_of(v).str(), text_of(splits_[from], mesh_.mesh),
                     text_of(splits_[step.to], mesh_.mesh)),
         depth_});
  }
}

// A collective that the program's author wrote, as it has just become one of a device.
void Partitioner::tell_of(const Op& op) {
  const std::vector<OpId>& ops = out_.region(w_.at).ops;
  const auto made =
      std::find_if(ops.rbegin(), ops.rend(), [&](OpId id) { return out_.op(id).def == op.def; });
  if (made == ops.rend()) return;
  const Op& local = out_.op(*made);
  const auto what = received(out_, local);
  if (!what) return;
  const auto bytes = static_cast<std::int64_t>(what->second);
  const AxisList axes = axes_of_groups(out_, local, mesh_);
  tell(what->first, axes, out_.type_of(out_.operands(local)[0]), bytes, link_seconds(axes, bytes));
}

LocId Partitioner::location(LocId loc) {
  if (loc == 0) return 0;
  if (loc >= locations_.size()) locations_.resize(loc + 1, 0);
  if (locations_[loc] == 0) locations_[loc] = out_.add_location(Location(from_.location(loc)));
  return locations_[loc];
}

// ---- ops

Expected<SpmdFunction> Partitioner::run() {
  result_.name = function_.name;
  find_pieces();
  Function head = function_;
  head.result_layouts.clear();
  head.results.clear();
  head.inputs.clear();
  head.loc = location(function_.loc);
  head.body = out_.add_region();
  w_.at = head.body;
  scopes_.push_back({head.body, false});
  for (ValueId v : from_.region(function_.body).args) {
    const int split = resting(v);
    const Type local = local_type(type_of(v), splits_[split]);
    const ValueLayout* said = from_.layout_of(v);
    result_.argument_meshes.push_back(said == nullptr ? mesh_index() : mesh_like(said->mesh));
    define(v, split, out_.add_arg(head.body, out_.intern(local)));
    result_.argument_types.push_back(type_of(v));
    result_.arguments.push_back(splits_[split]);
    result_.argument_bytes += local.is_tensor() ? local.bytes() : 0;
  }
  // Arguments whose devices come in another order move to where this mesh has them.
  for (std::size_t i = 0; i < result_.argument_meshes.size(); ++i) {
    Form& form = forms_[from_.region(function_.body).args[i]].front();
    form.local = reordered(form.local, from_.meshes[result_.argument_meshes[i]], mesh_);
  }
  w_.write_position();
  HEDDLE_TRY_VOID(write_ops(function_.body));
  std::vector<int> returned;
  for (std::size_t i = 0; i < function_.results.size(); ++i) {
    const Type& type = from_.type(function_.results[i]);
    returned.push_back(split_id(type.is_tensor() ? layouts_.results[i] : Split{}));
    const Type local = local_type(type, splits_[returned.back()]);
    head.results.push_back(out_.intern(local));
    const ValueLayout* said =
        i < function_.result_layouts.size() ? from_.layout(function_.result_layouts[i]) : nullptr;
    result_.result_meshes.push_back(said == nullptr ? mesh_index() : mesh_like(said->mesh));
    result_.result_types.push_back(type);
    result_.results.push_back(splits_[returned.back()]);
    result_.result_bytes += local.is_tensor() ? local.bytes() : 0;
  }
  current_ = kNone;
  const Op& end = from_.op(from_.region(function_.body).ops.back());
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < returned.size(); ++i)
    values.push_back(reordered(get(from_.operands(end)[i], returned[i]), mesh_,
                               from_.meshes[result_.result_meshes[i]]));
  out_.add_op(w_.at, *find_op("func.return"), values, {}, {}, {}, location(end.loc));
  out_.functions.push_back(std::move(head));
  return std::move(result_);
}

std::uint32_t Partitioner::mesh_index() const {
  return static_cast<std::uint32_t>(&mesh_ - from_.meshes.data());
}

// A mesh that the text names, where its devices are those of this one.
std::uint32_t Partitioner::mesh_like(std::uint32_t named) const {
  return from_.meshes[named].mesh == mesh_.mesh ? named : mesh_index();
}

// What the devices of one mesh have, on the devices that have the same positions on another.
ValueId Partitioner::reordered(ValueId local, const MeshDecl& from, const MeshDecl& to) {
  if (from.device_ids == to.device_ids || !out_.type_of(local).is_tensor()) return local;
  const std::int64_t devices = mesh_.mesh.devices();
  Array pairs(Type::tensor(DType::i64, {devices, 2}));
  for (std::int64_t p = 0; p < devices; ++p) {
    const auto at = static_cast<std::size_t>(2 * p);
    pairs.as_mutable<std::int64_t>()[at] = device_at(from, p);
    pairs.as_mutable<std::int64_t>()[at + 1] = device_at(to, p);
  }
  return w_.permute(local, pairs);
}

// All but the return.
Verdict Partitioner::write_ops(RegionId region) {
  const std::vector<OpId>& ops = from_.region(region).ops;
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) HEDDLE_TRY_VOID(write_op(ops[i]));
  return yes();
}

Verdict Partitioner::write_return(const Op& op, const std::vector<int>& splits,
                                  std::string_view name) {
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < splits.size(); ++i)
    values.push_back(get(from_.operands(op)[i], splits[i]));
  out_.add_op(w_.at, *find_op(name), values, {}, {}, {}, location(op.loc));
  return yes();
}

Verdict Partitioner::write_op(OpId id) {
  const Op& op = from_.op(id);
  const std::string_view name = op.def->name;
  current_ = id;
  w_.loc = location(op.loc);
  if (name.ends_with(".constant")) return yes();  // written where it is needed
  if (name == "sdy.sharding_group") return yes();
  if (name == "sdy.manual_computation") return write_manual(id);
  if (name == "stablehlo.while") return write_loop(id);
  if (name == "stablehlo.if" || name == "stablehlo.case") return write_branch(id);
  if (op.def->form == heddle::Form::sharding_constraint) return write_reshard(id);
  if (op.result_count == 0) return write_whole(id);
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!type_of(from_.result(op, i)).is_tensor()) return write_whole(id);
  if (is_piece(id)) return yes();  // written by what puts it together with others
  if (name == "stablehlo.slice" && !forms_[from_.result(op, 0)].empty()) return yes();
  if (name == "stablehlo.sort") {
    HEDDLE_TRY(const bool done, write_first_of_sort(id));
    if (done) return yes();
  }
  if (joined_factor(from_, op) >= 0) {
    HEDDLE_TRY(const bool done, write_joined(id));
    if (done) return yes();
  }
  HEDDLE_TRY_VOID(write_chosen(id));
  if (op.def->cls == OpClass::communicate) tell_of(op);
  return yes();
}

Verdict Partitioner::write_chosen(OpId id) {
  const IndexRule& rule = rules_.of(id);
  const Choice& choice = choose(id, rule);
  return choice.whole ? write_whole(id) : write_local(id, rule, choice);
}

std::vector<RegionId> Partitioner::cloned_regions(const Op& op) {
  std::vector<RegionId> regions;
  if (op.region_count == 0) return regions;
  ValueMap values;
  for (ValueId v : captured_values(from_, op)) values[v] = get(v, whole_id(v));
  for (RegionId region : from_.regions(op))
    regions.push_back(clone_region(out_, from_, region, values));
  return regions;
}

Verdict Partitioner::write_whole(OpId id) {
  const Op& op = from_.op(id);
  std::vector<ValueId> operands;
  for (ValueId v : from_.operands(op)) operands.push_back(get(v, whole_id(v)));
  const std::vector<RegionId> regions = cloned_regions(op);
  std::vector<TypeId> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(out_.intern(type_of(from_.result(op, i))));
  const OpId made =
      out_.add_op(w_.at, *op.def, operands, types, copied_attrs(from_, op), regions, w_.loc);
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    define(v, whole_id(v), out_.result(out_.op(made), i));
  }
  return yes();
}

}  // namespace heddle
