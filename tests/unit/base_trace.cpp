#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "heddle/trace.h"
#include "test_folder.h"

namespace heddle {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The events of one kind ("X", "C" or "M").
std::vector<json> events(const TraceRecorder& recorder, const std::string& kind) {
  std::vector<json> result;
  const json whole = json::parse(recorder.json());
  for (const json& event : whole["traceEvents"]) {
    if (event["ph"] == kind) result.push_back(event);
  }
  return result;
}

TEST(Trace, AnEmptyTraceIsValid) {
  const TraceRecorder recorder;
  EXPECT_TRUE(json::parse(recorder.json())["traceEvents"].empty());
}

TEST(Trace, LanesAreMadeOnceAndNamed) {
  TraceRecorder recorder;
  const TraceLane compute = recorder.lane("rank 0", "compute");
  const TraceLane other = recorder.lane("rank 1", "compute");
  const TraceLane again = recorder.lane("rank 0", "compute");
  EXPECT_EQ(compute.process, again.process);
  EXPECT_EQ(compute.thread, again.thread);
  EXPECT_NE(compute.process, other.process);
  EXPECT_EQ(events(recorder, "M").size(), 4U);
}

TEST(Trace, ASpanLastsFromItsMakingToItsEnd) {
  TraceRecorder recorder;
  const TraceLane lane = recorder.lane("rank 0", "compute");
  {
    TraceSpan span(recorder, lane, "matmul", "kernel");
    span.arg("bytes", std::int64_t{64});
    span.arg("note", "first");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto spans = events(recorder, "X");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["name"], "matmul");
  EXPECT_EQ(spans[0]["args"]["bytes"], 64);
  EXPECT_EQ(spans[0]["args"]["note"], "first");
  EXPECT_GE(spans[0]["dur"].get<double>(), 2000.0);
  EXPECT_GE(spans[0]["ts"].get<double>(), 0.0);
}

TEST(Trace, CountersKeepFiniteValuesOnly) {
  TraceRecorder recorder;
  const TraceLane lane = recorder.lane("rank 0", "memory");
  recorder.counter(lane, "bytes", 5);
  recorder.counter(lane, "bytes", std::numeric_limits<double>::quiet_NaN());
  const auto counters = events(recorder, "C");
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0]["args"]["value"], 5.0);
}

TEST(Trace, BytesThatAreNoUtf8AreReplaced) {
  TraceRecorder recorder;
  const TraceLane lane = recorder.lane("rank \xff", "t\xc3");
  recorder.complete(lane, "na\xfeme", "\x80", TraceClock::now(), {},
                    {{"k\xff", "v\xff"}, {"inf", std::numeric_limits<double>::infinity()}});
  const auto spans = events(recorder, "X");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["name"], "na\uFFFDme");
  EXPECT_EQ(spans[0]["args"]["inf"], "inf");
}

TEST(Trace, KeepsNoMoreThanItsCapacity) {
  TraceRecorder recorder(2);
  const TraceLane lane = recorder.lane("p", "t");
  for (int i = 0; i < 5; ++i) recorder.counter(lane, "c", i);
  EXPECT_EQ(recorder.size(), 2U);
  EXPECT_EQ(recorder.dropped(), 3U);
  EXPECT_EQ(json::parse(recorder.json())["otherData"]["droppedEvents"], 3);
}

TEST(Trace, ThreadsRecordTogether) {
  TraceRecorder recorder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&recorder, t] {
      const TraceLane lane = recorder.lane("rank 0", std::to_string(t));
      for (int i = 0; i < 100; ++i) TraceSpan(recorder, lane, "work", "test");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.size(), 400U);
  EXPECT_EQ(events(recorder, "M").size(), 5U);
}

TEST(Trace, WritesAFileOrSaysWhyNot) {
  const TestFolder folder;
  const TraceRecorder recorder;
  ASSERT_TRUE(recorder.write(folder / "trace.json").ok());
  EXPECT_EQ(folder.read("trace.json"), recorder.json());
  const Verdict verdict = recorder.write(folder / "missing" / "trace.json");
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.reason(), HasSubstr("trace.json: No such file or directory"));
}

TEST(Trace, TakesWhatOthersHaveSeen) {
  TraceRecorder here, there;
  here.complete(here.lane("rank 0", "steps"), "a", "kernel", TraceClock::now(), {});
  const auto start = TraceClock::now();
  there.complete(there.lane("rank 1", "steps"), "b", "kernel", start, std::chrono::microseconds(7),
                 {{"bytes", std::int64_t{3}}, {"where", std::string("f:1")}, {"x", 0.5}});
  here.absorb(there.shared());
  for (const char* none : {"", "{}", "[1, [2]]", "[[\"rank 1\", 3]]"}) here.absorb(none);
  EXPECT_EQ(here.size(), 2U);
  const std::string json = here.json();
  for (const char* part : {"\"rank 1\"", "\"name\":\"b\"", "\"dur\":7.0", "\"bytes\":3",
                           "\"where\":\"f:1\"", "\"x\":0.5"})
    EXPECT_NE(json.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace heddle
