// Random programs: reductions, windows, products, regions; and the whole.
#pragma once

#include "heddle/interpreter.h"
#include "random_lines.h"

namespace heddle::property {

struct RandomProgramResult {
  Program program;
  std::vector<Array> arguments;
  std::vector<double> errors;  // per result: how far two right evaluations may be apart
};

struct RandomProgramOptions {
  std::int64_t most_ops = 40;
  std::int64_t most_elements = 120;
  bool lines = false;        // every other op sorts, scans or slides
  bool rounds_late = false;  // on a device that does so with f16 and bf16
};

class RandomProgram : public RandomLines {
 public:
  RandomProgram(Decisions decisions, const RandomProgramOptions& options)
      : RandomLines(std::move(decisions), options.most_elements), options_(options) {
    rounds_late_ = options.rounds_late;
  }

  Expected<RandomProgramResult> make() {
    std::vector<Type> types;
    for (std::int64_t n = d_.between(1, 4); n > 0; --n)
      types.push_back(Type::tensor(any_dtype(), any_shape()));
    RandomProgramResult made;
    fill_seed_ = static_cast<std::uint64_t>(d_.below(1000)) * 7919 + 11;
    for (const Type& type : types) made.arguments.push_back(argument(type));
    const std::int64_t steps =
        1 + d_.below(d_.one_in(4) ? options_.most_ops : options_.most_ops / 3 + 1);
    b_.function("main", types, [&](const Vars& in) -> Vars {
      for (std::size_t i = 0; i < in.size(); ++i) keep({in[i], argument_bound(types[i].dtype), 0});
      for (std::int64_t s = 0; s < steps && !b_.failed(); ++s) add_step();
      Vars results;
      const auto n = static_cast<std::int64_t>(held_.size());
      for (std::int64_t k = d_.between(1, 4); k > 0; --k) {
        const Held& held = held_[at(std::max<std::int64_t>(n - k - (k > 2 ? d_.below(4) : 0), 0))];
        results.push_back(held.var);
        made.errors.push_back(held.error);
      }
      return results;
    });
    HEDDLE_TRY(made.program, b_.finish());
    return made;
  }

 private:
  static double argument_bound(DType type) {
    if (type == DType::i1) return 1;
    return is_integer(type) ? most(type) : 4;
  }
  // Eighths for floats; small integers, and now and then any bits.
  Array argument(const Type& type) {
    Array array(type);
    return dispatch(type.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      std::vector<T> values;
      for (std::int64_t i = 0; i < type.elements(); ++i) {
        fill_seed_ = fill_seed_ * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto roll = static_cast<std::int64_t>(fill_seed_ >> 40);
        if constexpr (IntScalar<T>) {
          if (roll % 16 == 0) {
            values.push_back(convert_scalar<T>(static_cast<std::int64_t>(fill_seed_)));
            continue;
          }
        }
        if (is_integer(type.dtype))
          values.push_back(convert_scalar<T>(roll % 9 - (is_signed(type.dtype) ? 3 : 0)));
        else
          values.push_back(convert_scalar<T>(static_cast<double>(roll % 64 - 32) / 8));
      }
      return make_array<T>(type, values);
    });
  }

  void add_step() {
    if (options_.lines && d_.one_in(2)) return add_line_op();
    switch (d_.below(36)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return add_binary();
      case 5:
      case 6:
      case 7:
      case 8:
        return add_unary();
      case 9:
        return add_compare();
      case 10:
        return add_select();
      case 11:
        return add_clamp();
      case 12:
        return add_convert();
      case 13:
        return add_bitcast();
      case 14:
        return d_.one_in(3) ? add_complex() : add_binary();
      case 15:
        return add_broadcast();
      case 16:
        return add_reshape();
      case 17:
        return add_transpose();
      case 18:
        return add_slice();
      case 19:
        return add_pad();
      case 20:
        return add_concatenate();
      case 21:
        return add_reverse();
      case 22:
        return add_gather();
      case 23:
        return add_scatter();
      case 24:
        return add_dynamic_slice();
      case 25:
        return add_dynamic_update();
      case 26:
        return add_sort();
      case 27:
      case 28:
        return add_reduce();
      case 29:
        return add_largest_place();
      case 30:
        return d_.one_in(2) ? add_softmax() : add_normalized();
      case 31:
        return d_.one_in(2) ? add_scan() : add_window();
      case 32:
        return add_dot();
      case 33:
        return add_convolution();
      case 34:
        return add_near();
      default:
        return d_.one_in(2) ? add_while() : add_if();
    }
  }

