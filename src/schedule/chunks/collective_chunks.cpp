#include "schedule/chunks/collective_chunks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

// The way over a binary tree whose rank r hangs below (r - 1) / 2: the next rank from `at` to `to`.
int next_in_tree(int at, int to) {
  for (int below = to; below > at; below = (below - 1) / 2)
    if ((below - 1) / 2 == at) return below;
  return (at - 1) / 2;
}

class Writer {
 public:
  explicit Writer(const ChunkedCollective& wanted) : wanted_(wanted), ranks_(wanted.ranks) {
    program_.ranks = ranks_;
    program_.elements = wanted.elements;
    const bool scatters = wanted.kind == CollectiveKind::reduce_scatter;
    const bool gathers = wanted.kind == CollectiveKind::all_gather;
    const bool passes_sums_on = ranks_ > 2 && wanted.algorithm != Algorithm::direct;
    in_ =
        add_buffer("in", wanted.elements, gathers ? Holds::own_slice : Holds::all, !wanted.produce);
    out_ = add_buffer("out", wanted.elements, scatters ? Holds::own_slice : Holds::all);
    program_.buffers[in_].element_bytes = wanted.element_bytes;
    program_.buffers[out_].element_bytes =
        wanted.finish ? wanted.result_bytes : wanted.element_bytes;
    sum_ = out_;
    if ((wanted.finish && !gathers) || (scatters && passes_sums_on)) {
      sum_ = add_buffer("sum", wanted.elements, passes_sums_on ? Holds::all : Holds::own_slice);
      program_.buffers[sum_].element_bytes = wanted.element_bytes;
    }
    if (wanted.consume) used_ = add_buffer("used", wanted.elements, Holds::all);
    if (wanted.norm) {
      numbers_ = add_buffer("numbers", ranks_, Holds::all);
      total_ = add_buffer("total", 1, Holds::all);
      for (std::uint32_t b : {numbers_, total_})
        program_.buffers[b].element_bytes = wanted.number_bytes;
    }
    for (int r = 0; r < ranks_; ++r)
      for (int c = 0; c < wanted.channels; ++c) program_.lanes.push_back({r, {}});
    if (wanted.norm)
      for (std::string_view what : {"summed", "known"})
        for (int r = 0; r < ranks_; ++r) program_.counters.push_back({r, std::string(what)});
  }

  ChunkProgram write() {
    for (lane_ = 0; lane_ < wanted_.channels; ++lane_)
      for (rank_ = 0; rank_ < ranks_; ++rank_) write_lane();
    set_results();
    set_slots();
    return std::move(program_);
  }

 private:
  // ---- who talks with whom about slice k
  int towards(int k, int r) const {
    switch (wanted_.algorithm) {
      case Algorithm::direct:
        return k;
      case Algorithm::ring:
        return (r + 1) % ranks_;
      case Algorithm::tree:
        return next_in_tree(r, k);
    }
    return k;
  }
  // Who hands the result on to r: the same edges but for a ring, which goes on in its direction.
  int giver(int k, int r) const {
    return wanted_.algorithm == Algorithm::ring ? (r + ranks_ - 1) % ranks_ : towards(k, r);
  }
  std::vector<int> that_send_to(int k, int r) const {
    std::vector<int> all;
    for (int other = 0; other < ranks_; ++other)
      if (other != k && other != r && towards(k, other) == r) all.push_back(other);
    return all;
  }
  std::vector<int> that_get_from(int k, int r) const {
    std::vector<int> all;
    for (int i = 1; i < ranks_; ++i)
      if (const int other = (r + i) % ranks_; other != k && giver(k, other) == r)
        all.push_back(other);
    return all;
  }
  // Slices in the order in which a rank takes part in their sums, or results. Both ends of every
  // channel have the same order.
  std::vector<int> order(bool of_sums) const {
    std::vector<int> slices;
    for (int i = 0; i < ranks_; ++i) switch (wanted_.algorithm) {
        case Algorithm::ring:
          slices.push_back((rank_ + 2 * ranks_ - i - (of_sums ? 1 : 0)) % ranks_);
          break;
        case Algorithm::direct:
          slices.push_back((rank_ + i + (of_sums ? 1 : 0)) % ranks_);
          break;
        case Algorithm::tree:
          slices.push_back(i);
          break;
      }
    return slices;
  }

