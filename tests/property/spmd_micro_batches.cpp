// Random steps of training, cut into micro-batches, on one device and on random meshes, give what
// the whole batch gives.
#include "heddle/interpreter.h"
#include "heddle/micro_batches.h"
#include "heddle/stablehlo.h"
#include "random_step.h"

namespace heddle::property {
namespace {

void cut_steps_agree(Choices& choices) {
  const RandomStep step = StepMaker(choices).make();
  const auto shown = [&](const std::string& what) {
    return what + "\n" + print_stablehlo(step.program);
  };
  MicroBatchOptions how;
  how.count = choices.pick({2, 4});
  if (choices.one_in(2)) how.carried = step.carried;
  if (choices.one_in(2)) how.batch = step.batch;
  const auto cut = cut_into_micro_batches(step.program, how);
  require(cut.ok(), [&] { return shown(cut.reason()); });
  const auto wanted = interpret(step.program, step.program.functions[0], step.arguments).value();
  const auto one = accumulated(cut->program, *cut);
  require(one.ok(), [&] { return shown(one.reason()); });
  const auto got = interpret(*one, one->functions[0], step.arguments);
  require(got.ok(), [&] { return shown(got.reason()); });
  const Verdict same = close(wanted, *got);
  require(same.ok(), [&] { return shown(same.reason()); });

  Program program = cut->program;
  (void)program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  Sharding sharding;
  sharding.mesh = "mesh";
  sharding.dims.resize(2);
  sharding.dims[static_cast<std::size_t>(choices.below(2))].axes.push_back({"x", 1, 0});
  options.seeds = {{false, step.batch.argument, sharding}};
  auto spmd = partition(program, options);
  require(spmd.ok(), [&] { return shown(spmd.reason()); });
  auto many = accumulated(*std::move(spmd), *cut);
  require(many.ok(), [&] { return shown(many.reason()); });
  const auto on_mesh = interpret_on_mesh(*many, many->functions[0], step.arguments);
  require(on_mesh.ok(), [&] { return shown(on_mesh.reason()); });
  const Verdict alike = close(wanted, *on_mesh);
  require(alike.ok(), [&] { return shown(alike.reason()); });
}

TEST(MicroBatches, AgreeWithTheWholeBatch) {
  run_law(cut_steps_agree, 0, {.cases = 200, .decisions = 900});
}

}  // namespace
}  // namespace heddle::property
