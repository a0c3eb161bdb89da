// Which factors of an op are split: candidates from the splits of its values, the cheapest wins.
#include <algorithm>
#include <utility>

#include "cost/piece.h"
#include "heddle/hash.h"
#include "spmd/partitioner.h"

namespace heddle {

namespace {

std::uint64_t attr_hash(const Attr& attr);

std::uint64_t dict_hash(const AttrDict& dict) {
  std::uint64_t h = dict.size();
  for (const NamedAttr& a : dict) h = hash_combine(hash_combine(h, a.name), attr_hash(a.value));
  return h;
}

// Equal attributes have equal hashes; the others mostly not.
std::uint64_t attr_hash(const Attr& attr) {
  std::uint64_t h = attr.value.index();
  if (const auto* list = attr.get<Attr::Integers>())
    for (std::int64_t n : *list) h = hash_combine(h, static_cast<std::uint64_t>(n));
  if (const auto* n = attr.get<Attr::Integer>())
    h = hash_combine(h, static_cast<std::uint64_t>(n->value));
  if (const auto* word = attr.get<Attr::Enum>()) h = hash_combine(h, word->word);
  if (const auto* fields = attr.get<Attr::Struct>()) h = hash_combine(h, dict_hash(fields->fields));
  if (const auto* array = attr.get<Array>()) h = hash_combine(h, array->type().hash());
  return h;
}

// Regions that only the reduction they stand for matters of.
bool remembers(const Op& op, const IndexRule& rule) {
  return op.region_count == 0 || rule.combine.op.has_value();
}

}  // namespace

// The split that a value has: an operand as it lies first, a result as propagation wants it.
const Split* Partitioner::split_for(const Op& op, std::size_t i) {
  if (i >= op.operand_count) {
    const ValueId v = from_.result(op, i - op.operand_count);
    return type_of(v).is_tensor() ? &splits_[resting(v)] : nullptr;
  }
  const ValueId v = from_.operands(op)[i];
  if (!type_of(v).is_tensor()) return nullptr;
  // Constants are written where and as they are needed.
  if (forms_[v].empty()) return from_.layout_of(v) == nullptr ? nullptr : &splits_[resting(v)];
  return &splits_[forms_[v].front().split];
}

const Choice& Partitioner::choose(OpId id, const IndexRule& rule) {
  const Op& op = from_.op(id);
  std::uint64_t key = hash_combine(reinterpret_cast<std::uintptr_t>(op.def), op.operand_count);
  std::vector<int> about;
  for (ValueId v : from_.operands(op)) {
    about.push_back(static_cast<int>(from_.value(v).type));
    about.push_back(std::min(uses_[v], 2));
    about.push_back(static_cast<int>(forms_[v].size()));
    for (const Form& form : forms_[v]) about.push_back(form.split);
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    about.push_back(static_cast<int>(from_.value(from_.result(op, i)).type));
    about.push_back(resting(from_.result(op, i)));
  }
  about.push_back(rules_.line(id) ? 1 : 0);
  for (int n : about) key = hash_combine(key, static_cast<std::uint64_t>(n));
  key = hash_combine(key, dict_hash(from_.attrs_of(op)));
  if (rule.combine.op) key = hash_combine(key, static_cast<std::uint64_t>(*rule.combine.op));
  const auto [first, last] = choices_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    const Op& other = from_.op(it->second.first);
    if (other.def == op.def && it->second.second.first == about && remembers(op, rule) &&
        from_.attrs_of(other) == from_.attrs_of(op) &&
        rules_.of(it->second.first).combine.op == rule.combine.op)
      return it->second.second.second;
  }
  return choices_.emplace(key, std::pair(id, std::pair(about, chosen(id, rule))))
      ->second.second.second;
}

