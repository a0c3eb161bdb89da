// The slots of an executable while it is put together: what memory each one is, and when.
#pragma once

#include <vector>

#include "heddle/array.h"
#include "heddle/program.h"
#include "runtime/memory_plan.h"
#include "runtime/step.h"

namespace heddle::runtime {

enum class SlotKind : std::uint8_t {
  argument,  // the caller's; written to only where it was donated
  constant,
  arena,  // shared with others that live at other times
  fresh,  // a block of its own in every run, for the caller to keep
};

struct Slot {
  SlotKind kind = SlotKind::arena;
  std::int64_t bytes = 0;
  std::int64_t first = -1, last = -1;  // steps; -1: nobody touches it
  ValueId value = kNone;               // the first that lies there
  std::uint32_t number = 0;            // of the argument or constant
  bool donated = false;
  bool pinned = false;     // a loop exchanges it: nothing else may move in
  SlotId partner = kNone;  // that a loop exchanges it with: what it holds may lie there
  std::int64_t offset = 0;
};

class SlotTable {
 public:
  SlotId add(Slot slot) {
    slots_.push_back(slot);
    return static_cast<SlotId>(slots_.size() - 1);
  }
  Slot& operator[](SlotId id) { return slots_[id]; }
  const Slot& operator[](SlotId id) const { return slots_[id]; }
  const std::vector<Slot>& all() const { return slots_; }

  // A step begins; gives its place in time.
  std::int64_t next_step() { return ++now_; }
  // The step that began last uses the slot.
  void touch(SlotId id);
  // What a loop uses and was there before stays until the end of the loop.
  void begin_loop();
  void end_loop();

  // Offsets of the arena's slots; gives its size.
  std::int64_t plan();
  // The buffers that count against a limit: arena ones, and fresh ones and arguments for the whole
  // run.
  std::vector<PlannedBuffer> live_buffers(std::vector<SlotId>& slots) const;

 private:
  struct Loop {
    std::int64_t begin;
    std::vector<SlotId> touched;
  };
  std::vector<Slot> slots_;
  std::vector<Loop> loops_;
  std::int64_t now_ = -1;
};

}  // namespace heddle::runtime
