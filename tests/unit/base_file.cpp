#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "test_folder.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(WriteFile, ReplacesWhatWasThere) {
  const TestFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one").ok());
  ASSERT_TRUE(write_file(folder / "a", "three").ok());
  EXPECT_EQ(folder.read("a"), "three");
  EXPECT_EQ(folder.count(), 1);
}

TEST(WriteFile, KeepsModeAndLinks) {
  const TestFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one").ok());
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder / "a", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "two").ok());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(folder.read("a"), "two");
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(WriteFile, AFullDiskIsSaidInWords) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this machine has no /dev/full";
  const Verdict verdict = write_file("/dev/full", "x");
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.reason(), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(WriteFile, AFolderIsRefused) {
  const TestFolder folder;
  fs::create_directory(folder / "a");
  const Verdict verdict = write_file(folder / "a", "x");
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.reason(), HasSubstr("Is a directory"));
}

TEST(WriteFile, AReadOnlyFileIsRefused) {
  const TestFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one").ok());
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::group_read);
  const Verdict verdict = write_file(folder / "a", "two");
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.reason(), HasSubstr("it is read-only"));
  EXPECT_EQ(folder.read("a"), "one");
}

TEST(WriteFile, LeavesNothingBehindWhenItFails) {
  const TestFolder folder;
  EXPECT_FALSE(write_file(folder / "missing" / "a", "x").ok());
  EXPECT_FALSE(write_file(folder / std::string(300, 'n'), "x").ok());
  EXPECT_EQ(folder.count(), 0);
}

TEST(CanWrite, AsWriteFileWouldAndLeavesNothing) {
  const TestFolder folder;
  EXPECT_TRUE(can_write(folder / "a").ok());
  EXPECT_EQ(folder.count(), 0);
  ASSERT_TRUE(write_file(folder / "a", "one").ok());
  EXPECT_TRUE(can_write(folder / "a").ok());
  EXPECT_EQ(folder.read("a"), "one");
  fs::permissions(folder / "a", fs::perms::owner_read);
  EXPECT_EQ(can_write(folder / "a").reason(), write_file(folder / "a", "x").reason());
  EXPECT_THAT(can_write(folder / "no" / "a").reason(), HasSubstr("No such file or directory"));
  EXPECT_THAT(can_write(folder / "a" / "b").reason(), HasSubstr("Not a directory"));
  fs::create_directory(folder / "d");
  EXPECT_THAT(can_write(folder / "d").reason(), HasSubstr("Is a directory"));
  EXPECT_TRUE(can_write("/dev/null").ok());
}

TEST(CanWrite, AMissingFolderIsAskedForAboveIt) {
  const TestFolder folder;
  EXPECT_TRUE(can_write_into(folder / "a" / "b" / "c").ok());
  EXPECT_EQ(folder.count(), 0);
  ASSERT_TRUE(write_file(folder / "file", "x").ok());
  EXPECT_THAT(can_write_into(folder / "file" / "a").reason(), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace heddle
