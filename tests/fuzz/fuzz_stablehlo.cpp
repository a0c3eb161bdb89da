// StableHLO text: whatever it says, an answer; and what reads prints and reads back as the same.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "heddle/stablehlo.h"
#include "heddle/verify.h"

namespace {

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_stablehlo: %s\n", what);
  __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto program = heddle::read_stablehlo(text, "fuzz");
  if (!program) return 0;
  (void)heddle::verify(*program);
  for (auto form : {heddle::TextForm::pretty, heddle::TextForm::generic}) {
    auto again = heddle::read_stablehlo(heddle::print_stablehlo(*program, form), "printed");
    demand(again.ok(), again ? "" : again.reason().c_str());
    auto same = heddle::same_program(*program, *again);
    demand(same.ok(), same ? "" : same.reason().c_str());
  }
  return 0;
}
