#include "device/cuda/queue.h"

#include <cstdlib>

#include "device/cuda/device.h"
#include "device/cuda/launch.h"
#include "device/lazy_code.h"

namespace heddle::cuda {

namespace {

constexpr std::size_t kMostKept = 64;  // before the queue looks whether copies are over

Pointer pointer_of(DeviceAddress address) { return static_cast<Pointer>(address.value); }

class CudaEvent final : public Event::State {
 public:
  CudaEvent(std::shared_ptr<Context> context, Handle event, Handle stream, Verdict before)
      : context_(std::move(context)), event_(event), stream_(stream), before_(std::move(before)) {}
  ~CudaEvent() override {
    if (event_ != nullptr) context_->give_back_event(event_);
  }

  bool done() const override {
    if (event_ == nullptr || !context_->enter()) return true;
    return context_->driver().query(event_) != kNotReady;
  }
  Verdict wait() override {
    if (!before_) return before_;
    HEDDLE_TRY_VOID(context_->enter());
    const Driver& driver = context_->driver();
    return driver.checked(driver.wait_host(event_), "finish its work");
  }
  Handle handle() const { return event_; }
  Handle stream() const { return stream_; }

 private:
  std::shared_ptr<Context> context_;
  Handle event_;    // null where the queue had failed
  Handle stream_;   // that it was recorded on
  Verdict before_;  // how it went until then
};

// A graph, ready to be launched.
class CudaRecording final : public Recording {
 public:
  CudaRecording(std::shared_ptr<Context> context, Handle instance)
      : context_(std::move(context)), instance_(instance) {}
  ~CudaRecording() override {
    if (context_->enter()) context_->driver().destroy_instance(instance_);
  }
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;
  Handle instance() const { return instance_; }

 private:
  std::shared_ptr<Context> context_;
  Handle instance_;
};

}  // namespace

CudaQueue::CudaQueue(CudaDevice& device, std::shared_ptr<Context> context)
    : device_(device),
      context_(std::move(context)),
      driver_(context_->driver()),
      staging_(context_->pinned(), driver_),
      sides_(*context_) {
  if (auto stream = context_->add_stream()) {
    stream_ = stream->handle;
    work_ = stream->work;
  } else {
    state_ = stream.why();
  }
}

CudaQueue::~CudaQueue() {
  (void)finish();
  if (scratch_ != 0) context_->release(scratch_, scratch_bytes_);
  for (const auto& [pointer, bytes] : old_scratch_) context_->release(pointer, bytes);
  if (capture_ != nullptr && context_->enter()) driver_.destroy_stream(capture_);
  if (stream_ != nullptr) context_->remove_stream(stream_);
}

Device& CudaQueue::device() { return device_; }

Expected<Buffer> CudaQueue::allocate(std::int64_t bytes) {
  if (!state_) return state_.why();
  return device_.allocate(bytes, stream_);
}

Expected<Pointer> CudaQueue::scratch(std::int64_t bytes) {
  if (bytes <= scratch_bytes_) return scratch_;
  if (scratch_ != 0 && capture_ != nullptr)
    old_scratch_.emplace_back(scratch_, scratch_bytes_);
  else if (scratch_ != 0)
    context_->release(scratch_, scratch_bytes_);
  scratch_ = 0;
  scratch_bytes_ = 0;
  HEDDLE_TRY(scratch_, context_->allocate(bytes));
  scratch_bytes_ = bytes;
  return scratch_;
}

Verdict CudaQueue::launch(const Launch& launch, const DeviceAddress* slots) {
  return doing([&]() -> Verdict {
    const auto& mine = static_cast<const CudaLaunch&>(launch);
    HEDDLE_TRY(const Pointer room, scratch(mine.scratch_bytes));
    for (const CudaPack& pack : mine.packs)
      HEDDLE_TRY_VOID(pack.launch(stream(), mine.kernels, slots));
    for (std::size_t number : mine.single) {
      const LaunchKernel& given = mine.kernels[number];
      given.code->wait();
      const auto* code = static_cast<const CudaCode*>(given.code->get());
      if (code == nullptr)
        return reason("kernel {} has no code: {}", given.kernel.name, given.code->failure());
      buffers_.assign(given.slots.size() + 1, nullptr);
      for (std::size_t b = 0; b < given.slots.size(); ++b)
        if (given.slots[b] != kNone)
          buffers_[b] = reinterpret_cast<void*>((slots[given.slots[b]] + given.shift[b]).value);
      HEDDLE_TRY_VOID(code->launch(stream(), buffers_.data(), room));
    }
    return yes();
  });
}

Verdict CudaQueue::call(const LibraryCall& call, const CallMemory& memory) {
  return doing([&] { return static_cast<const CudaCall&>(call).run(*this, memory); });
}

Verdict CudaQueue::copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) {
  return doing([&]() -> Verdict {
    if (bytes == 0) return yes();
    return driver_.checked(
        driver_.copy(pointer_of(to), pointer_of(from), static_cast<std::size_t>(bytes), stream()),
        "copy");
  });
}

