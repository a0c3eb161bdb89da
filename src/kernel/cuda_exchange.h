// What the threads of a GPU have to exchange between two stages, from the layouts of both.
//
// A stage's mapping is a layout of its loops over block, cluster, warp, lane and a thread's own
// axes (cuda_layout.h). The layout of what it leaves in a buffer follows from that and from where
// it puts each point; that of what another stage reads likewise. The planner for moving data then
// says how the one becomes the other: not at all, by shuffles, through the shared memory of the
// block or of its cluster, or through memory.
#pragma once

#include <optional>

#include "heddle/layout.h"
#include "heddle/mesh.h"
#include "kernel/cuda_resident.h"

namespace heddle {

struct CudaExchange {
  // Holders that meet, by what they meet through: the nearest first.
  struct Meeting {
    Medium through = Medium::shuffle;
    std::int64_t holders = 1;
    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  std::vector<Meeting> meetings;
  // Nothing: every thread has what it reads.
  std::optional<Medium> widest() const;
};

// From what is there to what is wanted: both are layouts of the same elements. Threads that have
// parts of sums are partials, those that read the same element replicas.
Expected<CudaExchange> cuda_exchange(const Layout& there, const Layout& wanted,
                                     const AxisRegistry& axes);
// "32 by shuffles, 8 through shared memory"; "nothing" where everybody has what it reads.
std::string words_of(const CudaExchange& exchange);

// What becomes of a dimension that is not in the result: each thread has a part of the sum, or
// reads all of it. A thread's own positions leave nothing.
Expected<Layout> summed_along(const Layout& mapping, std::size_t dim, const AxisRegistry& axes);
Expected<Layout> repeated_along(const Layout& mapping, std::size_t dim, const AxisRegistry& axes);
// Positions along a dimension that one thread has.
std::int64_t own_positions(const Layout& mapping, std::size_t dim, const AxisRegistry& axes);

// The elements of a buffer as a stage has them: `mapping` is its layout as [points, others], and
// `place` where it stores, adds up or loads. Loops that do not move the place are sums, where it
// adds up, or are repeated. A reason where elements do not lie side by side.
enum class CudaUse : std::uint8_t { stores, adds, loads };
Expected<Layout> cuda_value_layout(const Stage& stage, const std::vector<bool>& shared,
                                   const Layout& mapping, const CudaPlace& place, CudaUse use,
                                   const AxisRegistry& axes);

}  // namespace heddle
