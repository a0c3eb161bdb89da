// Any bytes as a safetensors file: an answer, never a crash; what reads is written and reads back.
#include <cstdio>
#include <string_view>

#include "heddle/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto arrays = heddle::parse_safetensors({reinterpret_cast<const char*>(data), size});
  if (!arrays) return 0;
  const auto text = heddle::format_safetensors(*arrays);
  const auto again = text ? heddle::parse_safetensors(*text) : text.why();
  if (again && *again == *arrays) return 0;
  std::fprintf(stderr, "fuzz_safetensors: %s\n",
               again ? "other arrays come back" : again.reason().c_str());
  __builtin_trap();
}
