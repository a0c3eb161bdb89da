// Every pair of rank-2 layouts on a 2x2x2 mesh, planned and executed on the simulator.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan_world.h"

namespace heddle {
namespace {

using Texts = std::vector<std::string>;

// Every way to give each of three axes a role.
Texts all_layouts(const std::string& rows, const std::string& columns, ReduceOp op) {
  const char* axes[3] = {"x", "y", "z"};
  Texts out;
  // roles: 0 rows, 1 columns, 2 replicated, 3 pending, 4 pinned, 5/6 split, but before the others
  for (int code = 0; code < 7 * 7 * 7; ++code) {
    int role[3] = {code % 7, code / 7 % 7, code / 49};
    std::string dims[2] = {rows, columns};
    for (int d = 0; d < 2; ++d) {
      std::string late;
      for (int a = 0; a < 3; ++a) {
        if (role[a] == 5 + d) dims[d] += std::string(":2@") + axes[a];
        if (role[a] == d) late = std::string(":2@") + axes[a] + late;  // reversed order
      }
      dims[d] += late;
    }
    std::string text = "(" + dims[0] + ", " + dims[1] + ")";
    std::string pending;
    for (int a = 0; a < 3; ++a) {
      if (role[a] == 3) pending += (pending.empty() ? "" : ",") + std::string(axes[a]);
      if (role[a] == 4) text += std::string(" + 0@") + axes[a];
    }
    if (!pending.empty()) text += " + P[" + std::string(name(op)) + " " + pending + "]";
    out.push_back(text);
  }
  return out;
}

Texts even() { return all_layouts("8", "8", ReduceOp::sum); }

// Data is never at one position only: what programs mostly have.
Texts ordinary() {
  Texts texts = all_layouts("8", "8", ReduceOp::max);
  std::erase_if(texts, [](const std::string& t) { return t.find("0@") != t.npos; });
  return texts;
}

// Blocks of 5 and 6 elements over 8, with padding and without.
Texts uneven() {
  Texts texts = all_layouts("5{pad=8}", "6{pad=8}", ReduceOp::sum);
  for (const std::string& t : all_layouts("5", "6", ReduceOp::sum)) texts.push_back(t);
  return texts;
}

// Block-cyclic splits beside ordinary ones.
Texts strided() {
  Texts texts;
  for (const char* rows :
       {"8", "8:2@x", "8:2:2@x", "8:4:2@x", "8:2@y:2:2@x", "8:2:2@y:2@x", "8:2@x:2@y:2@z", "8:2:4"})
    for (const char* columns :
         {"8", "8:2@y", "8:2:2@y", "8:4:2@z", "8:2@z:2:2@y", "8:2@z", "8:2:2@z:2@x"})
      for (const char* rest : {"", " + P[z]", " + P[max x]", " + 1@z", " + 0@y"})
        texts.push_back(std::string("(") + rows + ", " + columns + ")" + rest);
  return texts;
}

struct Set {
  const char* name;
  Texts (*texts)();
};
constexpr Set kSets[] = {
    {"Even", even}, {"Ordinary", ordinary}, {"Uneven", uneven}, {"Strided", strided}};
constexpr std::size_t kShards = 8;  // so that one case stays short under a sanitizer

// What the notation and the mesh allow of a set, each layout once.
std::vector<Layout> layouts_of(const Set& set, World& world) {
  std::vector<Layout> layouts;
  for (const std::string& text : set.texts()) {
    const auto layout = parse_layout(text, world.axes);
    if (layout && validate(*layout, world.axes) &&
        std::find(layouts.begin(), layouts.end(), *layout) == layouts.end())
      layouts.push_back(*layout);
  }
  return layouts;
}

using Shard = std::tuple<Set, std::size_t>;
class PlanAllPairs : public ::testing::TestWithParam<Shard> {};

TEST_P(PlanAllPairs, ArriveExactly) {
  const auto& [set, shard] = GetParam();
  World w("x=2,y=2,z=2");
  const std::vector<Layout> layouts = layouts_of(set, w);
  ASSERT_GE(layouts.size() * layouts.size(), 2401U);
  // Of large sets every second pair, so that every layout still meets every kind of layout.
  const std::size_t step = layouts.size() > 100 ? 2 : 1;
  for (std::size_t i = shard; i < layouts.size(); i += kShards)
    for (std::size_t j = i / kShards % step; j < layouts.size(); j += step) {
      const Layout& to = layouts[j];
      const auto pair = [&] {
        return print_layout(layouts[i], w.axes) + "  ->  " + print_layout(to, w.axes) + ": ";
      };
      const auto plan = plan_redistribution(layouts[i], to, w.mesh, w.axes);
      ASSERT_TRUE(plan) << pair() << plan.reason();
      const auto right = simulate(*plan, w.mesh, w.axes);
      ASSERT_TRUE(right) << pair() << right.reason();
      ASSERT_LE(plan->bound_bytes, plan->bytes) << pair();
    }
}

INSTANTIATE_TEST_SUITE_P(Every, PlanAllPairs,
                         ::testing::Combine(::testing::ValuesIn(kSets),
                                            ::testing::Range(std::size_t{0}, kShards)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace heddle
