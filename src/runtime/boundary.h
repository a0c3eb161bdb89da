// Why a kernel ends where it does: who reads what it writes.
#pragma once

#include <unordered_map>

#include "runtime/lifetimes.h"

namespace heddle::runtime {

class Boundaries {
 public:
  Boundaries() = default;
  Boundaries(const CompiledProgram& compiled, const Lifetimes& lifetimes, RegionId region);

  // "read by dot_general and the caller"
  std::string note(const CompiledUnit& unit) const;

 private:
  const CompiledProgram* compiled_ = nullptr;
  const Lifetimes* lifetimes_ = nullptr;
  RegionId region_ = kNone;
  std::unordered_map<ValueId, std::vector<std::size_t>> readers_;  // units, by root
};

}  // namespace heddle::runtime
