// Any bytes as a cost-function network: an answer, never a crash; what reads is written and reads
// back.
#include <cstdio>
#include <string_view>

#include "heddle/cost_network_file.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto network = heddle::parse_cost_network({reinterpret_cast<const char*>(data), size});
  if (!network) return 0;
  const auto text = heddle::format_cost_network(*network);
  const auto again = text ? heddle::parse_cost_network(*text) : text.why();
  const auto once_more = again ? heddle::format_cost_network(*again) : again.why();
  if (once_more && *once_more == *text) return 0;
  std::fprintf(stderr, "fuzz_cost_network: %s\n",
               once_more ? "another network comes back" : once_more.reason().c_str());
  __builtin_trap();
}
