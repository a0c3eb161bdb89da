// Recorder: array calls become windows of one Program each, which are compiled once and run again.
//
// A Store is the memory behind arrays. It has versions: a write makes a new one, so that only true
// dependences remain. The present version is a value in memory, or one of the open window's
// program. Views (affine_view.h) say which elements of it an array shows.
//
//   Recorder recorder;
//   StorePtr x = recorder.store(array);
//   StorePtr y = recorder.keep([&](Builder&) { return recorder.read(*x) * 2.0; });
//   Array values = recorder.host(*y).value();  // the window ends here, and runs
//
// What no StorePtr reaches when a window ends is never stored. A recorder is used by one thread at
// a time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/affine_view.h"
#include "heddle/builder.h"
#include "heddle/device_value.h"
#include "heddle/direct_step.h"
#include "heddle/executable_cache.h"
#include "heddle/past_calls.h"
#include "heddle/recorded_call.h"
#include "heddle/window_devices.h"

namespace heddle {

class Store : public std::enable_shared_from_this<Store> {
 public:
  explicit Store(DeviceValue value)
      : type_(std::make_shared<const Type>(value.type())),
        memory_(std::move(value)),
        whole_(true) {}
  explicit Store(TypePtr type) : type_(std::move(type)), pending_(true) {}

  const Type& type() const { return *type_; }
  // Whether its present version is in the open window still, and no memory holds it.
  bool is_pending() const { return pending_; }
  // Grows whenever its memory becomes another one.
  std::uint64_t generation() const { return generation_; }
  // How often it was written to, or lent for writing: values found for one number hold for it.
  std::uint64_t writes() const { return written_; }
  // Whether it is in memory only in parts, one on each device.
  bool is_spread() const { return !pending_ && spread_ && !whole_; }
  // Only where it is neither pending nor spread.
  const DeviceValue& memory() const { return memory_; }
  // Whether nobody holds its memory, which is the host's, but it and who borrows from it.
  bool is_sole_owner() const;
  // Whether somebody else may write to its memory at any time: no window reads or writes it then.
  bool is_shared() const { return shared_; }
  // Its host memory for somebody who looks at it, and sees what is written in place. Only where it
  // is not pending.
  std::shared_ptr<Block> lend() const;

 private:
  friend class Recorder;

  void rest_at(DeviceValue value);
  void rest_at(SpreadPtr parts);
  void lose(std::string why);

  TypePtr type_;
  DeviceValue memory_;
  Buffer there_;        // the same on a device where memory_ is the host's; of no device: none
  SpreadPtr spread_;    // the same in parts
  bool whole_ = false;  // whether memory_ holds it
  bool pending_ = false;
  bool shared_ = false;
  std::uint64_t generation_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t window_ = 0;                            // that slot_ belongs to
  Slot slot_ = kNoSlot;                                 // where its versions are in that window
  mutable std::weak_ptr<std::shared_ptr<Block>> lent_;  // counts once, however many borrow
  std::string lost_;                                    // why there is no version any more
};
using StorePtr = std::shared_ptr<Store>;

namespace record {
class Background;
struct Pieces;
}  // namespace record

class Recorder;

// Which windows run call by call, by steps that are given with the calls.
enum class DirectRuns : std::uint8_t {
  never,
  unknown,  // those that are not compiled: code is made in the background once they come again
  always,
};

struct RecordOptions {
  Target target = {};
  std::size_t first_window = 64;  // calls that a window takes at first
  std::size_t largest_window = 512;
  // Bytes that an open window may hold on to, and that one may need while it runs: over it, it runs
  // in pieces, as far as its ops can be parted.
  std::int64_t memory_limit = std::int64_t{4} << 30;
  std::size_t executables = 256;  // that are kept
  DirectRuns direct = DirectRuns::unknown;
  // Memory for a window that runs call by call; none: no window does.
  std::function<std::unique_ptr<DirectMemory>()> direct_memory = {};
  // The step that does such a call at once.
  std::function<DirectStepPtr(const Recorder&, const RecordedCall&)> direct_step = {};
  // Where the call that is being recorded stands in the caller's text: a number of that place, and,
  // asked for once, what it is called, as "prog.py:12".
  std::function<std::uint64_t()> place = {};
  std::function<std::string()> place_name = {};
  // Runs a window, during which nobody else may use the recorder; others may go on, unless it runs
  // by steps, which are the caller's.
  std::function<void(const std::function<void()>&, bool by_steps)> aside = {};
};

struct RecordCounts {
  std::int64_t windows = 0, calls = 0, ops = 0, launches = 0;
  std::int64_t compiled = 0, found = 0;  // windows that were new, and that were known
  std::int64_t direct = 0;               // windows that ran call by call
  std::int64_t pieces = 0;               // cuts of windows that would have taken too much memory
  std::int64_t bytes_in = 0, bytes_out = 0;  // of arguments and results
  std::int64_t bytes_sent = 0;               // that one device gave to collectives
  // That came to a device with memory of its own, and back.
  std::int64_t bytes_there = 0, bytes_back = 0;
};

// Why a window came to its end.
enum class WindowEnd : std::uint8_t { read, full, memory, asked };
std::string_view words(WindowEnd end);

// Whether a reason says that memory was too little, in our words or in NumPy's.
bool is_about_memory(std::string_view reason);

class Recorder {
 public:
  explicit Recorder(RecordOptions options = {});
  ~Recorder();

