// Searches as a target asks for them: stopped, on the best mesh of a cluster, with what is fixed.
#include <gmock/gmock.h>

#include "compiled.h"
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
  EXPECT_GT(found.cost, 0);
  EXPECT_LE(found.bound, found.cost);
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

}  // namespace
}  // namespace heddle::search_tests
