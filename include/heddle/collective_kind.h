// What devices do together: the one list for plans, ops of programs and transports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace heddle {

enum class CollectiveKind : std::uint8_t {
  none,
  // alone, as moves of a plan
  slice,       // every holder keeps a part of what it has; nothing is sent
  mask,        // of several copies one stays, the others become the identity of the reduction
  local_copy,  // the same holder, another place in its memory
  // together
  all_gather,      // a split axis becomes replicated
  reduce_scatter,  // a pending reduction becomes a split
  all_reduce,      // a pending reduction becomes replicated
  reduce,          // the first member gets the result, the others zeros
  all_to_all,      // splits move to other dimensions
  permute,         // whole blocks change their holders
  broadcast,       // the one holder that has data gives it to all
  halo_exchange,   // copies of neighbours' edges are filled
  exchange,        // whatever the footprints share, of any sizes: always right, never special
  barrier,
  // one to one
  send,
  receive,
  // what a device is called
  partition_id,
  replica_id,
};

// What it is called: as plans are printed, and as messages of a transport have it, which name the
// op of a program where there is one.
struct CollectiveNames {
  std::string_view plan, op;
};
inline constexpr CollectiveNames kCollectiveNames[] = {
    {"none", "none"},
    {"slice", "slice"},
    {"mask", "mask"},
    {"local-copy", "local-copy"},
    {"all-gather", "all_gather"},
    {"reduce-scatter", "reduce_scatter"},
    {"all-reduce", "all_reduce"},
    {"reduce", "reduce"},
    {"all-to-all", "all_to_all"},
    {"permute", "collective_permute"},
    {"broadcast", "collective_broadcast"},
    {"halo-exchange", "halo-exchange"},
    {"exchange", "exchange"},
    {"barrier", "barrier"},
    {"send", "send"},
    {"receive", "recv"},
    {"partition-id", "partition-id"},
    {"replica-id", "replica-id"},
};
static_assert(std::size(kCollectiveNames) ==
              static_cast<std::size_t>(CollectiveKind::replica_id) + 1);

constexpr std::string_view name(CollectiveKind kind) {
  return kCollectiveNames[static_cast<std::size_t>(kind)].plan;
}
constexpr std::string_view op_name(CollectiveKind kind) {
  return kCollectiveNames[static_cast<std::size_t>(kind)].op;
}

}  // namespace heddle