  // A store of a value in memory.
  StorePtr store(DeviceValue value) { return std::make_shared<Store>(std::move(value)); }

  // ---- recording: `write` gives the value, and sees stores through read() and scalar(). It must
  // not end the window.
  using Write = std::function<Var(Builder&)>;
  // A new store with that value. `direct` does the same at once; without it the window has to be
  // compiled.
  StorePtr keep(const Write& write, DirectStepPtr direct = nullptr);
  std::vector<StorePtr> keep_all(const std::function<Vars(Builder&)>& write);
  // A new version of a store, in which what the view shows has that value; it has the view's shape.
  // No where the view cannot be written by ops; nothing is recorded then.
  Verdict write(const StorePtr& store, const AffineView& view, const Write& write,
                DirectStepPtr direct = nullptr);
  // The slot of a store that the next call's step reads.
  Slot slot(Store& store);
  Var read(Store& store);
  // No where ops cannot show the view.
  Expected<Var> read(Store& store, const AffineView& view);
  // Whether read and write can do it.
  static bool can_show(const Store& store, const AffineView& view);
  static bool can_write(const Store& store, const AffineView& view);
  // A number that is an operand at run time: another one does not make another program.
  Var scalar(Array value);

  // ---- calls as plain numbers
  // Numbers hold while the epoch is the same; it changes only between windows.
  ViewNumber number_of(const AffineView& view, const Shape& store);
  std::uint32_t type_number(DType dtype, ViewNumber shape);
  std::uint32_t type_number(const Type& type);
  std::uint64_t epoch() const { return epoch_; }
  const NumberedView& view(ViewNumber number) const { return views_[number]; }
  const TypePtr& type(std::uint32_t number) const { return types_[number]; }
  // Of what a slot holds.
  const Type& slot_type(Slot slot) const { return *slots_[slot].type; }
  // A number that is an operand.
  Slot number_slot(Array value);
  // A new store, and a new version of one. Operands have their slots, the call's result has not.
  StorePtr keep(RecordedCall call);
  void write(const StorePtr& store, RecordedCall call);

  // ---- values
  // Ends the window and runs it; all stores are in memory afterwards. Where there is not enough of
  // it the run goes on call by call, and reading what cannot be had says why; every other failure
  // is told here too.
  Verdict flush(WindowEnd end = WindowEnd::asked);
  // Without a run: what the open window was to give is lost, and reading it says why.
  void abandon(const std::string& why);
  // The present version, after a flush where that is needed.
  Expected<DeviceValue> value(Store& store);
  // The same in host memory, where the store keeps it from then on.
  Expected<Array> host(Store& store);
  // Its host memory may be written in place afterwards: nobody else sees it, a copy is made where
  // somebody did. Say so before each write.
  Verdict make_writable(Store& store);
  // From then on its host memory is somebody else's as well, for reading and writing.
  Verdict share(Store& store);
  // A store over memory that is so from the start.
  StorePtr shared_store(Array memory);
  // The same as make_writable where it is known that nobody else sees it.
  void forget(Store& store) {
    store.spread_ = nullptr;
    store.there_ = {};
    if (store.window_ == window_) store.slot_ = kNoSlot;
  }

  // ---- devices
  // From the next window on; null: one device.
  Verdict set_devices(std::shared_ptr<WindowDevices> devices);
  const std::shared_ptr<WindowDevices>& devices() const { return devices_; }
  // One with memory of its own, as a GPU: from the next window on those with an array of at least
  // so many elements run there, and their results stay there until somebody asks. Null, or one that
  // works in the host's memory: none.
  static constexpr std::int64_t kLeastThere = 1 << 16;
  Verdict set_device(Device* device, std::int64_t least = kLeastThere);
  Device* device() const { return device_; }
  bool runs_there(std::int64_t elements) const {
    return device_ != nullptr && elements >= least_there_;
  }

  void set_memory_limit(std::int64_t bytes) { options_.memory_limit = bytes; }
  std::int64_t memory_limit() const { return options_.memory_limit; }

