// Searches as a target asks for them: stopped, on the best mesh of a cluster, with what is fixed.
#include <gmock/gmock.h>

#include "compiled.h"
#include "heddle/device_memory.h"
#include "heddle/fix.h"
#include "heddle/spmd.h"

namespace heddle::search_tests {
namespace {

Program chain(int layers) {
  std::string text = "func.func @main(%x0: tensor<64x64xf32>";
  for (int i = 0; i < layers; ++i) text += fmt::format(", %w{}: tensor<64x64xf32>", i);
  text += ") -> tensor<64x64xf32> {\n";
  for (int i = 0; i < layers; ++i)
    text += fmt::format(
        "%x{1} = stablehlo.dot_general %x{0}, %w{0}, contracting_dims = [1] x [0] : "
        "(tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n",
        i, i + 1);
  return read(text + fmt::format("return %x{} : tensor<64x64xf32>\n}}\n", layers));
}

Target searched(const std::string& mesh) {
  Target target{.mesh = mesh};
  target.options.entry = "main";
  target.layouts.search = 2;
  return target;
}

TEST(SearchTarget, ThatIsAskedToStopGivesAPlan) {
  std::stop_source stop;
  stop.request_stop();
  Target target = searched("dp=2:1TB/s:1ns,tp=2:1TB/s:1ns");
  target.layouts.search = 3;
  target.layouts.search_stop = stop.get_token();
  const FoundPlan found = find_plan(chain(6), target).value();
  EXPECT_GT(found.bound, 0);
  EXPECT_LE(found.bound, found.cost);
}

// On a mesh of many axes there are very many ways: who stops at once gets one of those in which
// axes go together, and no worse one than others find there.
TEST(SearchTarget, ThatIsStoppedAtOnceGivesAGoodPlan) {
  Target target = searched("a=2:1TB/s:1ns,b=2:1TB/s:1ns,c=2:1TB/s:1ns,d=2:1TB/s:1ns");
  const FoundPlan best = find_plan(chain(6), target).value();
  std::stop_source stop;
  stop.request_stop();
  target.layouts.search_stop = stop.get_token();
  const FoundPlan found = find_plan(chain(6), target).value();
  EXPECT_GE(found.cost, best.bound);
  EXPECT_LE(found.cost, 1.25 * best.cost);
  EXPECT_GT(found.bound, 0);
  EXPECT_LE(found.bound, best.cost);
}

TEST(SearchTarget, ThatIsToEndCompilesNothing) {
  std::stop_source stop;
  Target target = searched("dp=2,tp=2");
  end_on(target, stop.get_token());
  EXPECT_TRUE(compile(chain(2), target));
  stop.request_stop();
  EXPECT_THROW((void)compile(chain(2), target), Error);
}

TEST(SearchTarget, TakesTheBestMeshOfItsCluster) {
  Target target = searched("");
  target.cluster = find_cluster("h200-8").value();
  const Spmd spmd = distribute(chain(2), target).value();
  double least = 1e9;
  for (const std::string& mesh : meshes_of(*target.cluster)) {
    Target on = target;
    on.mesh = mesh;
    least = std::min(least, find_plan(chain(2), on).value().cost);
  }
  EXPECT_EQ(spmd.decided->functions[0].found->cost, least);
}

TEST(SearchTarget, WordsAboutAnArgumentCountMoreThanThoseAboutTheBatch) {
  Target target = searched("dp=2,tp=2");
  target.carried = {{1, 0}};  // all but the first weight come anew
  target.layouts.batch = "dp";
  target.layouts.shards = parse_fixes({"arg2=_,tp"}).value().shards;
  const Spmd spmd = distribute(chain(2), target).value();
  const Mesh& mesh = spmd.program.meshes[spmd.functions[0].mesh].mesh;
  EXPECT_EQ(text_of(spmd.functions[0].arguments[0], mesh), R"([{"dp"}, {}])");
  EXPECT_EQ(text_of(spmd.functions[0].arguments[2], mesh), R"([{}, {"tp"}])");
}

// ---- memory: what counts is what the compiled program takes

// x W1 -> tanh -> W2 with a step along the gradients; weights are carried.
Program training() {
  return read(R"(
    func.func @main(%w1: tensor<64x256xf32>, %w2: tensor<256x64xf32>, %x: tensor<128x64xf32>)
        -> (tensor<64x256xf32>, tensor<256x64xf32>) {
      %a = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0]
        : (tensor<128x64xf32>, tensor<64x256xf32>) -> tensor<128x256xf32>
      %h = stablehlo.tanh %a : tensor<128x256xf32>
      %y = stablehlo.dot_general %h, %w2, contracting_dims = [1] x [0]
        : (tensor<128x256xf32>, tensor<256x64xf32>) -> tensor<128x64xf32>
      %g2 = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0]
        : (tensor<128x256xf32>, tensor<128x64xf32>) -> tensor<256x64xf32>
      %dh = stablehlo.dot_general %y, %w2, contracting_dims = [1] x [1]
        : (tensor<128x64xf32>, tensor<256x64xf32>) -> tensor<128x256xf32>
      %da = stablehlo.multiply %dh, %h : tensor<128x256xf32>
      %g1 = stablehlo.dot_general %x, %da, contracting_dims = [0] x [0]
        : (tensor<128x64xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
      %n1 = stablehlo.subtract %w1, %g1 : tensor<64x256xf32>
      %n2 = stablehlo.subtract %w2, %g2 : tensor<256x64xf32>
      return %n1, %n2 : tensor<64x256xf32>, tensor<256x64xf32>
    })");
}

struct Case {
  std::string what;
  Program program;
  std::vector<Carried> carried;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"chain", chain(5), {}});
  all.push_back({"training", training(), {{0, 0}, {1, 1}}});
  return all;
}

