// What a loop does at each turn, for devices that can do many turns as one function.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {

class Launch;
class LibraryCall;
struct LoopWork;

struct LoopCopy {
  std::uint32_t from = 0, to = 0;  // slots
  std::int64_t bytes = 0;
};

struct LoopCall {
  const LibraryCall* call = nullptr;
  std::vector<std::uint32_t> operands = {}, results = {};  // slots
};

struct LoopBranch;

// One after the other.
using LoopPart = std::variant<const Launch*, LoopCopy, LoopCall, std::shared_ptr<const LoopWork>,
                              std::shared_ptr<const LoopBranch>>;
using LoopParts = std::vector<LoopPart>;

struct LoopBranch {
  std::uint32_t index = 0;  // a slot with one number
  bool is_case = false;     // out of range: the last one; else truth picks the first
  std::vector<LoopParts> branches = {};
};

// Slots are places in the table of addresses that launches have.
struct LoopWork {
  LoopParts condition = {}, body = {};
  std::uint32_t predicate = 0;
  // Each pair changes places after the body: what it wrote is what the next turn reads.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> swaps = {};
  // Slots that hold something before and after; others are the body's own.
  std::vector<std::uint32_t> carried = {};
};

// A loop that a device can do as one function. It makes the code when the loop has shown that it
// goes on for long; until then, and where that fails, its steps are run one by one.
class LoopLaunch {
 public:
  virtual ~LoopLaunch() = default;
  // Whether the code is there.
  virtual bool is_ready() const = 0;
  // So many turns more have been done step by step; makes the code where they have become many.
  virtual void count(std::int64_t turns) = 0;
  // So many turns take about as long as a user may wait before a stop is seen.
  virtual std::int64_t turns_at_once() const = 0;
  // Pairs of slots that have changed places after an odd number of turns; of others, what they held
  // has moved.
  virtual const std::vector<std::pair<std::uint32_t, std::uint32_t>>& moved() const = 0;
};

struct TurnsDone {
  std::int64_t turns = 0;
  bool over = false;  // its condition does not hold any more
};

}  // namespace heddle
