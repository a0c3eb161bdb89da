// The figures that the one cost model works with: where they come from and how they are kept.
#pragma once

#include <string>

#include "heddle/error.h"
#include "heddle/machine.h"

namespace heddle {

// A common server of so many cores, of which nothing has been measured. Cores compute by
// themselves and share memory, whose rate grows more slowly than their number.
MachineFigures default_figures(int workers);

// The machine that this runs on, with the workers that it has for us (HEDDLE_THREADS, else its
// cores): measured figures where `heddle calibrate` kept some for this kind of machine, caches and
// vectors as the system tells them, defaults for the rest.
MachineFigures figures_of_this_machine();
// The same for a part of its workers, as a thread device of a mesh has them.
MachineFigures figures_of_this_machine(int workers);

// What a GPU says of itself; workers are the blocks of its multiprocessors that run together.
struct GpuSizes {
  std::string model = {};  // "NVIDIA H200": what figures of it are kept under
  int multiprocessors = 1;
  double clock = 1e9, memory_rate = 1e12;  // a second
  std::int64_t shared_bytes = 48 << 10;    // of a block, at most
  std::int64_t far_cache = 1 << 20;
};
// Of one of so many that share it: measured ones where `heddle calibrate --device` kept some for
// such a GPU.
MachineFigures figures_of_gpu(const GpuSizes& gpu, int sharers);

// Keeps measured figures for figures_of_this_machine(). A reason where there is no cache directory,
// or no room in it.
Verdict keep_figures(const MachineFigures& figures);

// The same for figures_of_gpu(), under the name of the GPU.
Verdict keep_gpu_figures(const std::string& model, const MachineFigures& figures);

// The processor that figures belong to: "AMD EPYC, 2 threads".
std::string machine_name();

}  // namespace heddle
