#include "schedule/steps/value_table.h"

#include <charconv>

#include "base/nearest.h"
#include "heddle/op.h"
#include "heddle/value_names.h"

namespace heddle {

namespace {

template <typename See>
void each_op(const Program& program, RegionId region, const See& see) {
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    see(op);
    if (op.def->cls == OpClass::control)
      for (RegionId inner : program.regions(op)) each_op(program, inner, see);
  }
}

std::optional<std::size_t> count_in(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool all = error == std::errc() && end == digits.data() + digits.size();
  return all && !digits.empty() ? std::optional(value) : std::nullopt;
}

// "3" or "3-7"
std::optional<std::pair<std::size_t, std::size_t>> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = count_in(text.substr(0, dash));
  const auto last = dash == text.npos ? first : count_in(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair{*first, *last};
}

}  // namespace

std::vector<ScheduleValue> schedule_values(const Program& program, const Function& function) {
  std::vector<ScheduleValue> all;
  std::map<std::string_view, std::size_t> counts;
  each_op(program, function.body, [&](const Op& op) {
    if (op.result_count == 0) return;
    all.push_back({fmt::format("{}.{}", op.def->short_name(), counts[op.def->short_name()]++),
                   program.type_of(op.results).str(), program.location(op.loc).user});
  });
  return all;
}

ValueTable::ValueTable(const Program& program, const Function& function) {
  each_op(program, function.body, [&](const Op& op) {
    if (op.result_count > 0) kinds_[std::string(op.def->short_name())].push_back(op.results);
  });
  for (std::size_t i = 0; i < program.region(function.body).args.size(); ++i)
    arguments_.emplace_back(argument_name(function, i));
  for (std::size_t i = 0; i < function.results.size(); ++i)
    results_.emplace_back(result_name(function, i));
}

void ValueTable::name(const std::string& name, std::vector<ValueId> values) {
  named_[name] = std::move(values);
}

void ValueTable::update(const ValueMap& values) {
  const auto now = [&](ValueId v) {
    const auto found = v == kNone ? values.end() : values.find(v);
    return found == values.end() ? kNone : found->second;
  };
  for (auto* all : {&kinds_, &named_})
    for (auto& [name, list] : *all)
      for (ValueId& v : list) v = now(v);
  for (std::vector<StepValue>* list : followed_)
    for (StepValue& v : *list)
      if (v.kind == StepValue::Kind::value) v.value = now(v.value);
}

Expected<std::vector<StepValue>> ValueTable::numbered(const std::string& word) const {
  const std::size_t dot = word.rfind('.');
  const std::string kind = word.substr(0, dot), number = word.substr(dot + 1);
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) {
    std::vector<std::string> known;
    for (const auto& [name, list] : kinds_) known.push_back(name);
    return reason("the program of a device has no {}{}", kind, did_you_mean(kind, known));
  }
  std::vector<StepValue> values;
  if (number == "*") {
    for (ValueId v : found->second) values.push_back({StepValue::Kind::value, v, 0});
    return values;
  }
  const auto range = range_in(number);
  if (!range || range->second >= found->second.size())
    return reason("there is no {}: the program of a device has {}.0 to {}.{}", word, kind, kind,
                  found->second.size() - 1);
  for (std::size_t i = range->first; i <= range->second; ++i)
    values.push_back({StepValue::Kind::value, found->second[i], 0});
  return values;
}

// Arguments and results, by number or by what the program calls them.
Expected<std::vector<StepValue>> ValueTable::places(const std::string& word) const {
  std::vector<StepValue> values;
  for (const auto kind : {StepValue::Kind::argument, StepValue::Kind::result}) {
    const bool is_argument = kind == StepValue::Kind::argument;
    const std::vector<std::string>& names = is_argument ? arguments_ : results_;
    const std::string_view prefix = is_argument ? "arg" : "result";
    const auto range = word.starts_with(prefix)
                           ? range_in(std::string_view(word).substr(prefix.size()))
                           : std::nullopt;
    if (range && range->second >= names.size())
      return reason("there is no {}: the function has {} {}s", word, names.size(),
                    is_argument ? "argument" : "result");
    for (std::size_t i = 0; i < names.size(); ++i)
      if ((range && i >= range->first && i <= range->second) ||
          (!names[i].empty() && (names[i] == word || lies_in(names[i], word))))
        values.push_back({kind, kNone, i});
  }
  return values;
}

Expected<std::vector<StepValue>> ValueTable::find(const std::string& word) const {
  std::vector<StepValue> values;
  if (const auto found = named_.find(word); found != named_.end()) {
    for (ValueId v : found->second) values.push_back({StepValue::Kind::value, v, 0});
    return values;
  }
  HEDDLE_TRY(values, places(word));
  if (!values.empty()) return values;
  if (word.find('.') != word.npos) return numbered(word);
  std::vector<std::string> known;
  for (const auto& [name, list] : named_) known.push_back(name);
  return reason(
      "nothing is called `{}`: it is no name of a step before, no argument or result "
      "(arg0, result0), and no op by kind and number (all_reduce.0){}",
      word, did_you_mean(word, known));
}

}  // namespace heddle
