// Checkpoints: values of a run on a mesh, saved per shard and restored onto any other mesh and
// layout, exactly.
//
// A checkpoint is a folder: rank-N.safetensors with what rank N has saved, rank-N.json that says
// where these pieces belong, and index.json with the sizes and hashes of all of them. It comes to
// be under another name and gets its own when everything is on the disk, so that a folder of that
// name is always whole; an earlier checkpoint is touched only then.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/layout.h"
#include "heddle/mesh.h"
#include "heddle/row_parts.h"

namespace heddle {

class Transport;

// The devices of a run: rank r is at position r of the mesh, its last axis counting fastest; or
// where device_ids[position] is r.
struct CheckpointMesh {
  const Mesh& mesh;
  const AxisRegistry& axes;
  std::span<const std::int64_t> device_ids = {};
  // In all, where values lie on some of them only, as on a mesh; 0: as many as the mesh has.
  std::int64_t ranks = 0;

  std::int64_t rank_count() const;
  std::int64_t position_of(std::int64_t rank) const;
};

// One value. Part r is what rank r holds of it, its elements in the layout's order on `mem`; a
// process that is one of several ranks fills its own part only.
struct CheckpointValue {
  std::string name;
  Type type;  // of the whole
  Layout layout;
  std::vector<Array> parts;
  // The ranks that have it, as the mesh numbers them; empty: all.
  std::vector<int> on = {};
  // In place of `layout` and `on`, where groups of ranks have some rows each, behind each other: a
  // layout of these rows alone.
  struct Rows {
    std::vector<RowRange> rows;
    std::vector<int> on;
    Layout layout;
  };
  std::vector<Rows> rows = {};
};

// All of a value in row-major order on one device.
Expected<Layout> whole_layout(const Type& type, const AxisRegistry& axes);
// How many elements a rank needs room for.
Expected<std::int64_t> local_elements(const Layout& layout, const AxisRegistry& axes);

// Saves the values under a folder's name; the folder around it must be there. With a transport all
// ranks call it together, each for its part; without one the caller has all parts. What several
// ranks hold is saved once. `step` is for the reader to go on from.
Verdict save_checkpoint(const std::filesystem::path& folder,
                        const std::vector<CheckpointValue>& values, const CheckpointMesh& mesh,
                        Transport* transport = nullptr, std::int64_t step = 0);

// What opening looks at: every byte, or the index and the sizes of files. Values are always checked
// when they are read.
enum class CheckpointCheck : std::uint8_t { all, sizes };

class Checkpoint {
 public:
  // Says no where a file is missing, torn or not what was saved.
  static Expected<Checkpoint> open(const std::filesystem::path& folder,
                                   CheckpointCheck check = CheckpointCheck::all);
  // Whether a folder looks like a checkpoint, whole or not.
  static bool is_one(const std::filesystem::path& folder);

  std::int64_t step() const { return step_; }
  std::vector<std::string> names() const;
  // Null where there is no such value.
  const Type* type(const std::string& name) const;
  // What a rank holds of a value in this layout, as a flat array; places that no element has are
  // zero. Only pieces that the rank needs are read from the disk.
  Expected<Array> read(const std::string& name, const Layout& layout, const CheckpointMesh& mesh,
                       std::int64_t rank) const;
  Expected<Array> read_whole(const std::string& name) const;

 private:
  struct Piece {
    Box box;
    std::size_t rank = 0;  // whose file it is in
    std::uint64_t at = 0, bytes = 0, hash = 0;
  };
  struct Value {
    Type type;
    std::vector<Piece> pieces;
  };
  Verdict read_rank(std::size_t rank, const std::string& json, std::uint64_t file_bytes);
  Expected<std::string> read_piece(const Piece& piece, const std::string& name) const;
  Expected<Array> gather(const std::string& name, const Layout& layout, const Coord& coord,
                         const AxisRegistry& axes) const;

  std::map<std::string, Value> values_;
  std::filesystem::path folder_;
  std::int64_t step_ = 0;
};

// The newest whole checkpoint of a folder of them; by name, numbers as numbers. `warn_of` gets a
// line for each newer one that is not.
Expected<std::filesystem::path> last_good_checkpoint(const std::filesystem::path& folder,
                                                     std::vector<std::string>* warn_of = nullptr);

}  // namespace heddle
