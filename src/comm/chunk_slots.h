// One end of a channel whose messages go through slots in memory that both ranks share: with a flag
// that is raised when a slot is full (bandwidth), or a flag in every word (latency).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "schedule/chunks/chunk_program.h"

namespace heddle::comm {

class ChunkSlots {
 public:
  // Bytes of the room; a power of two.
  static std::int64_t room_bytes(const chunks::Channel& channel);

  ChunkSlots(std::byte* room, const chunks::Channel& channel);

  // Before the first message of a run: goes on where both ends have stopped.
  void begin(bool sends);
  // Whether a slot is free.
  bool may_send() const;
  void send(const std::byte* from, std::int64_t bytes);
  // Whether the next message is there, all of it.
  bool has_come(std::int64_t bytes) const;
  // Its bytes, which stay until taken().
  const std::byte* look(std::int64_t bytes);
  void taken();

 private:
  // Numbers of messages: each is written by one end.
  struct Header {
    alignas(128) std::atomic<std::uint64_t> sent;
    alignas(128) std::atomic<std::uint64_t> taken;
  };
  std::byte* slot(std::uint64_t number) const;
  std::uint32_t flag() const { return static_cast<std::uint32_t>(next_ + 1); }

  std::byte* room_;
  Header* header_;
  bool by_words_;
  std::uint64_t slots_;
  std::int64_t stride_;
  std::uint64_t next_ = 0, first_ = 0;  // message of this end; that of this run
  std::unique_ptr<std::byte[]> words_;  // without their flags
};

}  // namespace heddle::comm
