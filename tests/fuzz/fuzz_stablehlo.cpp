// StableHLO text: whatever it says, an answer; what reads prints and reads back as the same; and
// what is well formed can be inlined and lowered, or there is a reason.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heddle/inline.h"
#include "heddle/lower.h"
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
  if (heddle::verify(*program)) {
    auto flat = heddle::inline_calls(*program, 10'000);
    auto core = heddle::lower_chlo(flat ? *flat : *program);
    // Lowering may add a region to an op that stands as deep as ops may.
    const bool too_deep = !core && core.reason().find(" deep") != std::string::npos;
    demand(core.ok() || too_deep, core ? "" : core.reason().c_str());
  }
  for (auto form : {heddle::TextForm::pretty, heddle::TextForm::generic}) {
    auto again = heddle::read_stablehlo(heddle::print_stablehlo(*program, form), "printed");
    demand(again.ok(), again ? "" : again.reason().c_str());
    auto same = heddle::same_program(*program, *again);
    demand(same.ok(), same ? "" : same.reason().c_str());
    demand(again->hash() == program->hash(), "equal programs have different hashes");
  }
  return 0;
}
