// What rows say of ops, so that nobody asks for them by name.
#include <gtest/gtest.h>

#include <set>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "heddle/strided_view.h"

namespace heddle {
namespace {

TEST(OpRows, WhatDevicesDoTogetherHasAKind) {
  for (const OpDef& def : op_table())
    EXPECT_EQ(def.cls == OpClass::communicate, def.collective != CollectiveKind::none) << def.name;
}

TEST(OpRows, HashesAreApart) {
  std::set<std::uint64_t> hashes;
  for (const OpDef& def : op_table()) EXPECT_TRUE(hashes.insert(def.hash).second) << def.name;
}

TEST(OpRows, StepsOfReductionsTakeTwoAndGiveOne) {
  std::set<ReduceOp> all;
  for (const OpDef& def : op_table()) {
    if (!def.combines) continue;
    EXPECT_TRUE(def.operands.allows(2) && def.results.allows(1)) << def.name;
    EXPECT_TRUE(all.insert(*def.combines).second) << def.name;
  }
  EXPECT_EQ(all.size(), 6U);
}

TEST(OpRows, ControlIsOfItsClass) {
  for (const OpDef& def : op_table())
    if (def.control != Control::none) {
      EXPECT_EQ(def.cls, OpClass::control) << def.name;
    }
}

TEST(OpRows, ViewsShareBytes) {
  Builder b;
  auto of = [&](const Type& from, std::string_view name, const Type& to) {
    bool shares = false;
    b.function("f", {from}, [&](const Vars& in) -> Vars {
      const Var result = b.op(name, in, to);
      shares = is_view(b.program, b.program.op(b.program.value(result.id()).op));
      return {result};
    });
    return shares;
  };
  const Type f32 = Type::tensor(DType::f32, {4, 2});
  EXPECT_TRUE(of(f32, "reshape", Type::tensor(DType::f32, {8})));
  EXPECT_TRUE(of(f32, "bitcast_convert", Type::tensor(DType::i32, {4, 2})));
  EXPECT_FALSE(of(f32, "convert", Type::tensor(DType::i32, {4, 2})));
  EXPECT_FALSE(of(f32, "negate", f32));
  // Elements of four bits take a byte each.
  EXPECT_FALSE(
      of(Type::tensor(DType::i4, {4, 2}), "bitcast_convert", Type::tensor(DType::i8, {4})));
}

}  // namespace
}  // namespace heddle
