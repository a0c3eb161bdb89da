// Calls of the CPU's libraries by themselves, and their results beside the interpreter's.
#pragma once

#include <gtest/gtest.h>

#include "device/cpu/calls.h"
#include "device/cpu/onednn.h"
#include "heddle/interpreter.h"
#include "ir/eval/scalar.h"

namespace heddle::run_call {

#define HEDDLE_NEEDS_ONEDNN() \
  if (!cpu::dnn::is_there()) GTEST_SKIP() << "oneDNN is not there"

inline const Op& only_op(const Program& program) {
  return program.op(program.region(program.functions[0].body).ops[0]);
}

// Its result, by a pool of so many workers.
inline Array result_of(const heddle::LibraryCall& call, const std::vector<Array>& arguments,
                       const Type& type, int workers) {
  Array result(type);
  std::vector<std::byte> room(static_cast<std::size_t>(call.workspace_bytes()) + 64);
  const auto begin = reinterpret_cast<std::uintptr_t>(room.data());
  std::byte* const workspace = room.data() + (64 - begin % 64) % 64;
  std::vector<std::byte*> operands;
  for (const Array& array : arguments)
    operands.push_back(const_cast<std::byte*>(array.bytes().data()));
  std::byte* const results[] = {result.mutable_bytes().data()};
  ThreadPool pool(workers);
  EXPECT_TRUE(static_cast<const cpu::LibraryCall&>(call).run({operands, results, workspace, pool}));
  return result;
}

// Sums of products are exact; zeros may have either sign.
inline bool same(const Array& a, const Array& b) {
  return dispatch(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::ranges::equal(a.as<T>(), b.as<T>(), [](T x, T y) {
      return convert_scalar<double>(x) == convert_scalar<double>(y);
    });
  });
}

}  // namespace heddle::run_call