  // ---- ops
  std::uint32_t add_buffer(std::string name, std::int64_t elements, Holds holds,
                           bool given = false) {
    program_.buffers.push_back({std::move(name), elements, holds, given});
    return static_cast<std::uint32_t>(program_.buffers.size() - 1);
  }
  std::uint32_t channel(int from, int to) {
    const auto [at, fresh] = channels_.try_emplace(
        {from, to, lane_}, static_cast<std::uint32_t>(program_.channels.size()));
    if (fresh) program_.channels.push_back({from, to, wanted_.protocol, wanted_.slots, 0});
    return at->second;
  }
  void add(ChunkOp op) {
    const Chunk& chunk = op.to.buffer == kNone ? op.from : op.to;
    if (chunk.buffer != kNone && chunk.count == 0) return;  // of a slice that has fewer chunks
    const int lane = rank_ * wanted_.channels + lane_;
    program_.lanes[static_cast<std::size_t>(lane)].ops.push_back(std::move(op));
  }
  void send(const Chunk& from, int to) {
    add({.kind = Kind::send, .channel = channel(rank_, to), .from = from});
  }
  void receive(const Chunk& to, int from) {
    add({.kind = Kind::receive, .channel = channel(from, rank_), .to = to});
  }
  void reduce(const Chunk& to, const Chunk& with, int from) {
    add({.kind = Kind::reduce, .channel = channel(from, rank_), .from = with, .to = to});
  }
  void compute(Function function, std::vector<Chunk> reads, const Chunk& to) {
    add({.kind = Kind::compute, .to = to, .function = function, .reads = std::move(reads)});
  }

  Chunk chunk(std::uint32_t buffer, int slice, int number) const {
    const Chunk all = program_.slice(buffer, slice);
    const std::int64_t grains = (all.count + wanted_.grain - 1) / wanted_.grain;
    const auto begin = [&](int of) {
      return std::min(all.count, part_begin(grains, of, wanted_.chunks) * wanted_.grain);
    };
    return {buffer, all.first + begin(number), begin(number + 1) - begin(number)};
  }

  // ---- sums go up
  void sum_up(int k, int number) {
    const Chunk mine = chunk(in_, k, number);
    if (wanted_.produce) compute(Function::produce, {}, mine);
    const std::vector<int> others = that_send_to(k, rank_);
    if (others.empty() && rank_ != k) return send(mine, towards(k, rank_));
    const Chunk sum = chunk(rank_ == k && !wanted_.finish ? out_ : sum_, k, number);
    if (others.empty())
      add({.kind = Kind::copy, .from = mine, .to = sum});
    else if (wanted_.algorithm == Algorithm::direct)
      sum_in_order(mine, sum);
    else
      for (std::size_t i = 0; i < others.size(); ++i) reduce(sum, i == 0 ? mine : sum, others[i]);
    if (rank_ != k) send(sum, towards(k, rank_));
  }
  void sum_in_order(const Chunk& mine, const Chunk& sum) {
    const auto member = [&](int i) {
      return wanted_.order.empty() ? i : wanted_.order[static_cast<std::size_t>(i)];
    };
    const bool begins = member(0) == rank_;
    if (!begins) receive(sum, member(0));
    for (int i = 1; i < ranks_; ++i)
      if (member(i) == rank_)
        add({.kind = Kind::reduce, .from = mine, .to = sum});
      else
        reduce(sum, begins && i == 1 ? mine : sum, member(i));
  }

