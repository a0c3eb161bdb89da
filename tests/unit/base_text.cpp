#include <gtest/gtest.h>

#include <limits>

#include "base/text.h"

namespace heddle {
namespace {

TEST(Format, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(64e6), "64.0 MB");
  EXPECT_EQ(format_bytes(999.96e6), "1.0 GB");
  EXPECT_EQ(format_bytes(1.5e30), "1500000000000.0 EB");
  EXPECT_EQ(format_bytes(std::numeric_limits<double>::infinity()), "inf B");
}

TEST(Parse, Bytes) {
  EXPECT_EQ(parse_bytes("512").value(), 512);
  EXPECT_EQ(parse_bytes("0b").value(), 0);
  EXPECT_EQ(parse_bytes("16GB").value(), 16'000'000'000);
  EXPECT_EQ(parse_bytes("1.5 kB").value(), 1500);
  EXPECT_EQ(parse_bytes("2gib").value(), std::int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("3M").value(), 3'000'000);
  for (const char* wrong : {"", "GB", "-1GB", "5XB", "5GBs", "nan", "inf", "8EiB", "1 G B"})
    EXPECT_FALSE(parse_bytes(wrong).ok()) << wrong;
  EXPECT_EQ(parse_bytes("5XB").reason(), "`5XB` is no size: write it as 512MB, 1.5GB or 16GiB");
}

TEST(Format, FiguresWithUnits) {
  EXPECT_EQ(parse_figure("25GB/s", kRateUnits), 25e9);
  EXPECT_EQ(parse_figure("1.5us", kTimeUnits), 1.5e-6);
  EXPECT_EQ(parse_figure("0s", kTimeUnits), 0);
  EXPECT_EQ(parse_figure("2TFLOP/s", kOperationUnits), 2e12);
  for (const char* wrong :
       {"", "GB/s", "-1GB/s", "5 GB/s", "5gb/s", "5GB/s ", "nanGB/s", "infGB/s"})
    EXPECT_EQ(parse_figure(wrong, kRateUnits), std::nullopt) << wrong;
  EXPECT_EQ(spelled(kTimeUnits), "ns, us, ms, s");
}

TEST(Format, Seconds) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(22e-3), "22 ms");
  EXPECT_EQ(format_seconds(5.6e-6), "5.6 us");
  EXPECT_EQ(format_seconds(1.5), "1.5 s");
  EXPECT_EQ(format_seconds(412), "412 s");
  EXPECT_EQ(format_seconds(3e-9), "3.0 ns");
  EXPECT_EQ(format_seconds(0.9996e-3), "1.0 ms");
  EXPECT_EQ(format_seconds(-2e-3), "-2.0 ms");
}

TEST(Format, ShortenedKeepsWholeCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcdef", 5), "ab...");
  EXPECT_EQ(shortened("ééééé", 5), "ééééé");
  EXPECT_EQ(shortened("éééééé", 5), "éé...");
  EXPECT_EQ(shortened("abcdef", 2), "..");
  EXPECT_EQ(shortened("", 0), "");
}

}  // namespace
}  // namespace heddle
