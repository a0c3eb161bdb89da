#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heddle/dtype.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

TEST(DType, EveryNameReadsBack) {
  std::set<std::string_view> names;
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(parse_dtype(name(type)).value(), type);
    names.insert(name(type));
  }
  EXPECT_EQ(names.size(), 30U);
}

TEST(DType, IsSpelledAsInMlir) {
  EXPECT_EQ(name(DType::i1), "i1");
  EXPECT_EQ(name(DType::ui64), "ui64");
  EXPECT_EQ(name(DType::f8e4m3fn), "f8E4M3FN");
  EXPECT_EQ(name(DType::ui4), "ui4");
  EXPECT_EQ(name(DType::f4e2m1fn), "f4E2M1FN");
  EXPECT_EQ(name(DType::f8e4m3b11fnuz), "f8E4M3B11FNUZ");
  EXPECT_EQ(name(DType::f8e8m0fnu), "f8E8M0FNU");
  EXPECT_EQ(name(DType::c64), "complex<f32>");
}

TEST(DType, Sizes) {
  EXPECT_EQ(bits(DType::i1), 1);
  EXPECT_EQ(byte_size(DType::i1), 1);
  EXPECT_EQ(bits(DType::i2), 2);
  EXPECT_EQ(bits(DType::ui4), 4);
  EXPECT_EQ(bits(DType::f6e3m2fn), 6);
  EXPECT_EQ(byte_size(DType::i4), 1);
  EXPECT_EQ(byte_size(DType::f4e2m1fn), 1);
  EXPECT_EQ(byte_size(DType::f8e5m2), 1);
  EXPECT_EQ(byte_size(DType::bf16), 2);
  EXPECT_EQ(byte_size(DType::f32), 4);
  EXPECT_EQ(byte_size(DType::c64), 8);
  EXPECT_EQ(byte_size(DType::c128), 16);
}

TEST(DType, BelongsToOneKind) {
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(is_integer(type) + is_float(type) + is_complex(type), type == DType::i1 ? 0 : 1);
  }
}

TEST(DType, UnknownNameIsRefusedWithTheChoices) {
  for (const char* text : {"", "F32", "f33", " f32", "complex<f16>", "i1x"}) {
    const Expected<DType> type = parse_dtype(text);
    ASSERT_FALSE(type.ok()) << text;
    EXPECT_THAT(type.reason(), HasSubstr("`" + std::string(text) + "`"));
    EXPECT_THAT(type.reason(), HasSubstr("bf16, f32, f64, complex<f32>"));
  }
}

TEST(DType, AForgedNumberIsAnInternalError) {
  EXPECT_THROW(bits(static_cast<DType>(200)), InternalError);
}

}  // namespace
}  // namespace heddle
