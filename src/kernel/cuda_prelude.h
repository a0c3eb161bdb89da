// Parts of the text that all CUDA kernels begin with, in its order. Each uses those before it.
#pragma once

#include <string_view>

namespace heddle::cuda_text {

std::string_view types();
std::string_view conversions();
std::string_view arithmetic();
std::string_view bits_and_order();
std::string_view functions();
std::string_view vectors();
std::string_view tiles();
std::string_view together();
std::string_view clusters();
std::string_view flights();

}  // namespace heddle::cuda_text
