// The recorder of this process: its devices, its threads' turns, and the lines that calls come
// from.
#include <nanobind/stl/string.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/fork.h"
#include "base/text.h"
#include "heddle/block.h"
#include "heddle/hash.h"
#include "heddle/transport.h"
#include "python/bindings.h"
#include "python/function.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

std::int64_t at_once_limit() {
  constexpr std::int64_t kChosen = 16384;
  const char* text = std::getenv("HEDDLE_ARRAYS_AT_ONCE");
  return text == nullptr ? kChosen : std::strtoll(text, nullptr, 10);
}

// One window runs at a time, with the interpreter's lock given up where it needs no Python; who
// wants the recorder waits for its end.
class Turns {
 public:
  void run(const std::function<void()>& work, bool keeps_lock) {
    owner_ = std::this_thread::get_id();
    busy_ = true;
    const auto over = [this] {
      const std::lock_guard lock(mutex_);
      busy_ = false;
      idle_.notify_all();
    };
    try {
      std::optional<nb::gil_scoped_release> free;
      if (!keeps_lock) free.emplace();
      work();
    } catch (...) {
      over();
      throw;
    }
    over();
  }
  void wait() {
    // Another one may begin before this thread has the interpreter's lock again.
    while (busy_ && owner_ != std::this_thread::get_id()) {
      const nb::gil_scoped_release free;
      std::unique_lock lock(mutex_);
      idle_.wait(lock, [this] { return !busy_; });
    }
  }

  // Whether another thread's window was under way when this child was forked: it never ends here.
  bool take_over() { return forked_ && std::exchange(forked_, false); }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::atomic<bool> busy_ = false;
  std::thread::id owner_;
  bool forked_ = false;
  const AfterFork after_fork_{[this] {
    make_anew(mutex_);
    make_anew(idle_);
    forked_ = busy_ && owner_ != std::this_thread::get_id();
    if (forked_) busy_ = false;
  }};
};

Turns& turns() {
  static Turns* only = new Turns;
  return *only;
}

// Ranks where a launcher has started this process with others, else as many threads as
// HEDDLE_DEVICES says.
std::shared_ptr<WindowDevices> devices_at_start() {
  if (Transport* ranks = launched_rank(); ranks != nullptr && ranks->size() > 1)
    return std::make_shared<WindowDevices>(*ranks);
  const char* text = std::getenv("HEDDLE_DEVICES");
  if (text == nullptr || *text == 0) return nullptr;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (*end != 0 || count < 1 || count > 1024)
    throw Error(
        fmt::format("HEDDLE_DEVICES={}: a number of devices from 1 to 1024 is expected", text));
  return count == 1 ? nullptr : std::make_shared<WindowDevices>(static_cast<int>(count));
}

// What HEDDLE_DEVICE names, for windows of large arrays.
Device* device_at_start() {
  const char* text = std::getenv("HEDDLE_DEVICE");
  if (text == nullptr || *text == 0) return nullptr;
  const Expected<Device*> found = find_device(text);
  if (!found) throw Error(fmt::format("HEDDLE_DEVICE={}: {}", text, found.reason()));
  return *found;
}

// What windows may hold on to and need; HEDDLE_MEMORY=8GB.
std::int64_t memory_at_start() {
  const char* text = std::getenv("HEDDLE_MEMORY");
  if (text == nullptr || *text == 0) return RecordOptions().memory_limit;
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes <= 0)
    throw Error(fmt::format("HEDDLE_MEMORY={}: an amount of memory is expected, as 8GB", text));
  // Of which a part may lie about unused.
  set_block_pool_limit(static_cast<std::size_t>(*bytes) / 4);
  return *bytes;
}

// What a line is called, by where its code lies; and whether that is the package's own.
struct CodeName {
  std::string file;
  bool is_ours = false;
};
const CodeName& name_of(PyObject* code) {
  static auto* names = new std::unordered_map<PyObject*, CodeName>;
  const auto found = names->find(code);
  if (found != names->end()) return found->second;
  nb::borrow(code).release();  // so that no other code can come to lie there
  const auto file = nb::cast<std::string>(nb::handle(code).attr("co_filename"));
  const std::size_t slash = file.rfind('/');
  CodeName name{slash == std::string::npos ? file : file.substr(slash + 1), false};
  name.is_ours = file.find("heddle/numpy/") != std::string::npos;
  return names->emplace(code, std::move(name)).first->second;
}

// The innermost frame that is not the package's own, and its code; none where Python runs nothing.
struct CallerFrame {
  nb::object frame, code;
  int line() const { return PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr())); }
};
CallerFrame frame_of_caller() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    if (!name_of(code.ptr()).is_ours) return {std::move(frame), std::move(code)};
    frame = frame.attr("f_back");
  }
  return {};
}

std::uint64_t place_of_caller() {
  const CallerFrame caller = frame_of_caller();
  if (!caller.code.is_valid()) return 0;
  return hash_combine(reinterpret_cast<std::uintptr_t>(caller.code.ptr()),
                      static_cast<std::uint64_t>(caller.line()));
}

std::string line_of_caller() {
  const CallerFrame caller = frame_of_caller();
  if (!caller.code.is_valid()) return "?";
  return fmt::format("{}:{}", name_of(caller.code.ptr()).file, caller.line());
}

std::atomic<bool> is_recording = false;

Recording& the_recording() {
  static Recording* only = [] {
    RecordOptions options;
    options.memory_limit = memory_at_start();
    options.direct_memory = numpy_memory;
    options.direct_step = direct_step;
    options.place = place_of_caller;
    options.place_name = line_of_caller;
    options.aside = [](const std::function<void()>& work, bool by_steps) {
      turns().run(work, by_steps);
    };
    auto* made = new Recording{Recorder(std::move(options)), at_once_limit()};
    made->recorder.set_devices(devices_at_start()).value();
    made->recorder.set_device(device_at_start()).value();
    is_recording = true;
    return made;
  }();
  return *only;
}

}  // namespace

Recording& Recording::get() {
  Turns& all = turns();
  all.wait();
  Recording& recording = the_recording();
  if (all.take_over())
    recording.recorder.abandon("another thread was computing it when this process was forked");
  return recording;
}

void Recording::end() {
  if (is_recording) get().recorder.stop_compiling();
}

std::int64_t Recording::usual_limit() { return the_recording().at_once; }

// Where every call is read before the next one comes, a window is worth its while from another size
// on (measured: docs/arrays.md).
std::int64_t Recording::limit() {
  constexpr int kPatience = 8;
  constexpr std::int64_t kAlone = 131072;
  const Recording& all = the_recording();
  const bool is_lonely = all.recorder.lonely_windows() >= kPatience && !all.recorder.devices();
  return is_lonely && all.at_once > 0 ? std::max(all.at_once, kAlone) : all.at_once;
}

}  // namespace heddle::python
