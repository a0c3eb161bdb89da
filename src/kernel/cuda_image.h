// Images that stay in shared memory: a phase whose large stages go over the same rows of few
// columns (positions and channels), several of them over all rows of one input.
//
// A cluster has an image, each of its blocks a share of the rows. A thread stays with its columns.
// Sums of columns go through shared memory and on to the other blocks of the cluster; all of them
// then have the same. While the last stage that needs an image is at work, slices of the next one
// fly to where it is done.
#pragma once

#include <optional>

#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_stage.h"
#include "kernel/indented_text.h"

namespace heddle {

enum class CudaImageStage : std::uint8_t {
  small,   // every block does it, for itself
  sums,    // of columns, over all rows
  stores,  // of points, to memory
};

struct CudaImage {
  std::uint32_t input = 0;  // that stays
  CudaPlace base;           // of its first element, without loops
  std::vector<CudaImageStage> stages;
  std::int64_t rows = 1, columns = 1;
  int vector = 1;  // neighbouring columns of a thread
  int cluster = 1;
  int threads = 256;
  int at_once = 1;           // blocks of a multiprocessor
  int slices = 1;            // of a share, each with a gate
  std::int64_t workers = 1;  // clusters that stay for many images
  std::int64_t image_offset = 0, room_offset = 0, shared_bytes = 0;  // in the memory of a block
  std::int64_t share() const { return rows / cluster; }              // rows of a block
  std::int64_t slice() const { return share() / slices; }            // rows of a slice
  std::int64_t units() const { return columns / vector; }            // accesses of a row
  std::int64_t abreast() const { return threads / units(); }         // rows at a time
};

// Nothing where the phase is of another kind.
std::optional<CudaImage> cuda_image(const Kernel& kernel, const Phase& phase,
                                    const CudaLimits& limits);

// The body of its function, after pointers to buffers.
void emit_cuda_image(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                     IndentedText& text);

}  // namespace heddle
