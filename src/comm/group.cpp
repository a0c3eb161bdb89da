#include "comm/group.h"

#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <thread>

namespace heddle::comm {

namespace {

constexpr std::size_t kCellAlign = alignof(MemberCell);
constexpr long kNapNanoseconds = 20'000'000;
constexpr std::int64_t kRoomAlign = 1 << 16;  // a page of any machine

std::size_t cell_aligned(std::size_t bytes) {
  return (bytes + kCellAlign - 1) / kCellAlign * kCellAlign;
}

std::size_t cells_at(std::size_t members) {
  return cell_aligned(sizeof(GroupRecord) + members * sizeof(std::int32_t));
}

// Held for the time of a search; whoever waits for a dead holder learns of its death.
class ListLock {
 public:
  explicit ListLock(Board& board) : lock_(board.header().lock) {
    std::uint32_t free = 0;
    while (!lock_.compare_exchange_weak(free, 1, std::memory_order_acquire)) {
      free = 0;
      if (board.failed()) return;
      std::this_thread::yield();
    }
    held_ = true;
  }
  ~ListLock() {
    if (held_) lock_.store(0, std::memory_order_release);
  }
  ListLock(const ListLock&) = delete;
  ListLock& operator=(const ListLock&) = delete;
  bool held() const { return held_; }

 private:
  std::atomic<std::uint32_t>& lock_;
  bool held_ = false;
};

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value, const timespec* time) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what, value, time, nullptr,
                   0);
}

}  // namespace

MemberCell* GroupRecord::cells() {
  auto* start = reinterpret_cast<std::byte*>(this) + cells_at(static_cast<std::size_t>(members));
  return reinterpret_cast<MemberCell*>(start);
}

Expected<GroupRecord*> find_group(Board& board, std::span<const int> ranks, std::int64_t channel) {
  const ListLock lock(board);
  if (!lock.held()) return Reason{board.failure()};
  BoardHeader& header = board.header();
  const auto record_at = [&](std::uint64_t at) {
    return reinterpret_cast<GroupRecord*>(board.area() + at);
  };
  for (std::uint64_t at = header.first_group; at != 0; at = record_at(at)->next) {
    GroupRecord& record = *record_at(at);
    if (record.channel == channel && record.members == static_cast<std::int32_t>(ranks.size()) &&
        std::equal(ranks.begin(), ranks.end(), record.ranks()))
      return &record;
  }
  const std::size_t bytes = cells_at(ranks.size()) + ranks.size() * sizeof(MemberCell);
  const std::uint64_t at = header.used.load();
  if (at + bytes > header.room)
    return reason("there are more groups of ranks than {} bytes hold", header.room);
  header.used = at + cell_aligned(bytes);
  GroupRecord& record = *record_at(at);
  record.channel = channel;
  record.members = static_cast<std::int32_t>(ranks.size());
  std::copy(ranks.begin(), ranks.end(), record.ranks());
  record.next = header.first_group;
  header.first_group = at;
  return &record;
}

Expected<std::int64_t> place_of_room(Board& board, GroupRecord& record, int file,
                                     std::int64_t bytes) {
  const ListLock lock(board);
  if (!lock.held()) return Reason{board.failure()};
  if (record.room != 0) return record.room;
  struct stat about = {};
  if (::fstat(file, &about) != 0)
    return reason("memory shared between ranks has no size: {}", std::strerror(errno));
  const std::int64_t begin = (about.st_size + kRoomAlign - 1) / kRoomAlign * kRoomAlign;
  if (::ftruncate(file, begin + bytes) != 0)
    return reason("{} bytes for messages between ranks cannot be had: {}", bytes,
                  std::strerror(errno));
  record.room = begin;
  return begin;
}

void tell_group(GroupRecord& group) {
  group.events.fetch_add(1);
  if (group.sleepers.load() > 0) futex(group.events, FUTEX_WAKE, INT_MAX, nullptr);
}

void await_news(GroupRecord& group, std::uint32_t seen) {
  const timespec nap{0, kNapNanoseconds};
  futex(group.events, FUTEX_WAIT, seen, &nap);
}

}  // namespace heddle::comm