  // ---- results go down
  void hand_down(std::uint32_t buffer, int k, int number) {
    const Chunk result = number < 0 ? program_.slice(buffer, k) : chunk(buffer, k, number);
    if (rank_ != k) receive(result, giver(k, rank_));
    for (int other : that_get_from(k, rank_)) send(result, other);
    if (wanted_.consume && buffer == out_)
      compute(Function::consume, {result}, {used_, result.first, result.count});
  }
  void hand_down_own(int number) {
    const Chunk mine = chunk(in_, rank_, number), result = chunk(out_, rank_, number);
    if (wanted_.produce) compute(Function::produce, {}, mine);
    if (wanted_.finish) return compute(Function::finish, {mine}, result);
    add({.kind = Kind::copy, .from = mine, .to = result});
  }

  void finish_own(int number) {
    if (!wanted_.finish) return;
    std::vector<Chunk> reads = {chunk(sum_, rank_, number)};
    if (wanted_.norm) reads.push_back({total_, 0, 1});
    compute(Function::finish, std::move(reads), chunk(out_, rank_, number));
  }

  // The number of this rank's whole slice, so that its bits do not depend on chunks; the first lane
  // brings those of all ranks together.
  void find_norm() {
    const auto summed = static_cast<std::uint32_t>(rank_);
    const auto known = static_cast<std::uint32_t>(ranks_ + rank_);
    add({.kind = Kind::signal, .counter = summed});
    if (lane_ > 0) return add({.kind = Kind::wait, .counter = known, .value = 1});
    add({.kind = Kind::wait, .counter = summed, .value = wanted_.channels});
    compute(Function::partial, {program_.slice(sum_, rank_)}, {numbers_, rank_, 1});
    for (int k : order(false)) hand_down(numbers_, k, -1);
    compute(Function::total, {{numbers_, 0, ranks_}}, {total_, 0, 1});
    add({.kind = Kind::signal, .counter = known});
  }

  void write_lane() {
    if (wanted_.kind == CollectiveKind::send) return write_send();
    const bool sums = wanted_.kind != CollectiveKind::all_gather;
    const bool gathers = wanted_.kind != CollectiveKind::reduce_scatter;
    const auto up = [&](const std::vector<int>& numbers) {
      for (int k : order(true))
        for (int number : numbers) sum_up(k, number);
    };
    const auto down = [&](const std::vector<int>& numbers) {
      for (int number : numbers)
        if (sums)
          finish_own(number);
        else
          hand_down_own(number);
      if (!gathers) return;
      for (int k : order(false))
        for (int number : numbers) hand_down(out_, k, number);
    };
    if (wanted_.norm) {
      for (const auto& group : groups()) up(group);
      find_norm();
      for (const auto& group : groups()) down(group);
      return;
    }
    for (const auto& group : groups()) {
      if (sums) up(group);
      down(group);
    }
  }

  // Chunks of this lane, no more at a time than a channel has slots.
  std::vector<std::vector<int>> groups() const {
    std::vector<std::vector<int>> all;
    for (int number = lane_; number < wanted_.chunks; number += wanted_.channels) {
      if (all.empty() || all.back().size() == static_cast<std::size_t>(wanted_.slots))
        all.emplace_back();
      all.back().push_back(number);
    }
    return all;
  }

  void write_send() {
    const int last = ranks_ - 1;
    const Chunk all = {in_, 0, wanted_.elements};
    bool on_the_way = rank_ == 0;
    int before = 0;
    for (int at = 0; !on_the_way && at != last;) {
      before = at;
      at = step_of_send(at);
      on_the_way = at == rank_;
    }
    if (!on_the_way) return;
    for (int number = lane_; number < wanted_.chunks; number += wanted_.channels) {
      const std::int64_t first = part_begin(all.count, number, wanted_.chunks);
      const std::int64_t count = part_begin(all.count, number + 1, wanted_.chunks) - first;
      const Chunk part = {rank_ == 0 ? in_ : out_, first, count};
      if (rank_ == 0 && wanted_.produce) compute(Function::produce, {}, part);
      if (rank_ != 0) receive(part, before);
      if (rank_ != last) send(part, step_of_send(rank_));
      if (rank_ == last && wanted_.consume)
        compute(Function::consume, {part}, {used_, part.first, part.count});
    }
  }
  int step_of_send(int at) const { return towards(ranks_ - 1, at); }

