// What type rules infer for ops without types is what well-formed programs say.
#include "choices.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "random_program.h"

namespace heddle::property {
namespace {

// Every op of a program once more, without its types: it gets the same ones, or says that they must
// be given.
void inferred_law(Choices& choices) {
  RandomProgramOptions options;
  options.lines = choices.one_in(2);
  auto made = RandomProgram(Decisions(choices), options).make();
  require(made.ok(), [&] { return made.reason(); });
  const Program& whole = made->program;
  Program again = whole;
  const RegionId body = again.add_region();
  for (OpId id = 0; id < whole.op_count(); ++id) {
    const Op op = whole.op(id);
    const std::vector<ValueId> operands(whole.operands(op).begin(), whole.operands(op).end());
    const std::vector<RegionId> regions(whole.regions(op).begin(), whole.regions(op).end());
    const std::size_t before = again.value_count();
    const auto copy = again.infer_op(body, *op.def, operands, whole.attrs_of(op), regions);
    auto shown = [&](std::string_view what) {
      return fmt::format("{} {}\n{}", op.def->name, what, print_stablehlo(whole));
    };
    if (!copy) {
      const bool given = copy.reason().find("does not follow") != std::string::npos;
      require(given, [&] { return shown(copy.reason()); });
      require(again.value_count() == before, [&] { return shown("left something behind"); });
      continue;
    }
    const Op& got = again.op(*copy);
    require(got.result_count == op.result_count, [&] { return shown("has other results"); });
    for (std::size_t i = 0; i < op.result_count; ++i)
      require(again.type_of(again.result(got, i)) == whole.type_of(whole.result(op, i)),
              [&] { return shown(again.type_of(again.result(got, i)).str()); });
  }
}

// Equal programs have equal hashes. What is built may write attributes otherwise than what is read;
// text and back gives an equal program.
void hash_law(Choices& choices) {
  auto made = RandomProgram(Decisions(choices), {}).make();
  require(made.ok(), [&] { return made.reason(); });
  const std::string text = print_stablehlo(made->program);
  auto again = read_stablehlo(text);
  require(again.ok(), [&] { return again.reason() + "\n" + text; });
  if (same_program(made->program, *again))
    require(again->hash() == made->program.hash(), [&] { return text; });
  auto twice = read_stablehlo(print_stablehlo(*again, TextForm::generic));
  require(twice.ok() && same_program(*again, *twice).ok(), [&] { return text; });
  require(twice->hash() == again->hash(), [&] { return text; });
}

TEST(Types, AreInferredAsTheyAreGiven) {
  run_law(inferred_law, 0, {.cases = 600, .seed = kSeed, .decisions = 800});
}
TEST(Types, HashesOfPrintedProgramsAreEqual) {
  run_law(hash_law, 0, {.cases = 300, .seed = kSeed + 1, .decisions = 800});
}

}  // namespace
}  // namespace heddle::property
