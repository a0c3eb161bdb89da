// The library calls, by op. Each is null where it does not fit the op.
#pragma once

#include "device/cpu/library.h"

namespace heddle::cpu {

std::unique_ptr<LibraryCall> dot_call(const Program& program, const Op& op,
                                      const ProductViews* views);
std::unique_ptr<LibraryCall> conv_call(const Program& program, const Op& op);
// Of operands shorter than f32 by oneDNN, as they are; null where it is not there, or has no fast
// way.
std::unique_ptr<LibraryCall> short_dot_call(const Program& program, const Op& op,
                                            const ProductViews& views, int workers);
// By oneDNN, for a pool of so many workers; null where it is not there, or has no fast way.
std::unique_ptr<LibraryCall> direct_conv_call(const Program& program, const Op& op, int workers);
std::unique_ptr<LibraryCall> fft_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> lapack_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> scatter_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> select_scatter_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> slice_update_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> sort_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> top_k_call(const Program& program, const Op& op);

}  // namespace heddle::cpu
