#include "schedule/chunks/check_chunks.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "schedule/chunks/chunk_faults.h"

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

Fault deadlock_of(const ChunkMachine& machine) {
  std::string text = "nobody can go on:";
  for (std::size_t l = 0; l < machine.lanes(); ++l)
    if (!machine.lane_is_done(l)) text += "\n  " + machine.waits_for(l);
  return {FaultKind::deadlock, std::move(text)};
}

// One lane at an op's elements, for messages.
struct Access {
  int of = 0;  // the rank whose memory it is
  Chunk chunk = {};
  bool writes = false;
  std::size_t lane = 0;
  std::string what = {};
};

bool collide(const Access& a, const Access& b) {
  return a.of == b.of && a.chunk.buffer == b.chunk.buffer && (a.writes || b.writes) &&
         a.chunk.first < b.chunk.end() && b.chunk.first < a.chunk.end();
}

Fault race_of(const ChunkProgram& program, const Access& a, const Access& b) {
  const std::int64_t first = std::max(a.chunk.first, b.chunk.first);
  const std::int64_t end = std::min(a.chunk.end(), b.chunk.end());
  return {
      FaultKind::race,
      fmt::format("{}[{}..{}) of rank {}: nothing keeps \"{}\" of rank {} and \"{}\" of rank {} "
                  "apart",
                  program.buffers[a.chunk.buffer].name, first, end, a.of, a.what,
                  program.lanes[a.lane].rank, b.what, program.lanes[b.lane].rank)};
}

// ---- along one order

// How far every lane had come, as far as somebody knows.
using Clock = std::vector<std::uint32_t>;

void learn(Clock& clock, const Clock& other) {
  for (std::size_t l = 0; l < clock.size(); ++l) clock[l] = std::max(clock[l], other[l]);
}

class OrderCheck {
 public:
  explicit OrderCheck(const ChunkProgram& program)
      : program_(program),
        machine_(program),
        contents_(program),
        clocks_(program.lanes.size(), Clock(program.lanes.size(), 0)),
        sent_(program.channels.size()),
        taken_(program.channels.size()),
        signals_(program.counters.size()),
        touched_(static_cast<std::size_t>(program.ranks) * program.buffers.size() *
                 contents_.cells()) {}

  std::optional<Fault> find() {
    while (!machine_.is_done()) {
      bool moved = false;
      for (std::size_t l = 0; l < machine_.lanes(); ++l)
        while (machine_.may_step(l)) {
          take_step(l);
          moved = true;
          if (fault_) return fault_;
        }
      if (!moved) return deadlock_of(machine_);
    }
    // Elements that are read before they are written may be a race that shows later.
    return contents_.fault() ? contents_.fault() : contents_.find_uncovered();
  }

 private:
  void take_step(std::size_t lane) {
    const ChunkOp& op = machine_.op(lane);
    const bool ends = machine_.next_moment(lane) == Moment::end || op.kind == Kind::signal ||
                      op.kind == Kind::wait;
    // Its elements are touched when all that it waits for is known.
    if (ends) do_op(lane, op);
    machine_.step(lane);
  }

  void do_op(std::size_t lane, const ChunkOp& op) {
    Clock& clock = clocks_[lane];
    const int rank = program_.lanes[lane].rank;
    ++clock[lane];
    const bool takes = op.kind == Kind::receive || (op.kind == Kind::reduce && op.channel != kNone);
    if (takes) {
      const auto number = static_cast<std::size_t>(machine_.taken(op.channel));
      learn(clock, sent_[op.channel][number].clock);
      if (program_.channels[op.channel].protocol == Protocol::direct)
        touch({program_.channels[op.channel].from, sent_[op.channel][number].chunk, false, lane,
               text(program_, op)});
    }
    if (op.kind == Kind::send) {
      const std::int64_t freed = machine_.sent(op.channel) - program_.channels[op.channel].slots;
      if (freed >= 0) learn(clock, taken_[op.channel][static_cast<std::size_t>(freed)]);
    }
    if (op.kind == Kind::wait) learn_from_wait(clock, op);
    const std::string what = text(program_, op);
    for (const Chunk& chunk : reads_of(op)) touch({rank, chunk, false, lane, what});
    for (const Chunk& chunk : writes_of(op)) touch({rank, chunk, true, lane, what});
    if (op.kind == Kind::send) sent_[op.channel].push_back({op.from, clock});
    if (takes) taken_[op.channel].push_back(clock);
    if (op.kind == Kind::signal) signals_[op.counter].push_back(clock);
    contents_.do_op(rank, op);
  }

