// Steps: a program that runs again and again. What is carried of one run's results are arguments of
// the next one, and stays on the devices.
#pragma once

#include "heddle/deployment.h"
#include "heddle/parallel.h"

namespace heddle {

class Steps {
 public:
  // The deployment must live longer.
  Steps(Deployment& deployment, std::vector<Carried> carried);

  // Arguments of the first step, and of all others where nothing is carried to them: a whole array,
  // or what a checkpoint has of it.
  Verdict set(std::size_t argument, const Array& whole);
  Verdict restore(std::size_t argument, const Checkpoint& checkpoint);
  Verdict begin(const std::vector<Array>& arguments);

  Verdict take(const RunOptions& options = {});

  // Of the last step: what the devices here have, and wholes, for which all ranks call together.
  const DeviceParts& parts() const { return results_; }
  Expected<Array> whole(std::size_t result) { return deployment_.whole(results_, result); }
  Expected<std::vector<Array>> wholes() { return deployment_.whole(results_); }

  // Saves what is carried, each value under the name of its argument; all ranks call it together.
  Verdict can_be_saved() const;
  Verdict save(const std::string& folder, std::int64_t step) const;

 private:
  DeviceParts next_arguments();
  Verdict can_be_carried() const;

  Deployment& deployment_;
  std::vector<Carried> carried_;
  DeviceParts given_;  // arguments; those that are carried only until the first step
  DeviceParts results_;
};

}  // namespace heddle