Target within(const Case& one, const std::string& mesh, std::int64_t bytes) {
  Target target = searched(mesh);
  target.carried = one.carried;
  target.layouts.device_memory = bytes;
  return target;
}

std::int64_t needed(const Spmd& spmd) {
  return memory_when_compiled(spmd, spmd.functions[0]).value().needed();
}

// The bytes of "there is a plan with 1.2 MB of each device"; 0: nothing is said.
std::int64_t said_to_be_enough(const std::string& why) {
  const std::string word = "there is a plan with ";
  const std::size_t begin = why.find(word);
  if (begin == why.npos) return 0;
  std::string memory =
      why.substr(begin + word.size(), why.find(" of each", begin) - begin - word.size());
  std::erase(memory, ' ');
  return *parse_fixes({"memory=" + memory}).value().memory;
}

TEST(SearchMemory, WhatIsFoundFitsAndWhatIsSaidToDoDoes) {
  int found = 0, not_found = 0;
  for (const Case& one : cases())
    for (const std::string mesh : {"x=2", "x=4"}) {
      const std::int64_t all =
          needed(distribute(one.program, within(one, mesh, INT64_MAX)).value());
      for (const double part : {0.8, 0.6, 0.4, 0.05}) {
        const auto limit = static_cast<std::int64_t>(part * static_cast<double>(all));
        const auto spmd = distribute(one.program, within(one, mesh, limit));
        SCOPED_TRACE(fmt::format("{} on {}: {} bytes of {}", one.what, mesh, limit, all));
        if (spmd) {
          ++found;
          EXPECT_LE(needed(*spmd), limit);
          const FoundPlan& plan = *spmd->decided->functions[0].found;
          EXPECT_LE(plan.bound, plan.cost);
          EXPECT_EQ(plan.memory, limit);
          continue;
        }
        ++not_found;
        const std::int64_t enough = said_to_be_enough(spmd.reason());
        ASSERT_GT(enough, limit) << spmd.reason();
        const auto with_that = distribute(one.program, within(one, mesh, enough));
        ASSERT_TRUE(with_that.ok()) << enough << ": " << with_that.reason();
        EXPECT_LE(needed(*with_that), enough);
      }
    }
  EXPECT_GE(found, 6);
  EXPECT_GE(not_found, 4);
}

// Who has more memory has no slower plan.
TEST(SearchMemory, MoreMemoryIsNeverWorse) {
  for (const Case& one : cases()) {
    const std::int64_t all = needed(distribute(one.program, within(one, "x=4", INT64_MAX)).value());
    double last = 0;
    for (const double part : {1.0, 0.85, 0.7, 0.6, 0.5, 0.42, 0.35}) {
      const auto limit = static_cast<std::int64_t>(part * static_cast<double>(all));
      const auto spmd = distribute(one.program, within(one, "x=4", limit));
      if (!spmd) {
        last = std::numeric_limits<double>::infinity();  // nothing is found with less
        continue;
      }
      const double cost = spmd->decided->functions[0].found->cost;
      EXPECT_GE(cost, last) << one.what << " with " << limit << " of " << all;
      last = cost;
    }
    EXPECT_GT(last, 0);
  }
}

}  // namespace
}  // namespace heddle::search_tests
