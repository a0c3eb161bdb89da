#include "parallel/choose.h"

#include <algorithm>
#include <utility>

#include "heddle/hash.h"
#include "heddle/op.h"
#include "ir/rules/scan.h"
#include "parallel/again.h"
#include "parallel/edges.h"
#include "parallel/legal.h"
#include "parallel/meets.h"
#include "parallel/messages.h"
#include "parallel/op_parts.h"
#include "parallel/pending.h"
#include "parallel/price.h"

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

Chooser::Chooser(OnMesh& on, const Propagation& layouts, const Forms& forms,
                 const std::vector<int>& uses, const std::vector<int>& meetings)
    : on_(on),
      program_(on.program),
      layouts_(layouts),
      forms_(forms),
      uses_(uses),
      meetings_(meetings),
      last_user_(on.program.value_count(), kNone) {
  for (OpId id = 0; id < program_.op_count(); ++id)
    for (ValueId v : program_.operands(program_.op(id))) last_user_[v] = id;
}

int Chooser::resting(ValueId v) {
  const Split& split = layouts_.splits[v];
  if (split.dims.empty()) return on_.whole_id(v);
  Split wanted = split;
  if (program_.layout_of(v) == nullptr) wanted.pending.clear();
  return on_.split_id(std::move(wanted));
}

const Split* Chooser::split_for(const Op& op, std::size_t i) {
  if (i >= op.operand_count) {
    const ValueId v = program_.result(op, i - op.operand_count);
    return program_.type_of(v).is_tensor() ? &on_.splits[resting(v)] : nullptr;
  }
  const ValueId v = program_.operands(op)[i];
  if (!program_.type_of(v).is_tensor()) return nullptr;
  // Constants are written where and as they are needed.
  if (forms_.of(v).empty())
    return program_.layout_of(v) == nullptr ? nullptr : &on_.splits[resting(v)];
  return &on_.splits[forms_.of(v).front().split];
}

std::shared_ptr<const Choice> Chooser::choose(OpId id, bool inside_manual) {
  const IndexRule& rule = on_.rules.of(id);
  const Op& op = program_.op(id);
  if (const ChosenFactors* given = layouts_.chosen_for(id))
    return std::make_shared<const Choice>(as_given(id, rule, *given));
  std::uint64_t key = hash_combine(reinterpret_cast<std::uintptr_t>(op.def), op.operand_count);
  std::vector<int> about;
  for (ValueId v : program_.operands(op)) {
    about.push_back(static_cast<int>(program_.value(v).type));
    about.push_back(std::min(uses_[v], 2));
    about.push_back(static_cast<int>(forms_.of(v).size()));
    for (const Forms::Form& form : forms_.of(v)) about.push_back(form.split);
    // What it would be computed of once more.
    const OpId maker = program_.value(v).op;
    if (maker == kNone || program_.op(maker).region_count > 0) continue;
    about.push_back(static_cast<int>(hash_combine(0, program_.op(maker).def->name)));
    for (ValueId from : program_.operands(program_.op(maker))) {
      about.push_back(static_cast<int>(program_.value(from).type));
      about.push_back(forms_.of(from).empty() ? -1 : forms_.of(from).front().split);
    }
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    about.push_back(static_cast<int>(program_.value(program_.result(op, i)).type));
    about.push_back(resting(program_.result(op, i)));
  }
  about.push_back(sum_beside(op));
  for (ValueId v : program_.operands(op))
    about.push_back(meetings_[v] > meetings_[program_.operands(op)[0]]   ? 1
                    : meetings_[v] < meetings_[program_.operands(op)[0]] ? -1
                                                                         : 0);
  about.push_back(on_.rules.line(id) ? 1 : 0);
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (rule.operands[i].starts_results && rule.combine.op)
      about.push_back(is_neutral(program_, program_.operands(op)[i], *rule.combine.op) ? 1 : 0);
  for (int n : about) key = hash_combine(key, static_cast<std::uint64_t>(n));
  key = hash_combine(key, dict_hash(program_.attrs_of(op)));
  if (rule.combine.op) key = hash_combine(key, static_cast<std::uint64_t>(*rule.combine.op));
  const auto [first, last] = choices_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    const Known& known = it->second;
    const Op& other = program_.op(known.op);
    if (other.def == op.def && known.about == about && remembers(op, rule) &&
        program_.attrs_of(other) == program_.attrs_of(op) &&
        on_.rules.of(known.op).combine.op == rule.combine.op)
      return known.choice;
  }
  auto choice = std::make_shared<const Choice>(chosen(id, rule, inside_manual));
  choices_.emplace(key, Known{id, std::move(about), choice});
  return choice;
}

