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
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/layout.h"
#include "heddle/mesh.h"

namespace heddle {

class Transport;

// The devices of a run: rank r is at position r of the mesh, its last axis counting fastest.
struct CheckpointMesh {
  const Mesh& mesh;
  const AxisRegistry& axes;
};

// One value. Part r is what rank r holds of it, its elements in the layout's order on `mem`; a
// process that is one of several ranks fills its own part only.
struct CheckpointValue {
  std::string name;
  Type type;  // of the whole
  Layout layout;
  std::vector<Array> parts;
};

// All of a value in row-major order on one device.
Expected<Layout> whole_layout(const Type& type, const AxisRegistry& axes);
// How many elements a rank needs room for.
Expected<std::int64_t> local_elements(const Layout& layout, const AxisRegistry& axes);

// Saves the values under a folder's name; the folder around it must be there. With a transport all
// ranks call it together, each for its part; without one the caller has all parts. What several
// ranks hold is saved once.
Verdict save_checkpoint(const std::filesystem::path& folder,
                        const std::vector<CheckpointValue>& values, const CheckpointMesh& mesh,
                        Transport* transport = nullptr);

class Checkpoint {
 public:
  // Says no where a file is missing, torn or not what was saved.
  static Expected<Checkpoint> open(const std::filesystem::path& folder);

  std::vector<std::string> names() const;
  // Null where there is no such value.
  const Type* type(const std::string& name) const;
  // What a rank holds of a value in this layout, as a flat array; places that no element has are
  // zero.
  Expected<Array> read(const std::string& name, const Layout& layout, const CheckpointMesh& mesh,
                       std::int64_t rank) const;
  Expected<Array> read_whole(const std::string& name) const;

 private:
  struct Piece {
    Box box;
    std::size_t file = 0;
    std::string entry;
  };
  struct Value {
    Type type;
    std::vector<Piece> pieces;
  };
  Verdict read_rank(const std::filesystem::path& folder, std::size_t rank, const std::string& json);
  Expected<Array> gather(const std::string& name, const Layout& layout, const Coord& coord,
                         const AxisRegistry& axes) const;

  std::vector<std::map<std::string, Array>> files_;
  std::map<std::string, Value> values_;
  std::string where_;
};

// The newest whole checkpoint of a folder of them; by name, numbers as numbers. `warn_of` gets a
// line for each newer one that is not.
Expected<std::filesystem::path> last_good_checkpoint(const std::filesystem::path& folder,
                                                     std::vector<std::string>* warn_of = nullptr);

}  // namespace heddle
