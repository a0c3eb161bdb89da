// The generators of eval_rng.cpp, computed at every element from its own counter, so that kernels
// need no memory for random bits. Neighbours that share a call of a generator each make it.
#include "ir/lower/random.h"

#include "ir/attr_access.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// Words of 32 bits, of a shape.
class Words {
 public:
  Words(Builder& builder, Shape shape) : b_(builder), shape_(std::move(shape)) {}

  Var number(std::uint32_t value) const { return b_.full(type(), value); }
  Var spread(Var scalar) const { return shape_.empty() ? scalar : b_.broadcast(scalar, shape_); }
  Type type(DType dtype = DType::ui32) const { return Type::tensor(dtype, shape_); }
  Var low(Var wide) const { return b_.convert(wide, DType::ui32); }
  Var high(Var wide) const {
    return low(b_.op("shift_right_logical", {wide, b_.full_like(wide, 32)}));
  }
  Var joined(Var low, Var high) const {
    const Var upper = b_.convert(high, DType::ui64);
    return b_.op("or", {b_.convert(low, DType::ui64),
                        b_.op("shift_left", {upper, b_.full_like(upper, 32)})});
  }
  Var mixed(Var x, Var y) const { return b_.op("xor", {x, y}); }
  Var turned(Var x, std::uint32_t by) const {
    return b_.op("or", {b_.op("shift_left", {x, number(by)}),
                        b_.op("shift_right_logical", {x, number(32 - by)})});
  }
  // 1 where a sum has become smaller than what was added.
  Var carry(Var sum, Var added) const {
    return b_.convert(b_.compare("LT", sum, added), DType::ui32);
  }
  Var counted(std::size_t dim) const { return b_.iota(type(), static_cast<std::int64_t>(dim)); }

 private:
  Builder& b_;
  Shape shape_;
};

struct Pair {
  Var low, high;
};

Var state_word(Builder& b, Var state, std::int64_t i) {
  return b.reshape(b.slice(state, {i}, {i + 1}), {});
}

Pair threefry(const Words& w, Pair counter, Pair key) {
  constexpr std::uint32_t kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const Var keys[3] = {key.low, key.high,
                       w.mixed(w.mixed(key.low, key.high), w.number(0x1BD11BDAu))};
  Var x = counter.low + keys[0], y = counter.high + keys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      x = x + y;
      y = w.mixed(w.turned(y, kRotations[group % 2 * 4 + i]), x);
    }
    x = x + keys[(group + 1) % 3];
    y = y + keys[(group + 2) % 3] + w.number(group + 1);
  }
  return {x, y};
}

struct Drawn {
  Var bits;  // ui32 or ui64
  std::int64_t calls = 0;
};

Drawn threefry_bits(Builder& b, const Type& type, Var state) {
  const Words w(b, type.shape);
  const bool wide = bits(type.dtype) == 64, pairs = !wide && type.rank() > 0;
  const std::size_t pair = pairs ? paired_dimension(type.shape) : 0;
  Var call = w.number(0);
  std::int64_t step = 1;
  for (std::size_t d = type.rank(); d-- > 0;) {
    const bool halved = pairs && d == pair;
    Var along = w.counted(d);
    if (halved) along = b.op("shift_right_logical", {along, w.number(1)});
    call = call + along * w.number(static_cast<std::uint32_t>(step));
    step *= halved ? (type.shape[d] + 1) / 2 : type.shape[d];
  }
  const Var key = state_word(b, state, 0), first = state_word(b, state, 1);
  const Var low = w.spread(Words(b, {}).low(first)) + call;
  const Var high = w.spread(Words(b, {}).high(first)) + w.carry(low, call);
  const Pair x =
      threefry(w, {low, high}, {w.spread(Words(b, {}).low(key)), w.spread(Words(b, {}).high(key))});
  if (wide) return {w.joined(x.low, x.high), step};
  if (!pairs) return {x.low, step};
  const Var odd = b.op("and", {w.counted(pair), w.number(1)});
  return {b.select(b.compare("EQ", odd, w.number(0)), x.low, x.high), step};
}

// Over a line of all elements, in words of 64 bits that hold 32: products come whole. A state of
// two words has its key in the counter's upper half as well.
class Philox {
 public:
  Philox(Builder& builder, const Type& type)
      : b_(builder), type_(type), wide_(bits(type.dtype) == 64) {}