Choice Partitioner::chosen(OpId id, const IndexRule& rule) {
  const Op& op = from_.op(id);
  Choice best;  // whole
  best.axes.resize(rule.factors.size());
  best.line = rules_.line(id);
  for (ValueId v : from_.operands(op)) best.operands.push_back(whole_id(v));
  for (std::size_t i = 0; i < op.result_count; ++i)
    best.results.push_back(whole_id(from_.result(op, i)));
  price(op, rule, best);
  const bool meets = op.def->cls == OpClass::communicate;
  if ((meets && manual_ == 0) || op.def->cls == OpClass::opaque ||
      op.def->name.starts_with("stablehlo.rng"))
    return best;
  // In the order of the values that may say first what they want.
  const std::size_t count = op.operand_count + op.result_count;
  std::vector<std::vector<std::size_t>> orders;
  std::vector<std::size_t> by_size(count);
  for (std::size_t i = 0; i < count; ++i) by_size[i] = i;
  auto bytes = [&](std::size_t i) {
    const ValueId v =
        i < op.operand_count ? from_.operands(op)[i] : from_.result(op, i - op.operand_count);
    return type_of(v).is_tensor() ? type_of(v).bytes() : 0;
  };
  std::ranges::stable_sort(by_size,
                           [&](std::size_t a, std::size_t b) { return bytes(a) > bytes(b); });
  orders.push_back(by_size);
  constexpr std::size_t kMostFirst = 4;
  for (std::size_t lead = 0; lead < count && lead < kMostFirst; ++lead) {
    const std::size_t first = count - 1 - lead;  // results before operands
    const Split* split = split_for(op, first);
    if (split == nullptr || split->is_whole()) continue;
    std::vector<std::size_t> order{first};
    for (std::size_t i : by_size)
      if (i != first) order.push_back(i);
    if (order != by_size) orders.push_back(std::move(order));
  }
  std::vector<FactorAxes> seen;
  for (const auto& order : orders)
    for (Lines lines : ways_along_lines(id, rule)) {
      Choice other = candidate(id, rule, order, lines);
      if (other.whole || std::ranges::find(seen, other.axes) != seen.end()) continue;
      seen.push_back(other.axes);
      if (meets && !stays_inside(op, other.axes)) continue;
      price(op, rule, other);
      if (other.cost < best.cost) best = std::move(other);
    }
  if (auto other = rows_candidate(id, rule); other && other->cost < best.cost) best = *other;
  return best;
}

// A slice along a dimension that is dealt out: every device gives what it has of it, and the sum is
// the slice. Less to send than the whole dimension where the slice is thin.
std::optional<Choice> Partitioner::rows_candidate(OpId id, const IndexRule& rule) {
  const Op& op = from_.op(id);
  if (op.def->name != "stablehlo.slice") return std::nullopt;
  const Split* split = split_for(op, 0);
  const Type& whole = type_of(from_.operands(op)[0]);
  if (split == nullptr || !split->pending.empty() || whole.elements() == 0) return std::nullopt;
  const Shape& part = type_of(from_.result(op, 0)).shape;
  Choice choice;
  choice.axes.resize(rule.factors.size());
  Split result = Split::whole(type_of(from_.result(op, 0)));
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (split->dims[d].whole()) continue;
    if (part[d] == whole.shape[d]) {
      result.dims[d] = split->dims[d];
    } else {
      if (choice.rows >= 0 || !split->dims[d].is_block()) return std::nullopt;
      choice.rows = static_cast<int>(d);
      result.pending = split->dims[d].axes();
    }
  }
  if (choice.rows < 0 || type_of(from_.result(op, 0)).elements() == 0) return std::nullopt;
  choice.whole = false;
  choice.operands.push_back(split_id(*split));
  choice.results.push_back(split_id(std::move(result)));
  price(op, rule, choice);
  return choice;
}

// Lines that a device needs as a whole may be gathered, or dealt out among the devices as a whole.
std::vector<Partitioner::Lines> Partitioner::ways_along_lines(OpId id, const IndexRule& rule) {
  if (const auto& line = rules_.line(id); line && line->kind == Line::Kind::transform)
    return {Lines::gathered, Lines::dealt_out};
  else if (line)
    return {Lines::split, Lines::gathered, Lines::dealt_out};
  if (std::ranges::any_of(
          rule.factors, [](const Factor& f) { return f.kind == FactorKind::whole && f.size > 1; }))
    return {Lines::split, Lines::dealt_out};
  return {Lines::split};
}

// Takes away the axes that split lines; where lines are dealt out, they split the longest other
// factor that they divide.
void Partitioner::free_lines(OpId id, const IndexRule& rule, Lines lines, FactorAxes& axes) {
  if (lines == Lines::split) return;
  AxisList taken;
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (rule.factors[f].kind == FactorKind::whole || (rules_.line(id) && rules_.line(id)->dim == f))
      for (const SplitDigit& d : std::exchange(axes[f], {})) taken.push_back(d);
  if (taken.empty() || lines == Lines::gathered) return;
  const FactorAxes before = axes;
  std::int64_t longest = 0;
  for (std::size_t f = 0; f < axes.size(); ++f) {
    const std::int64_t share = rule.factors[f].size / total(before[f]);
    if (rule.factors[f].kind != FactorKind::parallel || share <= longest ||
        (rules_.line(id) && rules_.line(id)->dim == f) ||
        rule.factors[f].size % (total(before[f]) * total(taken)) != 0)
      continue;
    FactorAxes tried = before;
    tried[f].insert(tried[f].end(), taken.begin(), taken.end());
    const AxisList wanted = tried[f];
    make_legal(id, rule, tried);
    if (tried[f] != wanted) continue;
    longest = share;
    axes = std::move(tried);
  }
}

