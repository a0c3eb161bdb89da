// What kernels cost, in seconds by the figures of the machine. Two levels, as FusionStitching has
// them: a quick difference for every pattern that is looked at, and a full estimate with the
// schedule for the plans that are left.
#pragma once

#include "cost/rates.h"
#include "stitch/graph.h"

namespace heddle {

// Bytes that it takes to read or write a value; a constant of one number is no memory at all.
std::int64_t memory_bytes(const Program& program, ValueId value);

class CostModel {
 public:
  CostModel(const Graph& graph, const MachineFigures& machine);

  // One kernel of these vertices: bytes once in, once out, and the work at every point.
  double kernel(const Pattern& pattern) const;
  // Every vertex by itself.
  double apart(const Pattern& pattern) const;

  // What one kernel of the pattern would compute most often at one place.
  struct Repeated {
    Vertex vertex = kNone;
    double times = 0;
  };
  Repeated most_repeated(const Pattern& pattern) const;

 private:
  // What is asked about a vertex again and again.
  struct Facts {
    double elements = 0;     // of result 0
    double points = 0;       // at which it computes
    double seconds = 0;      // of one computation, by one worker
    double window = 1;       // how often it computes its operand
    double alone = 0;        // seconds as a kernel of its own
    bool reduces = false;    // computed once and kept
    bool elsewhere = false;  // takes its operand at another index than that of its result
    bool behind = false;     // as a broadcast along inner loops only
    bool partly = false;     // reads no more than it gives
    bool pads = false;       // computes its operand under a guard where it is a result
    bool ragged = false;     // its rows are no whole lines, and it goes row by row
  };
  // What the kernel of a pattern reads and writes.
  cost::Traffic traffic(const Pattern& pattern) const;
  void enter(const Pattern& pattern) const;
  bool is_passed_on(Vertex v) const;
  void count_times(const Pattern& pattern) const;
  double loads(const Pattern& pattern) const;
  // Seconds of one worker for the pattern that was entered.
  double work(const Pattern& pattern) const;
  double blocks(const Pattern& pattern) const;
  bool is_member(Vertex v) const { return member_[v] == epoch_; }

  const Graph& graph_;
  const MachineFigures& machine_;
  std::vector<Facts> facts_;
  std::vector<std::int64_t> bytes_;   // by value
  std::vector<std::uint32_t> maker_;  // vertex by value, or kNone
  // Marks of the pattern that is being looked at; old ones count for nothing.
  mutable std::vector<std::uint32_t> member_, seen_, loaded_;
  mutable std::vector<double> times_;
  mutable std::uint32_t epoch_ = 0;
};

}  // namespace heddle
