// Random programs with loops, branches, views and library calls give what the interpreter gives.
#include <gtest/gtest.h>

#include "../unit/compiled.h"
#include "choices.h"
#include "device/cpu/device.h"
#include "heddle/builder.h"

namespace heddle {
namespace {

// Writes ops over matrices of one shape; whole numbers that stay small, so that results are exact.
class Writer {
 public:
  explicit Writer(Builder& b) : b_(b) {}

  Vars body(Vars values, int ops, int depth) {
    for (int i = 0; i < ops; ++i) values.push_back(one(values, depth));
    return values;
  }

 private:
  Var pick(const Vars& values) { return values[*rc::gen::inRange<std::size_t>(0, values.size())]; }

  // Keeps numbers within 64, whatever was added and multiplied.
  Var tamed(Var x) { return b_.op("remainder", {x, b_.full_like(x, 61)}); }

  Var one(const Vars& values, int depth) {
    const Var x = pick(values), y = pick(values);
    const Shape shape = x.type().shape;
    switch (*rc::gen::inRange(0, depth > 0 ? 13 : 10)) {
      case 0:
        return tamed(x + y);
      case 1:
        return tamed(x * y);
      case 2:
        return b_.op("negate", {x});
      case 3:
        return b_.transpose(x, {1, 0});
      case 4:
        return b_.reshape(b_.reshape(x, {shape[0] * shape[1]}), shape);
      case 5:
        return b_.op("maximum", {x, b_.broadcast(b_.reduce(y, {0}, "maximum"), shape, {1})});
      case 6:
        return tamed(b_.broadcast(b_.reduce(y, {1}, "add"), shape, {0}) + x);
      case 7:
        return tamed(b_.dot(x, y));
      case 8:
        return updated(x, y);
      case 9:
        return b_.slice(b_.concatenate({x, y}, 0), {1, 0}, {shape[0] + 1, shape[1]});
      case 10:
        return loop(values, depth - 1);
      case 11:
        return branch(values, depth - 1);
      default:
        return nested_results(values, depth - 1);
    }
  }

  Var index(std::int64_t at) { return b_.full(Type::tensor(DType::i32, {}), double(at)); }

  Var updated(Var x, Var y) {
    const Shape shape = x.type().shape;
    const Var row = b_.slice(y, {0, 0}, {1, shape[1]});
    return b_.op("dynamic_update_slice",
                 {x, row, index(*rc::gen::inRange<std::int64_t>(-1, shape[0] + 1)), index(0)});
  }

  Vars turn(const Vars& start, int turns, int ops, int depth) {
    Vars carried = {index(0)};
    carried.insert(carried.end(), start.begin(), start.end());
    return b_.while_loop(
        carried, [&](const Vars& in) { return b_.compare("LT", in[0], index(turns)); },
        [&](const Vars& in) -> Vars {
          const Vars all = body(Vars(in.begin() + 1, in.end()), ops, depth);
          Vars out = {in[0] + index(1)};
          for (std::size_t i = 0; i < start.size(); ++i) out.push_back(pick(all));
          return out;
        });
  }

  Var loop(const Vars& values, int depth) {
    const Vars start = {pick(values), pick(values), pick(values)};
    const Vars out = turn(start, *rc::gen::inRange(0, 4), *rc::gen::inRange(0, 5), depth);
    return out[*rc::gen::inRange<std::size_t>(1, out.size())];
  }

  Var nested_results(const Vars& values, int depth) {
    const Vars out = turn({pick(values), pick(values)}, *rc::gen::inRange(1, 4), 2, depth);
    return tamed(out[1] + out[2]);
  }

  Var branch(const Vars& values, int depth) {
    const Var x = pick(values), y = pick(values);
    const Var sum = b_.reduce(x, {0, 1}, "add");
    const Var condition = b_.compare("LT", sum, b_.full_like(sum, 3));
    return b_.if_else(
        condition, [&]() -> Vars { return {body({x, y}, 2, depth).back()}; },
        [&]() -> Vars { return {body({y, x}, *rc::gen::inRange(0, 3), depth).back()}; })[0];
  }

  Builder& b_;
};

Program any_program() {
  const std::int64_t n = *rc::gen::element<std::int64_t>(1, 2, 3, 7, 19);
  const DType dtype = *rc::gen::element(DType::i32, DType::f32, DType::i64, DType::f64);
  const Type type = Type::tensor(dtype, {n, n});
  Builder b;
  Writer writer(b);
  b.function("main", {type, type, type}, [&](const Vars& in) -> Vars {
    const Vars all = writer.body(in, *rc::gen::inRange(1, 14), 2);
    Vars out;
    const int count = *rc::gen::inRange(1, 5);
    for (int i = 0; i < count; ++i)
      out.push_back(all[*rc::gen::inRange<std::size_t>(0, all.size())]);
    return out;
  });
  return b.finish().value();
}

void check(const Program& program, const CompileOptions& options) {
  const std::vector<Array> arguments = arguments_for(program);
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  const auto executable = compile(program, options);
  if (!executable) RC_FAIL(executable.reason());
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<Array> given = arguments;
    if (!options.donated.empty())
      for (Array& a : given) (void)a.mutable_bytes();
    const auto got = executable->run(std::move(given));
    if (!got) RC_FAIL(got.reason());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Verdict same = compare_close((*got)[i], wanted[i], 0, 0);
      if (!same)
        RC_FAIL("result " + std::to_string(i) + ": " + same.reason() + "\n" +
                print_stablehlo(program));
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    RC_ASSERT(arguments[i] == arguments_for(program)[i]);
}

CompileOptions op_by_op() {
  return {.machine_code = false, .stitch = {.fuse = false, .machine = {}}};
}

HEDDLE_PROPERTY(CompiledPrograms, OpByOpWithKernelsInterpreted) {
  check(any_program(), op_by_op());
}

HEDDLE_PROPERTY(CompiledPrograms, Stitched) { check(any_program(), {.machine_code = false}); }

HEDDLE_PROPERTY(CompiledPrograms, ArgumentsGivenAway) {
  check(any_program(), {.machine_code = false, .donated = {true, true, true}});
}

// Compiled, with loops as functions from their first turn on; LLVM takes its time for each case.
TEST(CompiledPrograms, LoopsAsFunctions) {
  static CpuDevice device(CpuJitOptions{.turns_before_code = 0});
  if (const Verdict can = device.can_compile(); !can) GTEST_SKIP() << can.reason();
  property::run_property(rc::detail::toProperty([] { check(any_program(), {.device = &device}); }),
                         0, {.cases = 20});
}

}  // namespace
}  // namespace heddle
