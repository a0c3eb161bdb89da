#include "parallel/forms.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/rules/scan.h"

namespace heddle {

void Forms::define(ValueId v, int split) {
  forms_[v].push_back({split, scopes_.size() - 1});
  trail_.push_back(v);
}

std::size_t Forms::enter(bool loop, double turns) {
  scopes_.push_back({loop, scopes_.back().times * turns});
  return trail_.size();
}

void Forms::leave(std::size_t mark) {
  forget_since(mark);
  scopes_.pop_back();
}

void Forms::forget_since(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back())
    if (!forms_[trail_.back()].empty()) forms_[trail_.back()].pop_back();
}

void Forms::same_as(ValueId v, ValueId kept, int split) {
  forms_[v] = forms_[kept];
  std::ranges::stable_partition(forms_[v], [&](const Form& f) { return f.split == split; });
  trail_.insert(trail_.end(), forms_[v].size(), v);
}

void Forms::withdraw(ValueId v, int split) {
  std::erase_if(forms_[v], [&](const Form& f) { return f.split == split; });
}

// The first form is that of the op that made the value, which nothing else gives.
std::vector<std::pair<ValueId, int>> Forms::let_go() {
  std::vector<std::pair<ValueId, int>> gone;
  for (ValueId v = 0; v < forms_.size(); ++v) {
    if (forms_[v].size() < 2) continue;
    const auto bytes = [&](const Form& f) {
      return local_type(on_.type_of(v), on_.splits[f.split]).bytes();
    };
    std::int64_t least = INT64_MAX;  // of complete ones
    for (const Form& f : forms_[v])
      if (on_.splits[f.split].pending.empty()) least = std::min(least, bytes(f));
    const Form& first = forms_[v].front();
    const bool is_complete = on_.splits[first.split].pending.empty();
    const std::int64_t too_much = is_complete ? bytes(first) : least + 1;
    for (std::size_t i = 1; i < forms_[v].size(); ++i)
      if (bytes(forms_[v][i]) >= too_much) gone.emplace_back(v, forms_[v][i].split);
  }
  for (const auto& [v, split] : gone) withdraw(v, split);
  return gone;
}

const Forms::Form* Forms::cheapest(ValueId v, int split, double* seconds) const {
  const Form* best = nullptr;
  const std::int64_t width = bits(on_.type_of(v).dtype);
  for (const Form& form : forms_[v]) {
    if (form.split == split) {
      *seconds = 0;
      return &form;
    }
    const double turns = times() / scopes_[home_of(form)].times;
    const double cost = on_.routes.find(form.split, split, width).seconds / turns;
    if (best == nullptr || cost < *seconds) {
      best = &form;
      *seconds = cost;
    }
  }
  return best;
}

// Zeros are written as contributions by every device.
bool Forms::is_open_zero(ValueId v, int split) const {
  const Split& wanted = on_.splits[split];
  return !wanted.pending.empty() && wanted.reduce == ReduceOp::sum &&
         is_neutral(on_.program, v, ReduceOp::sum);
}

double Forms::seconds_to(ValueId v, int split) const {
  double seconds = 0;
  if (is_open_zero(v, split)) return seconds;
  cheapest(v, split, &seconds);
  return seconds;
}

std::int64_t Forms::bytes_to(ValueId v, int split) const {
  double seconds = 0;
  const Form* best = cheapest(v, split, &seconds);
  if (best == nullptr || best->split == split) return 0;
  std::int64_t bytes = 0;
  for (const Route::Step& step :
       on_.routes.find(best->split, split, bits(on_.type_of(v).dtype)).steps)
    bytes += step.bytes;
  return bytes;
}

bool Forms::has(ValueId v, int split) const {
  return std::ranges::any_of(forms_[v], [&](const Form& f) { return f.split == split; });
}

bool Forms::is_from_here(ValueId v) const {
  return !forms_[v].empty() && forms_[v].front().scope == scopes_.size() - 1;
}

// The outermost region from which only loops lead to the one at hand.
std::size_t Forms::home_of(const Form& form) const {
  std::size_t scope = scopes_.size() - 1;
  while (scope > form.scope && scopes_[scope].loop) --scope;
  return scope;
}

namespace {

// The split in which a constant is written once more, as cheap as to move it; -1: it is moved.
int written_anew(OnMesh& on, ValueId v, int split, bool is_there) {
  const OpId id = on.program.value(v).op;
  if (id == kNone || on.program.op(id).def->parts != Parts::constant) return -1;
  const Array& value = *on.program.attr(on.program.op(id), "value")->get<Array>();
  const bool splat = value.is_splat() || value.elements() <= 1;
  if (splat && on.splits[split].pending.empty() && value.elements() > 0) return split;
  return is_there ? -1 : on.whole_id(v);
}

}  // namespace

std::optional<Fetch> Forms::fetch(ValueId v, int split) {
  if (!on_.type_of(v).is_tensor()) return std::nullopt;
  if (has(v, split)) return std::nullopt;
  Fetch fetch{.value = v, .to = split};
  if (is_open_zero(v, split)) {
    fetch.zeros = true;
    define(v, split);
    return fetch;
  }
  if (const int anew = written_anew(on_, v, split, !forms_[v].empty()); anew >= 0) {
    fetch.anew = true;
    fetch.from = anew;
    define(v, anew);
    if (has(v, split)) return fetch;
  }
  double seconds = 0;
  const Form* best = cheapest(v, split, &seconds);
  HEDDLE_CHECK(best != nullptr, "value {} is used before it is there", v);
  fetch.from = best->split;
  // What does not change in a loop is brought there before it.
  const std::size_t home = home_of(*best);
  fetch.loops_left = static_cast<int>(scopes_.size() - 1 - home);
  fetch.times = scopes_[home].times;
  fetch.route = &on_.routes.find(fetch.from, split, bits(on_.type_of(v).dtype));
  for (const Route::Step& step : fetch.route->steps) {
    forms_[v].push_back({step.to, home});
    trail_.push_back(v);
  }
  return fetch;
}

}  // namespace heddle
