// The mesh that stands for micro-batches while a program is cut into them: one axis, over time.
#pragma once

#include "heddle/micro_batches.h"

namespace heddle {

inline constexpr const char* kMicroAxis = "micro";

// The program without anything said of other meshes, on a mesh of `count` micro-batches. Computing
// is dear there and moves are free, so that all work that can be cut is. A reason where the text
// says how values inside of it lie.
Expected<Program> on_micro_mesh(const Program& program, std::int64_t count);

// The batch is cut, what is carried is whole. The rest follows.
std::vector<Seed> micro_seeds(const Program& program, const Function& function,
                              const BatchDim& batch, const std::vector<Carried>& carried);

// Arguments that are data, and no state.
std::vector<std::size_t> batch_candidates(const Program& program, const Function& function,
                                          const std::vector<Carried>& carried);

// Dimensions that the batch may lie along, the likeliest first.
Expected<std::vector<BatchDim>> likely_batches(const Program& program, const std::string& function,
                                               const std::vector<Carried>& carried);

}  // namespace heddle