// What page-locked memory does not take goes by the driver's own way.
Verdict CudaQueue::write(std::span<const std::byte> from, DeviceAddress to,
                         std::shared_ptr<const void> keep) {
  return doing([&]() -> Verdict {
    HEDDLE_TRY(const std::size_t done, staging_.write(from, pointer_of(to), stream_));
    const auto rest = from.subspan(done);
    if (rest.empty()) return yes();
    HEDDLE_TRY_VOID(
        driver_.checked(driver_.copy_in(pointer_of(to) + done, rest.data(), rest.size(), stream_),
                        "copy to the device"));
    if (keep) kept_.push_back(std::move(keep));
    if (kept_.size() <= kMostKept) return yes();
    HEDDLE_TRY_VOID(driver_.checked(driver_.synchronize(stream_), "finish copies"));
    kept_.clear();
    return yes();
  });
}

Verdict CudaQueue::read(DeviceAddress from, std::span<std::byte> to) {
  return doing([&]() -> Verdict {
    HEDDLE_TRY(const std::size_t done, staging_.read(pointer_of(from), to, stream_));
    const auto rest = to.subspan(done);
    if (rest.empty()) return yes();
    return driver_.checked(
        driver_.copy_out(rest.data(), pointer_of(from) + done, rest.size(), stream_),
        "copy from the device");
  });
}

Verdict CudaQueue::zero(DeviceAddress at, std::int64_t bytes) {
  return doing([&]() -> Verdict {
    if (bytes == 0) return yes();
    return driver_.checked(
        driver_.fill(pointer_of(at), 0, static_cast<std::size_t>(bytes), stream()), "fill");
  });
}

// HEDDLE_CUDA_GRAPHS=0: every step is launched by itself.
bool CudaQueue::can_record() const {
  static const bool is_wanted = [] {
    const char* word = std::getenv("HEDDLE_CUDA_GRAPHS");
    return word == nullptr || std::string_view(word) != "0";
  }();
  return is_wanted && state_.ok();
}

Verdict CudaQueue::begin_recording() {
  if (!state_) return state_;
  HEDDLE_TRY_VOID(context_->enter());
  if (capture_ == nullptr)
    HEDDLE_TRY_VOID(
        driver_.checked(driver_.create_stream(&capture_, kNonBlocking), "make a stream"));
  HEDDLE_TRY_VOID(driver_.checked(driver_.begin_capture(capture_, kRelaxed), "keep work"));
  recorded_ = yes();
  is_recording_ = true;
  return yes();
}

Expected<std::shared_ptr<const Recording>> CudaQueue::end_recording() {
  HEDDLE_CHECK(is_recording_, "nothing is being recorded");
  is_recording_ = false;
  Handle graph = nullptr, instance = nullptr;
  const int ended = driver_.end_capture(capture_, &graph);
  if (recorded_) recorded_ = driver_.checked(ended, "keep work");
  if (recorded_)
    recorded_ = driver_.checked(driver_.instantiate(&instance, graph, 0), "make a graph");
  if (graph != nullptr) driver_.destroy_graph(graph);
  if (!recorded_) return recorded_.why();
  return std::shared_ptr<const Recording>(std::make_shared<CudaRecording>(context_, instance));
}

Verdict CudaQueue::replay(const Recording& recording) {
  return doing([&] {
    const auto& mine = static_cast<const CudaRecording&>(recording);
    return driver_.checked(driver_.launch_graph(mine.instance(), stream_), "launch a graph");
  });
}

Event CudaQueue::record() {
  Handle event = nullptr;
  const Verdict made = doing([&]() -> Verdict {
    HEDDLE_TRY_VOID(staging_.land(stream_));  // who waits for the event may look at it
    HEDDLE_TRY(event, context_->take_event());
    return driver_.checked(driver_.record(event, stream_), "record an event");
  });
  return Event(std::make_shared<CudaEvent>(context_, event, stream_, made));
}

Verdict CudaQueue::wait(const Event& event) {
  return doing([&]() -> Verdict {
    if (!event.state()) return yes();
    const auto* mine = dynamic_cast<const CudaEvent*>(event.state().get());
    if (mine == nullptr || mine->handle() == nullptr) return event.wait();
    if (mine->stream() == stream_) return yes();  // it comes later anyway
    return driver_.checked(driver_.wait_stream(stream_, mine->handle(), 0), "wait for an event");
  });
}

Verdict CudaQueue::order(Handle first, Handle later) {
  return doing([&]() -> Verdict {
    Handle event = nullptr;
    HEDDLE_TRY_VOID(driver_.checked(driver_.create_event(&event, kNoTiming), "make an event"));
    Verdict ordered = driver_.checked(driver_.record(event, first), "record an event");
    if (ordered)
      ordered = driver_.checked(driver_.wait_stream(later, event, 0), "wait for an event");
    driver_.destroy_event(event);  // which is then done with when it has passed
    return ordered;
  });
}

Verdict CudaQueue::go_before(std::uintptr_t stream) {
  return order(stream_, reinterpret_cast<Handle>(stream));
}
Verdict CudaQueue::come_after(std::uintptr_t stream) {
  return order(reinterpret_cast<Handle>(stream), stream_);
}

Verdict CudaQueue::finish() {
  const Verdict over = doing([&]() -> Verdict {
    HEDDLE_TRY_VOID(staging_.land(stream_));
    return driver_.checked(driver_.synchronize(stream_), "finish its work");
  });
  staging_.drop();
  kept_.clear();
  return over;
}

}  // namespace heddle::cuda
