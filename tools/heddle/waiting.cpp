#include "waiting.h"

#include <fmt/format.h>

#include "base/text.h"
#include "heddle/log.h"

namespace heddle::cli {
namespace {

using Seconds = std::chrono::duration<double>;

// Back to the beginning of the line, and nothing on it.
constexpr std::string_view kClear = "\r\x1b[K";

void write_to(int stream, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written <= 0) return;  // there is nobody to tell
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string waiting_text(const CompileProgress& progress, double seconds) {
  const std::string text = fmt::format("compiles for {}: ", format_seconds(seconds));
  const std::size_t kernels = progress.kernels;
  const double cost = progress.searched_cost, bound = progress.searched_bound;
  if (kernels == 0 && bound >= 0 && next_stage(progress.done.load()).starts_with("spmd"))
    return fmt::format("searches for {}: {}, none takes less than {}; Ctrl-C takes the best so far",
                       format_seconds(seconds),
                       cost < 0 ? "no plan that fits yet" : format_seconds(cost) + " a step",
                       format_seconds(bound));
  if (kernels == 0) return text + next_stage(progress.done.load());
  return text + fmt::format("machine code, {} of {} kernels", progress.coded.load(), kernels);
}

Waiting::Waiting(int stream, double after_seconds) : stream_(stream) {
  if (::isatty(stream) != 0 && log_level() == 0)
    thread_ = std::thread([this, after_seconds] { show(after_seconds); });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_all();
  thread_.join();
}

void Waiting::show(double after_seconds) {
  constexpr Seconds kPause{0.1};
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  const auto wait = [&](Seconds time) {
    return over_.wait_for(lock, time, [&] { return is_over_; });
  };
  if (wait(Seconds(after_seconds))) return;
  do {
    const Seconds passed = std::chrono::steady_clock::now() - begun;
    write_to(stream_, std::string(kClear) + waiting_text(progress, passed.count()));
  } while (!wait(kPause));
  write_to(stream_, kClear);
}

}  // namespace heddle::cli