  void add_near() {
    switch (d_.below(3)) {
      case 0:
        return add_roll();
      case 1:
        return add_border();
      default:
        return add_stencil();
    }
  }

  // ---- reductions
  Dims any_dims(const Held& x) {
    Dims dims;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.shape().size()); ++i)
      if (d_.one_in(2)) dims.push_back(i);
    if (dims.empty()) dims.push_back(any_dim(x));
    return dims;
  }
  static std::int64_t count_of(const Held& x, const Dims& dims) {
    std::int64_t n = 1;
    for (std::int64_t dim : dims) n *= x.shape()[at(dim)];
    return n;
  }
  // Over nothing a maximum is infinite, and no value of a tame program.
  bool may_reduce(const Held& x, const Dims& dims, std::string_view combiner) const {
    return !is_real(x.dtype()) || combiner == "add" || count_of(x, dims) > 0;
  }
  void add_reduce() {
    const Held x = any_with_dims();
    if (!has_dims(x) || !computes(x.dtype())) return;
    const Dims dims = any_dims(x);
    const std::string_view combiner = any_combiner(x.dtype());
    if (!may_reduce(x, dims, combiner)) return;
    keep_if_tame(combined(x, b_.reduce(x.var, dims, combiner), combiner, count_of(x, dims)));
    // Another one over the same elements, or over others of them.
    if (!d_.one_in(3)) return;
    const Dims others = d_.one_in(2) ? dims : any_dims(x);
    if (!may_reduce(x, others, "minimum")) return;
    const std::string_view word = x.dtype() == DType::i1 ? "or" : "minimum";
    keep_if_tame(combined(x, b_.reduce(x.var, others, word), word, count_of(x, others)));
  }

  // The largest element and where it stands, in one reduction.
  void add_largest_place() {
    const Held x = any_of(
        [](const Held& h) {
          return h.exact() && has_dims(h) && (is_real(h.dtype()) || is_integer(h.dtype()));
        },
        DType::f32);
    if (!has_dims(x) || !x.exact() || !is_number(x.dtype())) return;
    const std::int64_t dim = any_dim(x);
    if (x.shape()[at(dim)] == 0) return;
    const DType type = x.dtype();
    const Type value = Type::tensor(type, {}), place = Type::tensor(DType::i32, {});
    const RegionId body = b_.region({value, place, value, place}, [&](const Vars& in) -> Vars {
      const Var larger = b_.compare("GT", in[0], in[2]);
      const Var first =
          b_.op("and", {b_.compare("EQ", in[0], in[2]), b_.compare("LT", in[1], in[3])});
      const Var keep_it = b_.op("or", {larger, first});
      return {b_.select(keep_it, in[0], in[2]), b_.select(keep_it, in[1], in[3])};
    });
    Shape shape = x.shape();
    shape.erase(shape.begin() + dim);
    const double least = is_signed(type) || is_float(type) ? -std::min(most(type), 1e6) : 0;
    const Vars out = b_.ops("reduce",
                            {x.var, b_.iota(Type::tensor(DType::i32, x.shape()), dim),
                             b_.full(value, least), b_.full(place, 1 << 30)},
                            {Type::tensor(type, shape), Type::tensor(DType::i32, shape)},
                            {{"dimensions", {Dims{dim}}}}, {body});
    keep_if_tame({out[0], std::max(x.bound, std::abs(least)), 0});
    keep_if_tame({out[1], most(DType::i32), 0});
  }

  Held spread(const Held& row, const Held& over, std::int64_t dim) {
    Dims dims;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(over.shape().size()); ++i)
      if (i != dim) dims.push_back(i);
    return {b_.broadcast(row.var, over.shape(), dims), row.bound, row.error};
  }
  void add_softmax() {
    const Held x =
        any_of([](const Held& h) { return has_dims(h) && is_real(h.dtype()); }, DType::f32);
    if (!has_dims(x) || !is_real(x.dtype())) return;
    const std::int64_t dim = any_dim(x), n = x.shape()[at(dim)];
    if (n == 0) return;
    const Held top = spread({b_.reduce(x.var, {dim}, "maximum"), x.bound, x.error}, x, dim);
    const Var power = b_.op("exponential", {x.var - top.var});
    const Held sum = spread({b_.reduce(power, {dim}, "add"), static_cast<double>(n), 0}, x, dim);
    const double eps = epsilon(x.dtype()), count = static_cast<double>(n);
    // Shares lie between 0 and 1; the largest power is 1, so the sum is no smaller.
    const double power_error = 2 * x.error + (4 + 2 * x.bound) * eps;
    const Held share{power / sum.var, 1, power_error * (1 + count) + (count * count + 4) * eps};
    keep_if_tame(share);
    if (d_.one_in(2)) keep_if_tame({sum.var, count, count * power_error + count * count * eps});
  }
  void add_normalized() {
    const Held x =
        any_of([](const Held& h) { return has_dims(h) && is_real(h.dtype()); }, DType::f32);
    if (!has_dims(x) || !is_real(x.dtype())) return;
    const std::int64_t dim = any_dim(x), n = x.shape()[at(dim)];
    if (n == 0 || x.bound > 40) return;
    const double eps = epsilon(x.dtype()), count = static_cast<double>(n);
    const Held mean = spread({b_.reduce(x.var, {dim}, "add") / count, x.bound, 0}, x, dim);
    const double mean_error = x.error + (count + 2) * eps * x.bound;
    const Var apart = x.var - mean.var;
    const double apart_error = x.error + mean_error + 2 * eps * x.bound, reach = 2 * x.bound;
    const Held square =
        spread({b_.reduce(apart * apart, {dim}, "add") / count, reach * reach, 0}, x, dim);
    const double square_error = 2 * reach * apart_error + (count + 4) * eps * reach * reach;
    const Var scale = b_.op("rsqrt", {square.var + 1.0});
    // The slope of rsqrt from 1 on is at most a half.
    const double scale_error = 0.5 * (square_error + eps * (reach * reach + 1)) + 4 * eps;
    keep_if_tame({apart * scale, reach, apart_error + reach * scale_error + eps * reach});
  }

  // ---- products
  void add_dot() {
    const Held x = any_of(
        [](const Held& h) { return has_dims(h) && (is_real(h.dtype()) || is_integer(h.dtype())); },
        DType::f32);
    if (!has_dims(x) || !is_number(x.dtype()) || (is_float(x.dtype()) && !is_real(x.dtype())))
      return;
    const auto rank = static_cast<std::int64_t>(x.shape().size());
    const std::int64_t sum = any_dim(x), batch = rank > 1 && d_.one_in(3) ? (sum + 1) % rank : -1;
    Shape other;
    DotDims dims;
    if (batch >= 0) {
      other.push_back(x.shape()[at(batch)]);
      dims.lhs_batch = {batch};
      dims.rhs_batch = {0};
    }
    const bool sum_first = d_.one_in(2);
    const std::int64_t columns = d_.between(1, 4);
    const auto place = static_cast<std::int64_t>(other.size()) + (sum_first ? 0 : 1);
    other.push_back(sum_first ? x.shape()[at(sum)] : columns);
    other.push_back(sum_first ? columns : x.shape()[at(sum)]);
    dims.lhs_sum = {sum};
    dims.rhs_sum = {place};
    const Held y = cast(fitted(any(), other), x.dtype());
    if (x.type().elements() * columns > 4 * most_elements_) return;
    const Var out = b_.dot(x.var, y.var, dims);
    if (is_integer(x.dtype())) return keep_if_tame({out, most(x.dtype()), 0});
    const auto n = static_cast<double>(std::max<std::int64_t>(x.shape()[at(sum)], 1));
    const double bound = n * x.bound * y.bound;
    keep_if_tame({out, bound,
                  n * (x.error * y.bound + y.error * x.bound + x.error * y.error) +
                      (n + 2) * epsilon(x.dtype()) * bound});
  }

  // ---- regions
  // A few rounds over a counter and a value that stays in its bounds.
  void add_while() {
    const Held x = any_of([](const Held& h) { return is_real(h.dtype()) || is_integer(h.dtype()); },
                          DType::f32);
    if (!is_real(x.dtype()) && !is_integer(x.dtype())) return;
    const auto rounds = static_cast<double>(d_.between(0, 4));
    const Type counter = Type::tensor(DType::i32, {});
    const Held other = like(any(), x);
    const bool real = is_real(x.dtype());
    const Vars out = b_.while_loop(
        {b_.full(counter, 0), x.var},
        [&](const Vars& in) { return b_.compare("LT", in[0], b_.full(counter, rounds)); },
        [&](const Vars& in) -> Vars {
          const Var next = real ? in[1] * 0.5 + other.var * 0.5 : in[1] + other.var;
          return {in[0] + 1.0, next};
        });
    const double bound = std::max(x.bound, other.bound);
    const bool exact = x.exact() && other.exact();
    const double error =
        exact ? 0 : std::max(x.error, other.error) + 3 * rounds * epsilon(x.dtype()) * bound;
    keep_if_tame({out[1], real ? bound : most(x.dtype()), error});
    if (d_.one_in(3)) keep_if_tame({out[0], rounds, 0});
  }
  void add_if() {
    const Held x = any(), y = like(any(), x);
    if (is_complex(x.dtype())) return;
    const Held which = condition({});
    const Vars out = b_.if_else(
        which.var, [&]() -> Vars { return {x.var}; },
        [&]() -> Vars {
          return {is_real(x.dtype()) || is_integer(x.dtype()) ? b_.op("maximum", {x.var, y.var})
                                                              : y.var};
        });
    keep_if_tame({out[0], std::max(x.bound, y.bound), std::max(x.error, y.error)});
  }

  RandomProgramOptions options_;
  std::uint64_t fill_seed_ = 0;
};

// ---- comparison

// Whether results agree with the reference; what differs first, in words.
inline Verdict agree(const std::vector<Array>& reference, const std::vector<Array>& got,
                     const std::vector<double>& errors) {
  if (reference.size() != got.size())
    return reason("{} results, but {} are due", got.size(), reference.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    const Array &want = reference[r], &have = got[r];
    if (want.type() != have.type())
      return reason("result {} is {}, but {} is due", r, have.type().str(), want.type().str());
    if (want == have) continue;
    for (std::int64_t i = 0; i < want.elements(); ++i) {
      if (std::ranges::equal(want.element(i), have.element(i))) continue;
      const double a = to_double(want, i), b = to_double(have, i);
      if (std::isnan(a) && std::isnan(b)) continue;
      // Twice what was counted, for two evaluations that both may err.
      const bool close = is_real(want.dtype()) && std::abs(a - b) <= 2 * errors[r];
      if (close) continue;
      return reason("result {} element {}: {} where {} is due; they may differ by {}", r, i,
                    element_text(have, i), element_text(want, i), 2 * errors[r]);
    }
  }
  return yes();
}

}  // namespace heddle::property
