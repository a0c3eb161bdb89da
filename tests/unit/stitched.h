// Runs a program the way it is stitched, with kernels interpreted and all other ops by reference.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <unordered_map>

#include "heddle/builder.h"
#include "heddle/index_rule.h"
#include "heddle/interpreter.h"
#include "heddle/kernel.h"
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/clone.h"
#include "kernel/lower_group.h"

namespace heddle {

struct Stitched {
  std::vector<Array> results;
  std::vector<Kernel> kernels;
  std::size_t launches = 0;
};

inline std::vector<Array> run_alone(const Program& program, const Op& op,
                                    std::unordered_map<ValueId, Array>& values);

// A value, and the moves before it that a product would do by itself.
inline Array value_of(const Program& program, ValueId v,
                      std::unordered_map<ValueId, Array>& values) {
  if (!values.contains(v)) {
    const Array made = run_alone(program, program.op(program.value(v).op), values)[0];
    values[v] = made;
  }
  return values.at(v);
}

// One op by the reference interpreter.
inline std::vector<Array> run_alone(const Program& program, const Op& op,
                                    std::unordered_map<ValueId, Array>& values) {
  Program one;
  const RegionId body = one.add_region();
  ValueMap map;
  std::vector<Array> arguments;
  std::vector<ValueId> taken(program.operands(op).begin(), program.operands(op).end());
  for (ValueId v : captured_values(program, op)) taken.push_back(v);
  for (ValueId v : taken) {
    if (map.contains(v)) continue;
    map[v] = one.add_arg(body, one.intern(program.type_of(v)));
    arguments.push_back(value_of(program, v, values));
  }
  const OpId copy = clone_op(one, body, program, op, map);
  Function f;
  f.name = "main";
  f.body = body;
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    results.push_back(one.result(one.op(copy), i));
    f.results.push_back(one.value(results.back()).type);
  }
  one.add_op(body, *find_op("func.return"), results, {});
  one.functions.push_back(f);
  return interpret(one, one.functions[0], std::move(arguments)).value();
}

// Another way to run a kernel; none: it is interpreted.
using RunKernel = std::function<Verdict(const Kernel&, std::span<const std::span<std::byte>>)>;

inline Stitched run_stitched(const Program& program, const std::vector<Array>& arguments,
                             const StitchOptions& options = {}, const RunKernel& run_kernel = {}) {
  Stitched out;
  const Function& main = program.functions[0];
  const Region& region = program.region(main.body);
  std::unordered_map<ValueId, Array> values;
  for (std::size_t i = 0; i < region.args.size(); ++i) values[region.args[i]] = arguments[i];
  for (OpId id : region.ops)
    if (const Attr* a = program.attr(program.op(id), "value"); a && a->get<Array>())
      values[program.result(program.op(id), 0)] = *a->get<Array>();
  for (const StitchUnit& unit : stitch(program, main.body, options).value().units) {
    if (unit.kernels.empty()) {
      const Op& op = program.op(unit.op);
      std::vector<Array> results = run_alone(program, op, values);
      for (std::size_t i = 0; i < results.size(); ++i) values[program.result(op, i)] = results[i];
      continue;
    }
    ++out.launches;
    for (const StitchGroup& group : unit.kernels) {
      Kernel kernel = lower_group(program, group, options.machine).value();
      if (Verdict v = verify(kernel); !v) ADD_FAILURE() << v.reason() << "\n" << print(kernel);
      std::vector<std::vector<std::byte>> copies(kernel.buffers.size());
      std::vector<std::span<std::byte>> spans(kernel.buffers.size());
      for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        const KernelBuffer& buffer = kernel.buffers[b];
        if (buffer.reach == Reach::input) {
          const Array array = value_of(program, buffer.value, values);
          copies[b].assign(array.bytes().begin(), array.bytes().end());
        } else if (buffer.reach == Reach::output) {
          copies[b].assign(static_cast<std::size_t>(program.type_of(buffer.value).bytes()),
                           std::byte{0x5a});
        }
        spans[b] = copies[b];
      }
      if (Verdict v = run_kernel ? run_kernel(kernel, spans) : interpret(kernel, spans); !v)
        ADD_FAILURE() << v.reason() << "\n" << print(kernel);
      for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
        if (kernel.buffers[b].reach == Reach::output)
          values[kernel.buffers[b].value] =
              Array(program.type_of(kernel.buffers[b].value), copies[b]);
      out.kernels.push_back(std::move(kernel));
    }
  }
  for (ValueId v : program.operands(program.op(region.ops.back())))
    out.results.push_back(value_of(program, v, values));
  return out;
}

}  // namespace heddle
