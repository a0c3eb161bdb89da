// Checkpoints of a run of many steps: where they lie, which one to go on from, which ones stay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/checkpoint.h"
#include "heddle/parallel.h"

namespace heddle {

struct SaveRequest {
  std::string prefix;      // run/step for run/step-100, ...; empty: nothing is saved
  std::int64_t every = 0;  // steps; 0: only the last one
  std::int64_t keep = 0;   // the newest so many; 0: all
};

// run/step-100
std::string checkpoint_name(const std::string& prefix, std::int64_t step);

// What a user names to go on from: a checkpoint, or the newest whole one of a folder of them. With
// ranks the first one looks; `warn_of` gets a line for each that it has passed over.
Expected<std::string> checkpoint_to_restore(const std::string& path, Transport* ranks,
                                            std::vector<std::string>* warn_of = nullptr);

// What would keep checkpoints of `bytes` from being written, so that no long run is lost; makes the
// folder. `from` is the step that the run goes on from.
Verdict check_saving(const SaveRequest& request, std::int64_t from, std::int64_t bytes,
                     bool restored_newest);

// Removes all but the newest ones up to `step`.
void remove_old(const SaveRequest& request, std::int64_t step);

// The arguments that a checkpoint gives: each of its values has to be one of this function's, and
// what is carried has to be in it.
Expected<std::vector<bool>> restored_arguments(const Checkpoint& checkpoint,
                                               const std::string& name,
                                               const std::vector<Type>& arguments,
                                               const std::vector<Carried>& carried);

// "arg3", the name of an argument in checkpoints.
std::string value_name(std::size_t argument);

}  // namespace heddle
