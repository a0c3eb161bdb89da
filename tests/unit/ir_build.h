// Small programs for tests: a builder that can run what it built.
#pragma once

#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/eval/scalar.h"

namespace heddle {

// Its ops stand in test.mlir, one per line.
class TestProgram : public Builder {
 public:
  TestProgram() { program.file = "test.mlir"; }

  std::vector<ValueId> add(RegionId at, std::string_view name, const std::vector<ValueId>& operands,
                           const std::vector<Type>& results = {}, AttrDict attrs = {},
                           const std::vector<RegionId>& regions = {}) {
    next_line();
    return Builder::add(at, name, operands, results, std::move(attrs), regions);
  }
  void end(RegionId body, const std::vector<ValueId>& results = {}) {
    next_line();
    Builder::end(body, results);
  }
  ValueId constant(RegionId at, Array value) {
    next_line();
    return Builder::constant(at, std::move(value));
  }

  // (a, b) -> a + b of scalars.
  RegionId adder(const Type& scalar) {
    return region({scalar, scalar}, [](const Vars& in) -> Vars { return {in[0] + in[1]}; });
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
  void next_line() { at(Location{++line_, 3, ""}); }

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
