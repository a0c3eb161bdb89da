// Builder: writes a Program op by op.
//
//   Builder b("mlp");
//   const Type x = Type::tensor(DType::f32, {8, 4}), w = Type::tensor(DType::f32, {4, 2});
//   b.function("main", {x, w}, [&](const Vars& in) -> Vars {
//     const Var y = b.dot(in[0], in[1]);
//     return {b.op("maximum", {y, b.full_like(y, 0)})};
//   });
//   Expected<Program> program = b.finish();
//
// Nothing throws on the way. The first mistake is kept, what depends on it is left out, and
// finish() gives it back in the words of the verifier.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/program.h"

namespace heddle {

class Builder;

// A value of the program that a builder writes. + - * / and a number beside them add ops.
class Var {
 public:
  Var() = default;  // none: what a mistake gives
  Var(Builder& builder, ValueId id) : builder_(&builder), id_(id) {}
  bool none() const { return id_ == kNone; }
  ValueId id() const { return id_; }
  Type type() const;  // tensor<f32> where there is none
  Builder* builder() const { return builder_; }

 private:
  Builder* builder_ = nullptr;
  ValueId id_ = kNone;
};
using Vars = std::vector<Var>;

// Operands: {a, b}, or values that a vector holds. Lives as long as the call that it is passed to.
class Operands {
 public:
  Operands(std::initializer_list<Var> list) : values_(list.begin(), list.size()) {}
  Operands(const Vars& list) : values_(list) {}
  std::span<const Var> values() const { return values_; }

 private:
  std::span<const Var> values_;
};

Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator*(Var a, Var b);
Var operator/(Var a, Var b);
Var operator-(Var a);
Var operator+(Var a, double b);
Var operator-(Var a, double b);
Var operator*(Var a, double b);
Var operator/(Var a, double b);
Var operator+(double a, Var b);
Var operator-(double a, Var b);
Var operator*(double a, Var b);
Var operator/(double a, Var b);

// Dimensions that a matrix product pairs: batch stays, sum is summed over.
struct DotDims {
  std::vector<std::int64_t> lhs_batch, rhs_batch, lhs_sum, rhs_sum;
};

class Builder {
 public:
  using Body = std::function<Vars(const Vars&)>;
  using Dims = std::vector<std::int64_t>;

  explicit Builder(std::string module_name = "") { program.name = std::move(module_name); }

  // What is there so far, unchecked.
  Program program;

  // The program, verified, or the first mistake. The builder is empty afterwards.
  Expected<Program> finish();
  // The same as it is, for passes whose result is verified when the last of them is done.
  Expected<Program> unverified();
  bool failed() const { return mistake_.has_value(); }

  // ---- functions and places
  // A function whose body gives its results.
  void function(std::string name, const std::vector<Type>& arguments, const Body& body,
                bool is_private = false);
  // Ops from here on come from this place, as in "model.py:57"; line 0 is unknown.
  void at(Location location);
  void at(LocId location) { loc_ = location; }
  // Runs `write` with its ops going to the end of a region.
  void inside(RegionId region, const std::function<void()>& write);
  // The region that ops go to; kNone outside functions.
  RegionId here() const { return here_; }

  // ---- any op, by its name; without a dialect it is stablehlo's
  // The op's only result, of a type that follows from the operands: the type rule of its row
  // decides. Where it does not follow (convert, reshape, …) the type must be given.
  Var op(std::string_view name, Operands operands, AttrDict attrs = {});
  Var op(std::string_view name, Operands operands, const Type& result, AttrDict attrs = {});
  // The same for a row that is at hand: recording finds it once.
  Var op(const OpDef& def, Operands operands, AttrDict attrs = {});
  // All results, of types that follow.
  Vars inferred(std::string_view name, const Vars& operands, AttrDict attrs = {},
                const std::vector<RegionId>& regions = {});
  Vars ops(std::string_view name, const Vars& operands, const std::vector<Type>& results,
           AttrDict attrs = {}, const std::vector<RegionId>& regions = {});
  // A region for ops(): arguments, ops, and stablehlo.return of what `body` gives.
  RegionId region(const std::vector<Type>& arguments, const Body& body);

  // ---- the common ones
  Var constant(Array value);
  Var full(const Type& type, double value);  // rounded to the element type
  Var full_like(Var model, double value) { return full(model.type(), value); }
  Var iota(const Type& type, std::int64_t dimension);
  Var convert(Var x, DType dtype);
  Var bitcast(Var x, DType dtype);  // of the same width
  Var reshape(Var x, Shape shape);
  // Dimension i of x becomes dimension dims[i] of the result.
  Var broadcast(Var x, Shape shape, Dims dims);
  // Over all dimensions of a scalar.
  Var broadcast(Var scalar, Shape shape) { return broadcast(scalar, std::move(shape), {}); }
  Var transpose(Var x, Dims permutation);
  Var slice(Var x, Dims start, Dims limit, Dims strides = {});
  Var concatenate(const Vars& parts, std::int64_t dimension);
  // direction: EQ, NE, GE, GT, LE, LT; order: empty, or FLOAT, TOTALORDER, SIGNED, UNSIGNED.
  Var compare(std::string_view direction, Var x, Var y, std::string_view order = "");
  Var select(Var condition, Var yes, Var no) { return op("select", {condition, yes, no}); }
  // combiner: add, multiply, maximum, minimum, and, or; begins with what changes nothing.
  Var reduce(Var x, Dims dims, std::string_view combiner);
  Var dot(Var x, Var y, const DotDims& dims, std::optional<DType> result = {}, AttrDict more = {});
  // The last dimension of x with the first of y.
  Var dot(Var x, Var y);
  Vars while_loop(const Vars& start, const std::function<Var(const Vars&)>& go_on,
                  const Body& body);
  Vars if_else(Var condition, const std::function<Vars()>& yes, const std::function<Vars()>& no);
  // A function that is written already.
  Vars call(std::string_view function, const Vars& arguments);

  // ---- by number, for passes and tests that keep their own places
  // A function that is complete once `end` has given its results.
  RegionId begin(std::string name, const std::vector<Type>& arguments = {});
  void end(RegionId body, const std::vector<ValueId>& results = {});
  RegionId region(const std::vector<Type>& arguments = {});
  ValueId arg(RegionId region, std::size_t i) const { return program.region(region).args[i]; }
  // Adds what it is told; only verify() will say whether it makes sense.
  std::vector<ValueId> add(RegionId at, std::string_view name, const std::vector<ValueId>& operands,
                           const std::vector<Type>& results = {}, AttrDict attrs = {},
                           const std::vector<RegionId>& regions = {});
  ValueId constant(RegionId at, Array value);

 private:
  void mistake(std::string_view op, std::string_view text);
  const OpDef* row(std::string_view name);
  bool usable(std::string_view op, std::span<const Var> operands);
  // The op with types that follow; none after a mistake.
  std::optional<OpId> infer(const OpDef& def, std::span<const Var> operands, AttrDict attrs,
                            std::span<const RegionId> regions);
  Vars args_of(RegionId region);
  static std::vector<ValueId> ids(const Vars& values);

  RegionId here_ = kNone;
  LocId loc_ = 0;
  std::vector<ValueId> ids_;  // of the operands at hand
  std::optional<Reason> mistake_;
};

}  // namespace heddle
