// Products that go on: what adds a bias or a matrix to a product, and a ReLU or GELU behind it,
// become part of the product's call, where its result has to lie in memory for another call. Where
// kernels alone read it, they have it at hand anyway, and nothing is gained. So does the gradient
// of a GELU, where nothing but calls reads it: a kernel that sums it up as well may as well compute
// it.
#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "heddle/strided_view.h"
#include "ir/clone.h"
#include "ir/deciding.h"
#include "ir/product_then.h"
#include "ir/rewrite.h"
#include "ir/unused.h"
#include "stitch/activation.h"
#include "stitch/fold_moves.h"
#include "stitch/group.h"
#include "stitch/longer_rows.h"

namespace heddle {

namespace {

using Then = ProductThen::Function;

// A product with all that its call does.
struct Chain {
  const Op* product = nullptr;
  ProductThen then;
  ValueId bias = kNone, addend = kNone, at = kNone;
  ValueId before = kNone;  // what the function is applied to; the last value where there is none
  ValueId after = kNone;
  std::vector<OpId> inside = {};  // ops that are not needed any more
};

class Finder {
 public:
  Finder(const Program& program, RegionId region, const DeviceCalls& calls,
         const std::vector<bool>& deciding)
      : program_(program),
        region_(region),
        calls_(calls),
        deciding_(deciding),
        moves_(fold_moves(program, region, calls)),
        readers_(program, region, moves_) {
    find_in_memory();
    for (OpId id : program.region(region).ops)
      if (const auto of = gelu_operand(program, program.op(id)))
        gelus_[*of] = program.op(id).results;
  }

  void run(std::vector<Chain>& found) {
    for (OpId id : program_.region(region_).ops) {
      const Op& op = program_.op(id);
      if (!is_product_call(program_, op, calls_) || deciding_[id]) continue;
      if (program_.attr(op, "dot_dimension_numbers") == nullptr) continue;
      auto chain = chain_of(op);
      // The sum of two products is part of one of them.
      if (chain && taken_.insert(program_.value(chain->before).op).second) {
        if (chain->then.keeps) kept_.insert(chain->before);
        found.push_back(*std::move(chain));
      }
    }
  }

 private:
  // What calls read and write, or the region gives.
  void find_in_memory() {
    for (OpId id : program_.region(region_).ops) {
      const Op& op = program_.op(id);
      if (moves_.dropped.contains(id) || op.def->form == Form::constant ||
          op.def->view != ViewKind::none || is_stitchable(program_, op, &calls_))
        continue;
      for (ValueId v : values_read(program_, op, id, moves_)) in_memory_.insert(v);
      for (std::size_t i = 0; i < op.result_count; ++i) in_memory_.insert(program_.result(op, i));
    }
    for (ValueId v : program_.region(region_).args) in_memory_.insert(v);
    const std::vector<OpId>& ops = program_.region(region_).ops;
    for (std::size_t n = ops.size(); n-- > 0;) {
      const Op& op = program_.op(ops[n]);
      if (is_view(program_, op) && in_memory_.contains(op.results))
        in_memory_.insert(program_.operands(op)[0]);
    }
  }

  // The only one that reads the value, as the program is written.
  const Op* only_reader(ValueId value) const {
    const auto& all = readers_.of[value];
    if (all.size() != 1 || program_.op(all[0]).def->form == Form::terminator) return nullptr;
    return deciding_[all[0]] ? nullptr : &program_.op(all[0]);
  }

  bool is_offered(const Op& product, const ProductThen& then) const {
    return calls_.can_go_on(program_, product, then);
  }

  std::optional<Chain> chain_of(const Op& product) const {
    Chain chain{.product = &product, .then = {}, .before = product.results};
    while (add_next(chain)) {
    }
    chain.after = chain.before;
    if (auto with = with_gradient(chain)) return with;
    if (auto with = with_function(chain)) return with;
    const bool goes_on = chain.then.bias || chain.then.addend;
    if (!goes_on || !in_memory_.contains(chain.after)) return {};
    return chain;
  }

