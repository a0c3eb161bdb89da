// Every operation on every element type, special values included, against the reference.
#include <limits>

#include "device_run.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

constexpr DType kTypes[] = {DType::i1,   DType::i8,   DType::i16,  DType::i32,  DType::i64,
                            DType::ui8,  DType::ui16, DType::ui32, DType::ui64, DType::f16,
                            DType::bf16, DType::f32,  DType::f64};

template <typename T>
std::vector<T> special_values() {
  std::vector<T> values;
  auto add = [&](auto x) { values.push_back(static_cast<T>(x)); };
  if constexpr (BoolScalar<T>) {
    values = {Bool(false), Bool(true)};
  } else if constexpr (IntScalar<T>) {
    using Limits = std::numeric_limits<T>;
    for (int x : {0, 1, 2, 3, 5, 7, 31, 100}) add(x);
    for (int x : {1, 2, 3, 5, 8, 100}) add(-x);
    for (int x : {0, 1, 2}) add(Limits::max() - x), add(Limits::min() + x);
    add(Limits::max() / 2 + 1);
  } else {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (double x : {0.0,
                     0.25,
                     0.5,
                     0.75,
                     1.0,
                     1.5,
                     2.0,
                     2.5,
                     3.0,
                     3.14159,
                     10.0,
                     20.5,
                     88.0,
                     89.5,
                     100.0,
                     127.0,
                     128.5,
                     255.5,
                     256.0,
                     700.0,
                     32767.5,
                     65504.0,
                     65520.0,
                     1e5,
                     3e9,
                     1e19,
                     1e38,
                     1e300,
                     1e-3,
                     1e-5,
                     3e-8,
                     1e-20,
                     1e-38,
                     1e-40,
                     1e-45,
                     1e-308,
                     5e-324,
                     0.49999997,
                     8388607.5,
                     8388609.0,
                     4503599627370495.5,
                     infinity})
      add(x), add(-x);
    add(std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

// All pairs of special values, and a third one beside them.
KernelData pairs_of(const Kernel& kernel, DType from, std::size_t n) {
  KernelData data(kernel);
  dispatch(from, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!ComplexScalar<T>) {
      const std::vector<T> values = special_values<T>();
      std::vector<T> a, b, c;
      for (std::size_t i = 0; i < n; ++i) {
        a.push_back(values[i % values.size()]);
        b.push_back(values[i / values.size() % values.size()]);
        c.push_back(values[(i * 7 + 3) % values.size()]);
      }
      data.set<T>(0, a), data.set<T>(1, b), data.set<T>(2, c);
    }
  });
  return data;
}

std::size_t pair_count(DType from) {
  return dispatch(from, [&](auto tag) -> std::size_t {
    using T = typename decltype(tag)::type;
    if constexpr (ComplexScalar<T>)
      return 0;
    else
      return special_values<T>().size() * special_values<T>().size();
  });
}

// Which operation a stage of all_operations() stores to a buffer.
ScalarOp operation_of(const Kernel& kernel, std::uint32_t buffer) {
  const Stage& stage = kernel.phases[0].stages[0];
  for (const Statement& s : stage.statements)
    if (s.buffers[0] == buffer) return stage.nodes[s.values[0]].op;
  return ScalarOp::none;
}

void expect_all_operations(DType from, DType to, bool uniform, int vector_bytes = 64) {
  const auto n = static_cast<std::int64_t>(pair_count(from));
  Kernel kernel = examples::all_operations(from, to, n);
  if (kernel.buffers.size() == 3) return;
  // One point a block: everything by scalars.
  if (uniform) {
    kernel.phases[0].outer = {{n, 1}};
    Stage& stage = kernel.phases[0].stages[0];
    stage.loops.clear();
    for (Node& node : stage.nodes)
      if (node.kind == NodeKind::loop) node.kind = NodeKind::outer;
  }
  const KernelData start = pairs_of(kernel, from, static_cast<std::size_t>(n));
  KernelData want = start, got = start;
  ASSERT_TRUE(verify(kernel)) << verify(kernel).reason();
  ASSERT_TRUE(want.run(kernel));
  const auto code = test_jit(vector_bytes).compile(kernel);
  ASSERT_TRUE(code) << code.reason();
  run_compiled(**code, kernel, got);
  for (std::uint32_t b = 3; b < kernel.buffers.size(); ++b) {
    const ScalarOp op = operation_of(kernel, b);
    const bool heavy = is_heavy(op) && op != ScalarOp::remainder && is_float(from);
    expect_same_bytes(
        kernel.buffers[b], got.bytes[b], want.bytes[b], heavy ? 2 : 0,
        fmt::format("{} {} -> {}{}", name(op), name(from), name(to), uniform ? " of scalars" : ""));
  }
}

class DeviceJitOps : public testing::TestWithParam<DType> {};

TEST_P(DeviceJitOps, VectorsGiveWhatTheReferenceGives) {
  HEDDLE_NEEDS_LLVM();
  for (DType to : kTypes) expect_all_operations(GetParam(), to, false);
}

TEST_P(DeviceJitOps, ShortVectorsGiveWhatTheReferenceGives) {
  HEDDLE_NEEDS_LLVM();
  for (int vector_bytes : {32, 16})
    for (DType to : kTypes) expect_all_operations(GetParam(), to, false, vector_bytes);
}

TEST_P(DeviceJitOps, ScalarsGiveWhatTheReferenceGives) {
  HEDDLE_NEEDS_LLVM();
  for (DType to : kTypes) expect_all_operations(GetParam(), to, true);
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceJitOps, testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(name(info.param)); });

// Floats from one end of the range to the other.
TEST(DeviceJitMaths, InLineFunctionsAreNextToTheTruth) {
  HEDDLE_NEEDS_LLVM();
  struct Row {
    ScalarOp op;
    double (*truth)(double);
  };
  const Row rows[] = {{ScalarOp::exp, [](double x) { return std::exp(x); }},
                      {ScalarOp::tanh, [](double x) { return std::tanh(x); }},
                      {ScalarOp::erf, [](double x) { return std::erf(x); }}};
  constexpr std::int64_t n = 1 << 18;
  std::vector<float> in;
  for (std::int64_t i = 0; i < n; ++i)
    in.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i << 14 | (i * 97 & 0x3fff))));
  for (const Row& row : rows) {
    Kernel kernel = named_kernel("function");
    const auto x = add_buffer(kernel, Reach::input, DType::f32, n);
    const auto y = add_buffer(kernel, Reach::output, DType::f32, n);
    StageBuilder s(kernel, {{n, -1}});
    const NodeId at = s.loop(0);
    s.store(y, at, s.op(row.op, s.load(x, at)));
    kernel.phases.emplace_back().stages.push_back(s.stage);
    KernelData data(kernel);
    data.set(x, in);
    const auto code = test_jit().compile(kernel);
    ASSERT_TRUE(code) << code.reason();
    run_compiled(**code, kernel, data);
    const std::vector<float> out = data.get<float>(y);
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_LE(distance(out[i], static_cast<float>(row.truth(in[i]))), 1)
          << name(row.op) << " of " << in[i] << " is " << out[i];
  }
}

}  // namespace
}  // namespace heddle
