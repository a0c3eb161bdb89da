// What a step has to wait for: earlier steps of its list that touch the same bytes, at least one of
// the two writing.
#pragma once

#include <map>
#include <set>

#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Bytes of one memory.
struct Range {
  std::int64_t memory = 0, begin = 0, end = 0;
};

// What a step touches.
struct Effects {
  std::vector<Range> reads, writes;
};

// Who touched which bytes last, in one list of steps that grows.
class Touches {
 public:
  // The steps so far that one with these effects comes after, in ascending order: the last that
  // wrote, and those that have read since where it writes.
  std::vector<std::uint32_t> before(const Effects& effects) const;
  void add(std::uint32_t step, const Effects& effects);

 private:
  struct Segment {
    std::int64_t end = 0;
    std::uint32_t writer = kNone;
    std::vector<std::uint32_t> readers;
  };
  using Key = std::pair<std::int64_t, std::int64_t>;  // memory, begin
  using Segments = std::map<Key, Segment>;

  Segments::const_iterator first_in(const Range& range) const;
  void cut(std::int64_t memory, std::int64_t at);
  template <typename Change>
  void visit(const Range& range, Change change);

  Segments segments_;
};

// While steps are put together no slot has its place yet: each is a memory of its own. What is
// found then says where collectives are waited for, and so how long their memory is theirs.
Effects effects_by_slot(const Step& step, const SlotTable& slots);

// While a collective is under way, no step touches what it reads or writes, also where slots share
// bytes of the arena. A step that does is a defect of ours.
void verify_overlaps(const StepList& list, const SlotTable& slots);

}  // namespace heddle::runtime
