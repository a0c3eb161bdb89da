// Reductions whose kept and reduced dimensions interleave, and what is computed with their results
// at every element again, give what the reference gives.
#include <cmath>

#include "choices.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"

namespace heddle::property::groups {
namespace {

using Dims = Builder::Dims;

struct Case {
  Shape shape;
  Dims reduced, kept;
  bool real = true;
};

Case any_case(Choices& choices) {
  Case c;
  const std::int64_t rank = choices.between(2, 5);
  for (std::int64_t d = 0; d < rank; ++d) {
    c.shape.push_back(choices.pick({3, 10, 1, 2, 16, 33, 40}));
    (choices.one_in(2) ? c.reduced : c.kept).push_back(d);
  }
  while (Type::tensor(DType::f32, c.shape).elements() > 100'000)
    for (std::int64_t& size : c.shape) size = std::max<std::int64_t>(1, size / 2);
  c.real = choices.below(3) > 0;
  return c;
}

Array filled(const Type& type, std::uint64_t seed) {
  Array array(type);
  auto next = [&] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((seed >> 33) % 17) - 8;
  };
  if (type.dtype == DType::f32)
    for (float& x : array.as_mutable<float>()) x = static_cast<float>(next()) / 8;
  else
    for (std::int32_t& x : array.as_mutable<std::int32_t>()) x = static_cast<std::int32_t>(next());
  return array;
}

// Sums of groups, used at every element; the last two dimensions may be one.
Vars normalised(Builder& b, const Case& c, const Vars& in, bool joined, std::string_view combiner) {
  const Var x = joined ? b.reshape(in[0], c.shape) : in[0];
  const Var mean = b.reduce(x, c.reduced, combiner);
  const Var apart = x - b.broadcast(mean, c.shape, c.kept);
  if (!c.real) return {apart, mean};
  const Var sum = b.reduce(apart * apart, c.reduced, "add");
  const Var scale = b.op("rsqrt", {sum + 2.0});
  const Var out = apart * b.broadcast(scale, c.shape, c.kept) * 3.0;
  return {joined ? b.reshape(out, in[0].type().shape) : out, sum};
}

bool close(const Array& want, const Array& have) {
  if (want.dtype() != DType::f32) return want == have;
  const auto a = want.as<float>(), b = have.as<float>();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 2e-3F * (1 + std::abs(a[i])))) return false;
  return true;
}

void agrees(Choices& choices, bool machine_code) {
  const Case c = any_case(choices);
  const bool joined = choices.one_in(2);
  const std::string_view combiner = choices.pick<std::string_view>({"add", "maximum", "minimum"});
  Shape outside = c.shape;
  if (joined) {
    outside.back() *= outside[outside.size() - 2];
    outside.erase(outside.end() - 2);
  }
  const Type type = Type::tensor(c.real ? DType::f32 : DType::i32, outside);
  Builder b;
  b.function("main", {type},
             [&](const Vars& in) -> Vars { return normalised(b, c, in, joined, combiner); });
  const Program program = b.finish().value();
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  const std::vector<Array> arguments = {
      filled(type, static_cast<std::uint64_t>(choices.below(999)))};
  const auto reference = interpret(program, program.functions[0], arguments);
  require(reference.ok(), [&] { return shown(reference.reason()); });
  CompileOptions options;
  options.machine_code = machine_code;
  options.machine = MachineFigures{.workers = static_cast<int>(choices.pick({2, 1, 5, 64, 3, 16}))};
  // Workers so slow that it pays to have all of them at work.
  if (options.machine->workers == 64) options.machine->light_rate = 1e6;
  const auto executable = compile(program, options);
  require(executable.ok(), [&] { return shown(executable.reason()); });
  const auto got = executable->run(arguments);
  require(got.ok(), [&] { return shown(got.reason()); });
  for (std::size_t i = 0; i < got->size(); ++i)
    require(close((*reference)[i], (*got)[i]),
            [&] { return shown(fmt::format("result {} is not the reference's", i)); });
}

void planned(Choices& choices) { agrees(choices, false); }
void compiled(Choices& choices) { agrees(choices, true); }

class Groups : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
};
TEST_F(Groups, AgreeWithKernelsInterpreted) { run_law(planned, 0, {.cases = 300}); }
TEST_F(Groups, AgreeCompiled) { run_law(compiled, 0, {.cases = 150}); }

}  // namespace
}  // namespace heddle::property::groups
