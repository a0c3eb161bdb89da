#include "parallel/pipeline/least_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/plain_math.h"

namespace heddle::pipeline {

namespace {

class WorkOfGraph {
 public:
  WorkOfGraph(const CutGraph& graph, bool backward)
      : graph_(graph), backward_(backward), order_(sorted(graph)) {
    for (const CutGraph::Value& v : graph.values)
      if (v.of_backward)
        for (int user : v.backward_users) back_[{user, v.maker}] += v.bytes;
      else
        for (int user : v.forward_users) forward_[{v.maker, user}] += v.bytes;
  }

  LeastWork run() {
    LeastWork work;
    find_way(work);
    find_nodes(work);
    return work;
  }

 private:
  double back_of(std::size_t n) const { return backward_ ? graph_.nodes[n].backward : 0; }
  double seconds(std::size_t n) const { return graph_.nodes[n].forward + back_of(n); }

  // By node: those that it takes from, and gives back to.
  std::vector<std::vector<int>> ties() const {
    std::vector<std::vector<int>> all(graph_.nodes.size());
    for (const auto& [pair, bytes] : forward_)
      if (pair.first != pair.second && (!backward_ || back_.contains(pair)))
        all[static_cast<std::size_t>(pair.second)].push_back(pair.first);
    return all;
  }

  void find_way(LeastWork& work) const {
    const std::vector<std::vector<int>> before = ties();
    std::vector<double> longest(graph_.nodes.size(), 0);
    std::vector<int> by(graph_.nodes.size(), -1);
    int last = -1;
    for (int node : order_) {
      const auto n = static_cast<std::size_t>(node);
      for (int b : before[n])
        if (by[n] < 0 ||
            longest[static_cast<std::size_t>(b)] > longest[static_cast<std::size_t>(by[n])])
          by[n] = b;
      longest[n] = seconds(n) + (by[n] < 0 ? 0 : longest[static_cast<std::size_t>(by[n])]);
      if (last < 0 || longest[n] > longest[static_cast<std::size_t>(last)]) last = node;
    }
    if (last < 0) return;
    work.way = longest[static_cast<std::size_t>(last)];
    work.forward_bytes = work.backward_bytes = INT64_MAX;
    for (int n = last; n >= 0; n = by[static_cast<std::size_t>(n)]) {
      const auto at = static_cast<std::size_t>(n);
      if (seconds(at) > 0)
        work.forward_share = std::min(work.forward_share, graph_.nodes[at].forward / seconds(at));
      const std::pair tie{by[static_cast<std::size_t>(n)], n};
      if (tie.first < 0) continue;
      work.forward_bytes = std::min(work.forward_bytes, forward_.at(tie));
      if (backward_) work.backward_bytes = std::min(work.backward_bytes, back_.at(tie));
    }
    if (work.forward_bytes == INT64_MAX) work.forward_bytes = 0;
    if (work.backward_bytes == INT64_MAX) work.backward_bytes = 0;
  }

  void find_nodes(LeastWork& work) const {
    std::vector<LeastWork::Node> all(graph_.nodes.size());
    std::vector<std::vector<int>> takes(all.size()), gives_back(all.size());
    for (const auto& [pair, bytes] : forward_)
      if (pair.first != pair.second)
        takes[static_cast<std::size_t>(pair.second)].push_back(pair.first);
    for (const auto& [pair, bytes] : back_)
      if (pair.first != pair.second && backward_)
        gives_back[static_cast<std::size_t>(pair.second)].push_back(pair.first);
    for (int node : order_) {  // constraints go forward in it, those of the way back too
      const auto n = static_cast<std::size_t>(node);
      all[n].seconds = seconds(n);
      for (int b : takes[n]) {
        const auto other = static_cast<std::size_t>(b);
        all[n].head = std::max(all[n].head, all[other].head + graph_.nodes[other].forward);
      }
      for (int b : gives_back[n]) {
        const auto other = static_cast<std::size_t>(b);
        all[n].tail = std::max(all[n].tail, all[other].tail + back_of(other));
      }
    }
    for (const CutGraph::Resident& r : graph_.residents)
      if (r.users.size() == 1) all[static_cast<std::size_t>(r.users[0])].update += r.update;
    work.nodes = std::move(all);
  }

  const CutGraph& graph_;
  bool backward_;
  std::vector<int> order_;
  std::map<std::pair<int, int>, std::int64_t> forward_, back_;  // earlier and later node: bytes
};

// One chunk each: so many stages are on the way, the others have work beside it. Within `step`
// seconds stage i of the way works after those before it; what is beside the way goes to the first
// of them, which makes nobody wait.
class OnTheWay {
 public:
  OnTheWay(const PipelineShape& shape, double way, double beside, double waits_for, double delay)
      : shape_(shape), way_(way), beside_(beside), waits_for_(waits_for), delay_(delay) {}

  double least(int on_way) const {
    const double batches = shape_.micro_batches;
    double low = batches * (way_ + beside_) / shape_.stages;
    double high = batches * (way_ + beside_) + delay_ * on_way;
    if (holds(low, on_way)) return low;
    constexpr int kHalvings = 40;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (holds(middle, on_way) ? high : low) = middle;
    }
    return low;
  }

