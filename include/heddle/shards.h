// What a user says in words of where arguments, results and values lie: "arg0=dp,_".
#pragma once

#include <string>
#include <vector>

#include "heddle/parallel.h"

namespace heddle {

struct ShardEntry {
  std::string name;      // arg0, arg2-5, a type, ...
  std::string sharding;  // dp,_ or [{"dp"}, {}]
  std::string source;    // how errors call it: shard arg0=dp,_
  bool from_file = false;
  bool fixed = false;  // it must hold, where others may count more than a word
  friend bool operator==(const ShardEntry&, const ShardEntry&) = default;
};

// NAME=SHARDING.
Expected<ShardEntry> shard_entry(const std::string& text);

// dp+tp,_ or sdy's notation: [{"dp", ?}p1, {}], replicated={"tp"}.
Expected<Sharding> parse_sharding(const std::string& text, const std::string& mesh,
                                  const std::string& source);

// Seeds for the arguments and results of one function; a later entry counts more than an earlier
// one, but two of one kind for the same thing are refused. Values that are named by their type get
// their layouts in the program.
Expected<std::vector<Seed>> seeds_of(Program& program, const Function& function,
                                     const std::string& mesh,
                                     const std::vector<ShardEntry>& entries);

}  // namespace heddle
