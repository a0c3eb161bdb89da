// Random bits made inside of kernels are those of the reference, bit by bit.
#include "choices.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "same_bits.h"

namespace heddle::property::random_bits {
namespace {

Array any_state(Choices& choices, std::int64_t words) {
  Array state(Type::tensor(DType::ui64, {words}));
  for (std::uint64_t& word : state.as_mutable<std::uint64_t>()) {
    const std::uint64_t few = static_cast<std::uint64_t>(choices.below(40));
    // Counters that are about to carry into the next half or word.
    word =
        choices.pick<std::uint64_t>({few, 0xFFFF'FFFFu - few, ~few, few * 0x9E37'79B9'7F4A'7C15u});
  }
  return state;
}

void agrees(Choices& choices, bool machine_code) {
  Shape shape;
  for (std::int64_t d = choices.below(4); d > 0; --d) shape.push_back(choices.between(1, 9));
  const DType dtype = choices.pick({DType::ui32, DType::i32, DType::ui64, DType::i64, DType::ui8,
                                    DType::i16, DType::f32, DType::f64});
  const std::string_view algorithm =
      choices.pick<std::string_view>({"THREE_FRY", "DEFAULT", "PHILOX"});
  const std::int64_t words = algorithm == "THREE_FRY" ? 2 : choices.between(2, 3);
  const Type state = Type::tensor(DType::ui64, {words}), drawn = Type::tensor(dtype, shape);
  Builder b;
  b.function("main", {state}, [&](const Vars& in) -> Vars {
    const AttrDict attrs = {
        {"rng_algorithm", {Attr::Enum{"rng_algorithm", std::string(algorithm)}}}};
    const Vars first = b.ops("rng_bit_generator", {in[0]}, {state, drawn}, attrs);
    return {first[0], first[1], b.ops("rng_bit_generator", {first[0]}, {state, drawn}, attrs)[1]};
  });
  const Program program = b.finish().value();
  const std::vector<Array> arguments = {any_state(choices, words)};
  require_same_bits(program, arguments, machine_code);
}

void planned(Choices& choices) { agrees(choices, false); }
void compiled(Choices& choices) { agrees(choices, true); }

class RandomBits : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
};
TEST_F(RandomBits, AgreeWithKernelsInterpreted) { run_law(planned, 0, {.cases = 100}); }
TEST_F(RandomBits, AgreeCompiled) { run_law(compiled, 0, {.cases = 30}); }

}  // namespace
}  // namespace heddle::property::random_bits
