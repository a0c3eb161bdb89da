// Compiling beside the program that will want it: windows whose code is not there yet run some
// other way.
#pragma once

#include <memory>

#include "heddle/executable_cache.h"

namespace heddle::record {

class Background {
 public:
  explicit Background(std::shared_ptr<ExecutableCache> cache);

  // On a thread of its own, after what was asked for before. Nothing where it was asked for, or
  // where too much is waiting: a window that comes again asks again.
  void compile(Program program, Target target);
  // What a program takes to be compiled, as far as that is known.
  double seconds(double ops) const;
  void took(const Program& program, double seconds);
  // Until nothing is under way.
  void wait();
  // Ends what is under way as soon as it can, drops the rest, and takes no more.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace heddle::record
