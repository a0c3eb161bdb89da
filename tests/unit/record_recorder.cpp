// Windows of recorded calls: what is stored, what is found again, what ends them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/watched.h"
#include "heddle/recorder.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Array numbers(Shape shape, const std::vector<double>& values) {
  return make_array<double>(shape, values);
}
Array number(double value) { return numbers({}, {value}); }

std::vector<double> values(Recorder& recorder, Store& store) {
  const Array array = recorder.host(store).value();
  const auto all = array.as<double>();
  return {all.begin(), all.end()};
}

RecordOptions interpreted() {
  RecordOptions options;
  options.target.options.machine_code = false;
  return options;
}

class RecorderTest : public testing::Test {
 protected:
  StorePtr given(std::vector<double> values) {
    return recorder.store(numbers({static_cast<std::int64_t>(values.size())}, values));
  }
  StorePtr plus(const StorePtr& x, double by) {
    return recorder.keep([&](Builder& b) {
      const Var v = recorder.read(*x);
      return b.op("add", {v, b.broadcast(recorder.scalar(number(by)), v.type().shape)});
    });
  }
  Recorder recorder{interpreted()};
};

TEST_F(RecorderTest, NothingRunsBeforeAValueIsRead) {
  const StorePtr x = given({1, 2, 3});
  const StorePtr y = plus(plus(x, 1), 10);
  EXPECT_TRUE(y->is_pending());
  EXPECT_EQ(recorder.counts().windows, 0);
  EXPECT_THAT(values(recorder, *y), ElementsAre(12, 13, 14));
  EXPECT_FALSE(y->is_pending());
  EXPECT_EQ(recorder.counts().windows, 1);
  EXPECT_THAT(values(recorder, *y), ElementsAre(12, 13, 14));
  EXPECT_EQ(recorder.counts().windows, 1);
}

TEST_F(RecorderTest, WhatNobodySeesIsNotStored) {
  const StorePtr x = given({1, 2, 3});
  StorePtr middle = plus(x, 1);
  const StorePtr y = plus(middle, 1);
  middle.reset();
  recorder.flush().value();
  EXPECT_EQ(recorder.counts().bytes_out, 24);
  EXPECT_THAT(values(recorder, *y), ElementsAre(3, 4, 5));
}

TEST_F(RecorderTest, AWindowOfWhichNothingIsSeenDoesNotRun) {
  plus(given({1}), 1).reset();
  recorder.flush().value();
  EXPECT_EQ(recorder.counts().windows, 0);
}

TEST_F(RecorderTest, OtherNumbersAndArraysFindTheSameExecutable) {
  for (int turn = 0; turn < 4; ++turn) {
    const StorePtr x = given({1.0 * turn, 2});
    EXPECT_THAT(values(recorder, *plus(x, turn)), ElementsAre(2 * turn, 2 + turn));
  }
  EXPECT_EQ(recorder.counts().compiled, 1);
  EXPECT_EQ(recorder.counts().found, 3);
}

TEST_F(RecorderTest, SwappedOperandsAreAnotherProgram) {
  const auto minus = [&](const StorePtr& a, const StorePtr& b) {
    return recorder.keep(
        [&](Builder& w) { return w.op("subtract", {recorder.read(*a), recorder.read(*b)}); });
  };
  const StorePtr a = given({5}), b = given({3});
  const StorePtr first = minus(a, b), same = minus(a, b);
  EXPECT_THAT(values(recorder, *same), ElementsAre(2));
  const StorePtr again = minus(a, b), turned = minus(b, a);
  EXPECT_THAT(values(recorder, *turned), ElementsAre(-2));
  EXPECT_EQ(recorder.counts().compiled, 2);
}

// The part of an array that a slice shows.
AffineView part(const StorePtr& store, std::int64_t start, std::int64_t size) {
  return AffineView::whole(store->type().shape).sliced(0, start, 1, size);
}

