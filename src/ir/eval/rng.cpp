// rng and rng_bit_generator. The generators and how their words are dealt out follow XLA, so that
// states and bits agree with programs that were run there.
#include <numbers>

#include "ir/clone.h"
#include "ir/eval/linalg.h"
#include "ir/eval/reduce_common.h"
#include "ir/lower/random.h"

namespace heddle {

using namespace reduction;

namespace {

using Word = std::uint32_t;
using Words2 = std::array<Word, 2>;
using Words4 = std::array<Word, 4>;

Words2 halves(std::uint64_t x) { return {static_cast<Word>(x), static_cast<Word>(x >> 32)}; }
std::uint64_t joined(Word low, Word high) { return low | static_cast<std::uint64_t>(high) << 32; }

// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011).
Words2 threefry(std::uint64_t counter, std::uint64_t key) {
  static constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const Words2 k = halves(key);
  const Word keys[3] = {k[0], k[1], k[0] ^ k[1] ^ 0x1BD11BDAu};
  Words2 x = halves(counter);
  x[0] += keys[0];
  x[1] += keys[1];
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned i = 0; i < 4; ++i) {
      x[0] += x[1];
      x[1] = std::rotl(x[1], kRotations[group % 2 * 4 + i]) ^ x[0];
    }
    x[0] += keys[(group + 1) % 3];
    x[1] += keys[(group + 2) % 3] + group + 1;
  }
  return x;
}

// Philox-4x32 with 10 rounds, from the same paper.
Words4 philox(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
  Words2 k = halves(key), l = halves(low), h = halves(high);
  Words4 x{l[0], l[1], h[0], h[1]};
  for (int round = 0; round < 10; ++round) {
    const Words2 a = halves(x[0] * std::uint64_t{0xD2511F53});
    const Words2 b = halves(x[2] * std::uint64_t{0xCD9E8D57});
    x = {b[1] ^ x[1] ^ k[0], b[0], a[1] ^ x[3] ^ k[1], a[0]};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return x;
}

struct Bits {
  std::vector<std::uint64_t> values, state;
};

Bits threefry_bits(const Shape& shape, std::int64_t count, int width,
                   const std::vector<std::uint64_t>& state) {
  Bits bits;
  auto calls = static_cast<std::uint64_t>(count);
  if (width == 64 || shape.empty()) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      const Words2 words = threefry(state[1] + i, state[0]);
      bits.values.push_back(width == 64 ? joined(words[0], words[1]) : words[0]);
    }
  } else {
    const std::size_t pair = paired_dimension(shape);
    std::int64_t inner = 1;
    for (std::size_t i = pair + 1; i < shape.size(); ++i) inner *= shape[i];
    const std::int64_t size = shape[pair], half = size / 2 + size % 2;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t outer = i / inner / size, along = i / inner % size;
      const std::int64_t call = (outer * half + along / 2) * inner + i % inner;
      const Words2 words = threefry(state[1] + static_cast<std::uint64_t>(call), state[0]);
      bits.values.push_back(words[along % 2 == 0 ? 0 : 1]);
    }
    calls = size == 0 ? 0 : static_cast<std::uint64_t>(count / size * half);
  }
  bits.state = {state[0], state[1] + calls};
  return bits;
}

// A state of three words is a key and a counter of 128 bits; with two words, the key is also the
// counter's upper half.
Bits philox_bits(std::int64_t count, int width, const std::vector<std::uint64_t>& state) {
  const std::uint64_t low = state[1], high = state.size() > 2 ? state[2] : state[0];
  const std::int64_t per_call = width == 64 ? 2 : 4;
  const auto calls = static_cast<std::uint64_t>((count + per_call - 1) / per_call);
  Bits bits;
  for (std::uint64_t call = 0; call < calls; ++call) {
    const Words4 x = philox(low + call, high + (low + call < low ? 1 : 0), state[0]);
    if (width == 64)
      bits.values.insert(bits.values.end(), {joined(x[0], x[1]), joined(x[2], x[3])});
    else
      bits.values.insert(bits.values.end(), x.begin(), x.end());
  }
  bits.values.resize(static_cast<std::size_t>(count));
  bits.state = {state[0], low + calls};
  if (state.size() > 2) bits.state.push_back(high + (low + calls < low ? 1 : 0));
  return bits;
}

}  // namespace

Verdict rng_bit_generator_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& state = operand_type(program, op, 0);
  const Type& output = result_type(program, op, 1);
  HEDDLE_TRY(auto algorithm,
             OpAttrs({program, op})
                 .word_or("rng_algorithm", "DEFAULT", {"DEFAULT", "THREE_FRY", "PHILOX"}));
  if (state.dtype != DType::ui64 || state.rank() != 1)
    return broken(op, "I2", "the state is {}, expected a vector of ui64", state.str());
  const std::int64_t words = state.shape[0];
  if (algorithm == "THREE_FRY" ? words != 2 : words != 2 && words != 3)
    return broken(op, "I2", "the state is {}, expected {} words for {}", state.str(),
                  algorithm == "THREE_FRY" ? "2" : "2 or 3", algorithm);
  if (result_type(program, op, 0) != state)
    return broken(op, "C1", "the output state is {}, but the initial one {}",
                  result_type(program, op, 0).str(), state.str());
  if (!is_integer(output.dtype) && !is_float(output.dtype))
    return broken(op, "O2", "the output is {}, expected integers or floats", output.str());
  return yes();
}

