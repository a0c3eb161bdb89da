// Scatters of any shape, inside of kernels with their neighbours, give what the reference gives.
#include "choices.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"

namespace heddle::property::scatter {
namespace {

using Dims = Builder::Dims;

// Small whole numbers: sums are exact in any order.
Array whole_numbers(const Type& type, Choices& choices, std::int64_t lowest, std::int64_t highest) {
  Array array(type);
  std::uint64_t state = static_cast<std::uint64_t>(choices.below(1 << 16)) * 2 + 1;
  auto fill = [&](auto values) {
    using T = typename decltype(values)::value_type;
    for (T& x : values) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto span = static_cast<std::uint64_t>(highest - lowest + 1);
      x = static_cast<T>(lowest + static_cast<std::int64_t>((state >> 33) % span));
    }
  };
  switch (type.dtype) {
    case DType::f32:
      fill(array.as_mutable<float>());
      break;
    case DType::f64:
      fill(array.as_mutable<double>());
      break;
    case DType::i64:
      fill(array.as_mutable<std::int64_t>());
      break;
    case DType::ui64:
      fill(array.as_mutable<std::uint64_t>());
      break;
    default:
      fill(array.as_mutable<std::int32_t>());
  }
  return array;
}

// A scatter: each dimension of the input is one that index vectors point along, one of a window,
// or one that goes along with the indices.
struct Case {
  Shape input, indices, updates;
  Dims window, inserted, batching, index_batching, map;
  std::int64_t vector = 0;
  DType dtype = DType::f32, index_dtype = DType::i32;
};

Case any_case(Choices& choices, bool large) {
  Case c;
  const std::int64_t rank = choices.between(1, 3);
  Shape batch;
  for (std::int64_t i = choices.below(3); i > 0; --i)
    batch.push_back(choices.between(1, large ? 90 : 9));
  Shape windows;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t size = choices.between(1, large ? 40 : 9);
    c.input.push_back(size);
    switch (choices.below(4)) {
      case 0:  // one element, anywhere
        c.inserted.push_back(d);
        c.map.push_back(d);
        break;
      case 1:  // a part, anywhere
        windows.push_back(choices.between(1, size));
        c.map.push_back(d);
        break;
      case 2:  // all of it, or the first ones
        windows.push_back(choices.one_in(3) ? choices.between(1, size) : size);
        break;
      default:
        if (batch.empty() || c.batching.size() == batch.size()) {
          windows.push_back(size);
        } else {
          c.index_batching.push_back(static_cast<std::int64_t>(c.batching.size()));
          c.batching.push_back(d);
          c.input.back() = batch[c.index_batching.size() - 1];
        }
    }
  }
  if (c.map.size() > 1 && choices.one_in(2)) std::swap(c.map[0], c.map[1]);
  // Updates: windows and batches, in their own order each.
  std::size_t next_window = 0, next_batch = 0;
  while (next_window < windows.size() || next_batch < batch.size()) {
    const bool take_window =
        next_batch == batch.size() || (next_window < windows.size() && choices.one_in(3));
    if (take_window) c.window.push_back(static_cast<std::int64_t>(c.updates.size()));
    c.updates.push_back(take_window ? windows[next_window++] : batch[next_batch++]);
  }
  c.indices = batch;
  const bool drops_vector = c.map.size() == 1 && choices.one_in(4);
  c.vector = static_cast<std::int64_t>(batch.size());
  if (!drops_vector) c.indices.push_back(static_cast<std::int64_t>(c.map.size()));
  c.dtype = choices.pick({DType::f32, DType::i32, DType::f64});
  c.index_dtype = choices.pick({DType::i32, DType::i64, DType::ui64});
  return c;
}

RegionId combiner(Builder& b, DType dtype, std::int64_t kind) {
  const Type scalar = Type::tensor(dtype, {});
  return b.region({scalar, scalar}, [&](const Vars& in) -> Vars {
    if (kind == 0) return {in[0] + in[1]};
    if (kind == 1) return {b.op("maximum", {in[0], in[1]})};
    if (kind == 2) return {in[1]};
    return {b.op("maximum", {in[0] + 1.0, in[1] + in[1] - in[0]})};  // the order matters
  });
}

void agrees(Choices& choices, bool machine_code, bool large) {
  const Case c = any_case(choices, large);
  const std::int64_t kind = choices.below(4), around = choices.below(4);
  const Attr numbers{Attr::Struct{"scatter",
                                  {{"update_window_dims", {c.window}},
                                   {"inserted_window_dims", {c.inserted}},
                                   {"input_batching_dims", {c.batching}},
                                   {"scatter_indices_batching_dims", {c.index_batching}},
                                   {"scatter_dims_to_operand_dims", {c.map}},
                                   {"index_vector_dim", {Attr::Integer{c.vector}}}}}};
  const Type input = Type::tensor(c.dtype, c.input), updates = Type::tensor(c.dtype, c.updates);
  const Type indices = Type::tensor(c.index_dtype, c.indices);
  Builder b;
  b.function("main", {input, indices, updates}, [&](const Vars& in) -> Vars {
    const Var to = around == 1 ? b.full(input, 0) : in[0];
    const Var what = around == 0 ? in[2] : in[2] * 2.0 + 1.0;
    const Var out =
        b.ops("scatter", {to, in[1], what}, {input}, {{"scatter_dimension_numbers", numbers}},
              {combiner(b, c.dtype, kind)})[0];
    if (around < 2) return {out};
    if (around == 2) return {out * 3.0 + in[0], out};
    return {b.reduce(out - in[0], {0}, "add"), what};
  });
  const Program program = b.finish().value();
  const std::int64_t most = *std::max_element(c.input.begin(), c.input.end());
  const std::vector<Array> arguments = {
      whole_numbers(input, choices, -4, 4),
      whole_numbers(indices, choices, c.index_dtype == DType::ui64 && choices.one_in(2) ? 0 : -2,
                    most + 1),
      whole_numbers(updates, choices, -4, 4)};
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  const auto reference = interpret(program, program.functions[0], arguments);
  require(reference.ok(), [&] { return shown(reference.reason()); });
  CompileOptions options;
  options.machine_code = machine_code;
  options.machine = MachineFigures{.workers = static_cast<int>(choices.pick({2, 1, 5}))};
  const auto executable = compile(program, options);
  require(executable.ok(), [&] { return shown(executable.reason()); });
  for (int run = 0; run < 2; ++run) {
    const auto got = executable->run(arguments);
    require(got.ok(), [&] { return shown(got.reason()); });
    for (std::size_t i = 0; i < got->size(); ++i)
      require((*got)[i] == (*reference)[i], [&] {
        return shown(fmt::format("result {} of run {} is not the reference's", i, run));
      });
  }
}

void planned(Choices& choices) { agrees(choices, false, false); }
void compiled(Choices& choices) { agrees(choices, true, false); }
void larger(Choices& choices) { agrees(choices, true, true); }

class Scatters : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("HEDDLE_CACHE_DIR", "", 1); }
};
TEST_F(Scatters, AgreeWithKernelsInterpreted) { run_law(planned, 0, {.cases = 1000}); }
TEST_F(Scatters, AgreeCompiled) { run_law(compiled, 0, {.cases = 200}); }
TEST_F(Scatters, AgreeWhereTheyAreLarge) { run_law(larger, 0, {.cases = 40}); }

}  // namespace
}  // namespace heddle::property::scatter
