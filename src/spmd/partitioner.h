// Writes the per-device program of one function.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "heddle/spmd.h"
#include "layout/move_cost.h"
#include "spmd/writer.h"

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
  struct Step {
    int to;
    MoveKind kind;
    std::int64_t bytes;
    double seconds;
    std::string over;
  };
  double seconds = 0;
  std::vector<Step> steps;
};

class Routes {
 public:
  Routes(SplitTable& splits, const Mesh& mesh, const AxisRegistry& axes)
      : splits_(splits), mesh_(mesh), axes_(axes), planner_(axes, 1) {}
  const Route& find(int from, int to, std::int64_t element_bits);

 private:
  Route planned(int from, int to, std::int64_t element_bits);
  struct Key {
    int from, to;
    std::int64_t bits;
    auto operator<=>(const Key&) const = default;
  };
  SplitTable& splits_;
  const Mesh& mesh_;
  const AxisRegistry& axes_;
  Planner planner_;
  std::map<Key, Route> routes_;
};

// The factor along which concatenate joins its operands, whose dimension has the same number; -1
// for all other ops.
int joined_factor(const Program& program, const Op& op);

// Factors of a select_and_scatter for each of its dimensions, of which the first is the place.
inline constexpr std::size_t kScatterFactors = 3;

// Axes along which the pieces of an op have partial results.
AxisList summed_axes(const IndexRule& rule, const FactorAxes& axes);
// Reductions by a computation of which nothing is known: partial results are reduced once more.
bool reduces_again(const Op& op);

// A slice without steps, of one dimension alone.
bool cuts_only(const Program& program, const Op& op, std::size_t dim);
// What counts the places of a line.
DType place_type(std::int64_t size);

// The rule with windows that fill their pieces: the last piece is as large as the others, and what
// it has beyond the end counts as zero.
IndexRule with_whole_windows(const IndexRule& rule, const FactorAxes& axes);

// How an op is to be computed: which factors are split, and what follows for its values.
struct Choice {
  FactorAxes axes;
  std::vector<int> operands, results;  // splits
  bool whole = true;                   // on every device, from whole operands
  int rows = -1;  // a slice along a split dimension: each device gives what it has of it
  std::optional<Line> line;
  double cost = 0;
};

class Partitioner {
 public:
  Partitioner(const Program& from, Program& to, const Function& function, RuleCache& rules,
              const MeshDecl& mesh, const Propagation& layouts, std::int64_t memory_limit);

  // Adds the function to the program.
  Expected<SpmdFunction> run();

 private:
  struct Window {
    std::size_t dim = 0;
    AxisList axes;           // that the dimension is dealt out over
    std::int64_t size = 0;   // of the whole dimension
    std::int64_t begin = 0;  // of device 0
    std::int64_t step = 0;   // from one device to the next
    std::int64_t count = 0;  // elements of one device's window
    ValueId fill = kNone;    // outside of the dimension; none: anything
    std::int64_t every = 1;  // a step for so many devices, rounded down between them
  };
  // A value on the devices, lying as a split says.
  struct Form {
    int split;
    ValueId local;
    std::size_t scope;  // that it is written in
  };
  // A region that is being written.
  struct Scope {
    RegionId at;
    bool loop;
  };

  // ---- partitioner.cpp: values
  const Type& type_of(ValueId v) const { return from_.type_of(v); }
  int split_id(Split split) { return splits_.id(std::move(split)); }
  int whole_id(ValueId v);
  int resting(ValueId v);  // where propagation wants it
  void define(ValueId v, int split, ValueId local);
  std::size_t home_of(const Form& form) const;
  ValueId get(ValueId v, int split);
  bool write_cheap(ValueId v, int split);
  const Form* cheapest(ValueId v, int split, double* seconds);
  double cost_to(ValueId v, int split);
  void forget_since(std::size_t mark);
  void record(const Route::Step& step, ValueId v, int from, std::size_t first);
  void tell_of(const Op& op);
  LocId location(LocId loc);
  std::uint32_t mesh_index() const;
  std::uint32_t mesh_like(std::uint32_t named) const;
  ValueId reordered(ValueId local, const MeshDecl& from, const MeshDecl& to);

  // ---- partitioner.cpp: ops
  Verdict write_ops(RegionId region);
  Verdict write_op(OpId id);
  Verdict write_chosen(OpId id);
  Verdict write_whole(OpId id);
  Verdict write_return(const Op& op, const std::vector<int>& splits, std::string_view name);
  std::vector<RegionId> cloned_regions(const Op& op);