Choice Chooser::as_given(OpId id, const IndexRule& rule, const ChosenFactors& given) {
  const Op& op = program_.op(id);
  Choice choice = splits_for(on_, id, rule, given.axes);
  if (given.together >= 0) {
    const auto sets = linear_operands(program_, op, rule);
    pend(on_, op, sets[static_cast<std::size_t>(given.together)], given.pending, choice);
  } else if (adds_to_open_sum(op)) {
    pass_pending(op, rule, choice);
  }
  choice.way = way_of(program_, op, rule, choice);
  price(op, rule, choice);
  choice.price.edges = edge_seconds(on_, op, rule, choice);
  return choice;
}

// In the order of the values that may say first what they want.
std::vector<std::vector<std::size_t>> Chooser::orders(const Op& op) {
  const std::size_t count = op.operand_count + op.result_count;
  std::vector<std::vector<std::size_t>> orders;
  std::vector<std::size_t> by_size(count);
  for (std::size_t i = 0; i < count; ++i) by_size[i] = i;
  auto bytes = [&](std::size_t i) {
    const ValueId v =
        i < op.operand_count ? program_.operands(op)[i] : program_.result(op, i - op.operand_count);
    return program_.type_of(v).is_tensor() ? program_.type_of(v).bytes() : 0;
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
  return orders;
}

Choice Chooser::chosen(OpId id, const IndexRule& rule, bool inside_manual) {
  const Op& op = program_.op(id);
  Choice best;  // whole
  best.axes.resize(rule.factors.size());
  best.line = on_.rules.line(id);
  for (ValueId v : program_.operands(op)) best.operands.push_back(on_.whole_id(v));
  for (std::size_t i = 0; i < op.result_count; ++i)
    best.results.push_back(on_.whole_id(program_.result(op, i)));
  price(op, rule, best);
  const bool meets = op.def->cls == OpClass::communicate;
  if ((meets && !inside_manual) || op.def->cls == OpClass::opaque ||
      op.def->parts == Parts::on_every_device)
    return best;
  std::vector<Choice::Rejected> rejected;
  // What lines and candidates of reductions send is no move, and has its latency.
  const bool moves_alone =
      on_.rules.line(id) || (op.def->parts == Parts::reduce_again && !rule.combine.op);
  const bool late = (layouts_.moves_together && !moves_alone) ||
                    (op.def->cls == OpClass::contract && is_late(op));
  const auto counted = [&](const Choice& choice) {
    return choice.price.total() - (late ? saved_together(op, choice) : 0);
  };
  auto consider = [&](Choice other) {
    price(op, rule, other);
    other.way = way_of(program_, op, rule, other);
    if (counted(other) < counted(best)) std::swap(other, best);
    rejected.push_back({std::move(other.axes), other.way, other.price.total()});
  };
  std::vector<FactorAxes> seen;
  for (const auto& order : orders(op))
    for (Lines lines : ways_along_lines(id, rule)) {
      Choice other = candidate(id, rule, order, lines);
      if (other.whole || std::ranges::find(seen, other.axes) != seen.end()) continue;
      seen.push_back(other.axes);
      if (meets && !stays_inside(program_, op, on_.mesh, other.axes)) continue;
      consider(std::move(other));
    }
  if (auto other = rows_candidate(id, rule)) consider(*std::move(other));
  best.rejected = std::move(rejected);
  return best;
}

// A slice along a dimension that is dealt out: every device gives what it has of it, and the sum is
// the slice. Less to send than the whole dimension where the slice is thin.
std::optional<Choice> Chooser::rows_candidate(OpId id, const IndexRule& rule) {
  const Op& op = program_.op(id);
  if (op.def->parts != Parts::cut) return std::nullopt;
  const Split* split = split_for(op, 0);
  const Type& whole = program_.type_of(program_.operands(op)[0]);
  if (split == nullptr || !split->pending.empty() || whole.elements() == 0) return std::nullopt;
  const Shape& part = program_.type_of(program_.result(op, 0)).shape;
  Choice choice;
  choice.axes.resize(rule.factors.size());
  Split result = Split::whole(program_.type_of(program_.result(op, 0)));
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
  if (choice.rows < 0 || program_.type_of(program_.result(op, 0)).elements() == 0)
    return std::nullopt;
  choice.whole = false;
  choice.operands.push_back(on_.split_id(*split));
  choice.results.push_back(on_.split_id(std::move(result)));
  return choice;
}

// Lines that a device needs as a whole may be gathered, or dealt out among the devices as a whole.
std::vector<Chooser::Lines> Chooser::ways_along_lines(OpId id, const IndexRule& rule) {
  if (const auto& line = on_.rules.line(id); line && line->kind == Line::Kind::transform)
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
void Chooser::free_lines(OpId id, const IndexRule& rule, Lines lines, FactorAxes& axes) {
  if (lines == Lines::split) return;
  SplitAxes taken;
  for (std::size_t f = 0; f < axes.size(); ++f)
    if (rule.factors[f].kind == FactorKind::whole ||
        (on_.rules.line(id) && on_.rules.line(id)->dim == f))
      for (const SplitDigit& d : std::exchange(axes[f], {}))
        if (!d.local()) taken.push_back(d);
  if (taken.empty() || lines == Lines::gathered) return;
  const FactorAxes before = axes;
  std::int64_t longest = 0;
  for (std::size_t f = 0; f < axes.size(); ++f) {
    const std::int64_t share = rule.factors[f].size / total(before[f]);
    if (rule.factors[f].kind != FactorKind::parallel || share <= longest ||
        (on_.rules.line(id) && on_.rules.line(id)->dim == f) ||
        rule.factors[f].size % (spanned(before[f]) * total(taken)) != 0)
      continue;
    FactorAxes tried = before;
    tried[f].insert(tried[f].end(), taken.begin(), taken.end());
    const SplitAxes wanted = tried[f];
    make_legal(on_, id, rule, tried);
    if (tried[f] != wanted) continue;
    longest = share;
    axes = std::move(tried);
  }
}

bool Chooser::is_late(const Op& op) const {
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!on_.needed_late[program_.result(op, i)]) return false;
  return true;
}

// The split of a pending sum that the op's result is only added to: what lies so too is summed with
// it, for nothing. -1 where there is none.
int Chooser::sum_beside(const Op& op) const {
  const ValueId v = op.result_count == 1 ? program_.result(op, 0) : kNone;
  if (v == kNone || uses_[v] != 1 || last_user_[v] == kNone) return -1;
  const Op& user = program_.op(last_user_[v]);
  if (user.def->linear != LinearIn::both) return -1;
  const auto operands = program_.operands(user);
  const ValueId other = operands[0] == v ? operands[1] : operands[0];
  if (uses_[other] != 1 || forms_.of(other).size() != 1) return -1;
  const int split = forms_.of(other).front().split;
  const Split& lies = on_.splits[split];
  return !lies.pending.empty() && lies.reduce == ReduceOp::sum ? split : -1;
}

// What is brought for an op that nothing waits for, and what it gives, travels together with what
// others like it need: most of the latency is saved.
double Chooser::saved_together(const Op& op, const Choice& choice) {
  const double part = layouts_.moves_together ? 0.9 : 0.75;
  SplitAxes all;
  for (std::size_t a = 0; a < on_.mesh.mesh.axes().size(); ++a)
    all.push_back({on_.mesh.mesh.axes()[a].size, static_cast<int>(a), 1});
  const double bandwidth = least_bandwidth(on_.mesh.mesh, all);
  double latency = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const ValueId v = program_.operands(op)[i];
    if (!program_.type_of(v).is_tensor()) continue;
    const double sent = static_cast<double>(forms_.bytes_to(v, choice.operands[i])) / bandwidth;
    latency += std::max(seconds_to_have(on_, forms_, v, choice.operands[i]) - sent, 0.0);
  }
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = program_.result(op, i);
    const bool is_joined =
        on_.needed_late[v] || op.def->cls == OpClass::contract || op.def->cls == OpClass::reduce;
    if (is_joined && !on_.splits[choice.results[i]].pending.empty())
      continue;  // counts its bytes alone
    const Route& route =
        on_.routes.find(choice.results[i], resting(v), bits(program_.type_of(v).dtype));
    double sent = 0;
    for (const Route::Step& step : route.steps) sent += static_cast<double>(step.bytes) / bandwidth;
    latency += std::max(route.seconds - sent, 0.0);
  }
  return part * latency;
}