  void learn_from_wait(Clock& clock, const ChunkOp& op) {
    const auto& told = op.channel != kNone ? taken_[op.channel] : signals_[op.counter];
    if (op.channel != kNone) {
      if (op.value > 0) learn(clock, told[static_cast<std::size_t>(op.value - 1)]);
      return;
    }
    // Of several that signal, those that came are known only where all had to come.
    const bool all = op.value >= signals_in_program(op.counter);
    for (std::size_t i = 0; all && i < told.size(); ++i) learn(clock, told[i]);
    if (!all && one_lane_signals(op.counter) && op.value > 0)
      learn(clock, told[static_cast<std::size_t>(op.value - 1)]);
  }
  std::int64_t signals_in_program(std::uint32_t counter) const {
    std::int64_t count = 0;
    for (const Lane& lane : program_.lanes)
      count += std::ranges::count_if(lane.ops, [&](const ChunkOp& op) {
        return op.kind == Kind::signal && op.counter == counter;
      });
    return count;
  }
  bool one_lane_signals(std::uint32_t counter) const {
    return 1 == std::ranges::count_if(program_.lanes, [&](const Lane& lane) {
             return std::ranges::any_of(lane.ops, [&](const ChunkOp& op) {
               return op.kind == Kind::signal && op.counter == counter;
             });
           });
  }

  // Who has touched a cell: its last writer, and since then the last reading of every lane.
  struct Touched {
    std::uint32_t time = 0;
    Access access = {};
  };
  struct Cell {
    std::optional<Touched> writer;
    std::vector<Touched> readers;
  };

  void touch(const Access& access) {
    const Clock& clock = clocks_[access.lane];
    const auto known = [&](const Touched& by) {
      return by.access.lane == access.lane || by.time <= clock[by.access.lane];
    };
    const std::size_t row =
        static_cast<std::size_t>(access.of) * program_.buffers.size() + access.chunk.buffer;
    const std::size_t end = contents_.end_cell(access.chunk);
    for (std::size_t c = contents_.first_cell(access.chunk); c < end && !fault_; ++c) {
      Cell& cell = touched_[row * contents_.cells() + c];
      if (cell.writer && !known(*cell.writer))
        fault_ = race_of(program_, cell.writer->access, access);
      const Touched now{clock[access.lane], access};
      if (access.writes) {
        for (const Touched& reader : cell.readers)
          if (!fault_ && !known(reader)) fault_ = race_of(program_, reader.access, access);
        cell.writer = now;
        cell.readers.clear();
        continue;
      }
      std::erase_if(cell.readers, [&](const Touched& r) { return r.access.lane == access.lane; });
      cell.readers.push_back(now);
    }
  }

  struct Sent {
    Chunk chunk;
    Clock clock;
  };
  const ChunkProgram& program_;
  ChunkMachine machine_;
  ChunkContents contents_;
  std::vector<Clock> clocks_;
  std::vector<std::vector<Sent>> sent_;
  std::vector<std::vector<Clock>> taken_, signals_;
  std::vector<Cell> touched_;
  std::optional<Fault> fault_;
};

// ---- all orders

class Walk {
 public:
  Walk(const ChunkProgram& program, std::size_t most)
      : program_(program), machine_(program), most_(most) {}

