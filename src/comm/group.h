// Groups of ranks that share a board: who has come to which collective, and with what.
#pragma once

#include <span>

#include "comm/board.h"
#include "heddle/transport.h"

namespace heddle::comm {

// Collectives of one group that a rank may have under way at the same time.
inline constexpr std::uint64_t kDepth = 8;

// What a member brings to a collective. Addresses are its own.
struct Post {
  std::uint32_t kind = 0;  // with element type and reduction: all members bring the same
  std::int64_t bytes = 0;  // as above; -1 where members may differ
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  const SendPart* sends = nullptr;
};

// The collectives of a group are numbered from 1; each member says how far it has come.
struct alignas(128) MemberCell {
  std::atomic<std::uint64_t> posted, halfway, done;
  Post posts[kDepth];
};

struct GroupRecord {
  std::uint64_t next;  // in the area; 0: the last
  std::int64_t channel;
  std::int32_t members;
  std::atomic<std::uint32_t> events;  // grows whenever a member has come further
  std::atomic<std::uint32_t> sleepers;
  std::int64_t room;  // where it begins in the board's file; 0: nobody has asked for one

  std::int32_t* ranks() { return reinterpret_cast<std::int32_t*>(this + 1); }
  MemberCell* cells();
};

// The record of these members, made on first use.
Expected<GroupRecord*> find_group(Board& board, std::span<const int> ranks, std::int64_t channel);

// Where the room of these members begins, behind all that is in the file; it grows by so many bytes
// where nobody has asked before.
Expected<std::int64_t> place_of_room(Board& board, GroupRecord& record, int file,
                                     std::int64_t bytes);

// Wakes who waits for news of the group.
void tell_group(GroupRecord& group);
// Sleeps until there is news after `seen`, for some milliseconds at most.
void await_news(GroupRecord& group, std::uint32_t seen);

}  // namespace heddle::comm
