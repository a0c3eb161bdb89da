// What convolutions by oneDNN have in common, whichever of the three kinds they are.
#pragma once

#include <memory>
#include <optional>

#include "device/cpu/calls.h"
#include "device/cpu/conv_slices.h"
#include "device/cpu/onednn.h"
#include "device/cpu/places.h"

namespace heddle::cpu::direct {

using dnn::Desc;
using dnn::Dims;
using dnn::Memory;
using dnn::Primitive;

std::int64_t product_of(const Dims& sizes);

// Batch, channels, places; dense with the channels last.
struct Images {
  DType dtype;
  std::int64_t batch, channels;
  Dims places;

  Dims dims() const {
    Dims all = {batch, channels};
    all.insert(all.end(), places.begin(), places.end());
    return all;
  }
  Dims strides() const {
    Dims all(places.size() + 2, 1);
    std::int64_t step = channels;
    for (std::size_t s = places.size(); s-- > 0; step *= places[s]) all[2 + s] = step;
    all[0] = step;
    return all;
  }
  std::optional<Desc> desc() const { return Desc::strided(dtype, dims(), strides()); }
  std::int64_t row() const { return product_of(places) / places[0] * channels; }
  std::int64_t image() const { return product_of(places) * channels; }
  std::int64_t bytes() const { return batch * image() * byte_size(dtype); }
  Images of(std::int64_t images, std::int64_t rows) const {
    Images part = *this;
    part.batch = images;
    part.places[0] = rows;
    return part;
  }
};

// Strides of first, second and places, from those of first, places and second; places that a
// form has more than the program are of one element.
Dims in_order(const Dims& strides, std::size_t skipped, std::size_t places);

// Images that lie otherwise, and the copy of one of them from there or to there.
struct Copy {
  std::int64_t start = 0, image_step = 0;
  Desc dense, apart;
  Primitive primitive;

  static std::optional<Copy> make(const Images& images, const Dims& strides, std::int64_t start,
                                  bool to_dense);
};

// What of the result's elements lies where, in the order of `in_order`; nothing where it is not all
// that was made.
std::optional<Dims> result_strides(const Rearrangement& move, const Shape& result,
                                   std::size_t places);

struct ConvTypes {
  DType operand, result;
};

// What all three kinds have in common.
class DirectConv : public LibraryCall {
 public:
  DirectConv(ConvForm form, ConvTypes types, int workers)
      : form_(std::move(form)), types_(types), workers_(workers) {}

  std::string text() const override;
  std::int64_t workspace_bytes() const override { return end_; }

  StepWork work() const override;

 protected:
  std::int64_t rows() const { return form_.batch * product_of(form_.places); }
  std::int64_t depth() const { return form_.channels * product_of(form_.window); }
  dnn::Window window() const {
    return {form_.stride, form_.dilation, form_.padding, form_.padding_behind};
  }
  Images x() const { return {types_.operand, form_.batch, form_.channels, form_.image}; }
  Images y() const { return {types_.operand, form_.batch, form_.features, form_.places}; }

  // Room in the workspace.
  std::int64_t room(std::int64_t bytes) {
    const std::int64_t at = end_;
    end_ += rounded_up(bytes);
    return at;
  }
  void add_scratch(std::int64_t bytes) {
    scratch_step_ = rounded_up(bytes);
    scratch_at_ = room(scratch_step_ * workers_);
  }
  std::byte* scratch(const CallFrame& frame, int worker) const {
    return frame.workspace + scratch_at_ + worker * scratch_step_;
  }

  // A copy of an operand's images, where they are not dense already; false where none can be made.
  struct Source {
    std::optional<Copy> copy = {};
    std::int64_t at = 0;
  };
  std::optional<Source> source_of(const Rearrangement& move, const Images& images);

  // The images, dense.
  const std::byte* read(const CallFrame& frame, std::size_t operand, const Source& source,
                        const Images& images) const;

  ConvForm form_;
  ConvTypes types_;
  std::int64_t workers_;
  std::int64_t parts_ = 1, end_ = 0;
  std::int64_t scratch_at_ = 0, scratch_step_ = 0;
};

// Each of them; nothing where the library does not take it quickly.
std::unique_ptr<LibraryCall> images_conv_call(const ConvForm& form, ConvTypes types, int workers,
                                              const Shape& result);
std::unique_ptr<LibraryCall> kernel_conv_call(const ConvForm& form, ConvTypes types, int workers,
                                              const Shape& result);

}  // namespace heddle::cpu::direct
