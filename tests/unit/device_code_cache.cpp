// Compiled code on disk and in memory.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "device/code_cache.h"
#include "device_run.h"
#include "kernel_examples.h"
#include "test_folder.h"

namespace heddle {
namespace {

CpuJitOptions kept_in(const TestFolder& folder) {
  CpuJitOptions options;
  options.cache_directory = folder / "cache";
  return options;
}

std::filesystem::path only_file(const TestFolder& folder) {
  return std::filesystem::directory_iterator(folder / "cache")->path();
}

void expect_right_sums(CpuJit& jit) {
  const Kernel kernel = examples::running_sum(3, 20);
  const auto code = jit.compile(kernel);
  ASSERT_TRUE(code) << code.reason();
  KernelData got = random_data(kernel), want = got;
  run_compiled(**code, kernel, got);
  ASSERT_TRUE(want.run(kernel));
  EXPECT_EQ(got.bytes, want.bytes);
}

TEST(DeviceCodeCache, SecondCompilationComesFromMemoryAndThirdFromDisk) {
  HEDDLE_NEEDS_LLVM();
  const TestFolder folder;
  CpuJit first(kept_in(folder));
  expect_right_sums(first);
  expect_right_sums(first);
  EXPECT_EQ(first.counts().compiled, 1);
  EXPECT_EQ(first.counts().from_memory, 1);
  CpuJit second(kept_in(folder));
  expect_right_sums(second);
  EXPECT_EQ(second.counts().compiled, 0);
  EXPECT_EQ(second.counts().from_disk, 1);
}

TEST(DeviceCodeCache, DamagedEntriesAreMadeAgain) {
  HEDDLE_NEEDS_LLVM();
  const TestFolder folder;
  CpuJit first(kept_in(folder));
  expect_right_sums(first);
  const std::filesystem::path file = only_file(folder);
  const auto size = std::filesystem::file_size(file);
  for (const std::uintmax_t cut : {std::uintmax_t{0}, size / 2, size - 1}) {
    std::filesystem::resize_file(file, cut);
    CpuJit again(kept_in(folder));
    expect_right_sums(again);
    EXPECT_EQ(again.counts().compiled, 1) << "cut to " << cut;
  }
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(size - 40));
    stream.put('?');
  }
  CpuJit flipped(kept_in(folder));
  expect_right_sums(flipped);
  EXPECT_EQ(flipped.counts().compiled, 1);
  CpuJit after(kept_in(folder));
  expect_right_sums(after);
  EXPECT_EQ(after.counts().from_disk, 1);
  // What opens and cannot be read.
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CpuJit unreadable(kept_in(folder));
  expect_right_sums(unreadable);
  EXPECT_EQ(unreadable.counts().compiled, 1);
}

TEST(DeviceCodeCache, FolderThatCannotBeWrittenCostsOnlyTime) {
  HEDDLE_NEEDS_LLVM();
  CpuJitOptions options;
  options.cache_directory = "/dev/null/cache";
  CpuJit jit(options);
  expect_right_sums(jit);
}

TEST(DeviceCodeCache, OldestEntriesGoFirst) {
  const TestFolder folder;
  const CodeCache cache(folder / "cache", 5000);
  const std::string object(1000, 'x');
  for (int i = 0; i < 10; ++i) {
    cache.write(fmt::format("key{}", i), object);
    std::filesystem::last_write_time(
        folder / fmt::format("cache/key{}.o", i),
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(10 - i));
  }
  EXPECT_FALSE(cache.read("key0"));
  EXPECT_EQ(cache.read("key9"), object);
  std::uintmax_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
    total += entry.file_size();
  EXPECT_LE(total, 5000U);
}

TEST(DeviceCodeCache, MemoryIsBounded) {
  HEDDLE_NEEDS_LLVM();
  CpuJitOptions options;
  options.memory_bytes = 1;  // of one kernel only
  CpuJit jit(options);
  ASSERT_TRUE(jit.compile(examples::running_sum(3, 20)));
  ASSERT_TRUE(jit.compile(examples::running_sum(3, 21)));
  ASSERT_TRUE(jit.compile(examples::running_sum(3, 20)));
  EXPECT_EQ(jit.counts().compiled, 3);
}

TEST(DeviceCodeCache, ThreadsAskForTheSameAndForOthers) {
  HEDDLE_NEEDS_LLVM();
  CpuJit jit;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&jit, t] {
      for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(jit.compile(examples::running_sum(3, 20 + (i + t) % 4)));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(jit.counts().compiled, 4);
}

TEST(DeviceCodeCache, TwoProcessesShareAFolder) {
  HEDDLE_NEEDS_LLVM();
  const TestFolder folder;
  std::vector<pid_t> children;
  for (int p = 0; p < 2; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CpuJit jit(kept_in(folder));
      for (int i = 0; i < 6; ++i) expect_right_sums(jit);
      for (int i = 0; i < 6; ++i)
        if (!jit.compile(examples::running_sum(2, 10 + i))) ::_exit(2);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  CpuJit jit(kept_in(folder));
  expect_right_sums(jit);
  EXPECT_EQ(jit.counts().from_disk, 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
    EXPECT_EQ(entry.path().extension(), ".o") << entry.path();
}

}  // namespace
}  // namespace heddle
