// Which ops are the way back of a step of training.
#include <algorithm>
#include <map>

#include "heddle/op.h"
#include "parallel/pipeline/program_graph.h"

namespace heddle::pipeline {

namespace {

using When = MicroProgram::When;

// Values that leave the part of a micro-batch, or are wanted of it.
struct Ends {
  std::vector<OpId> gradients, others;  // ops of a micro-batch
};

class WayBack {
 public:
  explicit WayBack(const MicroProgram& micro)
      : micro_(micro),
        program_(micro.program),
        ops_(program_.region(micro.function.body).ops),
        becomes_state_(program_.value_count(), false) {}

  std::vector<bool> run() {
    find_state();
    find_ends();
    std::vector<bool> back(program_.op_count(), false);
    if (ends_.gradients.empty()) return back;
    const std::vector<bool> forward = forward_ops();
    for (OpId id : ops_) back[id] = micro_.when[id] == When::each && !forward[id];
    return back;
  }

 private:
  // Which values become what the next step begins with. Where nobody says, results that are as
  // large as an argument do.
  void find_state() {
    const auto returned = program_.operands(program_.op(ops_.back()));
    const std::vector<ValueId>& args = program_.region(micro_.function.body).args;
    for (std::size_t r = 0; r < returned.size(); ++r) {
      const bool carried =
          micro_.carried.empty()
              ? std::ranges::any_of(
                    args,
                    [&](ValueId a) { return program_.type_of(a) == program_.type_of(returned[r]); })
              : std::ranges::any_of(micro_.carried,
                                    [&](const Carried& c) { return c.result == r; });
      if (carried) becomes_state_[returned[r]] = true;
    }
    for (std::size_t i = ops_.size(); i-- > 0;) {
      const Op& op = program_.op(ops_[i]);
      if (micro_.when[ops_[i]] != When::after) continue;
      bool any = false;
      for (std::size_t k = 0; k < op.result_count; ++k)
        any = any || becomes_state_[program_.result(op, k)];
      if (any)
        for (ValueId v : program_.operands(op)) becomes_state_[v] = true;
    }
  }

  // What the rest of the program, or its caller, takes from micro-batches.
  void find_ends() {
    std::vector<bool> taken(program_.value_count(), false);
    for (OpId id : ops_)
      if (micro_.when[id] == When::after || id == ops_.back())
        for (ValueId v : program_.operands(program_.op(id))) taken[v] = true;
    for (OpId id : ops_) {
      if (micro_.when[id] != When::each) continue;
      const Op& op = program_.op(id);
      for (std::size_t k = 0; k < op.result_count; ++k) {
        const ValueId v = program_.result(op, k);
        if (!taken[v]) continue;
        (becomes_state_[v] ? ends_.gradients : ends_.others).push_back(id);
        break;
      }
    }
  }

  // All that anything but a gradient needs, and all that every gradient needs.
  std::vector<bool> forward_ops() const {
    std::vector<bool> forward(program_.op_count(), false);
    for (OpId id : ends_.others) forward[id] = true;
    const std::size_t words = (ends_.gradients.size() + 63) / 64;
    std::vector<std::uint64_t> reaches(program_.op_count() * words, 0);
    // A loop that gives gradients itself is no way to them.
    std::vector<bool> gives(program_.op_count(), false);
    for (OpId id : ends_.gradients) {
      gives[id] = true;
      for_makers(id, [&](OpId maker) { gives[maker] = true; });
    }
    for (std::size_t g = 0; g < ends_.gradients.size(); ++g)
      reaches[ends_.gradients[g] * words + g / 64] |= std::uint64_t{1} << (g % 64);
    for (std::size_t i = ops_.size(); i-- > 0;) {
      const OpId id = ops_[i];
      if (micro_.when[id] != When::each) continue;
      std::size_t count = 0;
      for (std::size_t w = 0; w < words; ++w)
        count += static_cast<std::size_t>(std::popcount(reaches[id * words + w]));
      const bool is_way_back = gives[id] && program_.op(id).def->control == Control::loop;
      if (count == ends_.gradients.size() && count > 1 && !is_way_back) forward[id] = true;
      for_makers(id, [&](OpId maker) {
        if (forward[id]) forward[maker] = true;
        for (std::size_t w = 0; w < words; ++w)
          reaches[maker * words + w] |= reaches[id * words + w];
      });
    }
    return forward;
  }

  template <typename Do>
  void for_makers(OpId id, Do what) const {
    const Op& op = program_.op(id);
    auto look = [&](ValueId v) {
      if (const OpId maker = program_.value(v).op; maker != kNone) what(maker);
    };
    for (ValueId v : program_.operands(op)) look(v);
    if (op.region_count > 0)
      for (ValueId v : captured_values(program_, op)) look(v);
  }

  const MicroProgram& micro_;
  const Program& program_;
  const std::vector<OpId>& ops_;
  std::vector<bool> becomes_state_;  // by ValueId
  Ends ends_;
};

}  // namespace

std::vector<bool> way_back(const MicroProgram& micro) { return WayBack(micro).run(); }

}  // namespace heddle::pipeline
