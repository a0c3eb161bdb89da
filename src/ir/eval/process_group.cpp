#include "ir/eval/process_group.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "ir/attr_access.h"

namespace heddle {

ProcessGroup::ProcessGroup(std::int64_t replicas, std::int64_t partitions)
    : replicas_(replicas), partitions_(partitions), members_(static_cast<std::size_t>(size())) {}

std::string ProcessGroup::name_of(std::int64_t id) const {
  return fmt::format("process {} (replica {}, partition {})", id, id / partitions_,
                     id % partitions_);
}

Verdict ProcessGroup::run(const std::function<Verdict(std::int64_t id)>& body) {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);  // nobody starts before all are there
    try {
      for (std::int64_t id = 0; id < size(); ++id)
        threads.emplace_back([this, id, &body] { body_of(id, body); });
    } catch (const std::system_error&) {
      failure_ = fmt::format("there are not enough threads for {} processes", size());
      for (auto id = static_cast<std::size_t>(threads.size()); id < members_.size(); ++id)
        members_[id].state = State::done;
    }
  }
  for (std::thread& t : threads) t.join();
  if (defect_) std::rethrow_exception(defect_);
  if (!failure_.empty()) return Reason{failure_};
  return yes();
}

void ProcessGroup::body_of(std::int64_t id, const std::function<Verdict(std::int64_t)>& body) {
  std::unique_lock lock(mutex_);
  Member& self = members_[static_cast<std::size_t>(id)];
  self.turn.wait(lock, [&] { return running_ == id; });
  if (failure_.empty()) {
    lock.unlock();
    Verdict verdict = yes();
    std::exception_ptr defect;
    try {
      verdict = body(id);
    } catch (...) {
      defect = std::current_exception();
      verdict = reason("it met an internal error");
    }
    lock.lock();
    if (defect && !defect_) defect_ = defect;
    if (!verdict) fail(fmt::format("{}: {}", name_of(id), verdict.reason()));
  }
  self.state = State::done;
  hand_over(id);
}

void ProcessGroup::wait(std::unique_lock<std::mutex>& lock, std::int64_t me) {
  Member& self = members_[static_cast<std::size_t>(me)];
  self.state = State::waiting;
  hand_over(me);
  self.turn.wait(lock, [&] { return running_ == me; });
}

// The next one that is ready, in order and around, gets its turn.
void ProcessGroup::hand_over(std::int64_t from) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    bool waiting = false;
    for (std::int64_t step = 1; step <= size(); ++step) {
      const std::int64_t id = (from + step) % size();
      Member& member = members_[static_cast<std::size_t>(id)];
      waiting |= member.state == State::waiting;
      if (member.state != State::ready) continue;
      running_ = id;
      member.turn.notify_one();
      return;
    }
    if (!waiting) return;  // all are done
    fail(deadlock());      // makes them ready
  }
}

// Everyone who waits goes on, sees the failure and ends.
void ProcessGroup::fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  for (Member& m : members_)
    if (m.state == State::waiting) m.state = State::ready;
}

std::string ProcessGroup::deadlock() const {
  std::string text = "the processes wait for one another for ever:";
  int told = 0;
  for (std::size_t id = 0; id < members_.size(); ++id) {
    const Member& m = members_[id];
    if (m.state != State::waiting) continue;
    if (++told > 8) return text + " …";
    text += fmt::format("{} {} waits in {}", told > 1 ? ";" : "",
                        name_of(static_cast<std::int64_t>(id)), m.what);
    if (m.meeting) text += missing_from(*m.meeting);
  }
  return text;
}

std::string ProcessGroup::missing_from(const Meeting& meeting) const {
  std::string text;
  for (std::int64_t id : meeting.members) {
    if (meeting.brought.count(id)) continue;
    const bool ended = members_[static_cast<std::size_t>(id)].state == State::done;
    text += fmt::format("{}process {}{}", text.empty() ? " for " : " and ", id,
                        ended ? ", which has ended" : "");
  }
  return text;
}

Expected<std::vector<ProcessGroup::Arrays>> ProcessGroup::meet(
    std::int64_t me, const std::vector<std::int64_t>& members, const std::string& key,
    const std::string& what, Arrays mine) {
  std::unique_lock lock(mutex_);
  if (!failure_.empty()) return Reason{failure_};
  const std::string full = fmt::format("{} {}", key, list_text(members));
  std::shared_ptr<Meeting>& place = meetings_[full];
  if (!place) place = std::make_shared<Meeting>(Meeting{members, {}});
  const std::shared_ptr<Meeting> meeting = place;  // outlives its entry
  meeting->brought[me] = std::move(mine);
  if (meeting->brought.size() == members.size()) {
    meetings_.erase(full);  // the next one of the same key is another
    for (std::int64_t id : members)
      if (id != me) members_[static_cast<std::size_t>(id)].state = State::ready;
  } else {
    Member& self = members_[static_cast<std::size_t>(me)];
    self.what = what;
    self.meeting = meeting;
    wait(lock, me);
    if (!failure_.empty()) return Reason{failure_};
  }
  std::vector<Arrays> all;
  for (std::int64_t id : members) all.push_back(meeting->brought.at(id));
  return all;
}

void ProcessGroup::send(const std::string& channel, Arrays arrays) {
  std::lock_guard lock(mutex_);
  channels_[channel].push_back(std::move(arrays));
  // Whoever waits looks again; it goes back to waiting where this was not for it.
  for (Member& m : members_)
    if (m.state == State::waiting && !m.meeting) m.state = State::ready;
}

Expected<ProcessGroup::Arrays> ProcessGroup::receive(std::int64_t me, const std::string& channel,
                                                     const std::string& what) {
  std::unique_lock lock(mutex_);
  Member& self = members_[static_cast<std::size_t>(me)];
  while (channels_[channel].empty()) {
    if (!failure_.empty()) return Reason{failure_};
    self.what = what;
    self.meeting = nullptr;
    wait(lock, me);
  }
  if (!failure_.empty()) return Reason{failure_};
  Arrays arrays = std::move(channels_[channel].front());
  channels_[channel].pop_front();
  return arrays;
}

}  // namespace heddle
