#include "comm/chunk_slots.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::comm {

namespace {

constexpr std::int64_t kLine = 128;  // two cache lines: neighbours are fetched in pairs
constexpr std::int64_t kWord = 4;    // bytes of a message in a word of eight

std::int64_t stride_of(const chunks::Channel& channel) {
  return (channel.slot_bytes + kLine - 1) / kLine * kLine;
}

std::uint64_t with_flag(const std::byte* from, std::int64_t bytes, std::uint32_t flag) {
  std::uint32_t data = 0;
  std::memcpy(&data, from, static_cast<std::size_t>(bytes));
  return std::uint64_t{flag} << 32 | data;
}

}  // namespace

std::int64_t ChunkSlots::room_bytes(const chunks::Channel& channel) {
  const auto bytes =
      static_cast<std::int64_t>(sizeof(Header)) + channel.slots * stride_of(channel);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes)));
}

ChunkSlots::ChunkSlots(std::byte* room, const chunks::Channel& channel)
    : room_(room),
      header_(reinterpret_cast<Header*>(room)),
      by_words_(channel.protocol == chunks::Protocol::latency),
      slots_(static_cast<std::uint64_t>(channel.slots)),
      stride_(stride_of(channel)) {}

void ChunkSlots::begin(bool sends) {
  next_ = first_ = (sends ? header_->sent : header_->taken).load(std::memory_order_relaxed);
}

std::byte* ChunkSlots::slot(std::uint64_t number) const {
  return room_ + sizeof(Header) + static_cast<std::int64_t>(number % slots_) * stride_;
}

// Another program may have had other slots in the room: its last message must be gone.
bool ChunkSlots::may_send() const {
  const std::uint64_t under_way = next_ - header_->taken.load(std::memory_order_acquire);
  return next_ == first_ ? under_way == 0 : under_way < slots_;
}

void ChunkSlots::send(const std::byte* from, std::int64_t bytes) {
  std::byte* to = slot(next_);
  if (by_words_) {
    auto* words = reinterpret_cast<std::uint64_t*>(to);
    for (std::int64_t at = 0; at < bytes; at += kWord)
      std::atomic_ref(words[at / kWord])
          .store(with_flag(from + at, std::min(kWord, bytes - at), flag()),
                 std::memory_order_relaxed);
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  header_->sent.store(++next_, by_words_ ? std::memory_order_relaxed : std::memory_order_release);
}

bool ChunkSlots::has_come(std::int64_t bytes) const {
  if (!by_words_ || bytes == 0) return header_->sent.load(std::memory_order_acquire) > next_;
  auto* words = reinterpret_cast<std::uint64_t*>(slot(next_));
  for (std::int64_t i = (bytes - 1) / kWord; i >= 0; --i)
    if (std::atomic_ref(words[i]).load(std::memory_order_relaxed) >> 32 != flag()) return false;
  return true;
}

const std::byte* ChunkSlots::look(std::int64_t bytes) {
  std::byte* from = slot(next_);
  if (!by_words_) return from;
  if (!words_) words_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(stride_));
  auto* words = reinterpret_cast<std::uint64_t*>(from);
  for (std::int64_t at = 0; at < bytes; at += kWord) {
    const auto data = static_cast<std::uint32_t>(
        std::atomic_ref(words[at / kWord]).load(std::memory_order_relaxed));
    std::memcpy(words_.get() + at, &data, static_cast<std::size_t>(std::min(kWord, bytes - at)));
  }
  return words_.get();
}

void ChunkSlots::taken() { header_->taken.store(++next_, std::memory_order_release); }

}  // namespace heddle::comm
