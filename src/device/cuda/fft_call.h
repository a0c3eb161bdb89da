// Fourier transforms by cuFFT, loaded at run time.
#pragma once

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// Whether it is one that cuFFT computes.
bool is_transform(const Program& program, const Op& op);

// Kernels around the library: it has no scale for inverse transforms, and those to real numbers
// read the half of a spectrum that cannot be told from the other as if it had no other. Here it is
// written out, transformed, and the real parts are taken, as the reference has it.
std::string fft_text(DType real);

// Null where it is none, or where the library is not there.
std::unique_ptr<CudaCall> fft_call(Context& context, const FunctionLoader& load,
                                   const Program& program, const Op& op);

}  // namespace heddle::cuda