Choice Chooser::candidate(OpId id, const IndexRule& rule, const std::vector<std::size_t>& order,
                          Lines lines) {
  const Op& op = program_.op(id);
  FactorAxes axes(rule.factors.size());
  SplitAxes used;
  for (std::size_t i : order) {
    const Split* split = split_for(op, i);
    if (split == nullptr) continue;
    const auto& dims =
        i < op.operand_count ? rule.operands[i].dims : rule.results[i - op.operand_count].dims;
    FactorAxes wishes(rule.factors.size());
    for (std::size_t d = 0; d < dims.size() && d < split->dims.size(); ++d)
      take_axes(dims[d], rule.factors, split->dims[d], wishes);
    for (std::size_t f = 0; f < wishes.size(); ++f) {
      SplitAxes& have = axes[f];
      if (wishes[f].size() <= have.size() ||
          !std::equal(have.begin(), have.end(), wishes[f].begin()))
        continue;
      for (std::size_t k = have.size(); k < wishes[f].size(); ++k) {
        if (overlap(used, wishes[f][k])) break;
        have.push_back(wishes[f][k]);
        used.push_back(wishes[f][k]);
      }
      end_with_axis(have);
    }
  }
  free_lines(id, rule, lines, axes);
  make_legal(on_, id, rule, axes);
  Choice choice = splits_for(on_, id, rule, std::move(axes));
  pass_pending(op, rule, choice);
  return choice;
}