  // Takes the addition that alone reads what there is so far.
  bool add_next(Chain& chain) const {
    const Op* next = only_reader(chain.before);
    if (next == nullptr || next->def->scalar != ScalarOp::add || next->operand_count != 2)
      return false;
    const auto operands = program_.operands(*next);
    const ValueId other = operands[operands[0] == chain.before ? 1 : 0];
    if (other == chain.before || program_.type_of(next->results) != program_.type_of(other))
      return false;
    Chain longer = chain;
    if (const ValueId row = repeated_row(program_, other); row != kNone && !chain.then.bias) {
      longer.then.bias = true;
      longer.bias = row;
    } else if (in_memory_.contains(other) && !chain.then.addend) {
      longer.then.addend = true;
      longer.addend = other;
    } else {
      return false;
    }
    longer.inside.push_back(program_.value(chain.before).op);
    longer.before = next->results;
    if (!is_offered(*chain.product, longer.then)) return false;
    chain = longer;
    return true;
  }

  // The chain with the function that follows, where its result is one that others want in memory.
  std::optional<Chain> with_function(Chain chain) const {
    if (const auto gelu = gelus_.find(chain.before); gelu != gelus_.end()) {
      chain.then.function = Then::gelu;
      chain.after = gelu->second;
      auto all = all_of_gelu(chain.before, chain.after);
      chain.then.keeps = !all;
      if (!all) all = std::vector{program_.value(chain.after).op};
      chain.inside.insert(chain.inside.end(), all->begin(), all->end());
    } else {
      for (OpId id : readers_.of[chain.before]) {
        const Op& op = program_.op(id);
        const bool is_relu = is_relu_of(program_, op, chain.before);
        if (!is_relu && !is_sign_of(program_, op, chain.before)) return {};
        if (!is_relu || chain.then.function != Then::none) continue;
        chain.then.function = Then::relu;
        chain.after = op.results;
        chain.inside.push_back(id);
      }
    }
    if (chain.then.function == Then::none || !in_memory_.contains(chain.after)) return {};
    if (deciding_[program_.value(chain.after).op]) return {};
    if (!is_offered(*chain.product, chain.then)) return {};
    return chain;
  }

  // The product with the gradient of a GELU that follows it, where calls alone read that.
  std::optional<Chain> with_gradient(Chain chain) const {
    if (gelus_.empty() || chain.then.bias || chain.then.addend) return {};
    const auto cone = elementwise_behind(chain.before);
    if (cone.empty()) return {};
    chain.after = only_way_out(chain.before, cone);
    if (chain.after == kNone || !in_memory_.contains(chain.after)) return {};
    for (OpId id : readers_.of[chain.after])
      if (is_stitchable(program_, program_.op(id), &calls_)) return {};
    chain.then.function = Then::gelu_gradient;
    for (const auto& [x, gelu] : gelus_) {
      const bool is_there = in_memory_.contains(x) || kept_.contains(x);
      if (!is_there || program_.type_of(x) != program_.type_of(chain.before) ||
          program_.value(x).op >= program_.value(chain.before).op ||
          !is_gelu_gradient(program_, chain.after, chain.before, x))
        continue;
      chain.at = x;
      chain.inside.assign(cone.begin(), cone.end());
      if (is_offered(*chain.product, chain.then)) return chain;
    }
    return {};
  }

  // Ops on elements that depend on the value by nothing but such ops.
  std::set<OpId> elementwise_behind(ValueId value) const {
    constexpr std::size_t kMost = 40;
    std::set<OpId> all, next(readers_.of[value].begin(), readers_.of[value].end());
    while (!next.empty() && all.size() < kMost) {
      const OpId id = *next.begin();
      next.erase(next.begin());
      const Op& op = program_.op(id);
      if (op.def->scalar == ScalarOp::none || op.result_count != 1 || deciding_[id]) continue;
      all.insert(id);
      next.insert(readers_.of[op.results].begin(), readers_.of[op.results].end());
    }
    return all;
  }

  // The one value of these ops that others read; the value before them is theirs alone.
  ValueId only_way_out(ValueId before, const std::set<OpId>& ops) const {
    const auto is_theirs = [&](ValueId v) {
      return std::ranges::all_of(readers_.of[v], [&](OpId id) { return ops.contains(id); });
    };
    ValueId out = kNone;
    if (!is_theirs(before)) return kNone;
    for (OpId id : ops) {
      if (is_theirs(program_.op(id).results)) continue;
      if (out != kNone) return kNone;
      out = program_.op(id).results;
    }
    return out;
  }

