// What a per-device program takes: memory for its values, and meetings of devices.
#include <algorithm>

#include "heddle/op.h"
#include "heddle/schedule.h"

namespace heddle {

namespace {

class Memory {
 public:
  explicit Memory(const Program& program) : program_(program) {}

  // The most that values of a region take at a time, those around it apart. Where `over_time` is
  // given, it gets what is there at each of the region's ops.
  std::int64_t most(RegionId region, bool keeps_arguments = false,
                    HeldOverTime* over_time = nullptr) {
    const std::vector<OpId>& ops = program_.region(region).ops;
    std::vector<std::pair<ValueId, std::size_t>> last;  // use of each value of this region
    std::unordered_map<ValueId, std::size_t> place;
    auto enter = [&](ValueId v, std::size_t at) {
      place.emplace(v, last.size());
      last.emplace_back(v, at);
    };
    std::int64_t now = 0, peak = 0;
    for (ValueId v : program_.region(region).args) enter(v, 0);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = program_.op(ops[i]);
      auto use = [&](ValueId v) {
        if (const auto it = place.find(v); it != place.end()) last[it->second].second = i;
      };
      for (ValueId v : program_.operands(op)) use(v);
      if (op.region_count > 0)
        for (ValueId v : captured_values(program_, op)) use(v);
      for (std::size_t r = 0; r < op.result_count; ++r) enter(program_.result(op, r), i);
    }
    // The caller of a function has its arguments until the end.
    for (std::size_t i = 0; keeps_arguments && i < program_.region(region).args.size(); ++i)
      last[i].second = ops.size();
    std::vector<std::vector<ValueId>> ends(ops.size() + 1);
    for (const auto& [v, at] : last) ends[at].push_back(v);
    for (ValueId v : program_.region(region).args) now += bytes(v);
    peak = now;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = program_.op(ops[i]);
      std::int64_t inside = 0;  // of loops and branches; bodies on scalars take nothing
      for (RegionId r : program_.regions(op)) inside = std::max(inside, most(r));
      for (std::size_t r = 0; r < op.result_count; ++r) now += bytes(program_.result(op, r));
      if (over_time != nullptr) over_time->bytes.push_back(now + inside);
      peak = std::max(peak, now + inside);
      for (ValueId v : ends[i]) now -= bytes(v);
    }
    if (over_time != nullptr) find_fullest(region, last, *over_time);
    return peak;
  }

 private:
  void find_fullest(RegionId region, const std::vector<std::pair<ValueId, std::size_t>>& last,
                    HeldOverTime& held) const {
    if (held.bytes.empty()) return;
    held.fullest =
        static_cast<std::size_t>(std::ranges::max_element(held.bytes) - held.bytes.begin());
    std::unordered_map<OpId, std::size_t> places;
    for (std::size_t i = 0; i < program_.region(region).ops.size(); ++i)
      places[program_.region(region).ops[i]] = i;
    for (const auto& [v, end] : last) {
      const auto made = places.find(program_.value(v).op);
      if ((made == places.end() || made->second <= held.fullest) && end >= held.fullest)
        held.there.push_back(v);
    }
    std::ranges::stable_sort(held.there, std::ranges::greater(),
                             [&](ValueId v) { return bytes(v); });
  }

  std::int64_t bytes(ValueId v) const {
    const Type& type = program_.type_of(v);
    return type.is_tensor() ? type.bytes() : 0;
  }
  const Program& program_;
};

// Ops of a region, and of those inside of them, that devices meet in.
std::int64_t collectives_in(const Program& program, RegionId region) {
  std::int64_t count = 0;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (op.def->cls == OpClass::communicate && op.operand_count > 0) ++count;
    if (op.def->cls == OpClass::control)
      for (RegionId inner : program.regions(op)) count += collectives_in(program, inner);
  }
  return count;
}

}  // namespace

bool is_meeting(const Program& program, const Op& op) {
  if (op.def->cls == OpClass::communicate) return op.operand_count > 0;
  return op.def->cls == OpClass::control &&
         std::ranges::any_of(program.regions(op),
                             [&](RegionId inner) { return collectives_in(program, inner) > 0; });
}

std::int64_t peak_bytes(const Program& program, const Function& function) {
  return function.body == kNone ? 0 : Memory(program).most(function.body, true);
}

HeldOverTime held_over_time(const Program& program, const Function& function) {
  HeldOverTime held;
  if (function.body != kNone) Memory(program).most(function.body, true, &held);
  return held;
}

std::int64_t collectives_of(const Program& program, const Function& function) {
  return function.body == kNone ? 0 : collectives_in(program, function.body);
}

}  // namespace heddle
