#include <gtest/gtest.h>

#include "heddle/value_names.h"

namespace heddle {
namespace {

using Words = std::vector<std::string>;

TEST(ValueNames, GroupsAroundAName) {
  EXPECT_EQ(groups_around("batch"), Words{});
  EXPECT_EQ(groups_around("params['a.b'].w[0]"),
            (Words{"params", "params['a.b']", "params['a.b'].w"}));
  EXPECT_EQ(groups_around("[0]['x]']"), (Words{"[0]"}));
  EXPECT_EQ(groups_around("odd['open"), Words{"odd"});
  EXPECT_TRUE(lies_in("params['q']", "params"));
  EXPECT_FALSE(lies_in("params['q']", "param"));
  EXPECT_FALSE(lies_in("params['a.b']", "params['a"));
}

TEST(ValueNames, EachGroupOnce) {
  EXPECT_EQ(with_groups({"p['a']", "p['b'].c", "x"}),
            (Words{"p['a']", "p['b'].c", "x", "p", "p['b']"}));
}

}  // namespace
}  // namespace heddle
