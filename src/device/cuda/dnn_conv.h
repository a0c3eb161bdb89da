// Convolutions by cuDNN, loaded at run time.
#pragma once

#include "device/conv_form.h"
#include "device/cuda/fastest.h"
#include "heddle/dtype.h"

namespace heddle::cuda {

struct DnnTypes {
  DType operands = DType::f32, result = DType::f32;
};

// Whether HEDDLE_CUDNN=0 does not leave the library out.
bool may_use_dnn();
// Opens the library, where that has not been done.
void open_dnn(Context& context);

// A convolution as the library computes it: the same bits every time, f32 without TF32.
class DnnConv {
 public:
  // The fastest of the few ways that the library thinks best: they are timed once, on whatever lies
  // in memory, and the choice is noted. A reason where the library is not there, or has no way that
  // keeps to the above.
  static Expected<std::shared_ptr<const DnnConv>> plan(Context& context, const Notebook& notebook,
                                                       const ConvForm& form, DnnTypes types);
  // The same ahead of time, so that `plan` finds it: only where the notebook says which way it is.
  static void plan_ahead(Context& context, const Notebook& notebook, const ConvForm& form,
                         DnnTypes types);
  virtual ~DnnConv() = default;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual Verdict run(Handle stream, std::array<Pointer, 2> operands, Pointer result,
                      Pointer workspace) const = 0;
};

}  // namespace heddle::cuda
