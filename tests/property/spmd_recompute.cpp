// Programs that compute values again instead of keeping them give the same bits, on one device and
// on meshes; a cut that is found is the cheapest of all.
#include "choices.h"
#include "heddle/spmd.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "ir/rewrite.h"
#include "parallel/search/min_cut.h"
#include "parallel/search/recompute.h"
#include "random_mesh.h"
#include "random_program.h"

namespace heddle::property {
namespace {

bool can_be_copied(const Program& program, const Op& op) {
  if (op.result_count != 1 || op.region_count > 0 || op.def->draws) return false;
  if (!program.type_of(op.results).is_tensor() || op.def->parts == Parts::constant) return false;
  return op.def->cls == OpClass::light || op.def->cls == OpClass::heavy ||
         op.def->cls == OpClass::move || op.def->cls == OpClass::contract;
}

// Any values, from any place on.
search::Recomputation random_recomputation(Choices& choices, const Program& program) {
  const Function& function = program.functions[0];
  RuleCache rules(program);
  search::Recomputation how = search::recomputation_for(program, function, rules, 8);
  const std::vector<OpId>& ops = program.region(function.body).ops;
  how.late = static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(ops.size())));
  how.again.clear();
  how.needed.clear();
  how.kept.clear();
  for (std::size_t p = 0; p < how.late; ++p) {
    const Op& op = program.op(ops[p]);
    if (can_be_copied(program, op) && !how.free[op.results] && choices.below(2) == 1)
      how.again.push_back(op.results);
  }
  return how;
}

// Its functions, without what is in none of them.
Program copied(const Program& program) {
  Rewriter rewriter(program, [](Rewriter&, const Op&) -> Expected<bool> { return false; });
  for (const Function& f : program.functions)
    require(rewriter.copy(f).ok(), [] { return std::string("it is not copied"); });
  return rewriter.finish().value();
}

void gives_the_same_bits(Choices& choices) {
  auto made = RandomProgram(Decisions(choices), {16, 60, false}).make();
  require(made.ok(), [&] { return made.reason(); });
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  require(reference.ok(), [&] { return reference.reason(); });
  Program both = made->program;
  both.functions[0] =
      search::with_recomputation(both, both.functions[0], random_recomputation(choices, both))
          .function;
  Program program = copied(both);
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  const Verdict sound = verify(program);
  require(sound.ok(), [&] { return shown(sound.reason()); });
  const auto got = interpret(program, program.functions[0], made->arguments);
  require(got.ok(), [&] { return shown(got.reason()); });
  for (std::size_t i = 0; i < got->size(); ++i)
    require(std::ranges::equal((*reference)[i].bytes(), (*got)[i].bytes()),
            [&] { return shown(fmt::format("result {} differs", i)); });
  // And dealt out over devices.
  lay_out(choices, random_axes(choices, 4), program);
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = program.functions[0].name;
  if (choices.below(2) == 1) options.search.emplace();
  const auto spmd = partition(program, options);
  require(spmd.ok(), [&] { return shown(spmd.reason()); });
  const auto parts = interpret_on_mesh(*spmd, spmd->functions[0], made->arguments);
  require(parts.ok(), [&] { return shown(parts.reason()); });
  const Verdict same = agree(*reference, *parts, made->errors);
  require(same.ok(), [&] { return shown(same.reason()); });
}

TEST(Recompute, GivesTheSameBits) {
  run_law(gives_the_same_bits, 0, {.cases = 200, .seed = kSeed, .decisions = 800});
}

HEDDLE_LAW(MinCut, IsTheCheapestOfAll) {
  const int nodes = 2 + static_cast<int>(choices.below(6));
  search::MinCut cut(nodes);
  struct Edge {
    int from, to;
    std::int64_t capacity;
  };
  std::vector<Edge> edges;
  for (std::int64_t count = choices.below(14); count > 0; --count) {
    const Edge edge{static_cast<int>(choices.below(nodes)), static_cast<int>(choices.below(nodes)),
                    choices.below(6)};
    edges.push_back(edge);
    cut.add_edge(edge.from, edge.to, edge.capacity);
  }
  const auto cost = [&](const std::vector<bool>& side) {
    std::int64_t sum = 0;
    for (const Edge& e : edges)
      if (side[static_cast<std::size_t>(e.from)] && !side[static_cast<std::size_t>(e.to)])
        sum += e.capacity;
    return sum;
  };
  const std::vector<bool> found = cut.source_side(0, 1);
  require(found[0] && !found[1], [] { return std::string("source and sink are not parted"); });
  for (unsigned bits = 0; bits < 1U << (nodes - 2); ++bits) {
    std::vector<bool> side{true, false};
    for (int i = 2; i < nodes; ++i) side.push_back(bits >> (i - 2) & 1);
    require(cost(found) <= cost(side), [] { return std::string("there is a cheaper one"); });
    // Of equal ones the smallest.
    for (std::size_t i = 0; cost(side) == cost(found) && i < side.size(); ++i)
      require(!found[i] || side[i], [] { return std::string("there is a smaller one"); });
  }
}

}  // namespace
}  // namespace heddle::property
