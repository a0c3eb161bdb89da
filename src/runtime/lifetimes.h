// Which values share memory because one is only another view of the other, and when they die.
#pragma once

#include <vector>

#include "heddle/strided_view.h"
#include "runtime/compiled.h"

namespace heddle::runtime {

// The operand and region argument that a `while` carries unchanged through its body.
bool is_invariant(const Program& program, const Op& loop, std::size_t i);

class Lifetimes {
 public:
  explicit Lifetimes(const CompiledProgram& compiled);

  // The value whose memory it has.
  ValueId root(ValueId v) const;
  // Whether no unit of the region after this one, nor its terminator, reads that memory. Never so
  // for values from outside of the region.
  bool dies_at(ValueId v, RegionId region, std::size_t unit) const;
  // What a unit reads.
  std::vector<ValueId> reads(const CompiledUnit& unit) const;

 private:
  void walk(RegionId region);
  void walk_unit(const CompiledUnit& unit);
  void note_use(ValueId v, RegionId region, std::size_t unit);

  const CompiledProgram& compiled_;
  const Program& program_;
  std::vector<ValueId> alias_;     // kNone: itself
  std::vector<RegionId> home_;     // of a value
  std::vector<std::size_t> last_;  // unit of its home that uses it last
};

}  // namespace heddle::runtime
