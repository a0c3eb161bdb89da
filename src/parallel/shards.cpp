#include "heddle/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/nearest.h"
#include "base/text.h"
#include "base/words.h"
#include "heddle/fix.h"
#include "heddle/stablehlo.h"
#include "heddle/value_names.h"
#include "parallel/value_range.h"

namespace heddle {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// {x, y:(1)2} as {"x", "y":(1)2}: shells eat quotes.
std::string with_quotes(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    const std::size_t last = out.find_last_not_of(' ');
    const char before = last == out.npos ? ' ' : out[last];
    if (quoted || !is_word(text[i]) || (before != '{' && before != ',') ||
        text.find('}', i) > text.find('{', i)) {
      out += text[i];
      continue;
    }
    out += '"';
    for (; i < text.size() && is_word(text[i]); ++i) out += text[i];
    out += '"';
    --i;
  }
  return out;
}

// dp+tp,_ as [{"dp", "tp"}, {}]
Expected<std::string> long_form(const std::string& text, const std::string& source) {
  std::string out;
  if (text.find_first_not_of(' ') == text.npos) return std::string("[]");
  for (const std::string& word : split_outside(text, ',')) {
    std::string axes;
    if (word.empty())
      return reason("{}: a dimension has no word; write _ where it stays whole", source);
    for (std::string axis :
         word == "_" || word == "-" ? std::vector<std::string>{} : split_outside(word, '+')) {
      std::erase(axis, '"');
      const std::string name = axis.substr(0, axis.find(':'));
      if (name.empty()) return reason("{}: an axis has no name", source);
      if (name.find_first_of("{}[]()") != name.npos)
        return reason("{}: {} stands where an axis was expected", source, name);
      if (!axes.empty()) axes += ", ";
      axes += axis == "?" ? axis : fmt::format("\"{}\"{}", name, axis.substr(name.size()));
    }
    out += fmt::format("{}{{{}}}", out.empty() ? "[" : ", ", axes);
  }
  return out + "]";
}

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

struct NamedRange : ValueRange {
  bool result = false;
};

std::optional<NamedRange> range_of(std::string_view name) {
  if (const auto range = value_range(name, "arg")) return NamedRange{*range, false};
  if (const auto range = value_range(name, "result")) return NamedRange{*range, true};
  return std::nullopt;
}

// An argument or result, and what it may be called beside its number.
struct Named {
  bool result = false;
  std::size_t index = 0;
  // arg3, %arg3, its type, the name that the program gives it, and the groups that this lies in.
  std::vector<std::string> names;
};

class Boundary {
 public:
  Boundary(const Program& program, const Function& function)
      : program_(program), function_(function.name) {
    const auto& args = program.region(function.body).args;
    for (std::size_t i = 0; i < args.size(); ++i)
      add(false, i, program.type_of(args[i]), argument_name(function, i));
    arguments_ = args.size();
    for (std::size_t i = 0; i < function.results.size(); ++i)
      add(true, i, program.type(function.results[i]), result_name(function, i));
  }

  const Named& operator[](std::size_t i) const { return all_[i]; }

  // Whether it can lie so on its mesh, told in the words of who said it.
  Verdict want_possible(std::size_t i, const Sharding& sharding, const ShardEntry& entry) const {
    const MeshDecl* const mesh = program_.find_mesh(sharding.mesh);
    const Type& type = *types_[i];
    if (mesh == nullptr || !type.is_tensor()) return yes();
    const auto layout = to_layout(sharding, *mesh, type, program_.axes.mem());
    return layout ? yes() : reason("{}: {}", entry.source, layout.reason());
  }

  // Places of those that an entry is about, at least one.
  Expected<std::vector<std::size_t>> meant_by(const ShardEntry& entry) const {
    const std::vector<std::string> words = split_outside(entry.name, '&');
    HEDDLE_TRY(std::vector<std::size_t> found, called(words[0], entry));
    for (std::size_t i = 1; i < words.size(); ++i) {
      HEDDLE_TRY(const std::vector<std::size_t> others, called(words[i], entry));
      std::erase_if(found, [&](std::size_t p) { return !std::ranges::binary_search(others, p); });
    }
    if (!found.empty()) return found;
    if (entry.fixed && entry.name == "batch")
      return reason(
          "{}: no argument or result of @{} is called batch; for the batch of the program join "
          "axes by +, as in batch=dp+tp: it is split along its first dimension",
          entry.source, function_);
    std::vector<std::string> known = with_groups(names());
    if (entry.fixed) std::ranges::copy(fix_words(), std::back_inserter(known));
    const std::string near = did_you_mean(entry.name, known);
    return reason(
        "{}: no argument or result of @{} is called {}{}", entry.source, function_, entry.name,
        !near.empty() ? near
        : named_
            ? "; they are arg0, arg1, ..., result0, ..., called as `heddle plan` lists them, or "
              "named by their types, with * for anything"
            : "; they are arg0, arg1, ..., result0, ..., or named by their types, with * for "
              "anything: the program's arguments have no other names, which JAX writes with "
              ".lower(x).as_text(debug_info=True)");
  }

