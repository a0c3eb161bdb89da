// What it costs to deal an op out over the devices of a mesh in one way or another.
//
// Nothing here depends on what was asked before, on the order of questions or on the sizes of mesh
// axes: propagation, reports and a search for layouts may all ask.
#pragma once

#include <map>
#include <span>
#include <unordered_map>

#include "heddle/parallel.h"
#include "heddle/plan.h"

namespace heddle {

// Splits by number, so that they are compared and remembered cheaply.
class SplitTable {
 public:
  int id(Split split);
  const Split& operator[](int id) const { return *splits_[static_cast<std::size_t>(id)]; }

 private:
  std::vector<std::shared_ptr<const Split>> splits_;
  std::unordered_multimap<std::uint64_t, int> ids_;
};

// How a value gets from one split to another.
struct Route {
  // A move of the plan that changes the split.
  struct Step {
    int to;
    MoveKind kind;
    std::int64_t bytes;
    double seconds;
    std::string over;
  };
  double seconds = 0;
  std::vector<Step> steps;
  std::shared_ptr<const Plan> plan;  // none where nothing moves, or parts become contributions
};

// The planner's answers, each asked for once.
class RouteTable {
 public:
  RouteTable(SplitTable& splits, const Mesh& mesh, const AxisRegistry& axes)
      : splits_(splits), mesh_(mesh), axes_(axes) {}
  const Route& find(int from, int to, std::int64_t element_bits);
  // What such a way takes, for who asks about very many: it is not kept.
  double seconds(const Split& from, const Split& to, std::int64_t element_bits) const;

 private:
  struct Planned {
    Plan plan;
    std::vector<Split> stops;  // behind each of its moves
  };
  Route planned(int from, int to, std::int64_t element_bits);
  std::optional<Planned> plan_between(const Split& from, const Split& to,
                                      std::int64_t element_bits) const;
  struct Key {
    int from, to;
    std::int64_t bits;
    auto operator<=>(const Key&) const = default;
  };
  SplitTable& splits_;
  const Mesh& mesh_;
  const AxisRegistry& axes_;
  std::map<Key, Route> routes_;
};

// A program on a mesh, with rules, splits and plans that are made once. All of them outlive it.
struct OnMesh {
  OnMesh(const Program& program_, RuleCache& rules_, const MeshDecl& mesh_,
         std::int64_t memory_limit_ = INT64_MAX);
  OnMesh(const OnMesh&) = delete;
  OnMesh& operator=(const OnMesh&) = delete;

  const Program& program;
  RuleCache& rules;
  const MeshDecl& mesh;
  std::int64_t memory_limit;  // of one device
  // By ValueId: whether it is only returned, or what is computed of it element by element: nothing
  // waits for it, as for a gradient.
  std::vector<bool> needed_late;
  SplitTable splits;
  RouteTable routes;
  // Axes of the mesh that a search gives to one factor or none, all of a group together. Each is a
  // group of its own, unless somebody has little time.
  std::vector<std::vector<int>> axis_groups;

  const Type& type_of(ValueId v) const { return program.type_of(v); }
  int split_id(Split split) { return splits.id(std::move(split)); }
  int whole_id(ValueId v) { return splits.id(Split::whole(type_of(v))); }
};

// By what a device's part of an op is computed. The names are those of the files of src/spmd that
// write them.
enum class PartWay : std::uint8_t {
  nothing,         // it is written elsewhere, or not at all
  whole,           // on every device, from whole operands
  local,           // the same op on parts
  piece,           // the op of a piece, whose operands may come from neighbours
  rows,            // a slice along a split dimension: each device gives what it has of it
  reduced_again,   // partial results are gathered and reduced once more
  concatenated,    // each device takes what lies in its part
  joined,          // slices that are only put together again
  scan_line,       // each device scans its part of a line
  sort_line,       // devices merge their parts of lines
  first_of_sort,   // only the first elements of a sort are wanted
  top_of_parts,    // the greatest elements of every part are gathered
  window_scatter,  // select_and_scatter with edges of neighbours
  reshard,         // the value itself, lying elsewhere
  manual,          // a body that is per device already
  loop,
  branch,
};
std::string_view name(PartWay way);

// Seconds, for one device.
struct Price {
  double bring = 0;      // operands to where the op takes them
  double give = 0;       // results to where they are wanted
  double combine = 0;    // partial results by gathering them
  double compute = 0;    // the piece: reading and writing it once, or its arithmetic
  double line = 0;       // what goes along lines: totals of scans, rounds of sorts
  double edges = 0;      // of operands, from neighbours
  double too_large = 0;  // a penalty where operands and results do not fit
  // Of the op itself, wherever its operands come from.
  double own() const { return combine + compute + line + edges; }
  double total() const { return bring + give + own() + too_large; }
  friend bool operator==(const Price&, const Price&) = default;
};

// How an op is computed: which factors are split, and what follows for its values.
struct Choice {
  FactorAxes axes;
  std::vector<int> operands, results;  // splits, as it takes and gives them
  bool whole = true;                   // on every device, from whole operands
  int rows = -1;                       // the dimension of PartWay::rows
  std::optional<Line> line;
  PartWay way = PartWay::whole;
  Price price;
  // What else was looked at.
  struct Rejected {
    FactorAxes axes;
    PartWay way = PartWay::whole;
    double seconds = 0;
  };
  std::vector<Rejected> rejected;
};

// "a over dp, c over tp", where factors have the letters of IndexRule::str; "nothing" for none.
std::string text_of(const FactorAxes& axes, const Mesh& mesh);

// The choice with exactly these factors split, without a price; a reason where the op cannot be
// written for it.
Expected<Choice> choice_for(OnMesh& on, OpId op, const FactorAxes& factors);

// What that takes where operands lie as `operands` says and results are wanted as `wanted` does;
// without a word of them, as they come.
Expected<Price> price(OnMesh& on, OpId op, const FactorAxes& factors,
                      std::span<const Split> operands, std::span<const Split> wanted = {});

}  // namespace heddle
