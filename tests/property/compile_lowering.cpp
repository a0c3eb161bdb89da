// Every group that stitching makes of a random program is a kernel.
#include "choices.h"
#include "heddle/lower.h"
#include "heddle/op.h"
#include "heddle/simplify.h"
#include "heddle/stablehlo.h"
#include "heddle/stitch.h"
#include "kernel/lower_group.h"
#include "random_program.h"

namespace heddle::property {
namespace {

bool has_scalar_op(const OpDef& def) { return def.scalar != ScalarOp::none; }

void is_lowered(Choices& choices) {
  const std::int64_t most = choices.pick<std::int64_t>({120, 20'000});
  auto made = RandomProgram(Decisions(choices), {24, most}).make();
  require(made.ok(), [&] { return made.reason(); });
  const Program lowered =
      lower_for_kernels(lower_chlo(made->program, {.keep = has_scalar_op}).value()).value();
  const Program program = simplify(lowered).value();
  const RegionId body = program.functions[0].body;
  for (const StitchUnit& unit : stitch(program, body).value().units)
    for (const StitchGroup& group : unit.kernels) {
      const auto kernel = lower_group(program, group);
      require(kernel.ok(), [&] { return kernel.reason() + "\n" + print_stablehlo(program); });
      const Verdict fine = verify(*kernel);
      require(bool(fine), [&] { return fine.reason() + "\n" + print_stablehlo(program); });
    }
}

TEST(Lowering, EveryGroupOfRandomProgramsIsAKernel) {
  run_law(is_lowered, 0, {.cases = 1500, .decisions = 800});
}

}  // namespace
}  // namespace heddle::property