 private:
  void add(bool result, std::size_t i, const Type& type, std::string_view given) {
    const std::string name = fmt::format("{}{}", result ? "result" : "arg", i);
    Named one{result, i, {name, "%" + name, type.str()}};
    if (!given.empty()) one.names.emplace_back(given);
    named_ = named_ || (!result && !given.empty());
    for (std::string& group : groups_around(given)) one.names.push_back(std::move(group));
    for (const std::string& known : one.names) {
      std::vector<std::size_t>& places = by_name_[known];
      if (places.empty() || places.back() != all_.size()) places.push_back(all_.size());
    }
    all_.push_back(std::move(one));
    types_.push_back(&type);
  }

  // Those that a misspelt one may be near to: what the program gives, and numbers.
  std::vector<std::string> names() const {
    constexpr std::size_t kGiven = 3;
    std::vector<std::string> all;
    for (const Named& named : all_)
      if (named.names.size() > kGiven) all.push_back(named.names[kGiven]);
    for (const Named& named : all_) all.push_back(named.names[0]);
    return all;
  }

  // In ascending order.
  Expected<std::vector<std::size_t>> called(const std::string& word,
                                            const ShardEntry& entry) const {
    if (const auto exact = by_name_.find(word); exact != by_name_.end()) return exact->second;
    std::vector<std::size_t> found;
    if (const auto range = range_of(word)) {
      HEDDLE_TRY_VOID(want_inside(*range, word, entry));
      for (std::size_t i = range->first; i <= range->last; ++i)
        found.push_back(range->result ? arguments_ + i : i);
    } else if (word.find('*') != word.npos) {
      for (std::size_t p = 0; p < all_.size(); ++p)
        if (std::ranges::any_of(all_[p].names, [&](const auto& n) { return matches(word, n); }))
          found.push_back(p);
    }
    return found;
  }

  Verdict want_inside(const NamedRange& range, const std::string& word,
                      const ShardEntry& entry) const {
    const std::size_t count = range.result ? all_.size() - arguments_ : arguments_;
    if (range.first > range.last) return reason("{}: {} ends before it begins", entry.source, word);
    if (range.last >= count)
      return reason("{}: no argument or result of @{} is called {}{}; it has {}", entry.source,
                    function_, range.result ? "result" : "arg", range.last,
                    counted(count, range.result ? "result" : "argument"));
    return yes();
  }

  const Program& program_;
  std::string function_;
  std::vector<Named> all_;
  std::vector<const Type*> types_;  // of `all_`
  std::size_t arguments_ = 0;
  bool named_ = false;  // whether the program gives one of them a name
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

// value:TYPE, for all values of that type between arguments and results.
Verdict lay_out_values(Program& program, const std::string& pattern, const Sharding& sharding,
                       const ShardEntry& entry) {
  bool any = false;
  std::map<TypeId, std::optional<LayoutId>> known;  // none: another type
  for (ValueId v = 0; v < program.value_count(); ++v) {
    const auto [at, is_new] = known.emplace(program.value(v).type, std::nullopt);
    if (is_new) {
      const Type type = program.type_of(v);
      if (type.is_tensor() && matches(pattern, type.str())) {
        auto layout = program.add_layout(sharding, type);
        if (!layout) return reason("{}: {}", entry.source, layout.reason());
        at->second = *layout;
      }
    }
    if (!at->second) continue;
    program.set_layout(v, *at->second);
    any = true;
  }
  if (!any) return reason("{}: no value has the type {}", entry.source, pattern);
  return yes();
}

// What has been said of one argument or result: by its number, on the command line and in a file.
struct Said {
  std::optional<std::size_t> seed;
  const ShardEntry *by_option = nullptr, *by_file = nullptr;
};

class SeedList {
 public:
  explicit SeedList(const Boundary& boundary) : boundary_(boundary) {}

