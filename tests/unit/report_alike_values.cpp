#include <gmock/gmock.h>

#include "report/alike_values.h"

namespace heddle::report {
namespace {

using testing::ElementsAre;
using Value = PlannedFunction::Value;

Value value(std::string name, std::string sharding = "[{}]", std::string type = "tensor<4xf32>") {
  return {std::move(name), std::move(type), std::move(sharding), "tensor<4xf32>"};
}

TEST(AlikeValues, LayersAreOneWithAStarForTheirNumber) {
  const auto alike =
      alike_values({value("params['blocks'][0]['b']"), value("params['head']"),
                    value("params['blocks'][1]['b']"), value("params['blocks'][12]['b']")});
  ASSERT_EQ(alike.size(), 2);
  EXPECT_EQ(alike[0].name, "params['blocks'][*]['b']");
  EXPECT_THAT(alike[0].numbers, ElementsAre(0, 2, 3));
  EXPECT_EQ(alike[1].name, "params['head']");
}

TEST(AlikeValues, NumbersThatAreTheSameStay) {
  const auto alike = alike_values({value("result[1][0]['b']"), value("result[1][2]['b']")});
  ASSERT_EQ(alike.size(), 1);
  EXPECT_EQ(alike[0].name, "result[1][*]['b']");
}

TEST(AlikeValues, OtherTypesLayoutsStagesAndWordsAreApart) {
  Value staged = value("w[3]");
  staged.stages = {1};
  EXPECT_EQ(
      alike_values({value("w[0]"), value("w[1]", "[{\"dp\"}]"),
                    value("w[2]", "[{}]", "tensor<8xf32>"), staged, value("conv1"), value("conv2")})
          .size(),
      6);
}

TEST(AlikeValues, WithoutNames) {
  const auto alike = alike_values({value(""), value(""), value("", "[{\"tp\"}]")});
  ASSERT_EQ(alike.size(), 2);
  EXPECT_EQ(alike[0].name, "");
  EXPECT_THAT(alike[0].numbers, ElementsAre(0, 1));
}

}  // namespace
}  // namespace heddle::report
