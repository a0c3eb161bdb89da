// Builds small programs in tests, op by op.
#pragma once

#include <gtest/gtest.h>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/scalar.h"

namespace heddle {

class Builder {
 public:
  Program program;

  Builder() { program.file = "test.mlir"; }

  // A function that is complete once `end` has given its results.
  RegionId begin(std::string name, const std::vector<Type>& arguments = {}) {
    Function f;
    f.name = std::move(name);
    f.body = program.add_region();
    f.arg_attrs.resize(arguments.size());
    for (const Type& t : arguments) program.add_arg(f.body, program.intern(t));
    program.functions.push_back(std::move(f));
    return program.functions.back().body;
  }
  void end(RegionId body, const std::vector<ValueId>& results = {}) {
    for (Function& f : program.functions)
      if (f.body == body) {
        for (ValueId v : results) f.results.push_back(program.value(v).type);
        f.result_attrs.resize(results.size());
      }
    add(body, "func.return", results);
  }

  // Gives the results.
  std::vector<ValueId> add(RegionId at, std::string_view name, const std::vector<ValueId>& operands,
                           const std::vector<Type>& results = {}, AttrDict attrs = {},
                           const std::vector<RegionId>& regions = {}) {
    std::vector<TypeId> types;
    for (const Type& t : results) types.push_back(program.intern(t));
    const LocId loc = program.add_location({++line_, 3, ""});
    const OpId id =
        program.add_op(at, *find_op(name), operands, types, std::move(attrs), regions, loc);
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < results.size(); ++i)
      values.push_back(program.result(program.op(id), i));
    return values;
  }
  ValueId constant(RegionId at, Array value) {
    const Type type = value.type();
    return add(at, "stablehlo.constant", {}, {type}, {{"value", Attr{std::move(value)}}})[0];
  }
  RegionId region(const std::vector<Type>& arguments = {}) {
    const RegionId id = program.add_region();
    for (const Type& t : arguments) program.add_arg(id, program.intern(t));
    return id;
  }
  ValueId arg(RegionId region, std::size_t i) const { return program.region(region).args[i]; }

  // (a, b) -> a + b of scalars.
  RegionId adder(const Type& scalar) {
    const RegionId body = region({scalar, scalar});
    add(body, "stablehlo.return",
        add(body, "stablehlo.add", {arg(body, 0), arg(body, 1)}, {scalar}));
    return body;
  }

  Expected<std::vector<Array>> run(std::string_view function, std::vector<Array> arguments = {},
                                   const InterpretOptions& options = {}) const {
    return interpret(program, *program.find_function(function), std::move(arguments), options);
  }
  // Why it does not run; empty where it does.
  std::string why(std::string_view function, std::vector<Array> arguments = {},
                  const InterpretOptions& options = {}) const {
    auto got = run(function, std::move(arguments), options);
    return got ? "" : got.reason();
  }

 private:
  std::uint32_t line_ = 0;
};

inline Type f32(Shape shape = {}) { return Type::tensor(DType::f32, std::move(shape)); }
inline Type i32(Shape shape = {}) { return Type::tensor(DType::i32, std::move(shape)); }
inline Type i1() { return Type::tensor(DType::i1, {}); }
inline Attr symbol(std::string name) { return Attr{Attr::Symbol{std::move(name)}}; }
inline Array ints32(Shape shape, const std::vector<std::int32_t>& values) {
  return make_array<std::int32_t>(std::move(shape), values);
}
inline Array floats32(Shape shape, const std::vector<float>& values) {
  return make_array<float>(std::move(shape), values);
}

}  // namespace heddle
