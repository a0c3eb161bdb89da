#include "spmd/core.h"

#include <algorithm>
#include <utility>

#include "heddle/op.h"
#include "ir/clone.h"
#include "spmd/transition.h"
#include "spmd/writers.h"

namespace heddle {

// ---- values

void Core::define(ValueId v, int split, ValueId local) {
  forms_[v].push_back({split, local});
  trail_.push_back(v);
}

void Core::withdraw(ValueId v, int split) {
  std::erase_if(forms_[v], [&](const Form& f) { return f.split == split; });
}

const Core::Form* Core::find(ValueId v, int split) const {
  const auto form =
      std::ranges::find_if(forms_[v], [&](const Form& f) { return f.split == split; });
  return form == forms_[v].end() ? nullptr : &*form;
}

ValueId Core::get(ValueId v, int split) {
  if (!type_of(v).is_tensor()) return forms_[v].back().local;
  if (const Form* form = find(v, split)) return form->local;
  const std::vector<Fetch>& fetches = decision(carried_out_).fetches;
  const auto planned =
      std::ranges::find_if(fetches, [&](const Fetch& f) { return f.value == v && f.to == split; });
  HEDDLE_CHECK(planned != fetches.end(), "{}: nothing says how value {} gets to {}",
               from.op(carried_out_).def->name, v, text_of(on.splits[split], mesh.mesh));
  return follow(*planned);
}

ValueId Core::compute_again(const Fetch& fetch) {
  Decision decision;
  decision.way = fetch.again->way;
  decision.choice = fetch.again;
  const OpId id = from.value(fetch.value).op;
  const OpId outer = std::exchange(again_, id);
  const Decision* const before = std::exchange(instead_, &decision);
  const Verdict written = write_as_decided(*this, id);
  HEDDLE_CHECK(written, "{}: {}", from.op(id).def->name, written.reason());
  again_ = outer;
  instead_ = before;
  return find(fetch.value, fetch.to)->local;
}

ValueId Core::follow(const Fetch& fetch) {
  if (fetch.again) return compute_again(fetch);
  const ValueId v = fetch.value;
  if (fetch.zeros) {
    define(v, fetch.to, w.over(w.zero(type_of(v).dtype), local_type(type_of(v), split(fetch.to))));
    return find(v, fetch.to)->local;
  }
  if (fetch.anew) {
    const Array& value = *from.attr(from.op(from.value(v).op), "value")->get<Array>();
    const Type local = local_type(value.type(), split(fetch.from));
    define(v, fetch.from,
           w.constant(local == value.type() ? value : Array::splat(local, value.element(0))));
  }
  const Form* source = find(v, fetch.from);
  HEDDLE_CHECK(source != nullptr, "value {} is used before it is there", v);
  ValueId local = source->local;
  if (fetch.route == nullptr) return local;
  // What does not change in a loop is brought there before it.
  const RegionId here = w.at;
  w.at = scopes_[scopes_.size() - 1 - static_cast<std::size_t>(fetch.loops_left)].at;
  depth -= fetch.loops_left;
  int at = fetch.from;
  for (const Route::Step& step : fetch.route->steps) {
    const std::size_t before = out.region(w.at).ops.size();
    local = write_transition(w, local, split(at), split(step.to));
    record(step, v, at, before);
    at = step.to;
    define(v, at, local);
  }
  depth += fetch.loops_left;
  w.at = here;
  return local;
}

std::vector<ValueId> Core::get_operands(OpId id) {
  const Op& op = from.op(id);
  const Choice& choice = *decision(id).choice;
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    operands.push_back(get(from.operands(op)[i], choice.operands[i]));
  return operands;
}

std::vector<RegionId> Core::cloned_regions(const Op& op) {
  std::vector<RegionId> regions;
  if (op.region_count == 0) return regions;
  ValueMap values;
  for (ValueId v : captured_values(from, op)) values[v] = get(v, on.whole_id(v));
  for (RegionId region : from.regions(op))
    regions.push_back(clone_region(out, from, region, values));
  return regions;
}

// ---- regions

void Core::enter(RegionId region, bool loop) {
  scopes_.push_back({region, loop});
  w.at = region;
}

void Core::leave() {
  scopes_.pop_back();
  w.at = scopes_.back().at;
}

void Core::forget_since(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back())
    if (!forms_[trail_.back()].empty()) forms_[trail_.back()].pop_back();
}

void Core::same_as(ValueId v, ValueId kept, int split) {
  forms_[v] = forms_[kept];
  std::ranges::stable_partition(forms_[v], [&](const Form& f) { return f.split == split; });
  trail_.insert(trail_.end(), forms_[v].size(), v);
}

LocId Core::location(LocId loc) {
  if (loc == 0) return 0;
  if (loc >= locations_.size()) locations_.resize(loc + 1, 0);
  if (locations_[loc] == 0) locations_[loc] = out.add_location(Location(from.location(loc)));
  return locations_[loc];
}

}  // namespace heddle