TEST_F(RecorderTest, AWriteMakesAVersionAndReadsBeforeItKeepTheirs) {
  const StorePtr x = given({1, 2, 3, 4});
  const StorePtr before = plus(x, 0);
  // x[1:] += x[:-1], with the values from before.
  recorder
      .write(x, part(x, 1, 3),
             [&](Builder& b) {
               return b.op("add", {recorder.read(*x, part(x, 1, 3)).value(),
                                   recorder.read(*x, part(x, 0, 3)).value()});
             })
      .value();
  EXPECT_THAT(values(recorder, *x), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(values(recorder, *before), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(recorder.counts().windows, 1);
}

TEST_F(RecorderTest, ReadsLookThroughWritesElsewhere) {
  const StorePtr x = given({1, 2, 3, 4});
  const auto set = [&](std::int64_t at, double value) {
    recorder
        .write(x, part(x, at, 1),
               [&](Builder& b) { return b.reshape(recorder.scalar(number(value)), {1}); })
        .value();
  };
  set(0, 10);
  set(1, 20);
  const auto read = [&](std::int64_t at, std::int64_t size) {
    return recorder.keep([&](Builder&) { return recorder.read(*x, part(x, at, size)).value(); });
  };
  const StorePtr first = read(0, 1), second = read(1, 1), rest = read(2, 2), both = read(0, 2);
  EXPECT_THAT(values(recorder, *first), ElementsAre(10));
  EXPECT_THAT(values(recorder, *second), ElementsAre(20));
  EXPECT_THAT(values(recorder, *rest), ElementsAre(3, 4));
  EXPECT_THAT(values(recorder, *both), ElementsAre(10, 20));
  EXPECT_THAT(values(recorder, *x), ElementsAre(10, 20, 3, 4));
}

TEST_F(RecorderTest, WritingInPlaceLeavesWhatTheWindowReadAlone) {
  const StorePtr x = given({1, 2});
  const StorePtr y = plus(x, 1);
  recorder.make_writable(*x).value();
  const auto& block = x->memory().array().block();
  reinterpret_cast<double*>(block->data())[0] = 100;
  const StorePtr z = plus(x, 1);
  EXPECT_THAT(values(recorder, *y), ElementsAre(2, 3));
  EXPECT_THAT(values(recorder, *z), ElementsAre(101, 3));
}

TEST_F(RecorderTest, TwoStoresOfOneValueDoNotShareWrites) {
  const StorePtr x = given({1, 2});
  const auto copy = [&](const StorePtr& of) {
    return recorder.keep([&](Builder&) { return recorder.read(*of); });
  };
  const StorePtr y = copy(x), z = copy(y);
  recorder.flush().value();
  recorder.make_writable(*y).value();
  reinterpret_cast<double*>(y->memory().array().block()->data())[0] = 7;
  EXPECT_THAT(values(recorder, *x), ElementsAre(1, 2));
  EXPECT_THAT(values(recorder, *z), ElementsAre(1, 2));
  EXPECT_THAT(values(recorder, *y), ElementsAre(7, 2));
}

TEST_F(RecorderTest, LoopsSettleOnWholeTurns) {
  RecordOptions options = interpreted();
  options.first_window = 7;
  options.largest_window = 28;
  Recorder loops(options);
  StorePtr x = loops.store(numbers({2}, {0, 0}));
  for (int turn = 0; turn < 100; ++turn)
    for (const char* op : {"add", "subtract", "add"})
      x = loops.keep([&](Builder& b) {
        return b.op(op, {loops.read(*x), b.broadcast(loops.scalar(number(1)), {2})});
      });
  EXPECT_THAT(values(loops, *x), ElementsAre(100, 100));
  EXPECT_EQ(loops.window_size() % 3, 0U);
  EXPECT_GT(loops.window_size(), 6U);
  EXPECT_LE(loops.counts().compiled, 6);
}

TEST_F(RecorderTest, MemoryEndsAWindow) {
  RecordOptions options = interpreted();
  options.memory_limit = 1000;
  Recorder small(options);
  const StorePtr x = small.store(numbers({10}, std::vector<double>(10, 1)));
  std::vector<StorePtr> kept;
  for (int i = 0; i < 30; ++i)
    kept.push_back(small.keep([&](Builder& b) { return b.op("negate", {small.read(*x)}); }));
  EXPECT_GE(small.counts().windows, 2);
  EXPECT_THAT(small.explain(), HasSubstr("as much memory as it may"));
}

TEST_F(RecorderTest, ForgottenTemporariesHoldNoMemory) {
  RecordOptions options = interpreted();
  options.memory_limit = 1000;
  Recorder small(options);
  StorePtr x = small.store(numbers({10}, std::vector<double>(10, 1)));
  for (int i = 0; i < 30; ++i)
    x = small.keep([&](Builder& b) { return b.op("negate", {small.read(*x)}); });
  EXPECT_EQ(small.counts().windows, 0);
}

TEST_F(RecorderTest, AMistakeLeavesTheWindowAsItWas) {
  const StorePtr x = given({1, 2}), y = given({1, 2, 3});
  const StorePtr z = plus(x, 1);
  EXPECT_THROW(recorder.keep(
                   [&](Builder& b) { return b.op("add", {recorder.read(*x), recorder.read(*y)}); }),
               InternalError);
  EXPECT_THAT(values(recorder, *z), ElementsAre(2, 3));
}

TEST_F(RecorderTest, AViewWithoutABoxIsRefused) {
  const StorePtr x = recorder.store(numbers({2, 2}, {1, 2, 3, 4}));
  const AffineView diagonal{0, {2}, {3}};
  EXPECT_TRUE(Recorder::can_show(*x, diagonal));  // a step of 3 through all four
  const StorePtr y = recorder.store(numbers({3, 3}, std::vector<double>(9, 1)));
  const AffineView odd{0, {2, 2}, {4, 3}};
  EXPECT_FALSE(Recorder::can_show(*y, odd));
  EXPECT_FALSE(Recorder::can_write(*x, {0, {2}, {0}}));
}

TEST_F(RecorderTest, ExplainsItsWindows) {
  EXPECT_THAT(recorder.explain(), HasSubstr("no window"));
  values(recorder, *plus(given({1}), 1));
  EXPECT_THAT(recorder.explain(), HasSubstr("1 calls, 3 ops, 2 arguments, 1 results, compiled"));
  EXPECT_THAT(recorder.explain(), HasSubstr("a value was read"));
}

// x + by, at once.
class PlusStep : public DirectStep {
 public:
  PlusStep(Slot x, double by) : x_(x), by_(by) {}
  void run(DirectMemory& memory, Slot target) const override;
  std::int64_t bytes() const override { return 16; }

 private:
  Slot x_;
  double by_;
};

class PlainMemory : public DirectMemory {
 public:
  void start(Slot slot, Array array) override { held[slot] = std::move(array); }
  Array take(Slot slot) override { return held[slot]; }
  void drop(Slot slot) override { held.erase(slot); }
  void lose(Slot slot, const std::string& why) override { lost[slot] = why; }
  std::map<Slot, Array> held;
  std::map<Slot, std::string> lost;
};

// More than any machine has.
constexpr std::int64_t kTooMany = std::int64_t{1} << 40;

class TooLargeStep : public DirectStep {
 public:
  void run(DirectMemory&, Slot) const override { throw std::bad_alloc(); }
  std::int64_t bytes() const override { return 8 * kTooMany; }
};

void PlusStep::run(DirectMemory& memory, Slot target) const {
  auto& [held, lost] = static_cast<PlainMemory&>(memory);
  if (lost.contains(x_)) throw Error(lost[x_]);
  Array result = held.at(x_);
  for (double& value : result.as_mutable<double>()) value += by_;
  held[target] = result;
}

class DirectTest : public testing::Test {
 protected:
  // What compiled in the background is over, but its thread is still to be joined.
  void TearDown() override {
    wait_for_left_work([] { return false; });
  }

  static RecordOptions options() {
    RecordOptions options = interpreted();
    options.direct_memory = [] { return std::make_unique<PlainMemory>(); };
    return options;
  }
  StorePtr plus(const StorePtr& x, double by) {
    const Slot slot = recorder.slot(*x);
    return recorder.keep(
        [&](Builder& b) {
          const Var v = recorder.read(*x);
          return b.op("add", {v, b.broadcast(recorder.scalar(number(by)), v.type().shape)});
        },
        std::make_unique<PlusStep>(slot, by));
  }
  Recorder recorder{options()};
};

TEST_F(DirectTest, WhatIsNewRunsCallByCallAndIsCompiledWhenItComesAgain) {
  const StorePtr x = recorder.store(numbers({3}, {1, 2, 3}));
  for (int turn = 0; turn < 4; ++turn) {
    EXPECT_THAT(values(recorder, *plus(plus(x, 1), turn)),
                ElementsAre(2 + turn, 3 + turn, 4 + turn));
    recorder.wait_for_code();
  }
  EXPECT_EQ(recorder.counts().direct, 2);
  EXPECT_EQ(recorder.counts().found, 2);
  EXPECT_EQ(recorder.counts().compiled, 0);
}

// As a whole, and in pieces.
TEST_F(DirectTest, AWindowThatFailsLosesOnlyWhatCannotBeHad) {
  for (const std::int64_t limit : {INT64_MAX, 12 * kTooMany}) {
    recorder.set_memory_limit(INT64_MAX);
    StorePtr x = recorder.store(numbers({3}, {1, 2, 3}));
    const StorePtr given = recorder.store(numbers({3}, {7, 8, 9}));
    x = plus(x, 1);  // the run may overwrite what it was
    const StorePtr first = plus(x, 10);
    const auto large = [&] {
      return recorder.keep(
          [&](Builder& b) { return b.broadcast(recorder.scalar(number(1)), {kTooMany}); },
          std::make_unique<TooLargeStep>());
    };
    const StorePtr huge = large(), sum = plus(huge, 1), last = plus(given, 1);
    recorder.set_memory_limit(limit);
    EXPECT_THAT(values(recorder, *x), ElementsAre(2, 3, 4));
    EXPECT_THAT(values(recorder, *first), ElementsAre(12, 13, 14));
    EXPECT_THAT(values(recorder, *last), ElementsAre(8, 9, 10));
    EXPECT_THAT(values(recorder, *given), ElementsAre(7, 8, 9));
    for (const StorePtr& lost : {huge, sum}) {
      const Expected<Array> read = recorder.host(*lost);
      ASSERT_FALSE(read);
      EXPECT_TRUE(is_about_memory(read.reason())) << read.reason();
    }
    EXPECT_THAT(recorder.explain(), HasSubstr("as it failed as a whole"));
  }
}

TEST_F(DirectTest, ACallWithoutAStepIsCompiled) {
  const StorePtr x = recorder.store(numbers({2}, {1, 2}));
  const StorePtr more = plus(x, 1);
  const StorePtr y = recorder.keep([&](Builder& b) {
    const Var v = recorder.read(*more);
    return b.op("multiply", {v, v});
  });
  EXPECT_THAT(values(recorder, *y), ElementsAre(4, 9));
  EXPECT_EQ(recorder.counts().direct, 0);
}

TEST_F(RecorderTest, OnDevicesArraysStayInParts) {
  recorder.set_devices(std::make_shared<WindowDevices>(3, 0)).value();
  const StorePtr x = given({1, 2, 3, 4, 5, 6, 7});
  const StorePtr y = plus(x, 1);
  recorder.flush().value();
  EXPECT_TRUE(y->is_spread());
  EXPECT_THAT(values(recorder, *plus(y, 1)), ElementsAre(3, 4, 5, 6, 7, 8, 9));
  recorder.set_devices(nullptr).value();
  EXPECT_FALSE(y->is_spread());
  EXPECT_THAT(values(recorder, *y), ElementsAre(2, 3, 4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace heddle
