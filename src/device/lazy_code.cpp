#include "device/lazy_code.h"

#include "base/fork.h"
#include "heddle/log.h"

namespace heddle {

void LazyCode::make() {
  if (state_.load(std::memory_order_acquire) != State::open) return;
  const ForkHold hold;  // a child would wait for ever for what is under way
  State expected = State::open;
  if (!state_.compare_exchange_strong(expected, State::under_way)) return;
  State then = State::failed;
  try {
    if (auto code = device_->compile(kernel_)) {
      code_ = *std::move(code);
      then = State::there;
    } else {
      why_ = code.reason();
    }
  } catch (const std::exception& error) {
    why_ = error.what();
  }
  state_.store(then, std::memory_order_release);
  state_.notify_all();
}

void LazyCode::wait() {
  make();
  state_.wait(State::under_way);
}

BackgroundCode::BackgroundCode(std::vector<std::shared_ptr<LazyCode>> codes, int threads)
    : codes_(std::move(codes)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  after_fork_ = std::make_unique<AfterFork>([this] {
    make_anew(threads_);
    if (next_ < codes_.size()) threads_.emplace_back([this] { work(); });
  });
}

BackgroundCode::~BackgroundCode() {
  after_fork_.reset();
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void BackgroundCode::work() {
  while (!stop_) {
    const std::size_t i = next_++;
    if (i >= codes_.size()) return;
    (void)wait_for(*codes_[i]);
  }
}

// The first failure of all is said.
Verdict BackgroundCode::wait_for(LazyCode& code) {
  code.wait();
  std::string why = code.failure();
  if (why.empty()) return yes();
  if (!warned_.exchange(true)) warn("a kernel stays interpreted, and slow: {}", why);
  return Reason{std::move(why)};
}

Verdict BackgroundCode::wait() {
  for (const auto& code : codes_) HEDDLE_TRY_VOID(wait_for(*code));
  return yes();
}

}  // namespace heddle
