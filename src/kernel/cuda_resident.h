// Rows that stay where they are: a phase whose every stage goes over the same points, row by row.
//
// A group of threads has a row. Point p of it belongs to the same thread in every stage, so that
// what one stage leaves for the next stays in that thread's registers, sums are put together by
// shuffles, and what is loaded twice is loaded once. Nothing waits but for sums.
//
// A row may have segments (blocks with scales of their own): the points along the last loops of the
// tile, at each position along the first ones. A segment belongs to neighbouring threads of a warp.
//
// Long rows fly: blocks stay, and while one row is worked on the next ones are on their way to
// shared memory, by copies that no thread waits for.
#pragma once

#include <optional>

#include "kernel/emit_cuda.h"
#include "kernel/round.h"

namespace heddle {

// Where a thread has what a buffer holds.
enum class CudaHome : std::uint8_t {
  memory,
  row,           // a variable: one element for each row
  column,        // registers: the elements of its points
  segment,       // registers: one element for each unit, alike in all threads of the segment
  chunk_row,     // a variable that lives as long as a chunk
  chunk_column,  // registers, likewise
};

// An index as a sum: of positions times factors.
struct CudaPlace {
  std::vector<std::int64_t> tile;   // by loop of the row's points
  std::vector<std::int64_t> outer;  // by outer loop
  std::int64_t chunk = 0, constant = 0;
  bool is_same_for_all_points() const;
  // The loops of the tile up to the last one that counts.
  std::size_t depth() const;
  friend bool operator==(const CudaPlace&, const CudaPlace&) = default;
};

// Elements that several stages load, by the same threads.
struct CudaKeptLoad {
  std::uint32_t buffer = 0;
  CudaPlace place;
  bool lasts = false;  // the same for all rows, so that a block which stays loads it once
};

// What one stage computes of its points and later ones need again.
struct CudaKeptValue {
  DType type = DType::f32;
  std::vector<NodeId> nodes;  // by stage: the node that it is, or kNone
  std::size_t first() const;  // the stage that computes it
};

// An input whose rows fly.
struct CudaFlight {
  std::uint32_t buffer = 0;
  CudaPlace place;
  std::int64_t offset = 0;  // in a slot, in bytes
};

struct CudaResident {
  Phase phase;                     // with one row to a block
  std::vector<std::int64_t> tile;  // sizes of the loops over a row's points
  std::vector<CudaHome> homes;     // by buffer
  std::vector<CudaKeptLoad> kept;
  std::vector<CudaKeptValue> values;
  std::vector<CudaFlight> flights;
  // Elements of inputs that belong to a whole row, which a block that stays asks for a row early.
  std::vector<CudaKeptLoad> ahead;
  std::int64_t workers =
      0;          // that stay for many rows, each a block or a cluster; 0: one for each row
  int slots = 0;  // rows that lie in shared memory or fly there
  std::int64_t slot_bytes = 0;  // of one block
  bool in_registers = true;     // columns; else they lie in the scratch of a block
  int vector = 1;               // neighbouring points that a thread has together
  int group = 32;               // threads of a row, in one block
  int cluster = 1;              // blocks of a row
  int threads = 32;             // of a block
  int at_once = 1;              // blocks of a multiprocessor, if registers suffice
  std::int64_t units = 1;       // of `vector` points, in a row
  std::int64_t part() const { return (units + cluster - 1) / cluster; }  // units of a block
  std::int64_t turns() const { return (part() + group - 1) / group; }    // of a thread, at most
  int rows() const { return threads / group; }                           // of a block at a time
  // Of [rows, points]: accesses along a row, some to a thread. The last ones may not be there.
  Round round() const;
  static constexpr std::size_t kRows = 0, kColumns = 1;  // its dimensions
  // Units of a segment: what lies along the loops of the tile from `depth` on.
  std::int64_t segment(std::size_t depth) const;
};

// Nothing where the phase is of another kind.
std::optional<CudaResident> cuda_resident(const Kernel& kernel, const Phase& phase,
                                          const CudaLimits& limits);

// By node: the place that it is, where it is one.
std::vector<std::optional<CudaPlace>> cuda_places(const CudaResident& resident, const Stage& stage);
// Of any stage: `tile` has a factor for each of its loops.
std::vector<std::optional<CudaPlace>> cuda_places(const Phase& phase, const Stage& stage);
// The values that later stages need again, where that costs more than a register each.
std::vector<CudaKeptValue> cuda_kept_values(const Kernel& kernel, const CudaResident& resident);
// By node of a stage: whether an earlier stage left it.
std::vector<bool> known_nodes(const CudaResident& resident, std::size_t stage);
// Sets how threads share rows, and what they keep and let fly. False: they cannot.
bool share_rows(const Kernel& kernel, const CudaLimits& limits, CudaResident& resident);

// By node: whether statements need it, if some are known; and whether it differs between points of
// a row.
std::vector<bool> live_nodes(const Stage& stage, const std::vector<bool>& known = {});
std::vector<bool> differs_along_row(const Stage& stage);
// The stage's loops over points, in the order of the tile. A stage of segments has the first ones.
std::vector<std::size_t> tile_loops(const Stage& stage);
// Whether a stage goes over all points of a row; over segments.
bool has_points(const CudaResident& resident, const Stage& stage);
bool has_segments(const CudaResident& resident, const Stage& stage);

}  // namespace heddle
