// Compiles programs of tests and holds their results against the interpreter's.
#pragma once

#include <gtest/gtest.h>

#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "ir/eval/check.h"
#include "ir/eval/scalar.h"

namespace heddle {

inline Program read(const std::string& text) { return read_stablehlo(text, "test.mlir").value(); }

// Small whole numbers, half of them negative, so that sums are exact.
inline Array small_numbers(const Type& type, std::uint64_t seed = 1) {
  Array array(type);
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& x : array.template as_mutable<T>()) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const auto n = static_cast<std::int32_t>((seed >> 40) % 15) - 7;
      x = convert_scalar<T>(n);
    }
  });
  return array;
}

inline std::vector<Array> arguments_for(const Program& program) {
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.find_function("main")->body).args)
    arguments.push_back(small_numbers(program.type_of(v), arguments.size() + 1));
  return arguments;
}

// Plans for one kind of machine, so that they can be looked at on every other.
inline Executable compiled(const Program& program, CompileOptions options = {}) {
  if (!options.machine) options.machine = MachineFigures{};
  return compile(program, options).value();
}

// Results in f32, of the order of one.
inline void expect_close(const std::vector<Array>& wanted, const std::vector<Array>& got,
                         const std::string& what) {
  ASSERT_EQ(wanted.size(), got.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::size_t k = 0; k < wanted[i].as<float>().size(); ++k)
      ASSERT_NEAR(wanted[i].as<float>()[k], got[i].as<float>()[k], 1e-4)
          << what << ", result " << i;
}

// Runs it compiled, twice, and interpreted. Floats may differ by so many units in the last place.
inline void expect_same(const Program& program, const std::vector<Array>& arguments,
                        CompileOptions options = {}, std::uint64_t ulps = 0) {
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  const Executable executable = compiled(program, std::move(options));
  for (int turn = 0; turn < 2; ++turn) {
    const auto got = executable.run(arguments);
    ASSERT_TRUE(got) << got.reason();
    ASSERT_EQ(got->size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ((*got)[i].type(), wanted[i].type());
      const Verdict same = compare_close((*got)[i], wanted[i], 0, ulps);
      EXPECT_TRUE(same) << "result " << i << ": " << (same ? "" : same.reason());
    }
  }
}

inline void expect_same(const std::string& text, CompileOptions options = {}) {
  const Program program = read(text);
  expect_same(program, arguments_for(program), std::move(options));
}

}  // namespace heddle
