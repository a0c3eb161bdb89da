#include "runtime/run_state.h"

#include <algorithm>

#include "runtime/state.h"

namespace heddle::runtime {

namespace {

// As many as a mesh of threads may have ranks on one machine; more are made anew every time.
constexpr std::size_t kMostIdle = 64;

// What the program would have put there.
Reason no_room(const ExecutableState& state, const std::string& why) {
  std::string text =
      fmt::format("{}: {}\n  the values that it computes take {:.1f} MB at the peak",
                  state.compiled.program.file, why, static_cast<double>(state.peak.bytes) / 1e6);
  if (!state.peak.where.empty()) text += ", the largest at " + state.peak.where;
  for (const std::string& line : state.peak.largest) text += "\n    " + line;
  return Reason{std::move(text)};
}

}  // namespace

Expected<std::unique_ptr<RunState>> make_run_state(ExecutableState& state) {
  auto run = std::make_unique<RunState>();
  run->queue = state.device().queue();
  auto arena = state.device().allocate(state.arena_bytes);
  if (!arena) return no_room(state, arena.reason());
  run->arena = *std::move(arena);
  HEDDLE_TRY(const std::vector<Buffer>* constants, state.constant_buffers(*run->queue));
  run->home.assign(state.slots.size(), {});
  run->buffers.resize(state.slots.size());
  run->collectives.resize(state.meetings.size());
  run->under_way.resize(state.meetings.size());
  run->stretches.resize(state.stretches);
  for (SlotId id = 0; id < state.slots.size(); ++id) {
    const Slot& slot = state.slots[id];
    if (slot.kind == SlotKind::constant) run->home[id] = (*constants)[slot.number].address;
    if (slot.kind == SlotKind::arena && slot.first >= 0)
      run->home[id] = run->arena.address + slot.offset;
  }
  run->now = run->home;
  return run;
}

std::unique_ptr<RunState> RunPool::take(std::uint64_t transport) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  // The last one has been used last, and is most likely still in the caches.
  auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& run) {
    const std::uint64_t wanted = transport == 0 && run->solo ? run->solo->id() : transport;
    return run->resolved_for.transport == wanted;
  });
  if (found == idle_.rend()) found = idle_.rbegin();
  std::unique_ptr<RunState> run = std::move(*found);
  idle_.erase(std::next(found).base());
  return run;
}

void RunPool::give_back(std::unique_ptr<RunState> run) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(run));
}

void RunPool::clear() {
  std::vector<std::unique_ptr<RunState>> dropped;  // whose queues end outside of the lock
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
}

std::size_t RunPool::size() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

}  // namespace heddle::runtime
