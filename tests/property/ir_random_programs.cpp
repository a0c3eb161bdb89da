// Random programs can be compared, and simplifying them changes no bit.
#include "choices.h"
#include "heddle/simplify.h"
#include "heddle/stablehlo.h"
#include "random_program.h"

namespace heddle::property {
namespace {

struct Case {
  RandomProgramResult made;
  std::vector<Array> reference;

  explicit Case(Choices& choices) {
    RandomProgramOptions options;
    if (choices.one_in(12)) options.most_elements = 3000;
    auto program = RandomProgram(Decisions(choices), options).make();
    require(program.ok(), [&] { return program.reason(); });
    made = *std::move(program);
    auto results = interpret(made.program, made.program.functions[0], made.arguments);
    require(results.ok(), [&] { return shown(results.reason()); });
    reference = *std::move(results);
  }
  std::string shown(const std::string& what) const {
    return what + "\n" + print_stablehlo(made.program);
  }
};

// Values stay tame, so that they can be compared, and a simpler program has the same bits.
void simpler_law(Choices& choices) {
  const Case random(choices);
  for (const Array& result : random.reference)
    for (std::int64_t i = 0; i < result.elements(); ++i)
      require(std::isfinite(to_double(result, i)),
              [&] { return random.shown(element_text(result, i) + " is no tame value"); });
  const auto simpler = simplify(random.made.program);
  require(simpler.ok(), [&] { return random.shown(simpler.reason()); });
  const auto got = interpret(*simpler, simpler->functions[0], random.made.arguments);
  require(got.ok(), [&] { return random.shown(got.reason()); });
  const std::vector<double> none(got->size(), 0);
  const Verdict same = agree(random.reference, *got, none);
  require(same.ok(), [&] { return random.shown(same.reason()); });
}

class RandomPrograms : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static void run(void (*law)(Choices&), int cases) {
    run_law(law, 0, {.cases = cases, .seed = kSeed + GetParam(), .decisions = 800});
  }
};
TEST_P(RandomPrograms, AreTameAndSimplify) { run(simpler_law, 1000); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace heddle::property
