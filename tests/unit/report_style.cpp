#include <gtest/gtest.h>

#include "heddle/style.h"

namespace heddle {
namespace {

TEST(Style, PlainAddsNothing) {
  const Style plain = Style::plain();
  EXPECT_EQ(plain.bold("x") + plain.on_colour(3, "y"), "xy");
  EXPECT_EQ(plain.either("→", "->"), "->");
}

TEST(Style, ColourIsClosedAgain) {
  const Style style(true, true, 80);
  EXPECT_EQ(style.green("x"), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(style.either("→", "->"), "→");
}

}  // namespace
}  // namespace heddle
