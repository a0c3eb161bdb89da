// What a step of a compiled program does, counted, and the figures of a device that say how long
// that takes. Kernels and calls count themselves; the cost model prices what they count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heddle/collective_kind.h"

namespace heddle {

// Instructions of a kernel or a call, by class. A vector counts as the f32 elements that it holds,
// whether all of its lanes are of use or not.
struct KernelWork {
  double light = 0;      // additions and the like
  double accesses = 0;   // loads and stores, which go on beside them
  double heavy = 0;      // in exponentials
  double lanes = 0;      // elements that are read or written one by one, at places of their own
  double converted = 0;  // elements that a call brings into another type
  double runs = 0;       // short copies of what lies side by side, as a window has it
  double starts = 0;     // of a stage of a block

  KernelWork& operator+=(const KernelWork& other);
};

// `count` products of an m by k and a k by n matrix.
struct ProductWork {
  double m = 0, n = 0, k = 0, count = 1;
  double width = 1;  // of an element beside f32
  double parts = 1;  // that workers can share
};

struct StepWork {
  KernelWork alone = {}, shared = {};  // by one worker, and by all of them
  double launches = 0;                 // times that all workers are woken
  std::vector<ProductWork> products = {};
  double bytes = 0;  // read and written
  // Between devices: what a device has before it, in parts that go at the same time, and how many
  // take part. What is copied for it stands above.
  CollectiveKind kind = CollectiveKind::none;
  std::vector<double> moved = {};
  std::int64_t members = 1;
  // Steps inside of a loop or a branch, done so often each.
  std::vector<StepWork> inside = {};
  double turns = 1;
  std::uint32_t number = 0;  // of the step in the executable's list
  bool is_counted = true;    // false: nobody knows
};

// Of one device while all others work too; 0 workers: nothing was measured.
struct StepFigures {
  double workers = 0;
  double call = 0;  // seconds of a step beside its work
  double wake = 0;  // more of them where all workers are at it
  // Of one worker, a second.
  double light_rate = 0, access_rate = 0, heavy_rate = 0, lane_rate = 0, convert_rate = 0;
  double run_rate = 0;
  double together = 1;  // workers that all of them are worth
  // Of products by one worker: a call, elements of operands that it lays out and of results that it
  // writes, products and sums.
  double product_call = 0, pack_rate = 0, result_rate = 0, product_rate = 0;
  double products_together = 1;
  // Bytes: of a worker's first level, of its second, and of the device; and bytes a second of the
  // device from what lies beyond the first level.
  double first_cache = 0, near_cache = 0, far_cache = 0;
  double near_rate = 0, far_rate = 0, memory_rate = 0;
  double start = 0, array = 0;  // seconds of a run, and of each of its arguments and results
  double beside = 1;  // of a collective that goes at the same time as a longer one: its share
  friend bool operator==(const StepFigures&, const StepFigures&) = default;
};

// What a device takes for a step that has none inside and is no collective, of a program, or of a
// loop, that goes through so many bytes before it comes to the same ones again.
double step_seconds(const StepWork& step, const StepFigures& device, double footprint);
double product_seconds(const ProductWork& product, const StepFigures& device);
// Columns of a product as they are computed, in whole vectors.
double computed_columns(const ProductWork& product);

}  // namespace heddle
