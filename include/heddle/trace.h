// Records what ran when, for Perfetto or chrome://tracing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/error.h"

namespace heddle {

using TraceClock = std::chrono::steady_clock;
using TraceValue = std::variant<std::int64_t, double, std::string>;
using TraceArgs = std::vector<std::pair<std::string, TraceValue>>;

// A row of the picture. Perfetto groups lanes of one process, say "rank 2" with "compute".
struct TraceLane {
  int process = 0;
  int thread = 0;
};

// Collects events from any thread. Times count from the recorder's making.
class TraceRecorder {
 public:
  // Keeps at most `capacity` events; later ones are counted but not kept.
  explicit TraceRecorder(std::size_t capacity = 1'000'000);

  // The lane of that name, made on first use.
  TraceLane lane(std::string_view process, std::string_view thread);

  // Something that took time.
  void complete(TraceLane lane, std::string name, std::string category,
                TraceClock::time_point start, TraceClock::duration duration, TraceArgs args = {});

  // A value that changes over time. Values that are not finite are left out.
  void counter(TraceLane lane, std::string name, double value,
               TraceClock::time_point at = TraceClock::now());

  std::size_t size() const;
  std::size_t dropped() const;

  // The whole trace as JSON. Bytes that are no UTF-8 are replaced.
  std::string json() const;
  // The same for other processes of this machine, whose clock is the same: `absorb` takes what
  // `shared` gave there, its lanes under their names here. Text that is none is left out.
  std::string shared() const;
  void absorb(std::string_view text);

  // Writes the trace; the file is either whole or as it was before.
  Verdict write(const std::filesystem::path& file) const;

 private:
  struct Event {
    TraceLane lane = {};
    std::string name = {}, category = {};
    TraceClock::time_point start = {};
    TraceClock::duration duration = {};
    TraceArgs args = {};
    bool is_counter = false;
  };
  struct Process {
    std::string name;
    std::vector<std::string> threads = {};
  };
  void add(Event event);

  mutable std::mutex mutex_;
  const TraceClock::time_point origin_ = TraceClock::now();
  const std::size_t capacity_;
  std::size_t dropped_ = 0;
  std::vector<Process> processes_;
  std::vector<Event> events_;
};

// Records the time from its making to its end. The recorder must live longer.
class TraceSpan {
 public:
  TraceSpan(TraceRecorder& recorder, TraceLane lane, std::string name, std::string category);
  ~TraceSpan();
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  // Something to show with the event, known only later.
  void arg(std::string name, TraceValue value);

 private:
  TraceRecorder& recorder_;
  TraceLane lane_;
  std::string name_, category_;
  TraceArgs args_;
  TraceClock::time_point start_ = TraceClock::now();
};

}  // namespace heddle
