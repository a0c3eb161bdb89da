// Equal ops have one call of a library together.
#include <gtest/gtest.h>

#include "device/cuda/shared_calls.h"
#include "heddle/stablehlo.h"

namespace heddle::cuda {
namespace {

class CountedCall final : public CudaCall {
 public:
  explicit CountedCall(int& live) : live_(live) { ++live_; }
  ~CountedCall() override { --live_; }
  std::string text() const override { return "counted"; }
  std::int64_t workspace_bytes() const override { return 77; }
  bool can_be_recorded() const override { return false; }
  Verdict run(CudaQueue&, const CallMemory&) const override { return yes(); }

 private:
  int& live_;
};

TEST(CudaSharedCalls, AreMadeOnceForEqualOps) {
  const Program program = read_stablehlo(R"(
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
})",
                                         "calls.mlir")
                              .value();
  const auto& ops = program.region(program.functions[0].body).ops;
  SharedCalls calls;
  int live = 0, made = 0;
  const auto call = [&](std::size_t op, const ProductViews* views = nullptr) {
    return calls.call(program, program.op(ops[op]), views, [&] {
      ++made;
      return std::make_unique<CountedCall>(live);
    });
  };
  auto first = call(0), second = call(1);  // of other values
  EXPECT_EQ(made, 1);
  const auto flipped = call(2);  // with another attribute
  EXPECT_EQ(made, 2);
  ProductViews views{dense_view(program, 0), dense_view(program, 1), dense_view(program, 2)};
  const auto viewed = call(0, &views);
  EXPECT_EQ(made, 3);
  views.lhs.offset = 1;
  const auto shifted = call(0, &views);
  EXPECT_EQ(made, 4);
  EXPECT_EQ(second->text(), "counted");
  EXPECT_EQ(second->workspace_bytes(), 77);
  EXPECT_FALSE(second->can_be_recorded());
  first.reset();
  EXPECT_EQ(live, 4);
  second.reset();
  EXPECT_EQ(live, 3);  // nobody holds it any more
  second = call(1);
  EXPECT_EQ(made, 5);
  EXPECT_EQ(calls.call(program, program.op(ops[2]), &views, [] { return nullptr; }), nullptr);
}

}  // namespace
}  // namespace heddle::cuda