Expected<std::vector<Array>> evaluate_rng_bit_generator(EvalContext& ctx) {
  const Type& type = ctx.result_type(1);
  const auto state = widened<std::uint64_t>(ctx.operands[0]);
  const int width = bits(type.dtype);
  // DEFAULT is what XLA takes on processors and graphics cards.
  const bool use_threefry = word_or(ctx.attr("rng_algorithm"), "DEFAULT") == "THREE_FRY";
  const Bits made = use_threefry ? threefry_bits(type.shape, type.elements(), width, state)
                                 : philox_bits(type.elements(), width, state);
  Array output(type);
  // The lowest bits of each word: this machine stores them first.
  static_assert(std::endian::native == std::endian::little);
  const auto size = static_cast<std::size_t>(byte_size(type.dtype));
  const auto bytes = output.mutable_bytes();
  for (std::size_t i = 0; i < made.values.size(); ++i)
    std::memcpy(bytes.data() + i * size, &made.values[i], size);
  settle_elements(type.dtype, bytes);
  return std::vector<Array>{narrowed<std::uint64_t>(ctx.result_type(0), made.state),
                            std::move(output)};
}

Verdict rng_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& a = operand_type(program, op, 0);
  const Type& shape = operand_type(program, op, 2);
  const Type& result = result_type(program, op, 0);
  HEDDLE_TRY(auto kind, OpAttrs({program, op}).word("rng_distribution", {"UNIFORM", "NORMAL"}));
  if (a != Type::tensor(result.dtype, {}) || operand_type(program, op, 1) != a)
    return broken(op, "C1", "a is {} and b {}, expected {} for the result {}", a.str(),
                  operand_type(program, op, 1).str(), Type::tensor(result.dtype, {}).str(),
                  result.str());
  if (is_complex(result.dtype))
    return broken(op, "I1", "{}: expected booleans, integers or floats", result.str());
  if (kind == "NORMAL" && !is_float(result.dtype))
    return broken(op, "C2", "NORMAL gives {}, expected floats", result.str());
  if (!is_integer(shape.dtype) || shape.shape != Shape{static_cast<std::int64_t>(result.rank())})
    return broken(op, "C3", "the shape is {}, expected {} integers", shape.str(), result.rank());
  return yes();
}

namespace {

// The stream of one op: the same at every run and at every visit, for copies and on every device.
class Stream {
 public:
  explicit Stream(const EvalContext& ctx)
      : key_(static_cast<Word>(integer_or(ctx.attr(kStreamAttr), ctx.op.results))) {}
  std::uint64_t next() {
    const Words2 words = threefry(counter_++, key_);
    return joined(words[0], words[1]);
  }
  double unit() { return std::ldexp(static_cast<double>(next() >> 11), -53); }  // in [0, 1)

 private:
  std::uint64_t key_, counter_ = 0;
};

// In [a, b); a where the interval is empty.
template <typename T>
T uniform(Stream& stream, T a, T b) {
  if constexpr (FloatScalar<T>) {
    const auto low = static_cast<double>(a), high = static_cast<double>(b);
    const T value(static_cast<T>(low + (high - low) * stream.unit()));
    return static_cast<double>(value) < high ? value : a;  // rounding must not reach b
  } else {
    const auto low = convert_scalar<std::uint64_t>(a), high = convert_scalar<std::uint64_t>(b);
    const std::uint64_t draw = stream.next();
    return high == low ? a : convert_scalar<T>(low + draw % (high - low));
  }
}

double normal(Stream& stream, double mean, double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - stream.unit()));
  return mean + deviation * radius * std::cos(2 * std::numbers::pi * stream.unit());
}

}  // namespace

Expected<std::vector<Array>> evaluate_rng(EvalContext& ctx) {
  const Type& type = ctx.result_type();
  HEDDLE_TRY(auto shape, integer_values(ctx.operands[2]));
  if (shape != type.shape)
    return broken(ctx.op, "C3", "the shape is {}, but the result {}", list_text(shape), type.str());
  Stream stream(ctx);
  Array result(type);
  const bool is_normal = word_or(ctx.attr("rng_distribution"), "UNIFORM") == "NORMAL";
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!ComplexScalar<T>) {
      const T a = read_element<T>(ctx.operands[0], 0), b = read_element<T>(ctx.operands[1], 0);
      for (T& x : result.as_mutable<T>())
        x = is_normal ? convert_scalar<T>(
                            normal(stream, convert_scalar<double>(a), convert_scalar<double>(b)))
                      : uniform<T>(stream, a, b);
    }
  });
  return std::vector<Array>{std::move(result)};
}

}  // namespace heddle
