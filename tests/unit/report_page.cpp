// The page of a plan as a text; tests/page looks at it in a browser.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "heddle/why_report.h"

namespace heddle::page_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

Program layer() {
  return read(R"(
    func.func @main(%x: tensor<64x128xf32> {jax.arg_info = "</script><b>&"},
                    %w: tensor<128x256xf32>, %v: tensor<256x128xf32>) -> tensor<64x128xf32> {
      %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
      %a = stablehlo.tanh %h : tensor<64x256xf32>
      %y = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0]
        : (tensor<64x256xf32>, tensor<256x128xf32>) -> tensor<64x128xf32>
      return %y : tensor<64x128xf32>
    })");
}

Spmd searched(const std::string& mesh) {
  Target target{.mesh = mesh};
  target.options.entry = "main";
  target.layouts.search = 2;
  target.layouts.search_details = true;
  return distribute(layer(), target).value();
}

nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(PlanPage, NamesOfTheProgramAreDataOnly) {
  const Spmd spmd = searched("dp=2");
  const std::string page = plan_page(spmd, plan_report(spmd), "a <title> @DATA@");
  EXPECT_THAT(page, HasSubstr("<title>a &lt;title> @DATA@</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>&")));
  const auto data = data_of(page);
  EXPECT_EQ(data["texts"][data["functions"][0]["arguments"][0][0].get<std::size_t>()],
            "</script><b>&");
}

TEST(PlanPage, NeedsNothingFromElsewhere) {
  const Spmd spmd = searched("dp=2");
  const std::string page = plan_page(spmd, plan_report(spmd), "plan");
  for (const char* outside : {"src=\"http", "href=\"http", "@import", "fetch(", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(PlanPage, HasTheAnswerTheProgramMemoryAndWhatElseCouldBe) {
  const Spmd spmd = searched("dp=2:1TB/s:1ns,tp=2:1TB/s:1ns");
  const PlanReport report = plan_report(spmd);
  const auto f = data_of(plan_page(spmd, report, "plan", 1000))["functions"][0];
  EXPECT_EQ(f["answer"]["step"], report.functions[0].search->cost);
  EXPECT_EQ(f["answer"]["limit"], 1000);
  EXPECT_EQ(f["answer"]["words"].size(), 2U);
  EXPECT_EQ(f["program"][0]["ops"].size(), 3U);
  EXPECT_EQ(f["memory"]["peak"], report.functions[0].search->peak_bytes);
  const int choice = f["arguments"][1][4];
  ASSERT_GE(choice, 0);
  EXPECT_GT(f["choices"][choice]["others"].size(), 2U);
  EXPECT_FALSE(f["pictures"].empty());
}

TEST(PlanPage, OfAPlanThatNobodySearchedHasOpsByThemselves) {
  const Spmd spmd =
      distribute(layer(), mesh_target("dp=2,tp=2", {"arg0=dp,_", "arg1=_,tp"}).value()).value();
  const auto f = data_of(plan_page(spmd, plan_report(spmd), "plan"))["functions"][0];
  ASSERT_FALSE(f["choices"].empty());
  EXPECT_EQ(f["choices"][0]["alone"], true);
  EXPECT_EQ(f["moves"].size(), 1U);
  EXPECT_GT(f["memory"]["peak"], 0);
}

// ---- why

TEST(Why, OtherSplitsCostAtLeastAsMuchAsThePlanDoes) {
  const Spmd spmd = searched("dp=2:1TB/s:1ns,tp=2:1TB/s:1ns");
  const WhyReport why = why_report(spmd, "main", "arg1").value();
  EXPECT_THAT(why.text(), HasSubstr("arg1  tensor<128x256xf32>\n"));
  ASSERT_FALSE(why.chosen.others.empty());
  double before = 0;
  for (const PlanDetails::Way& way : why.chosen.others) {
    EXPECT_GE(way.more_seconds, before);
    before = way.more_seconds;
  }
}

// What a way is said to take more is an upper bound on what the best plan with it does.
TEST(Why, APlanWithTheOtherSplitTakesNoMoreThanIsSaid) {
  const std::string mesh = "dp=2:1TB/s:1ns,tp=2:1TB/s:1ns";
  const Spmd spmd = searched(mesh);
  const WhyReport why = why_report(spmd, "main", "arg1").value();
  Target target{.mesh = mesh};
  target.options.entry = "main";
  target.layouts.search = 2;
  const double cost = find_plan(layer(), target).value().cost;
  for (const PlanDetails::Way& way : why.chosen.others) {
    Target fixed = target;
    fixed.layouts.shards = {shard_entry("arg1=" + way.lies).value()};
    EXPECT_LE(find_plan(layer(), fixed).value().cost, cost + way.more_seconds + 1e-12) << way.lies;
  }
}

TEST(Why, AnOpIsFoundByItsLine) {
  const Spmd spmd = searched("dp=2");
  EXPECT_THAT(why_report(spmd, "main", "result0").value().text(), HasSubstr("result0"));
  EXPECT_THAT(why_report(spmd, "main", "6").value().about, HasSubstr("tanh at "));
  EXPECT_THAT(why_report(spmd, "main", "nothing").reason(), HasSubstr("no argument or result"));
}

TEST(Why, AnotherMeshHasAsManyDevices) {
  EXPECT_EQ(other_mesh("dp=8,tp=8", "tp=4").value(), "dp=16,tp=4");
  EXPECT_EQ(other_mesh("pp=2,dp=4,tp=8", "tp=16").value(), "pp=1,dp=4,tp=16");
  EXPECT_EQ(other_mesh("dp=8,tp=8", "a=4,b=16").value(), "a=4,b=16");
  EXPECT_THAT(other_mesh("dp=8,tp=8", "tp=8").reason(), HasSubstr("that is how it is"));
  EXPECT_THAT(other_mesh("dp=8,tp=8", "tp=3").reason(), HasSubstr("come out even"));
  EXPECT_THAT(other_mesh("dp=8,tp=8", "x=4").reason(), HasSubstr("no axis x"));
}

}  // namespace
}  // namespace heddle::page_tests
