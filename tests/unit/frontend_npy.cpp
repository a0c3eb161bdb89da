#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/npy.h"
#include "ir/eval/scalar.h"
#include "test_folder.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string npy(const std::string& header, const std::string& data) {
  std::string content = "\x93NUMPY\x01";
  content += '\0';
  content += static_cast<char>(header.size() & 0xff);
  content += static_cast<char>(header.size() >> 8);
  return content + header + data;
}

std::string why_not(const std::string& content) {
  const auto array = parse_npy(content);
  return array ? "it was read" : array.reason();
}

TEST(Npy, EveryElementTypeComesBack) {
  for (const DType dtype : all_dtypes()) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}}) {
      Array array(Type::tensor(dtype, shape));
      for (std::byte& b : array.mutable_bytes()) b = std::byte{1};
      const Array back = parse_npy(format_npy(array)).value();
      // The format has no words for narrow types: their values come back in a wider one.
      const bool narrow_int = is_integer(dtype) && bits(dtype) < 8;
      const bool widened =
          narrow_int || dtype == DType::bf16 || (is_float(dtype) && bits(dtype) <= 8);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_TRUE(widened || back.dtype() == dtype);
      EXPECT_TRUE(widened || back == array) << array.type().str();
      for (std::int64_t i = 0; i < array.elements(); ++i)
        EXPECT_EQ(to_double(back, i), to_double(array, i)) << array.type().str();
      EXPECT_EQ(narrowed_npy(back, array.type()).value(), array) << array.type().str();
    }
  }
}

TEST(Npy, OnlyNumbersOfANarrowTypeBecomeOfIt) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const Array exact = make_array<float>(Shape{3}, {1.5F, -2, nan});
  const Array taken = narrowed_npy(exact, Type::tensor(DType::bf16, {3})).value();
  EXPECT_EQ(taken.dtype(), DType::bf16);
  EXPECT_EQ(to_double(taken, 1), -2);
  EXPECT_TRUE(std::isnan(to_double(taken, 2)));
  EXPECT_THAT(narrowed_npy(exact, Type::tensor(DType::f4e2m1fn, {3})).reason(),
              HasSubstr("element 2 is nan, which is no number of f4E2M1FN"));
  const Array other = make_array<float>(Shape{1}, {0.1F});
  EXPECT_THAT(narrowed_npy(other, Type::tensor(DType::f8e5m2, {1})).reason(),
              HasSubstr("element 0 is 0.1"));
  EXPECT_THAT(
      narrowed_npy(make_array<std::int8_t>(Shape{1}, {8}), Type::tensor(DType::i4, {1})).reason(),
      HasSubstr("element 0 is 8, which is no number of i4"));
  // Whoever takes it says what is wrong with a type that files have, or another shape.
  EXPECT_EQ(narrowed_npy(other, Type::tensor(DType::f16, {1})).value().dtype(), DType::f32);
  EXPECT_EQ(narrowed_npy(other, Type::tensor(DType::bf16, {2})).value().dtype(), DType::f32);
}

TEST(Npy, DataBeginsAtAMultipleOf64) {
  const std::string content = format_npy(make_array<float>(Shape{2}, {1, 2}));
  EXPECT_EQ((content.size() - 8) % 64, 0U);
  EXPECT_THAT(content, HasSubstr("'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"));
}

TEST(Npy, FortranOrder) {
  const std::string data("\x01\x02\x03\x04\x05\x06", 6);
  const Array array =
      parse_npy(npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", data)).value();
  EXPECT_THAT(array.as<std::int8_t>(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, BigEndian) {
  const std::string data("\x00\x01\x02\x03", 4);
  const Array array =
      parse_npy(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", data)).value();
  EXPECT_THAT(array.as<std::int16_t>(), ElementsAre(1, 0x203));
}

TEST(Npy, TruthValuesAreZeroOrOne) {
  const Array array = parse_npy(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}",
                                    std::string("\x07\0", 2)))
                          .value();
  EXPECT_THAT(array.as<std::uint8_t>(), ElementsAre(1, 0));
}

TEST(Npy, DamageIsSaidInWords) {
  EXPECT_THAT(why_not(""), HasSubstr("no .npy file"));
  EXPECT_THAT(why_not("\x93NUMPY\x01"), HasSubstr("ends inside its header"));
  EXPECT_THAT(why_not(std::string("\x93NUMPY\x09\0\0\0", 10)), HasSubstr("version 9"));
  EXPECT_THAT(why_not(std::string("\x93NUMPY\x01\0\xff\xff", 10)), HasSubstr("65535 bytes"));
  EXPECT_THAT(why_not(npy("{'descr': '<f4'", "")), HasSubstr("damaged"));
  EXPECT_THAT(why_not(npy("{}", "")), HasSubstr("no 'descr'"));
  EXPECT_THAT(why_not(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "")),
              HasSubstr("records"));
  EXPECT_THAT(why_not(npy("{'descr': '<V2', 'fortran_order': False, 'shape': ()}", "ab")),
              HasSubstr("safetensors"));
  EXPECT_THAT(why_not(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "")),
              HasSubstr("size -1"));
}

TEST(Npy, SizesAreComparedWithTheFileFirst) {
  const auto shaped = [](const std::string& shape) {
    return why_not(npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", "abcd"));
  };
  EXPECT_THAT(shaped("(2,)"), HasSubstr("takes 8 bytes, but there are 4"));
  EXPECT_THAT(shaped("(0,)"), HasSubstr("takes 0 bytes, but there are 4"));
  EXPECT_THAT(shaped("(1000000000000,)"), HasSubstr("takes 4000000000000 bytes"));
  EXPECT_THAT(shaped("(1000000000000, 1000000000000)"), HasSubstr("more than 2^63"));
  EXPECT_THAT(shaped("(0, 1000000000000, 1000000000000)"), HasSubstr("more than 2^63"));
  EXPECT_THAT(shaped("(99999999999999999999,)"), HasSubstr("damaged"));
}

TEST(Npy, NoCutCrashes) {
  const std::string whole = format_npy(make_array<float>(Shape{2, 2}, {1, 2, 3, 4}));
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parse_npy(whole.substr(0, n)).ok()) << n;
}

TEST(Npy, FilesAreNamed) {
  const TestFolder folder;
  const Array array = make_array<float>(Shape{2}, {1, 2});
  ASSERT_TRUE(write_npy(folder / "a.npy", array).ok());
  EXPECT_EQ(read_npy(folder / "a.npy").value(), array);
  const auto missing = read_npy(folder / "b.npy");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.reason(), HasSubstr("b.npy: No such file"));
  EXPECT_FALSE(read_npy(folder / ".").ok());
}

}  // namespace
}  // namespace heddle
