// What the machine has, for `heddle doctor`. Every probe gives an answer, whatever state the
// machine is in.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace heddle {

// One thing that the machine has, or has not.
struct Finding {
  std::string name;    // "cores"
  bool found = false;  //
  std::string text;    // what there is, or why there is none
  Json data;           // the same for --json
};

// The machine (machine.cpp).
Finding probe_cores();
Finding probe_vectors();
Finding probe_memory();

// Graphics cards and what drives them (cuda.cpp).
Finding probe_gpus();
Finding probe_cuda_tools();

// Libraries and languages (software.cpp).
Finding probe_llvm();
Finding probe_mpi();
Finding probe_python();

// The parts that read text, for tests.
// A limit of cgroup version 2 such as cpu.max "150000 100000"; 0 where there is none.
double parse_cpu_max(const std::string& text);
// The first number in a text such as "Cuda compilation tools, release 13.0, V13.0.88" after `word`.
std::string version_after(const std::string& text, const std::string& word);

}  // namespace heddle
