// Programs on a mesh for tests: layouts by the notation of sdy's axes, kinds of communications.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/spmd.h"
#include "heddle/verify.h"

namespace heddle::test {

using Axes = std::vector<std::vector<std::string>>;  // per dimension

inline Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

inline Sharding sharding(const Axes& axes, bool open = false) {
  Sharding s;
  s.mesh = "mesh";
  for (const auto& names : axes) {
    ShardingDim dim;
    dim.open = open;
    for (const std::string& n : names) dim.axes.push_back({n, 1, 0});
    s.dims.push_back(std::move(dim));
  }
  return s;
}

inline Seed argument(std::size_t i, const Axes& axes) { return {false, i, sharding(axes)}; }
inline Seed result(std::size_t i, const Axes& axes) { return {true, i, sharding(axes)}; }

inline Spmd on_mesh(Program program, const AxisSizes& mesh, std::vector<Seed> seeds,
                    std::int64_t memory_limit = INT64_MAX) {
  (void)program.add_mesh("mesh", mesh).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = std::move(seeds);
  options.memory_limit = memory_limit;
  Spmd spmd = partition(program, options).value();
  spmd.program = schedule(spmd.program);
  const Verdict sound = verify(spmd.program);
  EXPECT_TRUE(sound.ok()) << (sound ? "" : sound.reason());
  return spmd;
}

inline const Function& local_function(const Spmd& spmd) { return spmd.program.functions[0]; }

// "all-reduce over tp" -> how many.
inline std::map<std::string, int> counts(const Spmd& spmd) {
  std::map<std::string, int> all;
  for (const Communication& c : spmd.functions[0].communications)
    ++all[std::string(name(c.kind)) + " over " + c.over];
  return all;
}

inline std::int64_t bytes(const Spmd& spmd) {
  std::int64_t sum = 0;
  for (const Communication& c : spmd.functions[0].communications) sum += c.bytes;
  return sum;
}

inline Array ramp(const Type& type, double step = 0.25) {
  Array array(type);
  auto values = array.as_mutable<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<double>(i * 7 % 23) * step - 2);
  return array;
}

// Both ways, and the largest difference between them.
inline double difference(const Program& program, const Spmd& spmd) {
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args)
    arguments.push_back(ramp(program.type_of(v)));
  const auto one = interpret(program, program.functions[0], arguments).value();
  const auto many = interpret_on_mesh(spmd, spmd.functions[0], arguments).value();
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    for (std::size_t k = 0; k < one[i].as<float>().size(); ++k)
      largest = std::max<double>(largest, std::abs(one[i].as<float>()[k] - many[i].as<float>()[k]));
  return largest;
}

}  // namespace heddle::test
