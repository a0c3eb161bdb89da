// Training steps that go on from one another's checkpoints, on whatever devices.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "compiled.h"
#include "heddle/checkpoint.h"
#include "heddle/deployment.h"
#include "heddle/saving.h"
#include "heddle/steps.h"

namespace heddle {

class StepRuns : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Takes steps, from a checkpoint where one is named, and saves; the last results.
  std::vector<Array> run(const Program& program, const Target& target, int steps,
                         const std::string& from = "", const std::string& to = "") const {
    Deployment devices = Deployment::open(compile(program, target).value()).value();
    Steps loop(devices, target.carried);
    loop.begin(arguments_for(program)).value();
    if (!from.empty()) {
      const Checkpoint checkpoint = Checkpoint::open((folder_ / from).string()).value();
      for (const Carried& c : target.carried) loop.restore(c.argument, checkpoint).value();
    }
    for (int s = 0; s < steps; ++s) loop.take().value();
    if (!to.empty()) loop.save((folder_ / to).string(), steps).value();
    return loop.wholes().value();
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

}  // namespace heddle