  // ---- windows that run call by call
  void set_direct(DirectRuns when) { options_.direct = when; }
  // Until all code is there that is being made in the background.
  void wait_for_code();
  // Makes no more; before a process ends.
  void stop_compiling();

  // ---- what it did
  const RecordCounts& counts() const { return counts_; }
  std::size_t open_calls() const { return calls_.size(); }
  std::size_t window_size() const { return limit_; }
  // How many windows in a row had one call each, and were read: nothing is won by those. Until
  // somebody finds that calls follow each other again.
  int lonely_windows() const { return lonely_; }
  void forget_lonely_windows() { lonely_ = 0; }
  // The last windows: their groups, bytes, and what ended them.
  std::string explain() const;
  // From here on, or no more; starts from nothing.
  void set_profiling(bool on);
  // What windows and their steps have taken since.
  std::string profile() const;

 private:
  struct Done {
    std::int64_t number = 0;
    std::size_t calls = 0, ops = 0, arguments = 0, results = 0;
    bool was_known = false, was_direct = false;
    int pieces = 0;      // that it ran in
    std::string failed;  // why it then ran call by call
    WindowEnd end = WindowEnd::asked;
    std::uint64_t read_at = 0;  // the place that asked for a value
    std::string lines;          // of the caller's, that its calls stand in
    double seconds = 0;
    Executable executable{nullptr};
  };
  // What windows of one executable have taken; of those without one, call by call, together.
  struct Profiled {
    std::int64_t windows = 0;
    double seconds = 0;
    std::string lines;
    std::vector<StepTime> times;
    Executable executable{nullptr};
  };
  // A window of plain calls, and its executable.
  struct Known {
    std::vector<RecordedCall> calls;
    std::vector<Type> arguments;
    std::vector<Slot> results;
    std::vector<bool> donated;
    std::vector<std::uint64_t> places;
    std::string lines;
    std::size_t ops = 0;
    Executable executable{nullptr};
    std::int64_t needed_bytes = 0;  // by a run as a whole
  };
  using KnownPtr = std::shared_ptr<const Known>;
  bool is_plain() const { return !devices_ && calls_.size() == tape_.size() && !calls_.empty(); }
  std::uint64_t tape_hash(const std::vector<StorePtr>& stores) const;
  KnownPtr find_tape(const std::vector<StorePtr>& stores, const std::vector<bool>& donated) const;
  void keep_tape(const std::vector<StorePtr>& stores, const std::vector<bool>& donated,
                 const Done& done);
  void add_plain(const RecordedCall& call);
  // Ops of all calls so far.
  void write_tape();
  Var write_call(const RecordedCall& call);
  Var read_part(const RecordedCall::Part& part);
  std::int64_t bytes_of(const RecordedCall& call) const;
  std::string lines() const;
  void profile_run(const Done& done);

  void open();
  void record(const std::function<void(Builder&)>& write, DirectStepPtr direct);
  void write_ops(std::uint64_t place, const std::function<void(Builder&)>& write);
  std::uint64_t place_of_call();
  Slot new_slot(std::size_t argument, const Type& type);
  void set_version(const StorePtr& store, Var value);
  void begin_write(const StorePtr& store, bool is_whole);
  void write_version(Slot slot, const AffineView& view, const BoxView& box, Var value);
  ValueId value_of(Slot slot);
  ValueId argument_value(std::size_t argument);
  Var read_slot(Slot slot, const AffineView& view);
  void after_call();
  Var version(Store& store);
  struct Argument {
    DeviceValue value;
    SpreadPtr spread;  // where it is in parts; the value may be none then
    std::weak_ptr<Store> of = {};
    Buffer there = {};     // the same on a device where the value is the host's
    bool is_gone = false;  // with a run that failed
    const Type& type() const { return spread ? spread->placed.type() : value.type(); }
  };
  Var argument(Argument given);
  std::int64_t held_bytes() const;
  std::vector<StorePtr> seen() const;
  std::vector<bool> dead_arguments() const;
  std::optional<Executable> known(Target& target, bool& is_best);
  bool is_for_direct_run(const Target& target, std::uint64_t hash, bool is_written);
  void end_program(const std::vector<StorePtr>& stores);
  bool can_run_directly() const;
  Verdict run_directly(const std::vector<StorePtr>& stores, const std::string& why_gone);
  Expected<Executable> compiled(const Target& target);
  Verdict run(const std::vector<StorePtr>& stores, Done& done);
  void place(Target& target, const std::vector<StorePtr>& stores) const;
  Store& keep_track(const StorePtr& store);
  void align(std::vector<Argument>& arguments);
  void keep_aligned();
  bool is_for_device() const;
  std::int64_t limit_on(const Device& device) const;
  Verdict bring_to(Device& device, Argument& argument);
  Verdict bring_to_host(Argument& argument);
  void keep_moved();
  Verdict compute_on_devices(const Executable& executable, std::vector<Argument> given,
                             std::vector<Argument>& values);
  Verdict compute(std::optional<Executable>& found, const Target& target, Done& done,
                  std::vector<Argument>& values);
  Verdict compute(const Program& program, const Executable& executable, bool on_mesh,
                  std::vector<Argument> arguments, Done& done, std::vector<Argument>& values);
  std::int64_t needed_bytes(const Executable& executable, bool on_mesh,
                            const std::vector<Argument>& arguments) const;
  Verdict run_once(const Executable& executable, bool on_mesh, std::vector<Argument>& arguments,
                   const Done& done, std::vector<Argument>& values);
  Verdict compute(const record::Pieces& pieces, Device& device, std::vector<Argument> arguments,
                  Done& done, std::vector<Argument>& values);
  void count(const Done& done);
  void grow(bool was_known, double seconds);