  Verdict add(const ShardEntry& entry, const Sharding& sharding) {
    if (!names_.emplace(entry.from_file, entry.name).second) return twice(entry, entry.name);
    HEDDLE_TRY(const std::vector<std::size_t> meant, boundary_.meant_by(entry));
    for (const std::size_t p : meant) {
      const Named& named = boundary_[p];
      HEDDLE_TRY_VOID(boundary_.want_possible(p, sharding, entry));
      Said& said = said_[p];
      const ShardEntry*& before = entry.from_file ? said.by_file : said.by_option;
      if (range_of(entry.name)) {
        if (before != nullptr) return twice(entry, named.names[0]);
        before = &entry;
      }
      if (!said.seed) {
        said.seed = seeds.size();
        seeds.emplace_back();
      }
      seeds[*said.seed] = {named.result, named.index, sharding};
    }
    return yes();
  }

  std::vector<Seed> seeds;

 private:
  static Reason twice(const ShardEntry& entry, const std::string& name) {
    return reason("{}: {} has been given a sharding before: leave one of them out", entry.source,
                  name);
  }

  const Boundary& boundary_;
  std::map<std::size_t, Said> said_;
  std::set<std::pair<bool, std::string>> names_;
};

}  // namespace

Expected<ShardEntry> shard_entry(const std::string& option) {
  // Names may have = in them, and so has sdy's notation: replicated={...}.
  std::size_t cut = find_outside(option, '=');
  if (cut == option.npos) cut = option.rfind('=');
  if (cut == option.npos || cut == 0)
    return reason("shard {}: write NAME=SHARDING, as in arg0=dp,_", option);
  std::string name = option.substr(0, cut);
  name.erase(name.find_last_not_of(' ') + 1);
  return ShardEntry{std::move(name), option.substr(cut + 1), "shard " + option};
}

namespace {

// What the reader found wrong with a text that stands before `close` in what it read.
std::string why_not_read(const std::string& found, const std::string& close) {
  std::string why = without_place(found);
  const std::string last = fmt::format("'{}'", close);
  if (why.ends_with(last)) why.replace(why.size() - last.size(), last.size(), "its end");
  return why;
}

}  // namespace

Expected<Sharding> parse_sharding(const std::string& text, const std::string& mesh,
                                  const std::string& source) {
  const std::size_t first = text.find_first_not_of(' ');
  const bool is_long = first != text.npos && text[first] == '[';
  HEDDLE_TRY(const std::string notation,
             is_long ? Expected<std::string>(with_quotes(text)) : long_form(text, source));
  const std::string open = "module attributes {shard = #sdy.sharding<@mesh, " + notation;
  const Expected<Program> read = notation.find_first_of("<>\n") == notation.npos
                                     ? read_stablehlo(open + ">} {\n}\n", "shard")
                                     : reason("shard: no axis has such a name");
  const Attr* attr = read ? find_attr(read->attrs, "shard") : nullptr;
  if (const Sharding* found = attr == nullptr ? nullptr : attr->get<Sharding>()) {
    Sharding sharding = *found;
    sharding.mesh = mesh;
    return sharding;
  }
  return reason(
      "{}: {}\n  write a word for each dimension, dp+tp,_ or sdy's notation, [{{\"dp\"}}, {{}}]",
      source, read ? "this is no sharding" : why_not_read(read.reason(), ">}"));
}

Expected<std::vector<Seed>> seeds_of(Program& program, const Function& function,
                                     const std::string& mesh,
                                     const std::vector<ShardEntry>& entries) {
  constexpr std::string_view kValue = "value:";
  const Boundary boundary(program, function);
  SeedList list(boundary);
  std::unordered_map<std::string, Sharding> shardings;
  for (const ShardEntry& entry : entries) {
    auto known = shardings.find(entry.sharding);
    if (known == shardings.end()) {
      HEDDLE_TRY(Sharding sharding, parse_sharding(entry.sharding, mesh, entry.source));
      known = shardings.emplace(entry.sharding, std::move(sharding)).first;
    }
    if (entry.name.starts_with(kValue)) {
      HEDDLE_TRY_VOID(
          lay_out_values(program, entry.name.substr(kValue.size()), known->second, entry));
    } else {
      HEDDLE_TRY_VOID(list.add(entry, known->second));
    }
  }
  return std::move(list.seeds);
}

}  // namespace heddle