 private:
  bool holds(double step, int on_way) const {
    const double batches = shape_.micro_batches;
    double way = way_, beside = beside_ - (shape_.stages - on_way) * step / batches, before = 0;
    for (int i = 0; i < on_way && (way > 0 || beside > 0); ++i) {
      double room = std::max(0.0, (step - before - i * delay_) / batches);
      const double taken = std::clamp(beside, 0.0, room);
      beside -= taken;
      room -= taken;
      const double some = std::min(way, room);
      way -= some;
      before += waits_for_ * some;
    }
    return way <= 0 && beside <= 0;
  }

  const PipelineShape& shape_;
  double way_, beside_;  // seconds of one micro-batch
  double waits_for_;     // the share of a stage's work on the way that others wait for, twice
  double delay_;         // of what is sent on and back
};

// Interleaved stages. A virtual stage works on all micro-batches after those before it, a stage on
// all that it has of the way after those before its first one, and on all that it has at all. Any
// mixture of these is a bound: what it counts where work lies where it counts least.
class Interleaved {
 public:
  Interleaved(const PipelineShape& shape, double way, double beside, double waits_for)
      : stages_(static_cast<std::size_t>(shape.stages)),
        batches_(shape.micro_batches),
        way_(way),
        beside_(beside),
        waits_for_(waits_for),
        counted_(static_cast<std::size_t>(shape.virtual_stages()), 0),
        counted_beside_(stages_, 0),
        share_(counted_.size(), 1.0 / static_cast<double>(counted_.size())),
        share_beside_(stages_, 1.0 / static_cast<double>(stages_)) {}

  double least() {
    constexpr int kRounds = 600;
    double best = 0;
    for (int round = 1; round <= kRounds; ++round) {
      count_longest();
      const double least = *std::ranges::min_element(counted_),
                   least_beside = *std::ranges::min_element(counted_beside_);
      best = std::max(best, (way_ * least + beside_ * least_beside) / round);
      const double sharpness =
          8 * static_cast<double>(stages_) / std::sqrt(static_cast<double>(round)) / batches_;
      deal(counted_, sharpness, least, share_);
      deal(counted_beside_, sharpness, least_beside, share_beside_);
    }
    return best;
  }

 private:
  enum class Kind { one, of_way, all };

  void count_longest() {
    double longest = -1, before = 0;
    std::size_t at = 0;
    Kind kind = Kind::one;
    for (std::size_t v = 0; v < share_.size(); ++v) {
      const auto look = [&](double seconds, Kind what) {
        if (seconds <= longest) return;
        longest = seconds;
        at = v;
        kind = what;
      };
      look(before + batches_ * way_ * share_[v], Kind::one);
      if (v < stages_) {
        double own = 0;
        for (std::size_t c = v; c < share_.size(); c += stages_) own += way_ * share_[c];
        look(before + batches_ * own, Kind::of_way);
        look(batches_ * (own + beside_ * share_beside_[v]), Kind::all);
      }
      before += waits_for_ * way_ * share_[v];
    }
    for (std::size_t v = 0; v < at && kind != Kind::all; ++v) counted_[v] += waits_for_;
    for (std::size_t v = at; v < share_.size(); v += kind == Kind::one ? share_.size() : stages_)
      counted_[v] += batches_;
    if (kind == Kind::all) counted_beside_[at] += batches_;
  }

  // Work goes where it has counted least so far.
  static void deal(const std::vector<double>& counted, double sharpness, double least,
                   std::vector<double>& share) {
    constexpr double kLeastExponent = -700;  // below it is nothing
    double all = 0;
    for (std::size_t i = 0; i < share.size(); ++i)
      all += share[i] = plain_exp(std::max(kLeastExponent, -sharpness * (counted[i] - least)));
    for (double& s : share) s /= all;
  }

  std::size_t stages_;
  double batches_, way_, beside_, waits_for_;
  std::vector<double> counted_, counted_beside_;  // by virtual stage, by stage
  std::vector<double> share_, share_beside_;
};

}  // namespace

LeastWork least_work(const CutGraph& graph, bool backward) {
  return WorkOfGraph(graph, backward).run();
}

double least_of_nodes(const PipelineShape& shape, const LeastWork& work) {
  double least = 0;
  for (const LeastWork::Node& node : work.nodes)
    least = std::max(
        least, node.head + shape.micro_batches * node.seconds + std::max(node.tail, node.update));
  return least;
}

double least_of_way(const PipelineShape& shape, const LeastWork& work, double seconds, double once,
                    const Link& between, int most_on_way) {
  const double each = seconds / shape.micro_batches;
  const double way = std::min(work.way, each);
  // Updates come while others are on their way back: of that and of them a mixture is waited for.
  const double waits_for = work.forward_share + (1 - once) * (1 - work.forward_share);
  if (shape.chunks > 1) return Interleaved(shape, way, each - way, waits_for).least();
  const auto message = [&](std::int64_t bytes) {
    return between.latency + static_cast<double>(bytes) / between.bandwidth;
  };
  double delay = message(work.forward_bytes);
  if (shape.backward) delay += (1 - once) * message(work.backward_bytes);
  const OnTheWay bound(shape, way, each - way, waits_for, delay);
  double least = bound.least(1);
  for (int on_way = 2; on_way <= std::min(shape.stages, most_on_way); ++on_way)
    least = std::min(least, bound.least(on_way));
  return least;
}

