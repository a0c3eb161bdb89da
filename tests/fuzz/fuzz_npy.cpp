// Any bytes as a .npy file: an answer, never a crash; what reads is written and reads back as it
// is.
#include <cstdio>
#include <string_view>

#include "heddle/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto array = heddle::parse_npy({reinterpret_cast<const char*>(data), size});
  if (!array) return 0;
  const auto again = heddle::parse_npy(heddle::format_npy(*array));
  if (again && *again == *array) return 0;
  std::fprintf(stderr, "fuzz_npy: %s\n",
               again ? "another array comes back" : again.reason().c_str());
  __builtin_trap();
}
