#include <gtest/gtest.h>

#include "base/printable.h"

namespace heddle {
namespace {

TEST(Printable, PlainTextStays) {
  EXPECT_EQ(printable("expected 'x', tensor<…> or €"), "expected 'x', tensor<…> or €");
  EXPECT_EQ(printable("\U0001F9F5"), "\U0001F9F5");
}

TEST(Printable, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(printable("\x1b[31mred\a"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(printable("a\nb\tc", true), "a\nb\\tc");
  EXPECT_EQ(printable("\u009b1m"), "\\xc2\\x9b1m");
}

TEST(Printable, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xe2\x80z"), "\\xe2\\x80z");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace heddle
