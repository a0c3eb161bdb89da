// Calls that are recorded as plain numbers: what they give, and that equal windows are found again.
#include <gtest/gtest.h>

#include "heddle/array_ops.h"
#include "heddle/recorder.h"

namespace heddle::plain_tests {
namespace {

Array vector(std::vector<double> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Array(Type::tensor(DType::f64, {size}), std::as_bytes(std::span(values)));
}
Array number(double value) {
  return Array(Type::tensor(DType::f64, {}), std::as_bytes(std::span(&value, 1)));
}

class PlainTest : public ::testing::Test {
 protected:
  Recorder recorder;

  static std::uint16_t row(std::string_view name) {
    return static_cast<std::uint16_t>(find_elementwise(name) - elementwise_calls().data());
  }
  RecordedCall::Part part(const StorePtr& store, const AffineView& view) {
    return {recorder.slot(*store), recorder.number_of(view, store->type().shape)};
  }
  RecordedCall::Part all(const StorePtr& store) {
    return part(store, AffineView::whole(store->type().shape));
  }
  RecordedCall call(std::string_view name, RecordedCall::Part x, RecordedCall::Part y) {
    RecordedCall made;
    made.row = row(name);
    made.inputs = 2;
    made.in = {x, y};
    return made;
  }
  StorePtr keep(RecordedCall made, const Shape& shape) {
    made.type = recorder.type_number(Type::tensor(DType::f64, shape));
    return recorder.keep(made);
  }
  std::vector<double> values(const StorePtr& store) {
    const Array array = recorder.host(*store).value();
    return {array.as<double>().begin(), array.as<double>().end()};
  }
};

TEST_F(PlainTest, CallsWritesAndReductionsGiveWhatTheySay) {
  const StorePtr x = recorder.store(vector({1, 2, 3, 4}));
  const AffineView last{1, {3}, {1}}, first{0, {3}, {1}};
  const StorePtr y =
      keep(call("multiply", all(x), {recorder.number_slot(number(2)), kNoView}), {4});
  // y[1:] += y[:-1] reads the old version.
  RecordedCall add = call("add", part(y, last), part(y, first));
  add.into.view = recorder.number_of(last, {4});
  recorder.write(y, add);
  RecordedCall assign;
  assign.kind = RecordedCall::Kind::assign;
  assign.in[0] = {recorder.number_slot(number(7)), kNoView};
  assign.into.view = recorder.number_of({0, {1}, {1}}, {4});
  recorder.write(y, assign);
  RecordedCall sum;
  sum.kind = RecordedCall::Kind::reduce;
  sum.in[0] = all(y);
  sum.dims = 1;
  const StorePtr total = keep(sum, {});
  EXPECT_EQ(values(total), std::vector<double>{7 + 6 + 10 + 14});
  EXPECT_EQ(values(y), (std::vector<double>{7, 6, 10, 14}));
  EXPECT_EQ(values(x), (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(PlainTest, OthersMayComeBetween) {
  const StorePtr x = recorder.store(vector({1, 2}));
  const StorePtr y = keep(call("add", all(x), all(x)), {2});
  const StorePtr z = recorder.keep([&](Builder&) { return recorder.read(*y) * 10.0; });
  const StorePtr w = keep(call("subtract", all(z), all(y)), {2});
  EXPECT_EQ(values(w), (std::vector<double>{18, 36}));
  EXPECT_EQ(recorder.counts().windows, 1);
}

TEST_F(PlainTest, AnEqualWindowIsFoundWithoutAProgram) {
  const StorePtr x = recorder.store(vector({1, 2}));
  for (int turn = 0; turn < 4; ++turn) {
    const StorePtr y =
        keep(call("add", all(x), {recorder.number_slot(number(turn)), kNoView}), {2});
    EXPECT_EQ(values(y), (std::vector<double>{1.0 + turn, 2.0 + turn}));
  }
  EXPECT_EQ(recorder.counts().compiled, 1);
  EXPECT_EQ(recorder.counts().found, 3);
  // Another call, another type and another shape are other windows.
  EXPECT_EQ(values(keep(call("subtract", all(x), all(x)), {2})), (std::vector<double>{0, 0}));
  const StorePtr longer = recorder.store(vector({1, 2, 3}));
  EXPECT_EQ(values(keep(call("add", all(longer), all(longer)), {3})),
            (std::vector<double>{2, 4, 6}));
  // So is one of which more is seen.
  const StorePtr a = keep(call("add", all(x), {recorder.number_slot(number(1)), kNoView}), {2});
  const StorePtr b = keep(call("add", all(a), {recorder.number_slot(number(1)), kNoView}), {2});
  EXPECT_EQ(values(b), (std::vector<double>{3, 4}));
  EXPECT_EQ(values(a), (std::vector<double>{2, 3}));
  EXPECT_EQ(recorder.counts().compiled, 4);
}

TEST_F(PlainTest, SharedMemoryIsReadWhenItIsAskedFor) {
  const StorePtr x = recorder.store(vector({1, 2}));
  ASSERT_TRUE(recorder.share(*x));
  EXPECT_FALSE(Recorder::can_show(*x, AffineView::whole({2})));
  const StorePtr y = keep(call("add", all(x), all(x)), {2});
  auto* const memory = reinterpret_cast<double*>(x->lend()->data());
  memory[0] = 50;  // after the call, before it runs
  EXPECT_EQ(values(y), (std::vector<double>{2, 4}));
  EXPECT_EQ(values(x), (std::vector<double>{50, 2}));
}

TEST_F(PlainTest, AWindowThatIsLeftSaysWhy) {
  const StorePtr x = recorder.store(vector({1, 2}));
  const StorePtr y = keep(call("add", all(x), all(x)), {2});
  recorder.abandon("nobody computes it");
  const auto read = recorder.host(*y);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.reason(), "nobody computes it");
  EXPECT_EQ(values(x), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace heddle::plain_tests