  void set_results() {
    const bool gathers = wanted_.kind == CollectiveKind::all_gather;
    const bool sends = wanted_.kind == CollectiveKind::send;
    Result result{.buffer = out_};
    if (wanted_.kind == CollectiveKind::reduce_scatter) result.holds = Holds::own_slice;
    if (gathers) result.of = Result::Of::owner;
    if (sends) result.of = Result::Of::first_rank;
    if (sends) result.at = ranks_ - 1;
    if (wanted_.finish) result.last = Function::finish;
    program_.results.push_back(result);
    if (!wanted_.consume) return;
    result.buffer = used_;
    result.last = Function::consume;
    program_.results.push_back(result);
  }

  void set_slots() {
    for (const Lane& lane : program_.lanes)
      for (const ChunkOp& op : lane.ops)
        if (op.kind == Kind::send) {
          Channel& way = program_.channels[op.channel];
          way.slot_bytes =
              std::max(way.slot_bytes, bytes_in_slot(way.protocol, program_.bytes(op.from)));
        }
  }

  const ChunkedCollective& wanted_;
  int ranks_, rank_ = 0, lane_ = 0;
  ChunkProgram program_;
  std::uint32_t in_ = kNone, out_ = kNone, sum_ = kNone, used_ = kNone, numbers_ = kNone,
                total_ = kNone;
  std::map<std::tuple<int, int, int>, std::uint32_t> channels_;
};

}  // namespace

std::string_view name(Algorithm algorithm) {
  constexpr std::string_view kNames[] = {"direct", "ring", "tree"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

Expected<ChunkProgram> collective_chunks(const ChunkedCollective& wanted) {
  const auto at_least = [](std::string_view what, std::int64_t value,
                           std::int64_t least) -> Verdict {
    if (value >= least) return yes();
    return reason("{} {}: at least {} is needed", what, value, least);
  };
  const bool sends = wanted.kind == CollectiveKind::send;
  HEDDLE_TRY_VOID(at_least("ranks", wanted.ranks, sends ? 2 : 1));
  HEDDLE_TRY_VOID(at_least("elements", wanted.elements, 0));
  HEDDLE_TRY_VOID(at_least("bytes of an element", wanted.element_bytes, 1));
  HEDDLE_TRY_VOID(at_least("bytes of a number", wanted.number_bytes, 1));
  HEDDLE_TRY_VOID(at_least("chunks", wanted.chunks, 1));
  HEDDLE_TRY_VOID(at_least("grain", wanted.grain, 1));
  HEDDLE_TRY_VOID(at_least("channels", wanted.channels, 1));
  HEDDLE_TRY_VOID(at_least("slots", wanted.slots, 1));
  std::vector<int> order = wanted.order;
  std::ranges::sort(order);
  for (int r = 0; !order.empty() && r < wanted.ranks; ++r)
    if (static_cast<int>(order.size()) != wanted.ranks || order[static_cast<std::size_t>(r)] != r)
      return reason("the order of sums is none of {} ranks", wanted.ranks);
  const bool sums =
      wanted.kind == CollectiveKind::all_reduce || wanted.kind == CollectiveKind::reduce_scatter;
  if (!sums && !sends && wanted.kind != CollectiveKind::all_gather)
    return reason("a {} has no chunk program: all_reduce, reduce_scatter, all_gather and send have",
                  op_name(wanted.kind));
  if ((wanted.finish && sends) || (wanted.norm && !sums))
    return reason("a {} has no sums to finish", op_name(wanted.kind));
  if (wanted.norm && !wanted.finish) return reason("a norm is there for what finishes the sums");
  if (wanted.consume && wanted.kind == CollectiveKind::reduce_scatter)
    return reason("of a reduce_scatter nothing comes that could be consumed: finish it");
  return Writer(wanted).write();
}

}  // namespace heddle::chunks
