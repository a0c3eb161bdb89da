// The library calls, by op. Each is null where it does not fit the op.
#pragma once

#include "device/cpu/library.h"

namespace heddle::cpu {

std::unique_ptr<LibraryCall> dot_call(const Program& program, const Op& op,
                                      const ProductViews* views);
std::unique_ptr<LibraryCall> conv_call(const Program& program, const Op& op);
// By oneDNN, of operands as they are and for a pool of so many workers; null where it is not there,
// or has no fast way.
std::unique_ptr<LibraryCall> direct_dot_call(const Program& program, const Op& op,
                                             const ProductViews& views, int workers);
std::unique_ptr<LibraryCall> direct_conv_call(const Program& program, const Op& op, int workers);
// Without it.
std::unique_ptr<LibraryCall> converted_dot_call(const Program& program, const Op& op,
                                                const ProductViews* views);
std::unique_ptr<LibraryCall> tiled_conv_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> fft_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> lapack_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> scatter_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> select_scatter_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> slice_update_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> sort_call(const Program& program, const Op& op);
std::unique_ptr<LibraryCall> top_k_call(const Program& program, const Op& op);

}  // namespace heddle::cpu
