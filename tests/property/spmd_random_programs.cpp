// Random programs dealt out over random meshes with random layouts give what one device gives.
#include "choices.h"
#include "heddle/schedule.h"
#include "heddle/spmd.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "random_mesh.h"
#include "random_program.h"
#include "random_steps.h"

namespace heddle::property {
namespace {

struct Kind {
  std::int64_t most_devices = 16;
  std::int64_t most_ops = 24, most_elements = 120;
  bool lines = false;  // many ops along lines
  bool tight = false;  // little memory
  bool searched = false;
  bool scheduled = false;  // random steps, as many of them as are legal
};

// Results that the next run could take as arguments.
std::vector<Carried> random_carried(Choices& choices, const Program& program) {
  std::vector<Carried> carried;
  const Function& f = program.functions[0];
  const auto& args = program.region(f.body).args;
  std::vector<bool> used(args.size());
  for (std::size_t r = 0; r < f.results.size(); ++r)
    for (std::size_t a = 0; a < args.size(); ++a) {
      if (used[a] || !(program.type_of(args[a]) == program.type(f.results[r]))) continue;
      if (choices.one_in(3)) continue;
      used[a] = true;
      carried.push_back({a, r});
      break;
    }
  return carried;
}

// Slow devices, and links that are fast in different ways, so that small programs are split too.
void make_splits_pay(Choices& choices, Program& program) {
  for (MeshDecl& decl : program.meshes) {
    std::vector<MeshAxis> axes = decl.mesh.axes();
    for (MeshAxis& axis : axes)
      axis.link = {1e-9 * static_cast<double>(choices.below(3)),
                   1e9 * static_cast<double>(1 + choices.below(5))};
    decl.mesh = Mesh::make(std::move(axes), 1e7, 1e8).value();
  }
}

void require_agreement(Choices& choices, const Kind& kind) {
  const AxisSizes axes = random_axes(choices, kind.most_devices);
  auto made =
      RandomProgram(Decisions(choices), {kind.most_ops, kind.most_elements, kind.lines}).make();
  require(made.ok(), [&] { return made.reason(); });
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  lay_out(choices, axes, made->program);
  if (kind.searched) make_splits_pay(choices, made->program);
  auto shown = [&](const std::string& what) {
    return what + "\n" + print_stablehlo(made->program);
  };
  require(reference.ok(), [&] { return shown(reference.reason()); });
  std::string failure, local;
  try {
    SpmdOptions options;
    options.mesh = "mesh";
    options.function = made->program.functions[0].name;
    options.carried = random_carried(choices, made->program);
    if (kind.searched) options.search.emplace();
    auto spmd = partition(made->program, options);
    require(spmd.ok(), [&] { return shown(spmd.reason()); });
    if (kind.tight) {
      // No more room than the boundary takes: what is larger is to be split.
      options.memory_limit = spmd->functions[0].argument_bytes + spmd->functions[0].result_bytes;
      spmd = partition(made->program, options);
      require(spmd.ok(), [&] { return shown(spmd.reason()); });
    }
    std::string steps;
    if (kind.scheduled) steps = RandomSteps(choices, *spmd).take(options.carried);
    spmd->program = schedule(spmd->program);
    local = steps + print_stablehlo(spmd->program);
    if (Verdict sound = verify(spmd->program); !sound) failure = sound.reason();
    for (const auto& [argument, result] : options.carried)
      if (spmd->functions[0].arguments[argument] != spmd->functions[0].results[result])
        failure = fmt::format("argument {} does not lie as result {}", argument, result);
    if (failure.empty()) {
      const auto got = interpret_on_mesh(*spmd, spmd->functions[0], made->arguments);
      if (!got)
        failure = got.reason();
      else if (Verdict same = agree(*reference, *got, made->errors); !same)
        failure = same.reason();
    }
  } catch (const Error& error) {
    failure = error.what();
  } catch (const InternalError& error) {
    failure = error.what();
  }
  require(failure.empty(), [&] { return shown(failure) + "\n" + local; });
}

void small(Choices& choices) { require_agreement(choices, {.most_devices = 4}); }
void many(Choices& choices) { require_agreement(choices, {}); }
void lines(Choices& choices) {
  require_agreement(choices, {.most_ops = 6, .lines = true, .tight = choices.below(2) == 1});
}

// Every op is shared as a search has found it, around layouts that are given.
void searched(Choices& choices) {
  require_agreement(choices, {.most_devices = 8, .most_ops = 16, .searched = true});
}

void scheduled(Choices& choices) {
  require_agreement(choices, {.most_devices = 8, .most_ops = 16, .scheduled = true});
}

// Shards of fixed seeds, each a test of its own.
class SpmdPrograms : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static void run(void (*law)(Choices&), int cases) {
    run_law(law, 0, {.cases = cases, .seed = kSeed + GetParam(), .decisions = 800});
  }
};
TEST_P(SpmdPrograms, AgreeOnFewDevices) { run(small, 300); }
TEST_P(SpmdPrograms, AgreeOnManyDevices) { run(many, 200); }
TEST_P(SpmdPrograms, AgreeAlongLines) { run(lines, 200); }
TEST_P(SpmdPrograms, AgreeAsSearched) { run(searched, 60); }
TEST_P(SpmdPrograms, AgreeAsScheduled) { run(scheduled, 25); }
INSTANTIATE_TEST_SUITE_P(Seeds, SpmdPrograms, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace heddle::property