// ---- values that stay where they are

namespace {

// As the devices of a stage have it that share it as well as can be.
CutGraph shared_by(CutGraph graph, double devices) {
  for (CutGraph::Node& node : graph.nodes) {
    node.forward /= devices;
    node.backward /= devices;
  }
  for (CutGraph::Value& v : graph.values)
    v.bytes = static_cast<std::int64_t>(static_cast<double>(v.bytes) / devices);
  for (CutGraph::Resident& r : graph.residents) r.update /= devices;
  return graph;
}

class Groups {
 public:
  explicit Groups(std::size_t count) : of_(count) { std::iota(of_.begin(), of_.end(), 0); }

  void join(const CutGraph::Value& v) {
    for (const std::vector<int>* users : {&v.forward_users, &v.backward_users})
      for (int user : *users) of_[static_cast<std::size_t>(find(user))] = find(v.maker);
  }

  // From 0, in the order of their first nodes.
  std::vector<int> numbered() {
    std::map<int, int> numbers;
    std::vector<int> all;
    for (std::size_t n = 0; n < of_.size(); ++n)
      all.push_back(numbers.try_emplace(find(static_cast<int>(n)), static_cast<int>(numbers.size()))
                        .first->second);
    return all;
  }

 private:
  int find(int n) {
    while (of_[static_cast<std::size_t>(n)] != n) {
      int& up = of_[static_cast<std::size_t>(n)];
      up = of_[static_cast<std::size_t>(up)];
      n = up;
    }
    return n;
  }

  std::vector<int> of_;
};

// Chunks of one stage lie on the same devices, so that values do not travel between them: nodes
// that are tied are on one stage, and on any of its chunks.
LeastWork on_the_same_devices(LeastWork work, const std::vector<int>& group_of) {
  std::vector<LeastWork::Node> groups;
  for (std::size_t n = 0; n < group_of.size(); ++n) {
    const auto g = static_cast<std::size_t>(group_of[n]);
    const LeastWork::Node& one = work.nodes[n];
    if (g == groups.size()) groups.push_back({0, one.head, one.tail, 0});
    LeastWork::Node& all = groups[g];
    all.seconds += one.seconds;
    all.update += one.update;
    all.head = std::min(all.head, one.head);
    all.tail = std::min(all.tail, one.tail);
  }
  work.nodes = std::move(groups);
  return work;
}

}  // namespace

LeastStep::LeastStep(const CutGraph& graph, const PipelineShape& shape, double devices,
                     Link between)
    : graph_(shared_by(graph, devices)), shape_(shape), between_(between) {
  for (std::size_t v = 0; v < graph_.values.size(); ++v) values_.push_back(v);
  std::ranges::stable_sort(values_, [&](std::size_t a, std::size_t b) {
    return graph_.values[a].bytes > graph_.values[b].bytes;
  });
}

const LeastWork& LeastStep::work_with_tied(std::size_t count) const {
  const auto [at, is_new] = works_.try_emplace(count);
  if (!is_new) return at->second;
  Groups groups(graph_.nodes.size());
  for (std::size_t i = 0; i < count; ++i) groups.join(graph_.values[values_[i]]);
  if (shape_.chunks > 1) {
    at->second = on_the_same_devices(least_work(graph_, shape_.backward), groups.numbered());
  } else {
    const Merged tied = merged(graph_, groups.numbered());
    at->second = least_work(without_circles(tied.graph).graph, shape_.backward);
  }
  return at->second;
}

// What the smallest of them takes for all micro-batches: one link carries one message at a time.
double LeastStep::travelling(std::size_t count) const {
  if (count == 0) return std::numeric_limits<double>::infinity();
  const auto bytes = static_cast<double>(graph_.values[values_[count - 1]].bytes);
  return shape_.micro_batches * (between_.latency + bytes / between_.bandwidth);
}

double LeastStep::with_tied(std::size_t count, double seconds, double once) const {
  const LeastWork& work = work_with_tied(count);
  return std::max({seconds / shape_.stages, least_of_nodes(shape_, work),
                   least_of_way(shape_, work, seconds, once, between_, shape_.virtual_stages())});
}

// The more are tied, the longer the rest takes, and the less time the smallest one travels.
double LeastStep::of(double seconds, double once) const {
  std::size_t low = 0, high = values_.size() + 1;
  double best = with_tied(0, seconds, once);
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    const double least = with_tied(middle, seconds, once), travels = travelling(middle);
    best = std::max(best, std::min(least, travels));
    (least < travels ? low : high) = middle;
  }
  return best;
}

double LeastStep::with_fewer_on_way(double seconds, double once) const {
  return least_of_way(shape_, work_with_tied(0), seconds, once, between_,
                      shape_.virtual_stages() - 1);
}

}  // namespace heddle::pipeline
