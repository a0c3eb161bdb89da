// Random programs dealt out over random meshes with random layouts, compiled and run on threads,
// give what one device gives.
#include "choices.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/stablehlo.h"
#include "random_mesh.h"
#include "random_program.h"

namespace heddle::property {
namespace {

void on_meshes(Choices& choices) {
  const AxisSizes axes = random_axes(choices, 4);
  auto made = RandomProgram(Decisions(choices), {16, 120}).make();
  require(made.ok(), [&] { return made.reason(); });
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  lay_out(choices, axes, made->program);
  auto shown = [&](const std::string& what) {
    return what + "\n" + print_stablehlo(made->program);
  };
  require(reference.ok(), [&] { return shown(reference.reason()); });
  Target target;
  target.mesh = "@mesh";
  target.options.entry = made->program.functions[0].name;
  std::string failure;
  try {
    const auto executable = compile(made->program, target);
    require(executable.ok(), [&] { return shown(executable.reason()); });
    auto devices = Deployment::open(*executable);
    require(devices.ok(), [&] { return shown(devices.reason()); });
    // Twice: what one run leaves behind must not show in the next.
    for (int run = 0; run < 2 && failure.empty(); ++run) {
      const auto got = devices->run_whole(made->arguments);
      require(got.ok(), [&] { return shown(got.reason()); });
      if (Verdict same = agree(*reference, *got, made->errors); !same) failure = same.reason();
    }
  } catch (const Error& error) {
    failure = error.what();
  } catch (const InternalError& error) {
    failure = error.what();
  }
  require(failure.empty(), [&] { return shown(failure); });
}

// Shards of fixed seeds, each a test of its own.
class RandomMeshes : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // Code of thousands of small kernels is not for the user's cache.
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
};
TEST_P(RandomMeshes, AgreeCompiled) {
  run_law(on_meshes, 0, {.cases = 60, .seed = kSeed + GetParam(), .decisions = 800});
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomMeshes, ::testing::Range<std::uint64_t>(0, 3));

}  // namespace
}  // namespace heddle::property
