// Values that need not be kept: they can be had again from one that lies in memory anyway.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heddle/device_calls.h"
#include "heddle/machine.h"
#include "heddle/program.h"

namespace heddle {

// Work between calls, of which kernels are made.
struct Stretches {
  std::vector<std::uint32_t> of;  // by OpId
  std::unordered_map<OpId, RegionId> region;
};

// A batch norm's forward pass leaves x, x - mean, (x - mean) * scale and whether that is positive
// for its backward pass; but the last three are a few operations on x, which the convolution has
// left, and on small values.
class HadAgain {
 public:
  HadAgain(const Program& program, const DeviceCalls* calls, const MachineFigures& machine,
           const Stretches& stretches);

  // Whether a stretch should compute the result of an op of another stretch anew: what it reads
  // for that is no more than what it would read otherwise, and the work takes less time than
  // writing and reading the results.
  bool is_worth(OpId maker, std::uint32_t stretch) const;

 private:
  struct Source {
    ValueId value = kNone;  // kNone: there is none
    double seconds = 0;     // of one element, from there to here
  };
  // What a stretch reads of others and could have again from one source.
  struct Use {
    std::int64_t bytes = 0;
    double seconds = 0;  // of what takes longest
  };
  void find_in_memory();
  void find_used_elsewhere();
  Source source_of(const Op& op) const;
  Source source_of(ValueId operand) const;
  bool is_small(ValueId operand, std::int64_t bytes) const;
  void note_uses();

  const Program& program_;
  const DeviceCalls* const calls_;
  const MachineFigures machine_;  // of two workers, so that plans are the same everywhere
  const Stretches& stretches_;
  std::unordered_set<ValueId> in_memory_;       // whatever kernels do
  std::unordered_set<ValueId> used_elsewhere_;  // in another stretch of the same region
  std::unordered_map<OpId, Source> sources_;    // of ops that have one
  std::map<std::pair<std::uint32_t, ValueId>, Use> uses_;
};

}  // namespace heddle
