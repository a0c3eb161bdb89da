// Convolutions by cuDNN, loaded at run time.
#pragma once

#include "device/cuda/conv_form.h"
#include "heddle/dtype.h"

namespace heddle::cuda {

struct DnnTypes {
  DType operands = DType::f32, result = DType::f32;
};

// A convolution as the library computes it: the same bits every time, f32 without TF32.
class DnnConv {
 public:
  // A reason where the library is not there, or has no way that keeps to that.
  static Expected<std::shared_ptr<const DnnConv>> plan(Context& context, const ConvForm& form,
                                                       DnnTypes types);
  virtual ~DnnConv() = default;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual Verdict run(Handle stream, std::array<Pointer, 2> operands, Pointer result,
                      Pointer workspace) const = 0;
};

}  // namespace heddle::cuda
