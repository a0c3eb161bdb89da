// The text that all CUDA kernels begin with.
#include "kernel/cuda_prelude.h"
#include "kernel/emit_cuda.h"

namespace heddle {

std::string_view cuda_prelude() {
  static const std::string text = [] {
    using namespace heddle::cuda_text;
    std::string all;
    for (std::string_view part :
         {types(), conversions(), arithmetic(), bits_and_order(), functions(), vectors(), tiles(),
          together(), clusters(), flights()})
      all += part;
    return all;
  }();
  return text;
}

std::string_view cuda_memory_type(DType type) {
  return type == DType::i1 ? "ui8" : cuda_type(type);
}

std::string_view cuda_type(DType type) { return type == DType::i1 ? "bool" : name(type); }

}  // namespace heddle