Choice Partitioner::candidate(OpId id, const IndexRule& rule, const std::vector<std::size_t>& order,
                              Lines lines) {
  const Op& op = from_.op(id);
  Choice choice;
  choice.line = rules_.line(id);
  choice.axes.resize(rule.factors.size());
  AxisList used;
  for (std::size_t i : order) {
    const Split* split = split_for(op, i);
    if (split == nullptr) continue;
    const auto& dims =
        i < op.operand_count ? rule.operands[i].dims : rule.results[i - op.operand_count].dims;
    FactorAxes wishes(rule.factors.size());
    for (std::size_t d = 0; d < dims.size() && d < split->dims.size(); ++d)
      take_axes(dims[d], rule.factors, split->dims[d], wishes);
    for (std::size_t f = 0; f < wishes.size(); ++f) {
      AxisList& have = choice.axes[f];
      if (wishes[f].size() <= have.size() ||
          !std::equal(have.begin(), have.end(), wishes[f].begin()))
        continue;
      for (std::size_t k = have.size(); k < wishes[f].size(); ++k) {
        if (overlap(used, wishes[f][k])) break;
        have.push_back(wishes[f][k]);
        used.push_back(wishes[f][k]);
      }
    }
  }
  free_lines(id, rule, lines, choice.axes);
  make_legal(id, rule, choice.axes);
  choice.whole =
      std::ranges::all_of(choice.axes, [](const AxisList& list) { return list.empty(); });
  auto split_of_dims = [&](const std::vector<DimRule>& dims, const Type& type) {
    Split split;
    for (std::size_t d = 0; d < dims.size(); ++d)
      split.dims.push_back(dim_split(dims[d], rule.factors, choice.axes, type.shape[d]));
    return split;
  };
  for (std::size_t i = 0; i < op.operand_count; ++i)
    choice.operands.push_back(
        split_id(split_of_dims(rule.operands[i].dims, type_of(from_.operands(op)[i]))));
  // Parts of which a device needs more than its neighbours have come as a whole.
  if (const int joined = joined_factor(from_, op);
      joined >= 0 && !choice.axes[static_cast<std::size_t>(joined)].empty())
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      const auto d = static_cast<std::size_t>(joined);
      if (reach_of(joined_window(op, choice.axes[d], i)).near) continue;
      Split split = splits_[choice.operands[i]];
      split.dims[d].digits.clear();
      choice.operands[i] = split_id(std::move(split));
    }
  take_all_of(op, rule, choice);
  AxisList pending;
  for (std::size_t f = 0; f < rule.factors.size() && rule.combine.op; ++f)
    if (gives_partial(rule.factors[f].kind))
      pending.insert(pending.end(), choice.axes[f].begin(), choice.axes[f].end());
  for (std::size_t i = 0; i < op.result_count; ++i) {
    Split split = split_of_dims(rule.results[i].dims, type_of(from_.result(op, i)));
    split.pending = pending;
    if (rule.combine.op) split.reduce = *rule.combine.op;
    choice.results.push_back(split_id(std::move(split)));
  }
  pass_pending(op, rule, choice);
  return choice;
}

int joined_factor(const Program& program, const Op& op) {
  if (op.def->name != "stablehlo.concatenate") return -1;
  return static_cast<int>(program.attr(op, "dimension")->get<Attr::Integer>()->value);
}

namespace {

// Which operands may be sums that are still to be made, so that the result is one too: the op of
// the sums is the sum of the op. Each entry is a set of operands that must pend together.
std::vector<std::vector<std::size_t>> linear_operands(const Op& op, const IndexRule& rule) {
  const std::string_view name = op.def->short_name();
  if (name == "add" || name == "subtract") return {{0, 1}};
  if (name == "negate" || name == "reshape" || name == "transpose" || name == "broadcast_in_dim" ||
      name == "slice" || name == "reverse" || name == "optimization_barrier")
    return {{0}};
  if (name == "reduce" && op.operand_count == 2 && rule.combine.op == ReduceOp::sum) return {{0}};
  if (name == "multiply" || name == "dot_general" || name == "convolution") return {{0}, {1}};
  if (name == "divide") return {{0}};
  if (name == "select") return {{1, 2}};
  return {};
}

}  // namespace