// A pending sum stays pending where the op lets it, nobody else needs it, and it does not grow.
void Chooser::pass_pending(const Op& op, const IndexRule& rule, Choice& choice) {
  if (op.result_count != 1) return;
  for (const auto& together : linear_operands(program_, op, rule)) {
    SplitAxes pending;
    bool good = true;
    for (std::size_t i : together) {
      const ValueId v = program_.operands(op)[i];
      const Split* split = split_for(op, i);
      if (split == nullptr || split->pending.empty() || split->reduce != ReduceOp::sum ||
          uses_[v] > 1 || forms_.of(v).size() > 1 ||
          (i != together[0] && split->pending != pending)) {
        good = false;
        break;
      }
      pending = split->pending;
    }
    if (good && !others_come_later(op, together) && pend(on_, op, together, pending, choice))
      return;
  }
}

// Whether an operand is a sum that a loop carries open, which who gave the factors knew nothing of.
bool Chooser::adds_to_open_sum(const Op& op) const {
  return std::ranges::any_of(program_.operands(op), [&](ValueId v) {
    if (forms_.of(v).size() != 1 || on_.splits[forms_.of(v).front().split].pending.empty())
      return false;
    const OpId maker = program_.value(v).op;
    if (maker == kNone) return true;
    const ChosenFactors* given = layouts_.chosen_for(maker);
    return given != nullptr && given->together < 0 && program_.op(maker).def->cls == OpClass::light;
  });
}

// Whether other operands have waited for a sum that this small one could have been made with: so it
// is made now, with the schedule to bring both together.
bool Chooser::others_come_later(const Op& op, const std::vector<std::size_t>& together) const {
  constexpr std::int64_t kSmall = 64 << 10;  // bytes, of which the latency is most
  if (program_.type_of(program_.result(op, 0)).bytes() > kSmall) return false;
  int here = 0, others = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const bool is_in = std::ranges::find(together, i) != together.end();
    int& most = is_in ? here : others;
    most = std::max(most, meetings_[program_.operands(op)[i]]);
  }
  return others > here;
}

void Chooser::price(const Op& op, const IndexRule& rule, Choice& choice) {
  std::vector<int> wanted;
  for (std::size_t i = 0; i < op.result_count; ++i)
    wanted.push_back(resting(program_.result(op, i)));
  choice.price = price_of(on_, op, rule, choice, wanted);
  if (op.result_count == 1 && choice.results[0] == sum_beside(op)) choice.price.give = 0;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (const ValueId v = program_.operands(op)[i]; program_.type_of(v).is_tensor())
      choice.price.bring += seconds_to_have(on_, forms_, v, choice.operands[i]);
}

}  // namespace heddle
