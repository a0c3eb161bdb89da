#include "heddle/carry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "heddle/signature.h"

namespace heddle {
namespace {

struct Range {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first + 1; }
};

// "arg3", "%arg3" or "arg3-7".
bool parse_range(std::string_view text, std::string_view word, Range& range) {
  if (text.starts_with('%')) text.remove_prefix(1);
  if (!text.starts_with(word)) return false;
  const std::string numbers(text.substr(word.size()));
  const char* const end = numbers.data() + numbers.size();
  auto [at, problem] = std::from_chars(numbers.data(), end, range.first);
  range.last = range.first;
  if (problem != std::errc{}) return false;
  if (at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, range.last);
    at = second.ptr;
    if (second.ec != std::errc{}) return false;
  }
  return at == end && range.first <= range.last;
}

std::vector<std::string> words_of(const std::vector<std::string>& said) {
  std::vector<std::string> words;
  for (const std::string& text : said) {
    words.emplace_back();
    for (const char c : text) {
      if (c == ',')
        words.emplace_back();
      else if (c != ' ')
        words.back() += c;
    }
  }
  return words;
}

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
    at = name[at] == '[' ? name.find(']', at) + 1 : name.find_first_of("[.", at + 1);
  return std::min(at, name.size());
}

std::string name_in(const AttrDict& attrs, const char* key) {
  const Attr* attr = find_attr(attrs, key);
  const auto* text = attr == nullptr ? nullptr : attr->get<std::string>();
  return text == nullptr ? "" : *text;
}

Groups groups_of(const std::vector<AttrDict>& attrs, const char* key, int accessors) {
  Groups groups;
  for (std::size_t i = 0; i < attrs.size(); ++i) {
    const std::string name = name_in(attrs[i], key);
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
    const Groups arguments = groups_of(function_.arg_attrs, "jax.arg_info", 0);
    for (const auto& [name, members] : arguments) {
      int found = 0;
      for (const int accessors : {0, 1}) {
        const Groups results = groups_of(function_.result_attrs, "jax.result_info", accessors);
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
  for (const std::string& word : words_of(said)) {
    const std::size_t cut = word.find('=');
    Range to, from;
    if (cut == std::string::npos || !parse_range(word.substr(0, cut), "arg", to) ||
        !parse_range(word.substr(cut + 1), "result", from))
      return reason("carry {}: write ARGUMENTS=RESULTS, as in arg0-85=result1-86", word);
    if (to.count() != from.count())
      return reason("carry {}: {} are to come from {}", word, counted(to.count(), "argument"),
                    counted(from.count(), "result"));
    HEDDLE_TRY_VOID(want_index(word, to.last, arguments.size(), "argument", function));
    HEDDLE_TRY_VOID(want_index(word, from.last, results.size(), "result", function));
    for (std::size_t i = 0; i < to.count(); ++i) {
      const Carried c{to.first + i, from.first + i};
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

}  // namespace heddle
