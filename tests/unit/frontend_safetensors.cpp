#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/safetensors.h"
#include "ir/eval/scalar.h"
#include "test_folder.h"

namespace heddle::safetensors_tests {
namespace {

using ::testing::HasSubstr;

std::string file_with(const std::string& header, const std::string& data = "") {
  std::string content(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(content.data(), &length, 8);
  return content + header + data;
}

std::string why_not(const std::string& content) {
  const auto arrays = parse_safetensors(content);
  return arrays ? "it was read" : arrays.reason();
}

TEST(Safetensors, EveryElementTypeComesBack) {
  NamedArrays arrays;
  for (const DType dtype : all_dtypes()) {
    const bool narrow = bits(dtype) <= 8 && !is_integer(dtype) && dtype != DType::i1 &&
                        dtype != DType::f8e4m3fn && dtype != DType::f8e5m2;
    // The format has no words for these.
    if (dtype == DType::c128 || narrow || (is_integer(dtype) && bits(dtype) < 8)) continue;
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}}) {
      Array array(Type::tensor(dtype, shape));
      for (std::byte& b : array.mutable_bytes()) b = std::byte{1};
      arrays.emplace_back(array.type().str(), array);
    }
  }
  const NamedArrays back = parse_safetensors(format_safetensors(arrays).value()).value();
  ASSERT_EQ(back.size(), arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(back[i].first, arrays[i].first);
    EXPECT_EQ(back[i].second, arrays[i].second);
  }
}

TEST(Safetensors, AFileMayBeEmpty) {
  EXPECT_TRUE(parse_safetensors(file_with("{}")).value().empty());
  EXPECT_TRUE(parse_safetensors(file_with(R"({"__metadata__":{"by":"x"}})")).value().empty());
}

TEST(Safetensors, WhatItCannotHold) {
  const auto text = format_safetensors({{"a", Array(Type::tensor(DType::c128, {2}))}});
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.reason(), HasSubstr("has no tensor<2xcomplex<f64>>"));
  const Array one = scalar_array<float>(1);
  EXPECT_FALSE(format_safetensors({{"a", one}, {"a", one}}).ok());
}

TEST(Safetensors, DamageIsSaidInWords) {
  EXPECT_THAT(why_not("abc"), HasSubstr("too short"));
  EXPECT_THAT(why_not(std::string(8, '\xff')), HasSubstr("only 0 more"));
  EXPECT_THAT(why_not(file_with("{")), HasSubstr("no correct JSON"));
  EXPECT_THAT(why_not(file_with("[1]")), HasSubstr("no JSON object"));
  EXPECT_THAT(why_not(file_with(R"({"a":1})")), HasSubstr("'a': it is described by no"));
  EXPECT_THAT(why_not(file_with(R"({"a":{"shape":[]}})")), HasSubstr("no 'dtype'"));
  EXPECT_THAT(why_not(file_with(R"({"a":{"dtype":"Q4"}})")), HasSubstr("'Q4'"));
  EXPECT_THAT(why_not(file_with(R"({"a":{},"a":{}})")), HasSubstr("'a' twice"));
  EXPECT_THAT(why_not(file_with(std::string(100000, '['))), HasSubstr("too deeply"));
}

TEST(Safetensors, SizesAreComparedWithTheFileFirst) {
  const auto entry = [](const std::string& shape, const std::string& offsets) {
    return why_not(file_with(
        R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
        "abcd"));
  };
  EXPECT_EQ(entry("[]", "[0,4]"), "it was read");
  EXPECT_THAT(entry("[2]", "[0,4]"), HasSubstr("takes 8 bytes, but there are 4"));
  EXPECT_THAT(entry("[1000000000000]", "[0,4000000000000]"), HasSubstr("cut off"));
  EXPECT_THAT(entry("[4000000000,4000000000]", "[0,4]"), HasSubstr("2^63"));
  EXPECT_THAT(entry("[-1]", "[0,4]"), HasSubstr("at least 0"));
  EXPECT_THAT(entry("[1.5]", "[0,4]"), HasSubstr("at least 0"));
  EXPECT_THAT(entry("[0]", "[0,0]"), HasSubstr("4 bytes of data belong to no array"));
  EXPECT_THAT(entry("[]", "[4,0]"), HasSubstr("a begin and an end"));
  EXPECT_THAT(entry("[]", "[0]"), HasSubstr("a begin and an end"));
}

TEST(Safetensors, ArraysMustNotOverlap) {
  const std::string one = R"({"dtype":"F32","shape":[],"data_offsets":[0,4]})";
  EXPECT_THAT(why_not(file_with(R"({"a":)" + one + R"(,"b":)" + one + "}", "abcd")),
              HasSubstr("'b' begins at byte 0 of the data instead of 4"));
}

TEST(Safetensors, NoCutCrashes) {
  const std::string whole =
      format_safetensors({{"a", scalar_array<float>(1)}, {"b", scalar_array<double>(2)}}).value();
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parse_safetensors(whole.substr(0, n)).ok()) << n;
}

TEST(Safetensors, FilesAreNamed) {
  const TestFolder folder;
  ASSERT_TRUE(write_safetensors(folder / "a", {{"x", scalar_array<float>(1)}}).ok());
  EXPECT_EQ(read_safetensors(folder / "a").value()[0].first, "x");
  const auto missing = read_safetensors(folder / "b");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.reason(), HasSubstr("b: No such file"));
}

}  // namespace
}  // namespace heddle::safetensors_tests
