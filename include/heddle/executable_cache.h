// ExecutableCache: what was compiled before is not compiled again. For programs that come again and
// again as new objects, such as windows of recorded array calls.
#pragma once

#include <memory>
#include <optional>

#include "heddle/compile.h"

namespace heddle {

// Programs are found by their hash and compared in full, and so are targets. Bounded: the
// executable that was not asked for longest goes first. Safe for threads.
class ExecutableCache {
 public:
  explicit ExecutableCache(std::size_t most = 256);
  ~ExecutableCache();

  // What an equal program was compiled to for an equal target; its messages name the places of the
  // program that came first. None where the target's options want to see how it is compiled.
  std::optional<Executable> find(const Program& program, const Target& target = {}) const;
  // The same; where there is none, it is compiled and kept.
  Expected<Executable> compile(const Program& program, const Target& target = {});

  std::size_t size() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