  Walked walk() {
    std::vector<std::vector<std::uint32_t>> open = {machine_.places()};
    visited_.insert(key(open[0]));
    Walked result;
    while (!open.empty() && !result.fault) {
      if (visited_.size() > most_) {
        result.all = false;
        break;
      }
      const auto here = std::move(open.back());
      open.pop_back();
      machine_.go_to(here);
      result.fault = race_here();
      bool any = false;
      for (std::size_t l = 0; l < machine_.lanes() && !result.fault; ++l) {
        if (!machine_.may_step(l)) continue;
        any = true;
        ChunkMachine next = machine_;
        next.step(l);
        if (visited_.insert(key(next.places())).second) open.push_back(next.places());
      }
      if (!any && !result.fault && !machine_.is_done()) result.fault = deadlock_of(machine_);
    }
    result.states = visited_.size();
    return result;
  }

 private:
  static std::string key(const std::vector<std::uint32_t>& places) {
    std::string bytes;
    for (std::uint32_t place : places) {
      bytes.push_back(static_cast<char>(place & 0xff));
      bytes.push_back(static_cast<char>(place >> 8));
    }
    return bytes;
  }

  // Of all lanes that are inside of an op.
  std::optional<Fault> race_here() const {
    std::vector<Access> now;
    for (std::size_t l = 0; l < machine_.lanes(); ++l) {
      if (machine_.lane_is_done(l) || machine_.next_moment(l) == Moment::begin) continue;
      const ChunkOp& op = machine_.op(l);
      const int rank = program_.lanes[l].rank;
      const std::string what = text(program_, op);
      for (const Chunk& chunk : reads_of(op)) now.push_back({rank, chunk, false, l, what});
      for (const Chunk& chunk : writes_of(op)) now.push_back({rank, chunk, true, l, what});
    }
    add_messages(now);
    for (std::size_t i = 0; i < now.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (now[i].lane != now[j].lane && collide(now[i], now[j]))
          return race_of(program_, now[j], now[i]);
    return std::nullopt;
  }

  // What was sent and lies in the sender's buffer is being read until it was taken.
  void add_messages(std::vector<Access>& now) const {
    for (std::uint32_t c = 0; c < program_.channels.size(); ++c) {
      if (program_.channels[c].protocol != Protocol::direct) continue;
      if (machine_.sent(c) == machine_.taken(c)) continue;
      std::size_t receiver = 0;
      std::vector<Chunk> sent;
      for (std::size_t l = 0; l < program_.lanes.size(); ++l)
        for (const ChunkOp& op : program_.lanes[l].ops) {
          if (op.channel != c) continue;
          if (op.kind == Kind::send) sent.push_back(op.from);
          if (op.kind == Kind::receive || op.kind == Kind::reduce) receiver = l;
        }
      for (std::int64_t m = machine_.taken(c); m < machine_.sent(c); ++m)
        now.push_back({program_.channels[c].from, sent[static_cast<std::size_t>(m)], false,
                       receiver, "a message to come"});
    }
  }

  const ChunkProgram& program_;
  ChunkMachine machine_;
  std::size_t most_;
  std::unordered_set<std::string> visited_;
};

}  // namespace

std::string_view name(FaultKind kind) {
  constexpr std::string_view kNames[] = {"malformed", "too small", "deadlock", "race", "coverage"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<Fault> check_chunks(const ChunkProgram& program) {
  if (auto fault = find_malformed(program)) return fault;
  return OrderCheck(program).find();
}

Walked walk_chunks(const ChunkProgram& program, std::size_t most_states) {
  if (auto fault = find_malformed(program)) return {.fault = std::move(fault)};
  Walked walked = Walk(program, most_states).walk();
  if (walked.fault || !walked.all) return walked;
  // No two accesses race, so that what elements hold follows from where the lanes are: any order
  // will do to look at the end.
  ChunkMachine machine(program);
  ChunkContents contents(program);
  while (!machine.is_done())
    for (std::size_t l = 0; l < machine.lanes(); ++l)
      if (machine.may_step(l)) {
        if (machine.next_moment(l) == Moment::end)
          contents.do_op(program.lanes[l].rank, machine.op(l));
        machine.step(l);
      }
  walked.fault = contents.fault() ? contents.fault() : contents.find_uncovered();
  return walked;
}

}  // namespace heddle::chunks
