#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "heddle/name.h"

namespace heddle {
namespace {

TEST(Name, IsItsText) {
  const Name name("dimension");
  EXPECT_EQ(name.view(), "dimension");
  EXPECT_EQ(name, "dimension");
  EXPECT_NE(name, std::string("dimensions"));
  EXPECT_EQ(fmt::format("{:>12}", name), "   dimension");
  EXPECT_EQ("a " + std::string() + name, "a dimension");
  EXPECT_TRUE(Name().empty());
}

TEST(Name, EqualTextsShareOneEntry) {
  EXPECT_EQ(Name("strides").view().data(), Name(std::string("strides")).view().data());
  EXPECT_EQ(Name("strides").hash(), Name("strides").hash());
  EXPECT_NE(Name("strides"), Name("stride"));
  EXPECT_LT(Name("a"), Name("b"));
  EXPECT_LT(Name("a"), "b");
}

TEST(Name, LongTextsAreTheirOwn) {
  const std::string text(1000, 'x');
  const Name a(text), b(text), c = a;
  EXPECT_NE(a.view().data(), b.view().data());
  EXPECT_EQ(c.view().data(), a.view().data());
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
}

// More texts than the table keeps: those beyond it are right too.
TEST(Name, HoldsAnyNumberOfTexts) {
  std::vector<Name> names;
  for (int i = 0; i < 40'000; ++i) names.emplace_back("name_" + std::to_string(i));
  for (int i = 0; i < 40'000; ++i) {
    ASSERT_EQ(names[static_cast<std::size_t>(i)], "name_" + std::to_string(i));
    ASSERT_EQ(names[static_cast<std::size_t>(i)], Name("name_" + std::to_string(i)));
  }
}

TEST(Name, ThreadsAgree) {
  std::vector<std::vector<Name>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<Name>& names : made)
    threads.emplace_back([&names] {
      for (int i = 0; i < 500; ++i) names.emplace_back("shared_" + std::to_string(i));
    });
  for (std::thread& t : threads) t.join();
  for (const std::vector<Name>& names : made) EXPECT_EQ(names, made[0]);
}

}  // namespace
}  // namespace heddle
