// Arguments that change from step to step: an array for each step, from files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// Where the batches of an argument come from.
struct BatchSource {
  // A folder of .npy or .safetensors files or a pattern of their names (*, ?), a file for each step
  // in the order of their names, in which numbers count (2 before 10); or one file whose array has
  // one dimension more than the argument, the first, which counts the steps.
  std::string path;
  // None: arrays of .safetensors files say it by their names, in.3 or that of the argument.
  std::optional<std::size_t> argument;
};

class Batches {
 public:
  // For a function with arguments of these types and names, which may be empty. Says what is wrong
  // with a path, with names and types of arrays; of several files it looks at the first.
  static Expected<Batches> open(const std::vector<BatchSource>& sources,
                                const std::vector<Type>& types,
                                const std::vector<std::string>& names, bool cycle = false);

  // The same in words: NAME=SOURCE, or SOURCE alone. NAME is arg3, or what the program calls it.
  static Expected<Batches> open(const std::vector<std::string>& words, const Program& program,
                                const Function& function, bool cycle = false);

  // The arguments that have batches, in ascending order.
  std::vector<std::size_t> arguments() const;
  // Batches that there are, of the argument that has fewest.
  std::int64_t count() const;
  // Whether these steps, counted from 1, have batches of the right types: asked before a long run.
  // Where batches cycle, the first follows the last.
  Verdict check(std::int64_t first_step, std::int64_t last_step) const;
  Expected<Array> read(std::size_t argument, std::int64_t step) const;

 private:
  struct Stream;
  std::vector<std::shared_ptr<const Stream>> streams_;
  bool cycle_ = false;
};

}  // namespace heddle
