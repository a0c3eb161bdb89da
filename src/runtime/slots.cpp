#include "runtime/slots.h"

#include <algorithm>

namespace heddle::runtime {

void SlotTable::touch(SlotId id) {
  Slot& slot = slots_[id];
  if (slot.first < 0) slot.first = now_;
  slot.last = std::max(slot.last, now_);
  if (slot.partner != kNone) {
    Slot& partner = slots_[slot.partner];
    partner.first = slot.first;
    partner.last = std::max(partner.last, now_);
  }
  if (!loops_.empty()) loops_.back().touched.push_back(id);
}

void SlotTable::begin_loop() { loops_.push_back({now_, {}}); }

void SlotTable::end_loop() {
  const Loop loop = std::move(loops_.back());
  loops_.pop_back();
  for (SlotId id : loop.touched)
    if (slots_[id].first <= loop.begin) touch(id);
}

std::int64_t SlotTable::plan() {
  std::vector<PlannedBuffer> buffers;
  std::vector<SlotId> planned;
  for (SlotId id = 0; id < slots_.size(); ++id) {
    const Slot& slot = slots_[id];
    if (slot.kind != SlotKind::arena || slot.first < 0) continue;
    buffers.push_back({slot.bytes, slot.first, slot.last});
    planned.push_back(id);
  }
  const std::int64_t size = plan_memory(buffers);
  for (std::size_t i = 0; i < planned.size(); ++i) slots_[planned[i]].offset = buffers[i].offset;
  return size;
}

std::vector<PlannedBuffer> SlotTable::live_buffers(std::vector<SlotId>& slots) const {
  std::vector<PlannedBuffer> buffers;
  for (SlotId id = 0; id < slots_.size(); ++id) {
    const Slot& slot = slots_[id];
    const bool given = slot.kind == SlotKind::argument;
    if (slot.kind == SlotKind::constant || (slot.first < 0 && !given)) continue;
    slots.push_back(id);
    if (slot.kind == SlotKind::arena) buffers.push_back({slot.bytes, slot.first, slot.last});
    if (slot.kind != SlotKind::arena) buffers.push_back({slot.bytes, 0, now_});
  }
  return buffers;
}

}  // namespace heddle::runtime