  // ---- choose.cpp
  const Choice& choose(OpId id, const IndexRule& rule);
  Choice chosen(OpId id, const IndexRule& rule);
  // What becomes of lines that are split.
  enum class Lines : std::uint8_t { split, gathered, dealt_out };
  std::vector<Lines> ways_along_lines(OpId id, const IndexRule& rule);
  void free_lines(OpId id, const IndexRule& rule, Lines lines, FactorAxes& axes);
  Choice candidate(OpId id, const IndexRule& rule, const std::vector<std::size_t>& order,
                   Lines lines);
  std::optional<Choice> rows_candidate(OpId id, const IndexRule& rule);
  double gather_seconds(double bytes, const AxisList& axes) const;
  std::vector<Hop> hops_of(const AxisList& axes) const;
  void pass_pending(const Op& op, const IndexRule& rule, Choice& choice);
  void price(const Op& op, const IndexRule& rule, Choice& choice);
  const Split* split_for(const Op& op, std::size_t value);

  // ---- legal.cpp
  bool begins_neutral(const Op& op, const IndexRule& rule) const;
  std::optional<std::array<OpPiece, 2>> two_pieces(const Op& op, const IndexRule& rule,
                                                   std::size_t factor,
                                                   const FactorAxes& axes) const;
  void take_all_of(const Op& op, const IndexRule& rule, Choice& choice);
  void make_legal(OpId id, const IndexRule& rule, FactorAxes& axes);
  bool uniform(const Op& op, const IndexRule& rule, std::size_t factor, const FactorAxes& axes);

  // ---- local_op.cpp
  Verdict write_local(OpId id, const IndexRule& rule, const Choice& choice);
  Verdict write_plain(const Op& op, const Choice& choice, const std::vector<ValueId>& operands);
  OpId local_op(const Op& op, const Choice& choice, const std::vector<ValueId>& operands);
  Verdict write_reduced_again(const Op& op, const Choice& choice, const AxisList& axes,
                              const std::vector<ValueId>& operands);
  Verdict write_piece(const Op& op, const IndexRule& rule, const Choice& choice,
                      std::vector<ValueId> operands);
  Verdict write_rows(const Op& op, const Choice& choice, ValueId operand);
  ValueId fill_value(const Op& op, const IndexRule& rule, std::size_t operand,
                     const std::vector<ValueId>& operands);
  void neutralise(const Op& op, const IndexRule& rule, const Choice& choice,
                  std::vector<ValueId>& operands);

  // ---- joined.cpp: concatenate, and slices that are only put together again
  struct Piece {
    ValueId source = kNone;
    std::int64_t size = 0;          // of the source
    std::int64_t from = 0, to = 0;  // where it begins in the source and in the result
    std::int64_t count = 0;
  };
  struct Delivery {
    std::int64_t from, to;  // positions along the axes
    std::int64_t first;     // of the piece's elements
    std::int64_t count;
  };
  void find_pieces();
  bool is_piece(OpId id) const { return id < pieces_.size() && pieces_[id]; }
  std::vector<Piece> pieces_of(const Op& op, std::size_t dim) const;
  static std::vector<Delivery> deliveries(const Piece& piece, const AxisList& axes,
                                          std::int64_t block);
  ValueId delivered(ValueId local, const Piece& piece, const Window& place,
                    const std::vector<Delivery>& plan, ValueId result);
  ValueId placed(ValueId part, const Window& place, std::int64_t begin, ValueId under);
  Expected<bool> write_joined(OpId id);
  Window joined_window(const Op& op, const AxisList& axes, std::size_t operand) const;
  Verdict write_concatenate(const Op& op, const Choice& choice, std::vector<ValueId> operands);

  // ---- lines.cpp: ops along lines
  double link_seconds(const AxisList& axes, std::int64_t bytes) const;
  double line_seconds(const Op& op, const Choice& choice);
  const Route& totals_route(const Type& totals, std::size_t dim, const AxisList& axes);
  void tell(MoveKind kind, const AxisList& axes, const Type& sent, std::int64_t bytes,
            double seconds);
  Verdict write_line(const Op& op, const IndexRule& rule, const Choice& choice,
                     std::vector<ValueId> operands);
  ValueId local_scan(const Op& op, const Line& line, std::vector<ValueId> operands);
  Verdict write_scan(const Op& op, ReduceOp combine, const Choice& choice,
                     std::vector<ValueId> operands);

  // ---- sort_lines.cpp
  struct SplitSort {
    const Op& op;
    std::size_t dim;
    AxisList axes;           // over which lines are dealt out
    std::int64_t size = 0;   // of a whole line
    std::int64_t block = 0;  // of a part
    Type lines = {};         // that one device has, as their places
    bool by_bits = false;    // devices exchange whose positions differ in one bit
    double seconds = 0;      // that it takes
    bool uneven() const { return size != block * total(axes); }
  };
  SplitSort split_sort(const Op& op, const Choice& choice);
  double sort_seconds(std::int64_t bytes, std::int64_t length) const;
  Verdict write_sort(const Op& op, const Choice& choice, std::vector<ValueId> operands);
  std::vector<ValueId> in_order(const SplitSort& sort, std::vector<ValueId> values,
                                bool places_first);
  RegionId order_of_places(const std::vector<ValueId>& values, std::int64_t least);
  std::vector<ValueId> from_partners(const SplitSort& sort, const std::vector<ValueId>& values,
                                     const Array& pairs);
  std::vector<ValueId> exchanged_with_neighbours(const SplitSort& sort,
                                                 std::vector<ValueId> values);
  std::vector<ValueId> exchanged_by_bits(const SplitSort& sort, std::vector<ValueId> values);

