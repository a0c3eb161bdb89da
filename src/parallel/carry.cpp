#include "heddle/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "base/text.h"
#include "base/words.h"
#include "heddle/signature.h"
#include "heddle/value_names.h"
#include "parallel/value_range.h"

namespace heddle {
namespace {

Verdict want_index(const std::string& word, std::size_t index, std::size_t count,
                   std::string_view what, const Function& function) {
  if (index < count) return yes();
  return reason("carry {}: there is no {} {}: {} has {}", word, what, index, function.name,
                counted(count, what));
}

// ---- by what JAX calls them

struct Member {
  std::string inside;  // its name behind that of its group: "['w']"
  std::size_t index = 0;
};
using Groups = std::map<std::string, std::vector<Member>>;

// The length of "params" or "result", with `accessors` such as "[1]" or ".mu" after it.
std::size_t head_length(const std::string& name, int accessors) {
  std::size_t at = name.find_first_of("[.");
  for (; accessors > 0 && at < name.size(); --accessors)
    at = name[at] == '[' ? find_outside(name, ']', at + 1) + 1 : name.find_first_of("[.", at + 1);
  return std::min(at, name.size());
}

std::string name_of(const Function& function, bool is_result, std::size_t i) {
  return std::string(is_result ? result_name(function, i) : argument_name(function, i));
}

Groups groups_of(const Function& function, bool is_result, std::size_t count, int accessors) {
  Groups groups;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = name_of(function, is_result, i);
    if (name.empty()) continue;
    const std::size_t head = head_length(name, accessors);
    groups[name.substr(0, head)].push_back({name.substr(head), i});
  }
  return groups;
}

class Finder {
 public:
  Finder(const Program& program, const Function& function)
      : function_(function),
        arguments_(argument_types(program, function)),
        results_(result_types(program, function)) {}

  CarryPlan find() const {
    CarryPlan plan = by_names();
    if (plan.pairs.empty()) plan = by_order();
    return plan;
  }

 private:
  bool is_scalar(std::size_t result) const {
    return results_[result].is_tensor() && results_[result].rank() == 0;
  }

  bool alike(const std::vector<Member>& arguments, const std::vector<Member>& results) const {
    return arguments.size() == results.size() &&
           std::ranges::equal(arguments, results, [&](const Member& a, const Member& r) {
             return !a.inside.empty() && a.inside == r.inside &&
                    arguments_[a.index] == results_[r.index];
           });
  }

  // An argument params['w'] is result[1]['w'], where all of params is in result[1].
  CarryPlan by_names() const {
    CarryPlan plan;
    plan.because = "names";
    const Groups arguments = groups_of(function_, false, arguments_.size(), 0);
    for (const auto& [name, members] : arguments) {
      int found = 0;
      for (const int accessors : {0, 1}) {
        const Groups results = groups_of(function_, true, results_.size(), accessors);
        for (const auto& [other, candidates] : results) {
          if (!alike(members, candidates)) continue;
          // Names have to tell them apart.
          if (++found > 1 || plan.gives(candidates[0].index)) return {};
          for (std::size_t i = 0; i < members.size(); ++i)
            plan.pairs.push_back({members[i].index, candidates[i].index});
        }
      }
    }
    std::ranges::sort(plan.pairs, {}, &Carried::argument);
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (!is_scalar(r) && !plan.gives(r)) return {};
    return plan;
  }

  // The first arguments from results of equal types, from this one on.
  std::vector<Carried> run_from(std::size_t start) const {
    std::vector<Carried> pairs;
    for (std::size_t i = 0; i < arguments_.size() && start + i < results_.size(); ++i) {
      if (!arguments_[i].is_tensor() || !(arguments_[i] == results_[start + i])) break;
      pairs.push_back({i, start + i});
    }
    return pairs;
  }

  // Results are some scalars, then the first arguments by their types, then some scalars.
  CarryPlan by_order() const {
    std::vector<std::size_t> starts;
    std::size_t first_other = 0;  // result that no argument takes
    CarryPlan likely;
    for (std::size_t start = 0; start < results_.size(); ++start) {
      const std::vector<Carried> pairs = run_from(start);
      if (pairs.size() > likely.pairs.size()) likely.pairs = pairs;
      std::size_t other = start + pairs.size();
      while (other < results_.size() && is_scalar(other)) ++other;
      first_other = std::max(first_other, other);
      if (!pairs.empty() && other == results_.size()) starts.push_back(start);
      if (!is_scalar(start)) break;
    }
    if (starts.size() == 1) return {run_from(starts[0]), false, "equal types in order", ""};
    return {{}, false, not_evident(starts, first_other), likely.text()};
  }

  std::string not_evident(const std::vector<std::size_t>& starts, std::size_t other) const {
    if (results_.empty() || arguments_.empty())
      return fmt::format("{} has {} and {}", function_.name, counted(arguments_.size(), "argument"),
                         counted(results_.size(), "result"));
    if (starts.size() > 1)
      return fmt::format("argument 0 could be result {} or result {}, both {}", starts[0],
                         starts[1], arguments_[0].str());
    if (other < results_.size())
      return fmt::format("result {}, {}, is not the type of an argument in its place", other,
                         results_[other].str());
    return "no result has the type of argument 0";
  }

