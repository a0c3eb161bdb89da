#include <gtest/gtest.h>

#include <cmath>

#include "base/build_id.h"
#include "base/bytes.h"

namespace heddle {
namespace {

TEST(Bytes, ComeBackAsTheyWere) {
  ByteWriter to;
  const std::uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
  const std::int64_t integers[] = {0, -1, 63, -64, INT64_MIN, INT64_MAX};
  for (std::uint64_t number : numbers) to.number(number);
  for (std::int64_t integer : integers) to.integer(integer);
  to.real(-0.0);
  to.text("");
  to.text(std::string("a\0b", 3));
  ByteReader from(to.bytes());
  for (std::uint64_t number : numbers) EXPECT_EQ(from.number(), number);
  for (std::int64_t integer : integers) EXPECT_EQ(from.integer(), integer);
  EXPECT_TRUE(std::signbit(from.real()));
  EXPECT_EQ(from.text(), "");
  EXPECT_FALSE(from.is_whole());
  EXPECT_EQ(from.text(), std::string("a\0b", 3));
  EXPECT_TRUE(from.is_whole());
}

TEST(Bytes, ThatEndTooEarlyGiveZeros) {
  ByteWriter to;
  to.number(1000);
  to.text("text");
  for (std::size_t cut = 0; cut < to.bytes().size(); ++cut) {
    ByteReader from(std::string_view(to.bytes()).substr(0, cut));
    from.number();
    EXPECT_EQ(from.text(), "") << cut;
    EXPECT_EQ(from.real(), 0) << cut;
    EXPECT_FALSE(from.is_whole()) << cut;
  }
  ByteReader many(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
  EXPECT_EQ(many.count(), 0U);
  EXPECT_FALSE(many.is_whole());
  ByteReader counted(std::string_view("\x09zz", 3));
  EXPECT_EQ(counted.count(), 0U);  // more than there are
}

TEST(BuildId, IsTheSameEveryTime) {
  EXPECT_GE(build_id().size(), 16U);
  EXPECT_EQ(build_id(), build_id());
}

}  // namespace
}  // namespace heddle