// A pending sum stays pending where the op lets it, nobody else needs it, and it does not grow.
void Partitioner::pass_pending(const Op& op, const IndexRule& rule, Choice& choice) {
  if (op.result_count != 1) return;
  const Type& result = type_of(from_.result(op, 0));
  const bool integer = !is_float(result.dtype) && !is_complex(result.dtype);
  for (const auto& together : linear_operands(op, rule)) {
    if (integer && op.def->short_name() == "divide") continue;
    AxisList pending;
    bool good = true;
    for (std::size_t i : together) {
      const ValueId v = from_.operands(op)[i];
      const Split* split = split_for(op, i);
      if (split == nullptr || split->pending.empty() || split->reduce != ReduceOp::sum ||
          uses_[v] > 1 || forms_[v].size() > 1 || (i != together[0] && split->pending != pending)) {
        good = false;
        break;
      }
      pending = split->pending;
    }
    if (!good) continue;
    for (const AxisList& list : choice.axes)
      for (const SplitDigit& d : list) good = good && !overlap(pending, d);
    const ValueId first = from_.operands(op)[together[0]];
    auto local_bytes = [&](const Type& type, int split) {
      return local_type(type, splits_[split]).bytes();
    };
    if (!good || local_bytes(result, choice.results[0]) >
                     local_bytes(type_of(first), choice.operands[together[0]]))
      continue;
    for (std::size_t i : together) {
      Split split = splits_[choice.operands[i]];
      split.pending = pending;
      choice.operands[i] = split_id(std::move(split));
    }
    Split split = splits_[choice.results[0]];
    if (!split.pending.empty() && split.reduce != ReduceOp::sum) continue;
    split.pending.insert(split.pending.end(), pending.begin(), pending.end());
    choice.results[0] = split_id(std::move(split));
    choice.whole = false;
    return;
  }
}

// Seconds to bring the operands there, to compute, and to bring the results to where they rest.
void Partitioner::price(const Op& op, const IndexRule& rule, Choice& choice) {
  double seconds = 0, bytes = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const ValueId v = from_.operands(op)[i];
    if (!type_of(v).is_tensor()) continue;
    if (!forms_[v].empty()) seconds += cost_to(v, choice.operands[i]);
    bytes += static_cast<double>(local_type(type_of(v), splits_[choice.operands[i]]).bytes());
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    if (!type_of(v).is_tensor()) continue;
    bytes += static_cast<double>(local_type(type_of(v), splits_[choice.results[i]]).bytes());
    const Route& route = routes_.find(choice.results[i], resting(v), bits(type_of(v).dtype));
    // Sums are made together with others, so that the latency of one does not count.
    const AxisList& pending = splits_[choice.results[i]].pending;
    double bandwidth = 0;
    for (const SplitDigit& d : pending) {
      const Link& link = mesh_.mesh.axes()[static_cast<std::size_t>(d.axis)].link;
      bandwidth = bandwidth == 0 ? link.bandwidth : std::min(bandwidth, link.bandwidth);
    }
    double received = 0;
    for (const Route::Step& step : route.steps) received += static_cast<double>(step.bytes);
    seconds += bandwidth > 0 ? std::min(route.seconds, received / bandwidth) : route.seconds;
  }
  if (!rule.combine.op) {
    // Partial results are gathered and combined once more.
    const AxisList over = summed_axes(rule, choice.axes);
    for (std::size_t i = 0; i < op.result_count && !over.empty(); ++i) {
      const auto part = static_cast<double>(
          local_type(type_of(from_.result(op, i)), splits_[choice.results[i]]).bytes());
      seconds += gather_seconds(part, over);
    }
  }
  double steps = 1;
  for (std::size_t f = 0; f < rule.factors.size(); ++f)
    steps *= static_cast<double>(rule.factors[f].size) /
             static_cast<double>(
                 std::min(total(choice.axes[f]), std::max<std::int64_t>(rule.factors[f].size, 1)));
  choice.cost =
      seconds + cost::piece_seconds(op.def->cls, {.bytes = bytes, .steps = steps}, mesh_.mesh);
  if (choice.line) choice.cost += line_seconds(op, choice);
  if (bytes > static_cast<double>(memory_limit_)) choice.cost += cost::kDoesNotFit;
}

}  // namespace heddle
