// Random programs dealt out over random meshes with random layouts give what one device gives.
#include "choices.h"
#include "heddle/schedule.h"
#include "heddle/spmd.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "random_program.h"

namespace heddle::property {
namespace {

struct Kind {
  std::int64_t most_devices = 16;
  std::int64_t most_ops = 24, most_elements = 120;
  bool lines = false;  // many ops along lines
  bool tight = false;  // little memory
};

AxisSizes random_axes(Choices& choices, std::int64_t most) {
  AxisSizes axes;
  static constexpr const char* kNames[] = {"x", "y", "z"};
  std::int64_t left = most;
  for (std::int64_t a = 0, n = choices.between(1, 3); a < n; ++a) {
    const std::int64_t size = std::min<std::int64_t>(choices.pick({2, 4, 3, 1, 6, 8, 5}), left);
    axes.emplace_back(kNames[a], std::max<std::int64_t>(size, 1));
    left /= axes.back().second;
  }
  return axes;
}

// Whole axes and parts of them, each used once at most.
Sharding random_sharding(Choices& choices, const AxisSizes& axes, const Type& type) {
  Sharding sharding;
  sharding.mesh = "mesh";
  sharding.dims.resize(type.rank());
  for (ShardingDim& dim : sharding.dims) dim.open = choices.below(2) == 1;
  if (type.rank() == 0) return sharding;
  for (const auto& [name, size] : axes) {
    auto& dim = choices.pick(sharding.dims);
    auto& chosen = sharding.dims[static_cast<std::size_t>(&dim - sharding.dims.data())];
    switch (choices.below(4)) {
      case 0:
        break;
      case 3:
        if (size % 2 == 0 && size > 2) {
          chosen.axes.push_back({name, choices.below(2) == 0 ? 1 : size / 2, 2});
          break;
        }
        [[fallthrough]];
      default:
        chosen.axes.push_back({name, 1, 0});
    }
  }
  return sharding;
}

void lay_out(Choices& choices, const AxisSizes& axes, Program& program) {
  (void)program.add_mesh("mesh", axes).value();
  Function& f = program.functions[0];
  auto layout = [&](const Type& type) -> LayoutId {
    if (!type.is_tensor()) return kNone;
    auto id = program.add_layout(random_sharding(choices, axes, type), type);
    return id ? *id : kNone;
  };
  for (ValueId v : program.region(f.body).args)
    if (choices.below(4) != 0) program.set_layout(v, layout(program.type_of(v)));
  for (OpId id : program.region(f.body).ops)
    for (std::size_t i = 0; i < program.op(id).result_count; ++i)
      if (choices.one_in(4)) {
        const ValueId v = program.result(program.op(id), i);
        program.set_layout(v, layout(program.type_of(v)));
      }
  f.result_layouts.assign(f.results.size(), kNone);
  for (std::size_t i = 0; i < f.results.size(); ++i)
    if (choices.below(2) == 1) f.result_layouts[i] = layout(program.type(f.results[i]));
}

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

void require_agreement(Choices& choices, const Kind& kind) {
  const AxisSizes axes = random_axes(choices, kind.most_devices);
  auto made =
      RandomProgram(Decisions(choices), {kind.most_ops, kind.most_elements, kind.lines}).make();
  require(made.ok(), [&] { return made.reason(); });
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  lay_out(choices, axes, made->program);
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
    auto spmd = partition(made->program, options);
    require(spmd.ok(), [&] { return shown(spmd.reason()); });
    if (kind.tight) {
      // No more room than the boundary takes: what is larger is to be split.
      options.memory_limit = spmd->functions[0].argument_bytes + spmd->functions[0].result_bytes;
      spmd = partition(made->program, options);
      require(spmd.ok(), [&] { return shown(spmd.reason()); });
    }
    spmd->program = schedule(spmd->program);
    local = print_stablehlo(spmd->program);
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
INSTANTIATE_TEST_SUITE_P(Seeds, SpmdPrograms, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace heddle::property
