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

using Words = std::uint64_t*;

void put(Words words, std::int64_t i, std::uint32_t data, std::uint32_t flag) {
  std::atomic_ref(words[i]).store(std::uint64_t{flag} << 32 | data, std::memory_order_relaxed);
}
std::uint64_t get(Words words, std::int64_t i) {
  return std::atomic_ref(words[i]).load(std::memory_order_relaxed);
}

}  // namespace

std::int64_t ChunkSlots::room_bytes(const chunks::Channel& channel) {
  const auto bytes = static_cast<std::int64_t>(sizeof(Header)) + channel.slots * stride_of(channel);
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
    const auto words = reinterpret_cast<Words>(to);
    const std::int64_t whole = bytes / kWord, rest = bytes % kWord;
    std::uint32_t data = 0;
    for (std::int64_t i = 0; i < whole; ++i) {
      std::memcpy(&data, from + i * kWord, kWord);
      put(words, i, data, flag());
    }
    data = 0;
    std::memcpy(&data, from + whole * kWord, static_cast<std::size_t>(rest));
    if (rest > 0) put(words, whole, data, flag());
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  header_->sent.store(++next_, by_words_ ? std::memory_order_relaxed : std::memory_order_release);
}

bool ChunkSlots::has_come(std::int64_t bytes) const {
  if (!by_words_ || bytes == 0) return header_->sent.load(std::memory_order_acquire) > next_;
  const auto words = reinterpret_cast<Words>(slot(next_));
  for (std::int64_t i = (bytes - 1) / kWord; i >= 0; --i)
    if (get(words, i) >> 32 != flag()) return false;
  return true;
}

const std::byte* ChunkSlots::look(std::int64_t bytes) {
  std::byte* from = slot(next_);
  if (!by_words_) return from;
  if (!words_) words_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(stride_));
  const auto words = reinterpret_cast<Words>(from);
  const std::int64_t whole = bytes / kWord;
  for (std::int64_t i = 0; i < whole; ++i) {
    const auto data = static_cast<std::uint32_t>(get(words, i));
    std::memcpy(words_.get() + i * kWord, &data, kWord);
  }
  const auto data = static_cast<std::uint32_t>(bytes % kWord > 0 ? get(words, whole) : 0);
  std::memcpy(words_.get() + whole * kWord, &data, static_cast<std::size_t>(bytes % kWord));
  return words_.get();
}

void ChunkSlots::taken() { header_->taken.store(++next_, std::memory_order_release); }

}  // namespace heddle::comm
