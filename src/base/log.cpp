// Built on fmt alone, not spdlog: one dial and one sink are a page of code, and some machines
// that build Heddle have fmt only.
#include "heddle/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace heddle {
namespace {

constexpr int kUnset = -1;

struct State {
  std::atomic<int> level = kUnset;
  std::once_flag read;
  std::mutex mutex;
  LogSink sink;  // guarded by mutex
};

State& state() {
  // Never destroyed, so that logging works until the very end of the process.
  static auto* const kState = new State;  // NOLINT(cppcoreguidelines-owning-memory)
  return *kState;
}

void read_environment() {
  const char* text = std::getenv("HEDDLE_LOG");
  const Expected<int> level = parse_log_level(text == nullptr ? "" : text);
  int unset = kUnset;
  state().level.compare_exchange_strong(unset, level ? *level : 0);
  if (!level) warn("{}", level.reason());
}

}  // namespace

Expected<int> parse_log_level(std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') return text[0] - '0';
  return reason(
      "HEDDLE_LOG is `{}`, which is no level: use 0 (warnings only), 1 (one line per kernel or "
      "plan), 2 (plans) or 3 (sources)",
      text);
}

int log_level() {
  const int level = state().level.load(std::memory_order_relaxed);
  if (level != kUnset) return level;
  std::call_once(state().read, read_environment);
  return state().level.load(std::memory_order_relaxed);
}

void set_log_level(int level) { state().level.store(level < 0 ? 0 : level); }

LogSink set_log_sink(LogSink sink) {
  const std::scoped_lock lock(state().mutex);
  return std::exchange(state().sink, std::move(sink));
}

void write_log(std::string_view message) {
  std::string line = fmt::format("heddle: {}", message);
  if (!line.ends_with('\n')) line += '\n';
  const std::scoped_lock lock(state().mutex);
  if (state().sink) {
    state().sink(line);
  } else {
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
  }
}

}  // namespace heddle
