// Layouts on a program: from what its author says of a few values to every value, by index rules.
#pragma once

#include <map>
#include <memory>

#include "heddle/index_rule.h"
#include "heddle/split.h"

namespace heddle {

// ---- between values and the factors of an op

// Which axes split each factor: in blocks, or strided where digits of the device stand between the
// axes (never behind them).
using FactorAxes = std::vector<SplitAxes>;
bool is_strided(const SplitAxes& axes);
// Elements that all digits count; `total` counts positions of the mesh alone.
std::int64_t spanned(const SplitAxes& axes);
// Without digits of the device behind the last axis.
void end_with_axis(SplitAxes& axes);
// The axes before the first digit of the device.
SplitAxes leading_axes(const SplitAxes& axes);

// A dimension that is made of whole factors, major before minor, and of nothing else: it is split
// as they are. All others are windows: they slide, have strides, offsets or holes.
bool is_plain(const DimRule& dim, const std::vector<Factor>& factors, std::int64_t size);
// The factor by which a window is placed: its dimension is split in blocks along with it; -1: none.
// It is the window itself where that is wider than all of its places together.
int placing_factor(const DimRule& dim, const std::vector<Factor>& factors);

// Whether pieces of such a factor give partial results.
inline bool gives_partial(FactorKind kind) {
  return kind == FactorKind::reduce || kind == FactorKind::window;
}

// What the split of a dimension says of the factors; lists of factors that it says nothing of stay.
// Digits that do not fit blocks of factors are left out.
void take_axes(const DimRule& dim, const std::vector<Factor>& factors, const DimSplit& split,
               FactorAxes& axes);
// The split of a dimension that follows from its factors.
DimSplit dim_split(const DimRule& dim, const std::vector<Factor>& factors, const FactorAxes& axes,
                   std::int64_t size);

// ---- ops along lines

// An op whose results at one place of a dimension depend on all of that line, or on all before it.
// Its results lie as its operands do. Scans and sorts can be done on parts of lines: devices tell
// each other what came before, or merge. Transforms need whole lines while they run.
struct Line {
  enum class Kind : std::uint8_t { scan, sort, transform } kind = Kind::scan;
  std::size_t dim = 0;    // of the operands and results; the factor of the rule has this number
  bool backward = false;  // a scan from the last element to the first
};
std::optional<Line> line_of(const Program& program, const Op& op);

// ---- rules of a program, each made once

// As devices need them: ops along lines go element by element.
class RuleCache {
 public:
  explicit RuleCache(const Program& program) : program_(program) {}
  const IndexRule& of(OpId op) { return *entry(op).rule; }
  const std::optional<Line>& line(OpId op) { return entry(op).line; }

 private:
  struct Entry {
    std::shared_ptr<const IndexRule> rule;
    std::optional<Line> line;
  };
  const Entry& entry(OpId op);
  std::shared_ptr<const IndexRule> elementwise(const Op& op);

  const Program& program_;
  std::vector<Entry> rules_;
  std::map<std::vector<std::uint32_t>, std::shared_ptr<const IndexRule>> elementwise_;
};

// ---- propagation

// What is said of one argument or result of a function.
struct Seed {
  bool is_result = false;
  std::size_t index = 0;
  Sharding sharding;
  friend bool operator==(const Seed&, const Seed&) = default;
};

// A result that the next run of a function takes as an argument.
struct Carried {
  std::size_t argument = 0, result = 0;
  friend bool operator==(const Carried&, const Carried&) = default;
};

struct PropagateOptions {
  std::uint32_t mesh = 0;   // into Program::meshes
  std::vector<Seed> seeds;  // instead of what the text says of these values
  // Arguments and results of which nothing is said stay whole.
  bool closed_boundary = false;
  // These lie alike, as what a loop carries does. Where both are said, the argument's word counts.
  std::vector<Carried> carried = {};
  // What is said of these arguments spreads before anything else does.
  std::vector<std::size_t> first = {};
};

// Where two wishes for one value or factor could not both be met.
struct Conflict {
  OpId op = kNone;
  std::string what;
};

// What a search has decided of an op: which axes split its factors, and sums that pass through it
// while they are still to be made.
struct ChosenFactors {
  FactorAxes axes;
  int together = -1;  // which operands are such sums, of those sets that may be; -1: none
  SplitAxes pending = {};
  friend bool operator==(const ChosenFactors&, const ChosenFactors&) = default;
};

struct Propagation {
  bool moves_together = false;  // for decide(): most of a move's latency is shared with others
  std::vector<Split> splits;    // by ValueId; for values outside of the function whole
  std::vector<Split> results;   // of the function
  // By OpId, where somebody has searched; for all others the cheapest way is chosen op by op.
  std::vector<std::optional<ChosenFactors>> chosen = {};
  const ChosenFactors* chosen_for(OpId op) const {
    return op < chosen.size() && chosen[op] ? &*chosen[op] : nullptr;
  }
  std::vector<Conflict> conflicts;
  // Ops of the function's own region in their order: copies of values that take no less than what
  // they were made from are not kept over these, where memory is short.
  std::vector<OpId> let_go_at = {};
  int sweeps = 0;
};

// To a fixed point, forward and backward; conflicts go to the larger tensors.
Expected<Propagation> propagate(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options);

}  // namespace heddle
