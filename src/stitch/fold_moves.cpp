#include "stitch/fold_moves.h"

#include <algorithm>

#include "heddle/op.h"
#include "stitch/group.h"
#include "stitch/product_plan.h"

namespace heddle {

namespace {

constexpr std::size_t kMostMoves = 8;  // one behind the other

bool goes_on(const Op& op) { return op.def->call == DeviceCall::product_then; }
bool is_product(const Op& op) { return op.def->call == DeviceCall::product || goes_on(op); }

bool is_move(const Op& op) {
  const Rearrange move = op.def->rearranges;
  return move == Rearrange::transpose || move == Rearrange::reshape || move == Rearrange::slice ||
         move == Rearrange::broadcast;
}

class Folder {
 public:
  Folder(const Program& program, RegionId region, const DeviceCalls& calls)
      : program_(program), region_(region), calls_(calls) {}

  FoldedMoves run() {
    const auto& ops = program_.region(region_).ops;
    here_.insert(ops.begin(), ops.end());
    for (OpId id : ops)
      if (is_call_by_strides(program_.op(id))) fold_operands(id);
    find_readers();
    for (OpId id : ops)
      if (is_call_by_strides(program_.op(id)) && !goes_on(program_.op(id))) fold_result(id);
    return std::move(moves_);
  }

 private:
  bool is_call_by_strides(const Op& op) const {
    return is_product(op) && !is_stitchable(program_, op, &calls_) &&
           calls_.takes_views(program_, op);
  }

  // The value that a move takes; kNone where none of this region makes the value.
  ValueId before(ValueId value) const {
    const OpId id = program_.value(value).op;
    if (id == kNone || !here_.contains(id) || !is_move(program_.op(id))) return kNone;
    return program_.operands(program_.op(id))[0];
  }

  // The value, seen in what it was so many moves ago.
  std::optional<StridedView> seen_from(ValueId value, std::size_t moves) const {
    if (moves == 0) return dense_view(program_, value);
    const auto operand = seen_from(before(value), moves - 1);
    if (!operand) return {};
    return view_through(program_, program_.op(program_.value(value).op), *operand);
  }

  // Whether the product can be done so, and no operand has to be copied that was not before.
  bool is_as_good(const Op& op, const ProductViews& views, const ProductPlan& now) const {
    const auto plan = plan_product(program_, op, views);
    return plan && (now.sides[0].copied || !plan->sides[0].copied) &&
           (now.sides[1].copied || !plan->sides[1].copied) &&
           (!goes_on(op) || plan->loops.empty());  // a bias is for one matrix
  }

  void fold_operands(OpId id) {
    const Op& op = program_.op(id);
    ProductViews views = dense_views(program_, op);
    const bool left = fold_operand(op, views, views.lhs);
    const bool right = fold_operand(op, views, views.rhs);
    if (left || right) moves_.products.emplace(id, std::move(views));
  }

  // As many moves as can be.
  bool fold_operand(const Op& op, ProductViews& views, StridedView& side) const {
    const auto now = plan_product(program_, op, views);
    if (!now) return false;
    const StridedView dense = side;
    std::size_t moves = 0;
    for (ValueId v = before(dense.value); v != kNone && moves < kMostMoves; v = before(v)) ++moves;
    for (; moves > 0; --moves) {
      auto view = seen_from(dense.value, moves);
      if (!view) continue;
      side = *std::move(view);
      if (is_as_good(op, views, *now)) return true;
    }
    side = dense;
    return false;
  }

  // Who still reads what; moves that are left without a reader are dropped.
  void find_readers() {
    const auto& ops = program_.region(region_).ops;
    for (std::size_t n = ops.size(); n-- > 0;) {
      const Op& op = program_.op(ops[n]);
      if (is_move(op) && readers_[program_.result(op, 0)].empty()) {
        moves_.dropped.insert(ops[n]);
        continue;
      }
      for (ValueId v : values_read(program_, op, ops[n], moves_)) readers_[v].push_back(ops[n]);
    }
  }

  // The one move that alone reads the value and gives all of it; kNone where there is none.
  OpId after(ValueId value) const {
    const auto it = readers_.find(value);
    if (it == readers_.end() || it->second.size() != 1) return kNone;
    const Rearrange move = program_.op(it->second[0]).def->rearranges;
    return move == Rearrange::transpose || move == Rearrange::reshape ? it->second[0] : kNone;
  }

  // Kernels would read the product's result against memory, beside what lies the other way round:
  // AdamW does so with the gradient of a weight.
  bool is_read_crosswise(const StridedView& result) const {
    const auto it = readers_.find(result.value);
    if (it == readers_.end() || result.dims.empty()) return false;
    std::int64_t step = 1;
    for (const Stride& digit : result.dims.back())
      if (digit.size != 1) step = digit.step;
    return step != 1 && std::ranges::all_of(it->second, [&](OpId reader) {
             const OpClass cls = program_.op(reader).def->cls;
             return cls == OpClass::light || cls == OpClass::heavy;
           });
  }

  // A kernel that puts it beside others copies whole rows then.
  bool is_joined(ValueId value) const {
    const auto it = readers_.find(value);
    return it != readers_.end() && std::ranges::all_of(it->second, [&](OpId reader) {
             return program_.op(reader).def->rearranges == Rearrange::join;
           });
  }

  // Kernels read a transpose by its index; anybody else needs it in memory.
  bool is_wanted_in_memory(ValueId value) const {
    const auto it = readers_.find(value);
    return it != readers_.end() && std::ranges::any_of(it->second, [&](OpId reader) {
             return !is_stitchable(program_, program_.op(reader), &calls_);
           });
  }

  void fold_result(OpId id) {
    const Op& op = program_.op(id);
    const auto it = moves_.products.find(id);
    ProductViews views = it != moves_.products.end() ? it->second : dense_views(program_, op);
    const auto now = plan_product(program_, op, views);
    if (!now) return;
    std::vector<OpId> chain;
    for (OpId next = after(views.result.value); next != kNone && chain.size() < kMostMoves;
         next = after(program_.result(program_.op(next), 0)))
      chain.push_back(next);
    for (; !chain.empty(); chain.pop_back()) {
      const bool turns = std::ranges::any_of(chain, [&](OpId move) {
        return program_.op(move).def->rearranges == Rearrange::transpose;
      });
      if (!turns) return;  // a reshape alone is no work
      auto view =
          std::optional(dense_view(program_, program_.result(program_.op(chain.back()), 0)));
      for (std::size_t i = chain.size(); view && i-- > 0;)
        view = view_back(program_, program_.op(chain[i]), *view);
      if (!view) continue;
      ProductViews moved = views;
      moved.result = *view;
      const bool is_wanted =
          is_wanted_in_memory(view->value) || is_read_crosswise(*view) || is_joined(view->value);
      if (!is_wanted || !is_as_good(op, moved, *now)) continue;
      moves_.products.insert_or_assign(id, std::move(moved));
      moves_.dropped.insert(chain.begin(), chain.end());
      return;
    }
  }

  const Program& program_;
  RegionId region_;
  const DeviceCalls& calls_;
  std::unordered_set<OpId> here_;
  std::unordered_map<ValueId, std::vector<OpId>> readers_;
  FoldedMoves moves_;
};

}  // namespace

FoldedMoves fold_moves(const Program& program, RegionId region, const DeviceCalls& calls) {
  return Folder(program, region, calls).run();
}

}  // namespace heddle
