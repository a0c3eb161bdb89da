// Matrix products by cuBLASLt, loaded at run time.
#pragma once

#include "device/cuda/fastest.h"
#include "device/cuda/queue.h"

namespace heddle::cuda {

// Whether cuBLASLt computes this dot_general as its operands lie.
bool is_product(const Program& program, const Op& op);
// Whether cuBLASLt may know how to do that with its elements as well; the library itself says
// whether it does.
bool is_product_to_go_on(const Program& program, const Op& op, const ProductThen& then);
// The answer is noted: the library need not be open to give it again.
bool has_way_to_go_on(Context& context, const Notebook& notebook, const Program& program,
                      const Op& op, const ProductThen& then);
// Opens the library and asks it for a way to compute a product of the program: what it has to get
// ready takes the first question as long as opening it.
void open_blas(Context& context, const Program& program);
// Null where it does not, or where the library is not there. Operands may lie by strides.
std::unique_ptr<CudaCall> product_call(Context& context, const Notebook& notebook,
                                       const Program& program, const Op& op,
                                       const ProductViews* views);
// Path and version; a reason where there is none.
Expected<std::string> find_blas();

}  // namespace heddle::cuda
