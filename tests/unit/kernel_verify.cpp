// What is no kernel, and how kernels are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_examples.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

// The first broken rule of the softmax kernel after `spoil` has been at it.
std::string broken(const std::function<void(Kernel&)>& spoil) {
  Kernel kernel = examples::softmax(8, 16, 2);
  EXPECT_TRUE(verify(kernel)) << verify(kernel).reason();
  spoil(kernel);
  const Verdict verdict = verify(kernel);
  return verdict ? "" : verdict.reason();
}
std::string broken_stage(const std::function<void(Stage&)>& spoil) {
  return broken([&](Kernel& kernel) { spoil(kernel.phases[0].stages[2]); });
}
NodeId first(const Stage& stage, NodeKind kind) {
  for (std::size_t i = 0; i < stage.nodes.size(); ++i)
    if (stage.nodes[i].kind == kind) return static_cast<NodeId>(i);
  return kNone;
}

TEST(KernelVerify, ExamplesAreKernels) {
  for (const Kernel& kernel :
       {examples::column_sum(9, 6, 3), examples::running_sum(2, 4), examples::largest_place(4, 3),
        examples::scatter_add(4, 5, false), examples::padded(3, 2, 1), examples::softmax(3, 4)})
    EXPECT_TRUE(verify(kernel)) << verify(kernel).reason();
}

TEST(KernelVerify, Buffers) {
  EXPECT_THAT(broken([](Kernel& k) { k.buffers[0].dtype = DType::c64; }),
              HasSubstr("buffer 0 is of complex<f32>"));
  EXPECT_THAT(broken([](Kernel& k) { k.buffers[0].elements = -1; }), HasSubstr("-1 elements"));
  EXPECT_THAT(broken([](Kernel& k) { k.scratch_bytes = 100; }), HasSubstr("block memory"));
  EXPECT_THAT(broken([](Kernel& k) { k.buffers[2].offset = 3; }), HasSubstr("lies at byte 3"));
  EXPECT_THAT(broken([](Kernel& k) { k.buffers[2].offset = INT64_MAX - 3; }),
              HasSubstr("block memory"));
  EXPECT_THAT(broken([](Kernel& k) { k.scratch_bytes = -1; }), HasSubstr("-1 bytes"));
}

TEST(KernelVerify, PhasesAndLoops) {
  EXPECT_THAT(broken([](Kernel& k) { k.phases[0].outer[0].block = 0; }),
              HasSubstr("in blocks of 0"));
  EXPECT_THAT(broken([](Kernel& k) { k.phases[0].outer[0].block = 4; }),
              HasSubstr("a loop of size 2 over the block of outer loop 0, which is 4"));
  EXPECT_THAT(broken([](Kernel& k) { k.phases[0].begin = k.phases[0].stages; }),
              HasSubstr("the phase has no chunks"));
  EXPECT_THAT(broken([](Kernel& k) {
                k.phases[0].chunks = 2;
                k.phases[0].begin = k.phases[0].stages;
              }),
              HasSubstr("begins a chunk"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.loops[0].block_of = 1; }),
              HasSubstr("outer loop 1 of 1"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.loops[1].size = -1; }), HasSubstr("size -1"));
}

TEST(KernelVerify, Nodes) {
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::scalar)].in[0] = 999; }),
              HasSubstr("does not stand before it"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::loop)].number = 2; }),
              HasSubstr("loop 2 of 2"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::outer)].number = 1; }),
              HasSubstr("outer loop 1 of 1"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::outer)].type = DType::i32; }),
              HasSubstr("not i64"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[0].kind = NodeKind::chunk; }),
              HasSubstr("no chunks"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::load)].number = 9; }),
              HasSubstr("buffer 9 of 5"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[first(s, NodeKind::load)].type = DType::f64; }),
              HasSubstr("a load of f64 from buffer"));
  EXPECT_THAT(broken_stage([](Stage& s) {
                Node& load = s.nodes[first(s, NodeKind::load)];
                load.in[1] = load.in[0];
              }),
              HasSubstr("the guard is"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[s.statements[0].values[0]].type = DType::f64; }),
              HasSubstr("exp does not make f64 of f32"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[0].kind = NodeKind::parameter; }),
              HasSubstr("outside of a combiner"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.nodes[s.statements[0].values[0]].in[1] = 0; }),
              HasSubstr("more than 1 operands"));
}

