#include "parallel/search/few_rounds.h"

#include <memory>

namespace heddle::search {

namespace {

struct RoundCounter {
  std::stop_source stop;
  int left = 6;
  std::function<void(const SolveProgress&)> on_progress;  // who else listens
  // Who wants to end it ends this too.
  std::stop_callback<std::function<void()>> outer;

  explicit RoundCounter(const SolveOptions& options)
      : on_progress(options.on_progress), outer(options.stop, [this] { stop.request_stop(); }) {}
};

}  // namespace

SolveOptions for_a_few_rounds(SolveOptions options) {
  const auto counter = std::make_shared<RoundCounter>(options);
  options.stop = counter->stop.get_token();
  options.on_progress = [counter](const SolveProgress& now) {
    if (counter->on_progress) counter->on_progress(now);
    if (now.cost != CostNetwork::kForbidden && --counter->left <= 0) counter->stop.request_stop();
  };
  return options;
}

}  // namespace heddle::search
