#include <gtest/gtest.h>

#include "base/probe/probe.h"

namespace heddle {
namespace {

TEST(Doctor, ReadsCoreQuotas) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("max 100000\n"), 0);
  EXPECT_EQ(parse_cpu_max("-1\n 100000\n"), 0);
  EXPECT_EQ(parse_cpu_max(""), 0);
  EXPECT_EQ(parse_cpu_max("1000 0"), 0);
}

TEST(Doctor, FindsVersionsInText) {
  EXPECT_EQ(version_after("Cuda compilation tools, release 13.0, V13.0.88", "release "), "13.0");
  EXPECT_EQ(version_after("release 12.4", "release "), "12.4");
  EXPECT_EQ(version_after("release", "release"), "");
  EXPECT_EQ(version_after("nothing", "release "), "");
}

TEST(Doctor, EveryProbeAnswers) {
  for (const Finding& finding : {probe_cores(), probe_vectors(), probe_memory(), probe_gpus(),
                                 probe_cuda_tools(), probe_llvm(), probe_mpi(), probe_python()}) {
    EXPECT_FALSE(finding.name.empty());
    EXPECT_FALSE(finding.text.empty()) << finding.name;
  }
  EXPECT_GE(probe_cores().data["usable"], 1);
}

}  // namespace
}  // namespace heddle