  RecordOptions options_;
  std::shared_ptr<ExecutableCache> cache_;
  std::unique_ptr<record::Background> background_;
  std::shared_ptr<WindowDevices> devices_;    // null: one
  std::vector<std::weak_ptr<Store>> spread_;  // that may be in parts
  Device* device_ = nullptr;                  // with memory of its own; null: none
  std::int64_t least_there_ = kLeastThere;
  std::unordered_map<std::uint64_t, int> came_;  // how often windows came that are not compiled
  RecordCounts counts_;
  std::deque<Done> done_;
  bool profiling_ = false;
  std::map<const void*, Profiled> profiled_;  // by its steps; null: call by call
  std::vector<StepTime> times_;               // of the window that runs

  // The open window.
  std::uint64_t window_ = 1;
  Builder builder_;
  RegionId body_ = kNone;
  std::vector<Argument> arguments_;
  struct Aligned {
    std::weak_ptr<Store> of;
    const void* from = nullptr;
    Array to;
  };
  std::vector<Aligned> aligned_;  // copies of arguments
  struct Moved {
    std::weak_ptr<Store> of;
    DeviceValue was, is;  // one of them in host memory
  };
  std::vector<Moved> moved_;  // arguments that were brought to where the window runs
  std::vector<std::weak_ptr<Store>>
      touched_;                       // in the order in which they got a value of the window
  std::vector<std::uint64_t> calls_;  // a hash of what each has recorded
  std::int64_t bytes_ = 0;            // an upper bound of held_bytes()
  // Of the window call by call.
  struct Step {
    DirectStepPtr step;
    Slot target = kNoSlot;
    std::size_t plain = SIZE_MAX;  // the plain call that it is
  };
  // A write of this window, which later reads may look through.
  struct Written {
    AffineView view;
    ValueId value = kNone;   // what was written, in the view's shape
    ValueId before = kNone;  // the version before it
  };
  struct SlotUse {
    std::size_t argument = SIZE_MAX;  // that it starts with; SIZE_MAX: with nothing
    std::size_t last = 0;             // the last step that uses it
    const Type* type = nullptr;       // one of types_, which stay until the next window
    ValueId value = kNone;            // the present version, of the calls whose ops are written
    std::vector<Written> writes = {};
  };
  Slot target_ = kNoSlot;  // of the call that is being recorded
  std::unordered_map<std::uint64_t, LocId> places_;
  std::unordered_map<std::uint64_t, std::string> place_names_;  // of all windows
  std::vector<std::uint64_t> call_places_;
  std::vector<RecordedCall> tape_;   // the plain calls
  std::size_t written_ = 0;          // plain calls that have their ops
  std::size_t written_at_ = 0;       // the first call that may be the next of them
  std::vector<ValueId> arg_values_;  // of the first arguments
  bool has_ops_ = false;
  std::vector<Step> steps_;
  std::vector<SlotUse> slots_;
  record::PastCalls past_;
  std::size_t limit_ = 0;
  std::size_t turn_ = 0, part_ = 0;  // of a turn that takes several windows
  bool recording_ = false;           // inside of a call that writes its ops
  int known_in_a_row_ = 0;           // windows that were full
  int lonely_ = 0;

  // Views, types and windows of plain calls.
  std::uint64_t epoch_ = 1;
  std::deque<NumberedView> views_;  // which stay where they are
  std::unordered_multimap<std::uint64_t, ViewNumber> view_numbers_;
  std::vector<TypePtr> types_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> type_numbers_;
  std::vector<TypePtr> number_types_;  // of single numbers, by element type
  std::unordered_multimap<std::uint64_t, KnownPtr> tapes_;
  KnownPtr expected_;  // the last known one: the next is likely to be equal
};

}  // namespace heddle
