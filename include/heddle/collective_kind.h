// What devices do together: the one list for plans, ops of programs and transports.
#pragma once

#include <cstdint>
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
// As plans are printed: all-gather.
std::string_view name(CollectiveKind kind);

}  // namespace heddle
