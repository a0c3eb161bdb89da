#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/batches.h"
#include "heddle/npy.h"
#include "heddle/safetensors.h"
#include "test_folder.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

Array numbers(Shape shape, float first) {
  Array array(Type::tensor(DType::f32, std::move(shape)));
  for (float& element : array.as_mutable<float>()) element = first++;
  return array;
}

const std::vector<Type> kTypes = {Type::tensor(DType::f32, {4}), Type::tensor(DType::f32, {2, 3})};

void write(const std::filesystem::path& file, const Array& array) {
  ASSERT_TRUE(write_npy(file, array).ok());
}

TEST(Batches, FilesOfAFolderCountByTheirNumbers) {
  const TestFolder folder;
  for (const int i : {1, 2, 10}) {
    const auto file = folder / fmt::format("b{}.npy", i);
    write(file, numbers({2, 3}, static_cast<float>(i)));
  }
  ASSERT_TRUE(write_npy(folder / "b3.txt", numbers({1}, 0)).ok());  // no array file by its name
  for (const std::string& path : {(folder / "").string(), (folder / "b*.npy").string()}) {
    const Batches batches = Batches::open({{path, 1}}, kTypes, {}).value();
    EXPECT_EQ(batches.arguments(), std::vector<std::size_t>{1});
    EXPECT_EQ(batches.count(), 3);
    EXPECT_TRUE(batches.check(1, 3).ok());
    EXPECT_EQ(batches.read(1, 1).value(), numbers({2, 3}, 1));
    EXPECT_EQ(batches.read(1, 2).value(), numbers({2, 3}, 2));
    EXPECT_EQ(batches.read(1, 3).value(), numbers({2, 3}, 10));
    EXPECT_THAT(batches.check(1, 4).reason(), HasSubstr("has 3 batches"));
    EXPECT_THAT(batches.read(1, 4).reason(), HasSubstr("no batch for step 4"));
  }
}

TEST(Batches, OneFileHasThemAlongItsFirstDimension) {
  const TestFolder folder;
  write(folder / "all.npy", numbers({3, 2, 3}, 0));
  const std::string path = (folder / "all.npy").string();
  const Batches batches = Batches::open({{path, 1}}, kTypes, {}).value();
  EXPECT_EQ(batches.count(), 3);
  EXPECT_EQ(batches.read(1, 3).value(), numbers({2, 3}, 12));
  const Batches again = Batches::open({{path, 1}}, kTypes, {}, true).value();
  EXPECT_TRUE(again.check(1, 100).ok());
  EXPECT_EQ(again.read(1, 5).value(), numbers({2, 3}, 6));
}

// NumPy's other orders are read too.
TEST(Batches, FortranOrderIsNoObstacle) {
  const TestFolder folder;
  std::string content = format_npy(numbers({2, 4}, 0));
  const std::size_t at = content.find("False");
  content.replace(at, 6, "True, ");
  std::ofstream(folder / "f.npy", std::ios::binary) << content;
  const Batches batches = Batches::open({{(folder / "f.npy").string(), 0}}, kTypes, {}).value();
  const Array whole = read_npy(folder / "f.npy").value();
  EXPECT_EQ(batches.read(0, 2).value().as<float>()[1], whole.as<float>()[5]);
}

TEST(Batches, NamesOfArraysSayWhichArgument) {
  const TestFolder folder;
  const NamedArrays stacks = {{"in.1", numbers({5, 2, 3}, 0)},
                              {"batch['x']", numbers({4, 4}, 7)},
                              {"out.0", numbers({1}, 0)}};
  ASSERT_TRUE(write_safetensors(folder / "s.safetensors", stacks).ok());
  const BatchSource source{(folder / "s.safetensors").string(), {}};
  const Batches batches = Batches::open({source}, kTypes, {"batch['x']", ""}).value();
  EXPECT_EQ(batches.arguments(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(batches.count(), 4);
  EXPECT_EQ(batches.read(0, 2).value(), numbers({4}, 11));
  EXPECT_EQ(batches.read(1, 2).value(), numbers({2, 3}, 6));
  EXPECT_THAT(
      Batches::open({source}, kTypes, {"batch['x']", ""}, true).value().check(1, 2).reason(),
      HasSubstr("would not stay together"));
  EXPECT_EQ(Batches::open({{source.path, 1}}, kTypes, {}).value().arguments().size(), 1U);
}

TEST(Batches, WhatIsWrongIsSaid) {
  const TestFolder folder;
  write(folder / "same.npy", numbers({4}, 0));
  write(folder / "other.npy", numbers({3, 5}, 0));
  write(folder / "deep.npy", numbers({1, 1, 4}, 0));
  const auto why = [&](const std::string& path, std::optional<std::size_t> argument) {
    return Batches::open({{path, argument}}, kTypes, {}).reason();
  };
  const auto file = [&](const char* name) { return (folder / name).string(); };
  EXPECT_THAT(why(file("no.npy"), 0), HasSubstr("there is no such file or folder"));
  EXPECT_THAT(why(file("no*.npy"), 0), HasSubstr("no file has such a name"));
  EXPECT_THAT(why(file("same.npy"), 0), HasSubstr("as tensor<8x4xf32>"));
  EXPECT_THAT(why(file("other.npy"), 0), HasSubstr("a stack of argument 0 is tensor<3x4xf32>"));
  EXPECT_THAT(why(file("deep.npy"), 0), HasSubstr("argument 0 is tensor<4xf32>"));
  EXPECT_THAT(why(file("same.npy"), {}), HasSubstr("name it, as in arg3="));
  EXPECT_THAT(why(file("other.npy"), 7), HasSubstr("there is no argument 7"));
  EXPECT_THAT(why("/dev/null", 0), HasSubstr("end in .npy or .safetensors"));
  EXPECT_THAT(Batches::open({{file("same*.npy"), 0}, {file("same*.npy"), 0}}, kTypes, {}).reason(),
              HasSubstr("has batches of"));
}

// Files of the right name and of another type are found before the first step.
TEST(Batches, AllFilesOfTheRunAreLookedAt) {
  const TestFolder folder;
  write(folder / "1.npy", numbers({4}, 0));
  write(folder / "2.npy", numbers({4}, 0));
  write(folder / "3.npy", numbers({5}, 0));
  const Batches batches = Batches::open({{(folder / "").string(), 0}}, kTypes, {}).value();
  EXPECT_TRUE(batches.check(1, 2).ok());
  EXPECT_THAT(batches.check(1, 3).reason(), HasSubstr("3.npy is tensor<5xf32>"));
}

}  // namespace
}  // namespace heddle
