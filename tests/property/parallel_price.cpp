// Decisions on random programs, meshes and layouts: prices do not depend on what was asked before,
// and what is chosen costs what they say.
#include "choices.h"
#include "heddle/decide.h"
#include "heddle/stablehlo.h"
#include "random_mesh.h"
#include "random_program.h"

namespace heddle::property {
namespace {

// Operands in the split that the choice takes, so that bringing them costs nothing.
Expected<Price> price_in_place(OnMesh& on, const heddle::Decisions& decisions, OpId id) {
  const Choice& choice = *decisions.ops[id].choice;
  std::vector<Split> operands;
  for (int split : choice.operands) operands.push_back(decisions.split(split));
  return price(on, id, choice.axes, operands);
}

// Chosen by its factors alone: sums that pass through an op are no matter of these.
bool by_factors(const heddle::Decisions& decisions, OpId id) {
  const Decision& decision = decisions.ops[id];
  if (!decision.choice || decision.choice->rejected.empty() || decision.choice->rows >= 0)
    return false;
  return std::ranges::none_of(decision.choice->operands,
                              [&](int split) { return !decisions.split(split).pending.empty(); });
}

void prices_hold(Choices& choices) {
  const AxisSizes axes = random_axes(choices, 16);
  auto made = RandomProgram(Decisions(choices), {24, 120, choices.below(2) == 1}).make();
  require(made.ok(), [&] { return made.reason(); });
  lay_out(choices, axes, made->program);
  ParallelOptions options;
  options.mesh = "mesh";
  const auto decided = parallelize(made->program, options);
  require(decided.ok(), [&] { return decided.reason(); });
  const Program& program = (*decided)->program;
  const heddle::Decisions& decisions = *(*decided)->functions[0].decisions;
  RuleCache rules(program);
  OnMesh forward(program, rules, program.meshes[0]), backward(program, rules, program.meshes[0]);
  std::vector<OpId> ops;
  for (OpId id = 0; id < decisions.ops.size(); ++id)
    if (by_factors(decisions, id)) ops.push_back(id);
  std::vector<Price> prices;
  for (OpId id : ops) {
    const auto asked = price_in_place(forward, decisions, id);
    require(asked.ok(), [&] { return asked.reason() + "\n" + print_stablehlo(made->program); });
    prices.push_back(*asked);
  }
  for (std::size_t i = ops.size(); i-- > 0;) {
    const Price again = price_in_place(backward, decisions, ops[i]).value();
    require(again == prices[i], [&] { return fmt::format("op {} has two prices", ops[i]); });
    const Price& chosen = decisions.ops[ops[i]].choice->price;
    require(again.bring == 0 && again.compute == chosen.compute && again.line == chosen.line &&
                again.combine == chosen.combine,
            [&] { return fmt::format("op {} was chosen at another price", ops[i]); });
  }
  double bring = 0;
  for (const Decision& d : decisions.ops)
    for (const Fetch& fetch : d.fetches)
      if (fetch.route != nullptr && fetch.route->plan) bring += fetch.route->plan->seconds;
  require(bring <= decisions.bring_seconds() * (1 + 1e-9),
          [&] { return "plans take longer than the decisions say"; });
}

TEST(Prices, HoldOnRandomPrograms) { run_law(prices_hold, 0, {.cases = 200, .decisions = 800}); }

}  // namespace
}  // namespace heddle::property