  const Function& function_;
  const std::vector<Type> arguments_, results_;
};

// ---- as somebody says it

// What one side of a word means: arg0-85, a name, or the name of a group for all that is in it.
Expected<std::vector<Member>> side_of(const std::string& word, const std::string& side,
                                      bool is_result, std::size_t count, const Function& function) {
  const std::string_view what = is_result ? "result" : "argument";
  std::vector<Member> exact, inside;
  const auto range = value_range(side, is_result ? "result" : "arg");
  if (range && range->first <= range->last) {
    HEDDLE_TRY_VOID(want_index(word, range->last, count, what, function));
    for (std::size_t i = range->first; i <= range->last; ++i) exact.push_back({"", i});
    return exact;
  }
  std::vector<std::string> known;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = name_of(function, is_result, i);
    if (name.empty()) continue;
    known.push_back(name);
    if (name == side)
      exact.push_back({"", i});
    else if (lies_in(name, side))
      inside.push_back({name.substr(side.size()), i});
  }
  if (!exact.empty()) return exact;
  if (!inside.empty()) return inside;
  return reason(
      "carry {}: no {} of {} is called {}{}\n  write ARGUMENTS=RESULTS, as in arg0-85=result1-86 "
      "or params=result[1]",
      word, what, function.name, side, did_you_mean(side, with_groups(known)));
}

// Of two groups those that are called alike go together, else they are taken in order.
Expected<std::vector<Carried>> pairs_of(const std::string& word, const std::vector<Member>& to,
                                        const std::vector<Member>& from) {
  if (to.size() != from.size())
    return reason("carry {}: {} are to come from {}", word, counted(to.size(), "argument"),
                  counted(from.size(), "result"));
  std::vector<Carried> pairs;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool by_name = !to[i].inside.empty() && !from[i].inside.empty();
    const auto found = by_name ? std::ranges::find(from, to[i].inside, &Member::inside)
                               : from.begin() + static_cast<std::ptrdiff_t>(i);
    if (found == from.end())
      return reason("carry {}: no result ends in {}, as argument {} does", word, to[i].inside,
                    to[i].index);
    pairs.push_back({to[i].index, found->index});
  }
  return pairs;
}

}  // namespace

bool CarryPlan::takes(std::size_t argument) const {
  return std::ranges::any_of(pairs, [&](const Carried& c) { return c.argument == argument; });
}

bool CarryPlan::gives(std::size_t result) const {
  return std::ranges::any_of(pairs, [&](const Carried& c) { return c.result == result; });
}

std::string CarryPlan::text() const {
  std::string text;
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t n = 1;
    while (i + n < pairs.size() && pairs[i + n].argument == pairs[i].argument + n &&
           pairs[i + n].result == pairs[i].result + n)
      ++n;
    const auto [a, r] = pairs[i];
    text += text.empty() ? "" : ",";
    text += n == 1 ? fmt::format("arg{}=result{}", a, r)
                   : fmt::format("arg{}-{}=result{}-{}", a, a + n - 1, r, r + n - 1);
    i += n;
  }
  return text;
}

Expected<CarryPlan> parse_carry(const Program& program, const Function& function,
                                const std::vector<std::string>& said) {
  const std::vector<Type> arguments = argument_types(program, function);
  const std::vector<Type> results = result_types(program, function);
  CarryPlan plan{.pairs = {}, .said = true, .because = {}, .suggestion = {}};
  std::vector<std::string> words;
  for (const std::string& text : said)
    for (std::string& word : split_outside(text, ',')) words.push_back(std::move(word));
  for (const std::string& word : words) {
    const std::vector<std::string> sides = split_outside(word, '=');
    if (sides.size() != 2)
      return reason("carry {}: write ARGUMENTS=RESULTS, as in arg0-85=result1-86", word);
    HEDDLE_TRY(const auto to, side_of(word, sides[0], false, arguments.size(), function));
    HEDDLE_TRY(const auto from, side_of(word, sides[1], true, results.size(), function));
    HEDDLE_TRY(const std::vector<Carried> pairs, pairs_of(word, to, from));
    for (const Carried& c : pairs) {
      const Type &argument = arguments[c.argument], &result = results[c.result];
      if (!(argument == result) || !argument.is_tensor())
        return reason("carry {}: argument {} is {}, and result {} is {}", word, c.argument,
                      argument.str(), c.result, result.str());
      if (plan.takes(c.argument))
        return reason("carry {}: argument {} comes from result {} already", word, c.argument,
                      std::ranges::find(plan.pairs, c.argument, &Carried::argument)->result);
      if (plan.gives(c.result))
        return reason("carry {}: result {} goes to an argument already", word, c.result);
      plan.pairs.push_back(c);
    }
  }
  std::ranges::sort(plan.pairs, {}, &Carried::argument);
  return plan;
}

CarryPlan evident_carry(const Program& program, const Function& function) {
  return Finder(program, function).find();
}

Expected<CarryPlan> find_carry(const Program& program, const Function& function,
                               const std::vector<std::string>& said, bool needed) {
  const bool evident = said.empty() || (said.size() == 1 && said[0] == "evident");
  if (!evident) return parse_carry(program, function, said);
  CarryPlan plan = evident_carry(program, function);
  if (plan.pairs.empty() && needed)
    return reason(
        "which results are the next step's arguments is not evident: {}\n  say it with "
        "`carry`, as in `carry` {}",
        plan.because, plan.suggestion.empty() ? "arg0-85=result1-86" : plan.suggestion);
  return plan;
}

}  // namespace heddle
