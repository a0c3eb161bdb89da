// Random programs give compiled what the reference gives.
#include "choices.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"
#include "random_program.h"

namespace heddle::property::random_programs {
namespace {

struct Kind {
  bool machine_code = true, fuse = true;
  std::int64_t most_ops = 40, most_elements = 120;
  bool rounds_late = false;  // and is planned for the device as it is
};

void require_agreement(Choices& choices, const Kind& kind) {
  const RandomProgramOptions wishes{.most_ops = kind.most_ops,
                                    .most_elements = kind.most_elements,
                                    .rounds_late = kind.rounds_late};
  auto made = RandomProgram(Decisions(choices), wishes).make();
  require(made.ok(), [&] { return made.reason(); });
  auto shown = [&](const std::string& what) {
    return what + "\n" + print_stablehlo(made->program);
  };
  const auto reference = interpret(made->program, made->program.functions[0], made->arguments);
  require(reference.ok(), [&] { return shown(reference.reason()); });
  CompileOptions options;
  options.machine_code = kind.machine_code;
  options.stitch.fuse = kind.fuse;
  if (!kind.rounds_late) {
    options.machine =
        MachineFigures{.workers = static_cast<int>(choices.pick({2, 1, 7, 64, 3, 16}))};
    // Workers so slow that it pays to have all of them at work.
    if (options.machine->workers == 64) options.machine->light_rate = 1e6;
  }
  std::string failure;
  try {
    const auto executable = compile(made->program, options);
    require(executable.ok(), [&] { return shown(executable.reason()); });
    // Twice: what one run leaves behind must not show in the next.
    for (int run = 0; run < 2 && failure.empty(); ++run) {
      const auto got = executable->run(made->arguments);
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

void planned(Choices& choices) { require_agreement(choices, {.machine_code = false}); }
void unfused(Choices& choices) {
  require_agreement(choices, {.machine_code = false, .fuse = false});
}
void compiled(Choices& choices) { require_agreement(choices, {}); }
void larger(Choices& choices) {
  // Few rows of few vectors have ways of their own.
  const std::int64_t elements = choices.pick({20'000, 900});
  require_agreement(choices, {.most_ops = 16, .most_elements = elements});
}
void late(Choices& choices) { require_agreement(choices, {.rounds_late = true}); }

// Shards of fixed seeds, each a test of its own.
class RandomPrograms : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  // Code of thousands of small kernels is not for the user's cache.
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
  static void run(void (*law)(Choices&), int cases) {
    run_law(law, 0, {.cases = cases, .seed = kSeed + GetParam(), .decisions = 800});
  }
};
TEST_P(RandomPrograms, AgreeWithKernelsInterpreted) { run(planned, 600); }
TEST_P(RandomPrograms, AgreeUnfused) { run(unfused, 200); }
TEST_P(RandomPrograms, AgreeCompiled) { run(compiled, 250); }
TEST_P(RandomPrograms, AgreeWhereTheyAreLarge) { run(larger, 50); }
// On the device of tests they are planned for a GPU.
TEST_P(RandomPrograms, AgreeRoundedLate) { run(late, 60); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range<std::uint64_t>(0, 3));

}  // namespace
}  // namespace heddle::property::random_programs
