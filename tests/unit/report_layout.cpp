#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "heddle/layout_report.h"

namespace heddle {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(LayoutReport, IsTextJsonAndAPicture) {
  const LayoutReport report =
      layout_report("(8:gpu, 4)", {.mesh = "gpu=2", .bindings = {}}, DType::f64).value();
  EXPECT_THAT(report.text(), StartsWith(report.notation + "\n"));
  EXPECT_THAT(report.text(), HasSubstr("128 B of f64"));
  EXPECT_THAT(report.svg(), HasSubstr("<svg"));
  const auto json = nlohmann::json::parse(report.json());
  EXPECT_EQ(json["bytes_per_holder"], 128);
  EXPECT_EQ(json["cells"].size(), 2U);
}

TEST(LayoutReport, RefusesAxesThatAreNotThere) {
  EXPECT_THAT(layout_report("(8)", {}, DType::f32, {"nowhere"}).reason(),
              StartsWith("axes nowhere: "));
}

TEST(MovesReport, IsCheckedOnTaggedElements) {
  MovesReport report =
      moves_report("(8:gpu, 4)", "(8, 4:gpu)", {.mesh = "gpu=2", .bindings = {}}).value();
  ASSERT_FALSE(report.plan.moves.empty());
  EXPECT_TRUE(report.check().ok());
  EXPECT_THAT(report.text(), HasSubstr("checked: every element arrives"));
  EXPECT_EQ(nlohmann::json::parse(report.json())["checked"], true);
}

TEST(MovesReport, RefusesReductionsThatElementsDoNotHave) {
  EXPECT_THAT(moves_report("(8) + P[and gpu]", "(8)", {.mesh = "gpu=2", .bindings = {}}).reason(),
              HasSubstr("pending 'and', which elements of type f32 do not have"));
}

}  // namespace
}  // namespace heddle