  // The ops that only this GELU needs, from its last to its first; nothing where somebody else
  // reads what it is of, or a part of it.
  std::optional<std::vector<OpId>> all_of_gelu(ValueId before, ValueId after) const {
    std::unordered_set<ValueId> inside{after};
    std::vector<OpId> all;
    const std::vector<OpId>& ops = program_.region(region_).ops;
    for (std::size_t n = ops.size(); n-- > 0;) {
      const Op& op = program_.op(ops[n]);
      if (op.result_count != 1 || !inside.contains(op.results)) continue;
      all.push_back(ops[n]);
      for (ValueId v : program_.operands(op)) {
        if (v == before || !depends_on(v, before)) continue;
        for (OpId reader : readers_.of[v])
          if (program_.op(reader).result_count != 1 ||
              !inside.contains(program_.op(reader).results))
            return {};
        inside.insert(v);
      }
    }
    for (OpId id : readers_.of[before])
      if (program_.op(id).result_count != 1 || !inside.contains(program_.op(id).results)) return {};
    return all;
  }

  // Of the few ops that a GELU is made of.
  bool depends_on(ValueId value, ValueId on, int depth = 8) const {
    if (value == on) return true;
    const OpId maker = program_.value(value).op;
    if (maker == kNone || depth == 0) return false;
    for (ValueId v : program_.operands(program_.op(maker)))
      if (depends_on(v, on, depth - 1)) return true;
    return false;
  }

  const Program& program_;
  RegionId region_;
  const DeviceCalls& calls_;
  const std::vector<bool>& deciding_;
  const FoldedMoves moves_;
  const Readers readers_;
  std::unordered_set<ValueId> in_memory_;
  std::unordered_set<OpId> taken_;
  std::unordered_set<ValueId> kept_;            // that chains so far write beside their results
  std::unordered_map<ValueId, ValueId> gelus_;  // by what they are of
};

// Writes the call where all of its operands are there, and before anyone reads its results.
class Writer {
 public:
  Writer(const Program& program, const std::vector<Chain>& chains) : program_(program) {
    for (const Chain& chain : chains) {
      at_[program.value(chain.before).op] = &chain;
      for (OpId id : chain.inside) dropped_.insert(&program.op(id));
      if (chain.then.function == Then::relu) relus_[chain.before] = chain.after;
    }
  }

  Expected<bool> operator()(Rewriter& r, const Op& op) {
    if (op.result_count == 1)
      if (const auto it = at_.find(program_.value(op.results).op); it != at_.end()) {
        write(r, *it->second);
        return true;
      }
    if (dropped_.contains(&op)) return true;
    // What was compared with zero before a ReLU may as well be compared behind it.
    for (ValueId v : program_.operands(op))
      if (const auto relu = relus_.find(v); relu != relus_.end())
        r.define(v, r.value(relu->second));
    return false;
  }

 private:
  void write(Rewriter& r, const Chain& chain) {
    const auto of = program_.operands(*chain.product);
    Vars operands{r.value(of[0]), r.value(of[1])};
    for (ValueId v : {chain.bias, chain.addend, chain.at})
      if (v != kNone) operands.push_back(r.value(v));
    AttrDict attrs = copied_attrs(program_, *chain.product);
    add_product_then(attrs, chain.then);
    r.to.at(r.location(chain.product->loc));
    const Vars made = r.to.inferred("heddle.product_then", operands, std::move(attrs));
    r.define(chain.after, made[0]);
    if (chain.then.keeps) r.define(chain.before, made[1]);
  }

  const Program& program_;
  std::unordered_map<OpId, const Chain*> at_;
  std::unordered_set<const Op*> dropped_;
  std::unordered_map<ValueId, ValueId> relus_;
};

void find_chains(const Program& program, RegionId region, const DeviceCalls& calls,
                 const std::vector<bool>& deciding, std::vector<Chain>& found) {
  Finder(program, region, calls, deciding).run(found);
  for (OpId id : program.region(region).ops)
    for (RegionId inner : program.regions(program.op(id)))
      find_chains(program, inner, calls, deciding, found);
}

}  // namespace

Expected<Program> with_epilogues(const Program& program, const DeviceCalls& calls) {
  const std::vector<bool> deciding = deciding_ops(program);
  std::vector<Chain> chains;
  for (const Function& f : program.functions)
    if (f.body != kNone) find_chains(program, f.body, calls, deciding, chains);
  if (chains.empty()) return program;
  Writer writer(program, chains);
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) { return writer(r, op); });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  HEDDLE_TRY(const Program made, rewriter.unverified());
  return without_unused(made);
}

}  // namespace heddle
