// Images that stay in shared memory: a phase whose large stages go over the same rows of few
// columns (positions and channels), several of them over all rows of one input.
//
// A cluster has an image, each of its blocks a share of the rows. A thread stays with its columns.
// Sums of columns go through shared memory and on to the other blocks of the cluster; all of them
// then have the same. While the last stage that needs an image is at work, slices of the next one
// fly to where it is done.
//
// Where that takes all memory of 16 multiprocessors, nothing is at work while they wait for each
// other's sums. Then images go by passes instead: each stage of sums is a launch of many blocks,
// which leave sums of parts of images in memory; another one puts these together and does the small
// stages, a block to an image; and a last one stores. An image is read again by every pass, but
// squares of what is off the mean come with the sums that the mean is made of.
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

// One launch of an image in passes.
struct CudaImagePass {
  enum class Kind : std::uint8_t {
    sums,    // of one stage, over the rows of a part; those of all columns go to memory
    finish,  // these put together, and what follows up to `end`
    stores,  // all from `stage` on
  };
  Kind kind = Kind::sums;
  std::size_t stage = 0, end = 0;
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
  // In passes: parts of an image, each a block's. 0: images stay.
  int parts = 0;
  std::vector<CudaImagePass> passes;
  // By stage: the stage of sums whose rows give its sums of squares as well, or kNone.
  std::vector<std::uint32_t> squares_of;
  std::int64_t part_rows() const { return rows / parts; }
  std::int64_t saved_bytes = 0, partial_bytes = 0;            // in memory, of all images
  std::int64_t share() const { return rows / cluster; }       // rows of a block
  std::int64_t slice() const { return share() / slices; }     // rows of a slice
  std::int64_t units() const { return columns / vector; }     // accesses of a row
  std::int64_t abreast() const { return threads / units(); }  // rows at a time
};

// Nothing where the phase is of another kind.
std::optional<CudaImage> cuda_image(const Kernel& kernel, const Phase& phase,
                                    const CudaLimits& limits);

// By stage: the stage of sums that gives its sums of squares too. The earlier one adds up v over
// the rows of each column, the later one (v - m)^2 with an m that is the same for all rows: that is
// what v is off the mean of its column, squared, and as often as there are rows what the mean is
// off m.
std::vector<std::uint32_t> cuda_image_squares(const Kernel& kernel, const Phase& phase,
                                              const std::vector<CudaImageStage>& stages);
// Whether some stage has its squares from this one.
bool has_squares(const CudaImage& image, std::size_t stage);
// By node: whether it differs between rows.
std::vector<bool> differs_by_row(const Stage& stage);

// What a pass launches.
struct CudaImageLaunch {
  std::int64_t grid = 1, shared_bytes = 0;
  int threads = 256, at_once = 2;
};
CudaImageLaunch image_launch(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                             const CudaImagePass& pass);
// Its body, after pointers to buffers and `partials`, memory of all passes.
void emit_cuda_image_pass(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                          std::size_t pass, IndentedText& text);

// The body of its function, after pointers to buffers.
void emit_cuda_image(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                     IndentedText& text);

}  // namespace heddle