  // ---- window_scatter.cpp: select_and_scatter along split dimensions
  struct ScatterDim {
    std::size_t dim = 0;
    std::int64_t block = 0;   // of the result on one device
    std::int64_t period = 1;  // pieces that are so many devices apart are alike, but at the ends
    Window taken[2] = {};     // of the operand and of the source
    std::vector<std::int64_t> looked_at;  // positions at the ends, and some between
    std::vector<std::int64_t> kinds;      // a position of each kind
    // From `begin` on, by the remainder of the position: which kind.
    struct Run {
      std::int64_t begin = 0;
      std::vector<std::int64_t> kinds;
    };
    std::vector<Run> runs;
  };
  std::optional<ScatterDim> scatter_dim(const Op& op, const IndexRule& rule, std::size_t dim,
                                        const AxisList& axes);
  Expected<OpPiece> scatter_piece(const Op& op, const IndexRule& rule, const FactorAxes& axes,
                                  const std::vector<ScatterDim>& dims,
                                  const std::vector<std::int64_t>& at);
  bool find_kinds(const Op& op, const IndexRule& rule, ScatterDim& dim);
  std::vector<ScatterDim> scatter_dims(const Op& op, const IndexRule& rule, const Choice& choice);
  ValueId kind_here(const ScatterDim& dim);
  Expected<ValueId> scattered(const Op& op, const IndexRule& rule, const Choice& choice,
                              const std::vector<ScatterDim>& dims,
                              const std::vector<std::int64_t>& at, std::vector<ValueId> taken);
  Verdict write_window_scatter(const Op& op, const IndexRule& rule, const Choice& choice,
                               const std::vector<ScatterDim>& dims, std::vector<ValueId> operands);

  // ---- first_of_sort.cpp
  std::int64_t wanted_first(const Op& op, std::size_t dim) const;
  Expected<bool> write_first_of_sort(OpId id);

  // ---- fetch.cpp: windows of a dimension that is dealt out in blocks
  struct Reach {
    std::int64_t low = 0, high = 0;
    bool near = false;  // the neighbours have it, and it is less than the whole
  };
  static Reach reach_of(const Window& window);
  static std::int64_t start_of(const Window& window, std::int64_t position);
  ValueId start_here(const Window& window);
  ValueId fetch(ValueId local, const Window& window);
  ValueId fetch_new(ValueId local, const Window& window);
  ValueId fetch_neighbours(ValueId local, const Window& window, std::int64_t low,
                           std::int64_t high);
  ValueId fetch_mirrored(ValueId local, const Window& window);
  ValueId fetch_whole(ValueId local, const Window& window);

  // ---- reshard.cpp
  Verdict write_reshard(OpId id);
  bool comes_from(ValueId v, const AxisList& axes) const;

  // ---- manual.cpp
  Verdict write_manual(OpId id);
  bool stays_inside(const Op& op, const FactorAxes& axes) const;

  // ---- control.cpp
  Verdict write_loop(OpId id);
  Verdict write_branch(OpId id);
  // `kept` are the values from around a loop that its arguments stay equal to; kNone for others.
  Expected<RegionId> write_region(RegionId region, const std::vector<int>& args,
                                  const std::vector<int>& returned, bool loop,
                                  const std::vector<ValueId>& kept = {});

  const Program& from_;
  Program& out_;
  const Function& function_;
  RuleCache& rules_;
  const MeshDecl& mesh_;
  const Propagation& layouts_;
  std::int64_t memory_limit_;
  SplitTable splits_;
  Routes routes_;
  Writer w_;
  std::vector<std::vector<Form>> forms_;  // by ValueId of the logical program
  std::vector<ValueId> trail_;            // values that got forms, in order
  std::vector<int> uses_;
  std::vector<bool> pieces_;                                  // slices, by OpId
  std::unordered_map<ValueId, std::vector<OpId>> slices_of_;  // of what sorts give
  std::vector<LocId> locations_;
  std::unordered_multimap<std::uint64_t, std::pair<OpId, std::pair<std::vector<int>, Choice>>>
      choices_;
  std::map<std::vector<std::int64_t>, ValueId> fetched_,
      edges_;  // windows and what they are made of
  SpmdFunction result_;
  OpId current_ = kNone;
  std::vector<Scope> scopes_;  // the function's first
  std::size_t scope_ = 0;      // that ops are written to
  int depth_ = 0;              // loops around it
  int manual_ = 0;             // inside bodies that are written per device
};

}  // namespace heddle
