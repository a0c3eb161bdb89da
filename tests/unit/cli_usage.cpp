#include <gtest/gtest.h>

#include "option_values.h"
#include "usage.h"

namespace heddle::cli {
namespace {

std::string message(const std::string& text) {
  return usage_message({.path = "heddle run"}, text, false);
}

TEST(Usage, SaysInOurWordsWhatDoesNotFit) {
  const std::string see = "\n  see  heddle run --help";
  EXPECT_EQ(message("--repeat: Value 0 not in range 1 to 9"),
            "--repeat: 0 is not from 1 to 9" + see);
  EXPECT_EQ(message("--engine: fast not in {compiled,kernels}"),
            "--engine: there is no `fast`; choose one of compiled,kernels" + see);
  EXPECT_EQ(message("--entry: 1 required TEXT missing"), "--entry: its value is missing" + see);
  EXPECT_EQ(message("--x: a value is required and missing"),
            "--x: a value is required and missing" + see);
}

TEST(Usage, FindsTheWordThatWasNotExpected) {
  Usage usage{
      .path = "heddle run", .options = {"--repeat"}, .words = {"heddle", "run", "--repaet=3"}};
  EXPECT_EQ(usage_message(usage, "The following argument was not expected: --repaet=3", true),
            "there is no option `--repaet`; did you mean `--repeat`?\n  see  heddle run --help");
}

TEST(Options, AreNamedAsTheyAreTyped) {
  EXPECT_EQ(as_option("shard arg0=x: no"), "--shard arg0=x: no");
  EXPECT_EQ(as_option("batch: too few, or begin again with `cycle`"),
            "--batch: too few, or begin again with --cycle");
  EXPECT_EQ(as_option("sharding is no option"), "sharding is no option");
  EXPECT_EQ(as_option("fix memroy=7GB: as with `mesh`; did you mean `memory`?"),
            "--fix memroy=7GB: as with --mesh; did you mean `memory`?");
}

TEST(Options, Tolerances) {
  EXPECT_EQ(wrong_tolerance("1e-4"), "");
  for (const char* wrong : {"", "-1", "nan", "inf", "1x"}) EXPECT_NE(wrong_tolerance(wrong), "");
}

}  // namespace
}  // namespace heddle::cli
