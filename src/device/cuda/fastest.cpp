#include "device/cuda/fastest.h"

#include <charconv>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "heddle/log.h"

namespace heddle::cuda {

namespace {

constexpr int kTurns = 3;         // the first loads code,
constexpr double kToLoad = 0.02;  // which takes no longer
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kTrialAligned = 512, kLeastBlock = 256 << 20;

// Tries would disturb each other.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

std::mutex& holds_mutex() {
  static std::mutex mutex;
  return mutex;
}
int& holds(int device) {
  static auto& counts = *new std::map<int, int>();  // never destroyed
  return counts[device];
}

// Who tries something has them.
struct TrialBlock {
  Pointer at = 0;
  std::int64_t bytes = 0;
};
std::vector<TrialBlock>& trial_blocks(const Context& context) {
  static auto& blocks = *new std::map<int, std::vector<TrialBlock>>();  // never destroyed
  return blocks[context.number()];
}

// Two moments of a stream, and the seconds between them by the GPU's own clock: the host may have
// been busy meanwhile.
class Watch {
 public:
  explicit Watch(const Driver& driver) : driver_(driver) {
    for (Handle& event : events_)
      if (driver.create_event(&event, kWithTime) != 0) event = nullptr;
  }
  ~Watch() {
    for (Handle event : events_)
      if (event != nullptr) driver_.destroy_event(event);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Verdict note(std::size_t moment, Handle stream) const {
    return driver_.checked(driver_.record(events_[moment], stream), "time it");
  }
  double seconds() const {
    float milliseconds = 0;
    if (driver_.elapsed(&milliseconds, events_[0], events_[1]) != 0) return kNever;
    return milliseconds / 1e3;
  }

 private:
  static constexpr unsigned kWithTime = 0;
  const Driver& driver_;
  Handle events_[2] = {};
};

// Seconds of the best of a few runs; it is given up where it cannot be less than what there is.
double seconds_of(const Driver& driver, Handle stream, double least,
                  const std::function<Verdict()>& run) {
  const Watch watch(driver);
  double best = kNever;
  for (int turn = 0; turn < kTurns; ++turn) {
    Verdict ran = watch.note(0, stream);
    if (ran) ran = run();
    if (ran) ran = watch.note(1, stream);
    if (ran) ran = driver.checked(driver.synchronize(stream), "try it");
    if (!ran) {
      log(kLogSteps, "{}", ran.reason());
      return kNever;
    }
    const double took = watch.seconds();
    best = std::min(best, took);
    if (took > kToLoad + 2 * least) break;
  }
  return best;
}

std::optional<std::size_t> number_in(const std::optional<std::string>& words, std::size_t most) {
  std::size_t number = 0;
  if (!words) return {};
  const auto [end, error] = std::from_chars(words->data(), words->data() + words->size(), number);
  if (error != std::errc{} || number >= most) return {};
  return number;
}

}  // namespace

Expected<Pointer> TrialMemory::take(std::int64_t bytes) {
  std::vector<TrialBlock>& blocks = trial_blocks(context_);
  for (; block_ < blocks.size(); ++block_, taken_ = 0) {
    if (taken_ + bytes > blocks[block_].bytes) continue;
    const Pointer at = blocks[block_].at + static_cast<Pointer>(taken_);
    taken_ += (bytes + kTrialAligned - 1) / kTrialAligned * kTrialAligned;
    return at;
  }
  const std::int64_t size = std::max(bytes, kLeastBlock);
  HEDDLE_TRY(const Pointer at, context_.allocate(size));
  blocks.push_back({at, size});
  taken_ = (bytes + kTrialAligned - 1) / kTrialAligned * kTrialAligned;
  return at;
}

TrialHold::TrialHold(Context& context) : context_(context) {
  const std::lock_guard lock(holds_mutex());
  ++holds(context.number());
}

TrialHold::~TrialHold() {
  {
    const std::lock_guard lock(holds_mutex());
    if (--holds(context_.number()) > 0) return;
  }
  const std::lock_guard lock(one_at_a_time());
  for (const auto& [at, bytes] : std::exchange(trial_blocks(context_), {}))
    context_.let_go(at, bytes);
}

std::optional<std::size_t> noted_way(const Notebook& notebook, const std::string& key,
                                     std::size_t ways) {
  return notebook.read ? number_in(notebook.read(key), ways) : std::nullopt;
}

std::size_t fastest(Context& context, const Notebook& notebook, const std::string& key,
                    std::size_t ways,
                    const std::function<Verdict(std::size_t way, Handle stream)>& run) {
  static auto& known = *new std::map<std::string, std::size_t>();  // never destroyed
  if (ways < 2) return 0;
  const std::lock_guard lock(one_at_a_time());
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (const auto noted = noted_way(notebook, key, ways)) return known[key] = *noted;
  const auto stream = context.add_stream();
  if (!stream) return 0;
  std::size_t best = 0;
  double least = kNever;
  for (std::size_t way = 0; way < ways; ++way) {
    const double seconds = seconds_of(context.driver(), stream->handle, least,
                                      [&] { return run(way, stream->handle); });
    log(kLogSteps, "{}: way {} takes {:.1f} us", key, way, seconds * 1e6);
    if (seconds >= least) continue;
    least = seconds;
    best = way;
  }
  context.driver().synchronize(stream->handle);  // what failed may have left work there
  context.remove_stream(stream->handle);
  if (least == kNever) return 0;
  if (notebook.write) notebook.write(key, fmt::format("{}", best));
  return known[key] = best;
}

}  // namespace heddle::cuda
