// Messages between stages, and the proof that nobody waits for ever.
#include <algorithm>
#include <deque>
#include <map>

#include "base/text.h"
#include "heddle/pipeline.h"

namespace heddle {

namespace {

using StepKind = PipelineStep::Kind;

// Which step of which stage.
struct StepId {
  std::size_t stage = 0, index = 0;
};

struct Channel {
  int from = 0, to = 0, number = 0;
  auto operator<=>(const Channel&) const = default;
};

struct Traffic {
  std::vector<StepId> sends, receives;  // in order
};

std::string text_of(const PipelineSteps& steps, StepId id) {
  const PipelineStep& step = steps[id.stage][id.index];
  const std::string task = fmt::format("{} {} of chunk {}", name(step.task.kind),
                                       step.task.micro_batch, step.task.chunk);
  if (step.kind == StepKind::work) return fmt::format("stage {} at {}", id.stage, task);
  const bool sends = step.kind == StepKind::send;
  return fmt::format("stage {} at {} {} message {} {} stage {} (channel {})", id.stage, task,
                     sends ? "sends" : "receives", step.message, sends ? "to" : "from", step.other,
                     step.channel);
}

// Kahn's algorithm over steps: what is left when nothing can go on waits for ever.
class Proof {
 public:
  Proof(const PipelineSteps& steps, int room) : steps_(steps), room_(room) {
    std::size_t count = 0;
    for (const auto& stage : steps) {
      first_.push_back(count);
      count += stage.size();
    }
    after_.resize(count);
    waits_.assign(count, 0);
  }

  Verdict run() {
    HEDDLE_TRY_VOID(find_channels());
    for (const auto& [channel, traffic] : channels_) HEDDLE_TRY_VOID(join(channel, traffic));
    for (std::size_t s = 0; s < steps_.size(); ++s)
      for (std::size_t i = 0; i + 1 < steps_[s].size(); ++i) wait({s, i + 1}, {s, i});
    return all_end();
  }

 private:
  std::size_t number(StepId id) const { return first_[id.stage] + id.index; }

  StepId step_of(std::size_t number) const {
    const auto next = std::ranges::upper_bound(first_, number);
    const auto stage = static_cast<std::size_t>(next - first_.begin()) - 1;
    return {stage, number - first_[stage]};
  }

  void wait(StepId who, StepId for_whom) {
    after_[number(for_whom)].push_back(number(who));
    ++waits_[number(who)];
  }

  Verdict find_channels() {
    for (std::size_t s = 0; s < steps_.size(); ++s)
      for (std::size_t i = 0; i < steps_[s].size(); ++i) {
        const PipelineStep& step = steps_[s][i];
        if (step.kind == StepKind::work) continue;
        const int here = static_cast<int>(s);
        if (step.other < 0 || static_cast<std::size_t>(step.other) >= steps_.size() ||
            step.other == here)
          return reason("{}: there is no such other stage", text_of(steps_, {s, i}));
        if (step.kind == StepKind::send)
          channels_[{here, step.other, step.channel}].sends.push_back({s, i});
        else
          channels_[{step.other, here, step.channel}].receives.push_back({s, i});
      }
    return yes();
  }

  // What is sent n-th is received n-th, and not sent before there is room for it.
  Verdict join(const Channel& channel, const Traffic& traffic) {
    const std::size_t sent = traffic.sends.size(), received = traffic.receives.size();
    for (std::size_t n = 0; n < std::min(sent, received); ++n) {
      const StepId send = traffic.sends[n], receive = traffic.receives[n];
      if (steps_[send.stage][send.index].message != steps_[receive.stage][receive.index].message)
        return reason("messages of channel {} come in another order than they are taken in: {}, {}",
                      channel.number, text_of(steps_, send), text_of(steps_, receive));
      wait(receive, send);
      if (n >= static_cast<std::size_t>(room_))
        wait(send, traffic.receives[n - static_cast<std::size_t>(room_)]);
    }
    if (sent == received) return yes();
    const StepId lone = sent > received ? traffic.sends[received] : traffic.receives[sent];
    return reason("{}, which has no counterpart", text_of(steps_, lone));
  }

  Verdict all_end() {
    std::vector<int> waits = waits_;
    std::deque<std::size_t> ready;
    std::size_t ended = 0;
    for (std::size_t n = 0; n < waits.size(); ++n)
      if (waits[n] == 0) ready.push_back(n);
    for (; !ready.empty(); ++ended) {
      const std::size_t step = ready.front();
      ready.pop_front();
      for (std::size_t next : after_[step])
        if (--waits[next] == 0) ready.push_back(next);
    }
    if (ended == waits.size()) return yes();
    return reason("the pipeline would stop for ever: {}", circle(waits));
  }

  // Who waits for whom, until it comes round.
  std::string circle(const std::vector<int>& waits) const {
    std::vector<std::vector<std::size_t>> before(after_.size());
    for (std::size_t n = 0; n < after_.size(); ++n)
      for (std::size_t next : after_[n])
        if (waits[n] > 0 && waits[next] > 0) before[next].push_back(n);
    auto at = static_cast<std::size_t>(std::ranges::find_if(waits, [](int w) { return w > 0; }) -
                                       waits.begin());
    std::vector<std::size_t> path;
    while (std::ranges::find(path, at) == path.end()) {
      path.push_back(at);
      at = before[at].front();
    }
    path.erase(path.begin(), std::ranges::find(path, at));
    constexpr std::size_t kMostNamed = 8;
    std::string text;
    std::size_t named = 0;
    for (std::size_t n : path) {
      const StepId id = step_of(n);
      if (steps_[id.stage][id.index].kind == StepKind::work || named++ >= kMostNamed) continue;
      text += (text.empty() ? "" : ", which waits for ") + text_of(steps_, id);
    }
    return text + ", which waits for the first";
  }

  const PipelineSteps& steps_;
  int room_;
  std::vector<std::size_t> first_;               // steps before those of a stage
  std::vector<std::vector<std::size_t>> after_;  // by step: who waits for it
  std::vector<int> waits_;
  std::map<Channel, Traffic> channels_;
};

}  // namespace

PipelineSteps steps_of(const PipelineShape& shape, const PipelineOrder& order,
                       const std::vector<PipelineEdge>& edges) {
  PipelineSteps steps(order.size());
  for (std::size_t s = 0; s < order.size(); ++s) {
    const int stage = static_cast<int>(s);
    for (const PipelineTask& task : order[s]) {
      const int position = position_of(shape, stage, task);
      auto add = [&](StepKind kind, int PipelineEdge::* here, int PipelineEdge::* there) {
        for (std::size_t e = 0; e < edges.size(); ++e)
          if (const int other = shape.stage_of(edges[e].*there);
              edges[e].*here == position && other != stage)
            steps[s].push_back({kind, task, other, static_cast<int>(e), task.micro_batch});
      };
      if (task.kind != PipelineTask::Kind::update)
        add(StepKind::receive, &PipelineEdge::to, &PipelineEdge::from);
      steps[s].push_back({StepKind::work, task});
      if (task.kind != PipelineTask::Kind::update)
        add(StepKind::send, &PipelineEdge::from, &PipelineEdge::to);
    }
  }
  return steps;
}

Verdict free_of_deadlock(const PipelineSteps& steps, int room) {
  if (room < 1) return reason("a channel with room for {} messages: it needs 1 at least", room);
  return Proof(steps, room).run();
}

}  // namespace heddle