TEST(KernelVerify, Statements) {
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].buffers = {0}; }),
              HasSubstr("which is an input"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].buffers = {7}; }),
              HasSubstr("buffer 7 of 5"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].values.clear(); }),
              HasSubstr("0 values for 1 buffers"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].index = s.statements[0].values[0]; }),
              HasSubstr("the index is"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].index = kNone; }),
              HasSubstr("the index is"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].guard = s.statements[0].index; }),
              HasSubstr("must be i1"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[1].combiner.op = ScalarOp::subtract; }),
              HasSubstr("subtract is no known combiner"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[1].combiner.op = ScalarOp::bit_or; }),
              HasSubstr("or does not combine f32"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[1].combiner.op = ScalarOp::none; }),
              HasSubstr("gives 0 values, not 1"));
  EXPECT_THAT(broken_stage([](Stage& s) { s.statements[0].buffers = {2}; }),
              HasSubstr("loads from buffer 2"));
}

TEST(KernelVerify, CombinersByGraph) {
  auto spoiled = [](const std::function<void(Combiner&)>& spoil) {
    Kernel kernel = examples::largest_place(4, 3);
    spoil(kernel.phases[0].stages[1].statements[0].combiner);
    const Verdict verdict = verify(kernel);
    return verdict ? "" : verdict.reason();
  };
  EXPECT_THAT(spoiled([](Combiner& c) { c.nodes[1].number = 4; }), HasSubstr("parameter 4 of 4"));
  EXPECT_THAT(spoiled([](Combiner& c) { c.nodes[1].number = 2; }),
              HasSubstr("parameter 2 is i32, but the value is f32"));
  EXPECT_THAT(spoiled([](Combiner& c) { c.results = {c.results[1], c.results[0]}; }),
              HasSubstr("must be f32"));
  EXPECT_THAT(spoiled([](Combiner& c) { c.nodes[0].kind = NodeKind::load; }),
              HasSubstr("neither operation nor parameter"));
}

TEST(KernelPrint, SaysAllButTheName) {
  Kernel kernel = examples::running_sum(2, 4);
  EXPECT_EQ(print(kernel), R"(scratch 64 temporary 0
b0 in i32 x 8
b1 out i32 x 8
b2 block i32 x 1 at 0
phase outer 2/1
  stage
    %0 = constant 0x0 : i64
    %1 = constant 0x0 : i32
    store b2[%0] = %1
  stage for 4
    %0 = outer 0 : i64
    %1 = constant 0x4 : i64
    %2 = multiply %0, %1 : i64
    %3 = loop 0 : i64
    %4 = add %2, %3 : i64
    %5 = load b0[%4] : i32
    %6 = constant 0x0 : i64
    scan b2[%6], b1[%4] by add with %5 in order
)");
  const std::string before = print(kernel);
  const std::uint64_t hash_before = hash(kernel);
  kernel.name = "other";
  kernel.buffers[0].value = 17;
  EXPECT_EQ(print(kernel), before);
  EXPECT_EQ(hash(kernel), hash_before);
  kernel.phases[0].stages[1].statements[0].any_order = true;
  EXPECT_NE(print(kernel), before);
  EXPECT_NE(hash(kernel), hash_before);
}

TEST(KernelPrint, WritesGraphsGuardsAndChunks) {
  EXPECT_THAT(print(examples::largest_place(4, 3)), HasSubstr("by graph with"));
  EXPECT_THAT(print(examples::largest_place(4, 3)), HasSubstr("give %9, %10"));
  EXPECT_THAT(print(examples::padded(3, 2, 1)), HasSubstr(" if %7 else %8 : bf16"));
  EXPECT_THAT(print(examples::column_sum(9, 6, 3)), HasSubstr("phase outer 9/2 in 3 chunks"));
  EXPECT_THAT(print(examples::column_sum(9, 6, 3)), HasSubstr("stage for 2 of outer 0, 6"));
}

}  // namespace
}  // namespace heddle
