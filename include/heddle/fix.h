// What a user fixes of a plan, in words: "arg0=dp,_", "batch=dp", "memory=70GB". The rest is
// searched for around it.
#pragma once

#include <optional>

#include "heddle/shards.h"

namespace heddle {

struct Fixes {
  std::vector<ShardEntry> shards;      // arguments and results
  std::string batch;                   // axes that the first dimension of the batch lies over
  std::optional<std::int64_t> memory;  // of one device
  friend bool operator==(const Fixes&, const Fixes&) = default;
};

// Each is NAME=SHARDING as shard_entry() has it, or one of the words above.
Expected<Fixes> parse_fixes(const std::vector<std::string>& texts);

// Words that are no names of arguments: batch, memory.
std::vector<std::string> fix_words();

// `batch=axes` as shardings of the arguments that are a batch: those that are not carried from run
// to run, or where nothing is carried those that no result could take the place of.
Expected<std::vector<ShardEntry>> batch_entries(const Program& program, const Function& function,
                                                const std::vector<Carried>& carried,
                                                const std::string& axes);

// A reason where the batch has fewer rows than there are devices along the axes.
Verdict check_batch(const Program& program, const Function& function, const Mesh& mesh,
                    const std::vector<ShardEntry>& entries, const std::string& axes);

// A reason where an argument and the result that becomes it are fixed as differently.
Verdict check_carried(const std::vector<ShardEntry>& fixed, const std::vector<Seed>& seeds,
                      const std::vector<Carried>& carried);

}  // namespace heddle