  Drawn draw(Var state) {
    const double shift = wide_ ? 1 : 2, each = wide_ ? 2 : 4;
    const Var at = b_.iota(Type::tensor(DType::ui64, {type_.elements()}), 0);
    const Var call = upper(at, shift), which = b_.op("and", {at, b_.full_like(at, each - 1)});
    const Var key = state_word(b_, state, 0);
    const Var high = state.type().shape[0] > 2 ? state_word(b_, state, 2) : key;
    const Var counter = spread(state_word(b_, state, 1)) + call;
    const Var carry = b_.convert(b_.compare("LT", counter, call), DType::ui64);
    const Var over = spread(high) + carry;
    Var x[4] = {low(counter), upper(counter, 32), low(over), upper(over, 32)};
    for (int round = 0; round < 10; ++round) {
      const Var a = x[0] * b_.full_like(x[0], 0xD2511F53);
      const Var c = x[2] * b_.full_like(x[2], 0xCD9E8D57);
      const Var first = mixed(mixed(upper(c, 32), x[1]), key_of(low(key), round * 0x9E3779B9LL));
      const Var third =
          mixed(mixed(upper(a, 32), x[3]), key_of(upper(key, 32), round * 0xBB67AE85LL));
      x[1] = low(c);
      x[3] = low(a);
      x[0] = first;
      x[2] = third;
    }
    auto pick = [&](double i, Var yes, Var no) {
      return b_.select(b_.compare("EQ", which, b_.full_like(which, i)), yes, no);
    };
    const Var drawn = wide_ ? pick(0, joined(x[0], x[1]), joined(x[2], x[3]))
                            : pick(0, x[0], pick(1, x[1], pick(2, x[2], x[3])));
    const auto all = type_.elements(), per_call = static_cast<std::int64_t>(each);
    return {b_.reshape(drawn, type_.shape), (all + per_call - 1) / per_call};
  }

 private:
  Var spread(Var scalar) { return b_.broadcast(scalar, {type_.elements()}); }
  Var low(Var x) { return b_.op("and", {x, b_.full_like(x, 4294967295.0)}); }
  Var upper(Var x, double by) { return b_.op("shift_right_logical", {x, b_.full_like(x, by)}); }
  Var mixed(Var x, Var y) { return b_.op("xor", {x, y}); }
  Var joined(Var lower, Var higher) {
    return b_.op("or", {lower, b_.op("shift_left", {higher, b_.full_like(higher, 32)})});
  }
  // The half of the key after some rounds.
  Var key_of(Var half, long long grown) {
    return spread(low(half + b_.full_like(half, static_cast<double>(grown & 0xFFFFFFFFLL))));
  }

  Builder& b_;
  const Type& type_;
  const bool wide_;
};

Var next_state(Builder& b, Var state, std::int64_t calls) {
  const Type word = Type::tensor(DType::ui64, {1});
  Vars words;
  for (std::int64_t i = 0; i < state.type().shape[0]; ++i)
    words.push_back(b.slice(state, {i}, {i + 1}));
  const Var count = b.full(word, static_cast<double>(calls));
  words[1] = words[1] + count;
  if (words.size() > 2)
    words[2] = words[2] + b.convert(b.compare("LT", words[1], count), DType::ui64);
  return b.concatenate(words, 0);
}

DType unsigned_of(int width) {
  return width == 8    ? DType::ui8
         : width == 16 ? DType::ui16
         : width == 32 ? DType::ui32
                       : DType::ui64;
}

}  // namespace

std::size_t paired_dimension(const Shape& shape) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % 2 == 0) return i;
    if (shape[i] > shape[longest]) longest = i;
  }
  return longest;
}

Expected<bool> lower_random_bits(Rewriter& r, const Op& op) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // counts fit in a word
  Builder& b = r.to;
  const Type type = r.from.type_of(r.from.result(op, 1));
  const int width = bits(type.dtype);
  const bool fits = width == 8 || width == 16 || width == 32 || width == 64;
  if (!fits || type.elements() == 0 || type.elements() > kMost) return false;
  const Var state = r.operands(op)[0];
  const bool use_threefry = word_or(r.from.attr(op, "rng_algorithm"), "DEFAULT") == "THREE_FRY";
  Drawn drawn = use_threefry ? threefry_bits(b, type, state) : Philox(b, type).draw(state);
  const DType whole = unsigned_of(width);
  if (drawn.bits.type().dtype != whole) drawn.bits = b.convert(drawn.bits, whole);
  if (type.dtype != whole) drawn.bits = b.bitcast(drawn.bits, type.dtype);
  r.define_results(op, {next_state(b, state, drawn.calls), drawn.bits});
  return true;
}

}  // namespace heddle
