#include "heddle/fix.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/words.h"
#include "parallel/data_arguments.h"

namespace heddle {

namespace {

// A word that is no name of an argument, and what becomes of its value.
struct FixWord {
  const char* word;
  Verdict (*take)(const std::string& value, Fixes& fixes);
};

Verdict take_batch(const std::string& value, Fixes& fixes) {
  if (!fixes.batch.empty()) return reason("the batch has been fixed before, as {}", fixes.batch);
  if (value.empty()) return Reason{"name an axis of the mesh, as in batch=dp, or two, batch=dp+tp"};
  fixes.batch = value;
  return yes();
}

Verdict take_memory(const std::string& value, Fixes& fixes) {
  HEDDLE_TRY(const std::int64_t bytes, parse_bytes(value));
  if (bytes <= 0) return Reason{"a device has more than no memory: write as in memory=70GB"};
  if (fixes.memory && *fixes.memory != bytes)
    return reason("the memory has been fixed before, as {}",
                  format_bytes(static_cast<double>(*fixes.memory)));
  fixes.memory = bytes;
  return yes();
}

constexpr std::array kWords = {FixWord{"batch", take_batch}, FixWord{"memory", take_memory}};

// An argument may be called as a word is: a sharding has commas or brackets.
const FixWord* word_of(const std::string& name, const std::string& value) {
  if (value.find_first_of(",[{") != value.npos) return nullptr;
  for (const FixWord& one : kWords)
    if (name == one.word) return &one;
  return nullptr;
}

std::int64_t positions(const std::string& axes, const Mesh& mesh) {
  std::int64_t count = 1;
  for (const std::string& name : split_outside(axes, '+'))
    for (const MeshAxis& axis : mesh.axes())
      if (axis.name == name) count *= axis.size;
  return count;
}

}  // namespace

std::vector<std::string> fix_words() {
  std::vector<std::string> words;
  for (const FixWord& one : kWords) words.emplace_back(one.word);
  return words;
}

Expected<Fixes> parse_fixes(const std::vector<std::string>& texts) {
  Fixes fixes;
  for (const std::string& text : texts) {
    auto entry = shard_entry(text);
    if (!entry)
      return reason("fix {}: write NAME=SHARDING, as in arg0=dp,_ or batch=dp, memory=70GB", text);
    entry->source = "fix " + text;
    entry->fixed = true;
    if (const FixWord* word = word_of(entry->name, entry->sharding)) {
      if (const Verdict taken = word->take(entry->sharding, fixes); !taken)
        return reason("fix {}: {}", text, taken.reason());
      continue;
    }
    fixes.shards.push_back(*std::move(entry));
  }
  return fixes;
}

Expected<std::vector<ShardEntry>> batch_entries(const Program& program, const Function& function,
                                                const std::vector<Carried>& carried,
                                                const std::string& axes) {
  const std::string source = "fix batch=" + axes;
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  std::vector<std::size_t> data;
  if (carried.empty()) {
    data = data_arguments(program, function);
  } else {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (std::ranges::find(carried, i, &Carried::argument) == carried.end()) data.push_back(i);
  }
  std::vector<ShardEntry> entries;
  for (const std::size_t i : data) {
    const Type& type = program.type_of(arguments[i]);
    if (!type.is_tensor() || type.rank() == 0 || is_random_key(type)) continue;
    std::string sharding = axes;
    for (std::size_t d = 1; d < type.rank(); ++d) sharding += ",_";
    entries.push_back({fmt::format("arg{}", i), sharding, source, true, true});
  }
  if (entries.empty())
    return reason(
        "{}: @{} has no batch: all of its arguments are state, numbers or random keys; fix the "
        "ones that you "
        "mean by their names, as in arg0=dp,_",
        source, function.name);
  return entries;
}

Verdict check_carried(const std::vector<ShardEntry>& fixed, const std::vector<Seed>& seeds,
                      const std::vector<Carried>& carried) {
  if (std::ranges::none_of(fixed, &ShardEntry::fixed)) return yes();
  const auto said = [&](bool is_result, std::size_t index) {
    return std::ranges::find_if(
        seeds, [&](const Seed& s) { return s.is_result == is_result && s.index == index; });
  };
  for (const Carried& c : carried) {
    const auto argument = said(false, c.argument), result = said(true, c.result);
    if (argument == seeds.end() || result == seeds.end() || argument->sharding == result->sharding)
      continue;
    return reason(
        "fix: result{} is what the next step takes as arg{}, and the two are fixed as differently: "
        "leave one of them out",
        c.result, c.argument);
  }
  return yes();
}

Verdict check_batch(const Program& program, const Function& function, const Mesh& mesh,
                    const std::vector<ShardEntry>& entries, const std::string& axes) {
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  const std::int64_t parts = positions(axes, mesh);
  for (const ShardEntry& entry : entries) {
    const auto index = static_cast<std::size_t>(std::stoul(entry.name.substr(3)));
    const std::int64_t rows = program.type_of(arguments[index]).shape[0];
    if (rows < parts)
      return reason(
          "{}: {} has {} rows for {} devices along {}: take at most {} devices there, or a larger "
          "batch",
          entry.source, entry.name, rows, parts, axes, rows);
  }
  return yes();
}

}  // namespace heddle
