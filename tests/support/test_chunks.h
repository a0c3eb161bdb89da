// Chunk programs on the test device: interpreted, with the kernel's blocks in place of `finish`.
#pragma once

#include "heddle/chunk_launch.h"
#include "schedule/chunks/chunk_program.h"
#include "test_queue.h"

namespace heddle::test {

class TestChunkLaunch final : public ChunkLaunch {
 public:
  TestChunkLaunch(TestDevice& device, std::shared_ptr<Memory> memory, const ChunkWork& work)
      : device_(device), memory_(std::move(memory)), program_(*work.program), work_(work) {}

  Verdict run(Queue& queue, std::span<const ChunkAddresses> ranks, DeviceAddress slots,
              DeviceAddress flags, std::uint64_t turn) const override;
  std::vector<DeviceAddress> of_kernel(const Launch& launch,
                                       const DeviceAddress* slots) const override;
  bool keeps_sums() const override { return true; }
  std::int64_t slot_bytes() const override { return 64; }
  std::int64_t flag_bytes() const override { return 8; }

 private:
  Verdict interpret(Queue& inner, const std::vector<ChunkAddresses>& ranks,
                    std::uint64_t seed) const;
  Verdict finish(Queue& inner, const ChunkAddresses& rank, std::int64_t first,
                 std::int64_t count) const;

  TestDevice& device_;
  std::shared_ptr<Memory> memory_;
  const chunks::ChunkProgram program_;
  const ChunkWork work_;
};

}  // namespace heddle::test
