#include "spmd/exchange.h"

#include <algorithm>
#include <numeric>

namespace heddle {

namespace {

constexpr std::int64_t kMostRuns = 16;
constexpr std::int64_t kMostPositions = 1024;

std::optional<std::size_t> only_change(const Split& from, const Split& to) {
  std::optional<std::size_t> changed;
  for (std::size_t d = 0; d < from.dims.size(); ++d) {
    if (from.dims[d] == to.dims[d]) continue;
    if (changed) return std::nullopt;
    changed = d;
  }
  return changed;
}

// The mesh axes that the dimension is split over, each as a whole.
SplitAxes axes_of(const DimSplit& a, const DimSplit& b, const Mesh& mesh) {
  SplitAxes axes;
  for (std::size_t i = 0; i < mesh.axes().size(); ++i) {
    const SplitDigit axis{mesh.axes()[i].size, static_cast<int>(i), 1};
    if (overlap(a.digits, axis) || overlap(b.digits, axis)) axes.push_back(axis);
  }
  return axes;
}

// The device at a position along these axes, and at the first of all others.
std::int64_t device_of(const SplitAxes& axes, const Mesh& mesh, std::int64_t position) {
  std::int64_t device = 0;
  for (std::size_t i = axes.size(); i-- > 0; position /= axes[i].extent) {
    std::int64_t inner = 1;
    for (std::size_t a = static_cast<std::size_t>(axes[i].axis) + 1; a < mesh.axes().size(); ++a)
      inner *= mesh.axes()[a].size;
    device += position % axes[i].extent * inner;
  }
  return device;
}

std::int64_t run_of(const DimSplit& dim) {
  return dim.digits.back().local() ? dim.digits.back().extent : 1;
}

using Places = std::vector<std::vector<std::int64_t>>;  // by position: runs in their order

Places runs_at(const DimSplit& dim, std::int64_t run, const SplitAxes& axes, const Mesh& mesh) {
  Places places;
  for (std::int64_t p = 0; p < total(axes); ++p) {
    const std::vector<std::int64_t> elements = elements_of(dim, mesh, device_of(axes, mesh, p));
    std::vector<std::int64_t>& runs = places.emplace_back();
    for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(run))
      runs.push_back(elements[i] / run);
  }
  return places;
}

// Messages in rounds, in each of which everyone sends and gets one at most. As many rounds as the
// most that one position sends or gets: a colouring of a graph of senders and receivers.
class Rounds {
 public:
  struct Message {
    std::size_t from, to;
    std::int64_t take, put;  // places of the run
    int round = -1;
  };

  explicit Rounds(std::size_t positions) : sends_(positions), gets_(positions) {}

  void add(const Message& message) {
    const auto id = static_cast<int>(messages_.size());
    messages_.push_back(message);
    const int a = free_in(sends_[message.from]), b = free_in(gets_[message.to]);
    if (a != b) swap_path(message.to, a, b);
    put(id, a);
  }

  const std::vector<Message>& messages() const { return messages_; }
  int count() const {
    int most = 0;
    for (const Message& m : messages_) most = std::max(most, m.round + 1);
    return most;
  }

 private:
  using Line = std::vector<int>;  // by round: the message, or -1

  static int at(const Line& line, int round) {
    return static_cast<std::size_t>(round) < line.size() ? line[static_cast<std::size_t>(round)]
                                                         : -1;
  }
  static void set(Line& line, int round, int message) {
    if (static_cast<std::size_t>(round) >= line.size())
      line.resize(static_cast<std::size_t>(round) + 1, -1);
    line[static_cast<std::size_t>(round)] = message;
  }
  static int free_in(const Line& line) {
    return static_cast<int>(std::ranges::find(line, -1) - line.begin());
  }

  void put(int id, int round) {
    Message& m = messages_[static_cast<std::size_t>(id)];
    m.round = round;
    set(sends_[m.from], round, id);
    set(gets_[m.to], round, id);
  }

  // Frees round `a` for what this position gets: along the path of messages in rounds a and b.
  void swap_path(std::size_t to, int a, int b) {
    std::vector<int> path;
    int round = a;
    bool receives = true;
    std::size_t here = to;
    while (true) {
      const int id = at(receives ? gets_[here] : sends_[here], round);
      if (id < 0) break;
      path.push_back(id);
      const Message& m = messages_[static_cast<std::size_t>(id)];
      here = receives ? m.from : m.to;
      receives = !receives;
      round = round == a ? b : a;
    }
    for (int id : path) {
      const Message& m = messages_[static_cast<std::size_t>(id)];
      set(sends_[m.from], m.round, -1);
      set(gets_[m.to], m.round, -1);
    }
    for (int id : path) put(id, messages_[static_cast<std::size_t>(id)].round == a ? b : a);
  }

  std::vector<Message> messages_;
  std::vector<Line> sends_, gets_;
};

class Exchange {
 public:
  Exchange(Writer& writer, std::size_t dim, SplitAxes axes)
      : w_(writer), dim_(dim), axes_(std::move(axes)) {}

  // `have` and `want` are the runs of `run` elements of every position.
  std::optional<ValueId> write(ValueId value, std::int64_t run, const Places& have,
                               const Places& want) {
    const std::size_t positions = have.size();
    Rounds rounds(positions);
    std::vector<std::vector<std::int64_t>> source(positions);  // of each wanted run: where it is
    std::vector<std::vector<int>> message(positions);
    for (std::size_t p = 0; p < positions; ++p)
      for (std::size_t k = 0; k < want[p].size(); ++k) {
        const auto own = std::ranges::find(have[p], want[p][k]);
        message[p].push_back(-1);
        source[p].push_back(own - have[p].begin());
        if (own != have[p].end()) continue;
        const std::optional<std::size_t> q = holder(have, want[p][k], p);
        if (!q) return std::nullopt;
        message[p].back() = static_cast<int>(rounds.messages().size());
        rounds.add({*q, p, std::ranges::find(have[*q], want[p][k]) - have[*q].begin(),
                    static_cast<std::int64_t>(k)});
      }
    if (rounds.count() > kMostRuns) return std::nullopt;
    const auto runs = static_cast<std::int64_t>(have[0].size());
    for (std::size_t p = 0; p < positions; ++p)
      for (std::size_t k = 0; k < want[p].size(); ++k)
        if (message[p][k] >= 0)
          source[p][k] = runs + rounds.messages()[static_cast<std::size_t>(message[p][k])].round;
    return assembled(value, run, rounds, source);
  }

 private:
  // Whoever has the run; the nearest by number.
  static std::optional<std::size_t> holder(const Places& have, std::int64_t run, std::size_t near) {
    std::optional<std::size_t> found;
    auto distance = [&](std::size_t p) { return p > near ? p - near : near - p; };
    for (std::size_t p = 0; p < have.size(); ++p)
      if (std::ranges::find(have[p], run) != have[p].end() &&
          (!found || distance(p) < distance(*found)))
        found = p;
    return found;
  }

  // The entry of a table for the position of this device.
  ValueId here(const std::vector<std::int64_t>& table) {
    const auto size = static_cast<std::int64_t>(table.size());
    const ValueId all =
        w_.constant(Array(Type::tensor(DType::i64, {size}), std::as_bytes(std::span(table))));
    return w_.reshape(w_.dynamic_slice(all, 0, w_.position(axes_), 1), {});
  }

  ValueId assembled(ValueId value, std::int64_t run, const Rounds& rounds,
                    const std::vector<std::vector<std::int64_t>>& source) {
    Shape shape = w_.type(value).shape;
    const std::int64_t runs = shape[dim_] / run;
    shape[dim_] = run;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim_), runs);
    std::vector<ValueId> all{w_.reshape(value, shape)};
    for (int round = 0; round < rounds.count(); ++round) {
      std::vector<std::int64_t> take(source.size(), 0), to(source.size(), -1);
      for (const Rounds::Message& m : rounds.messages())
        if (m.round == round) {
          take[m.from] = m.take;
          to[m.from] = static_cast<std::int64_t>(m.to);
        }
      const ValueId sent = w_.dynamic_slice(all[0], dim_, here(take), 1);
      all.push_back(w_.permute(sent, w_.targets(axes_, to)));
    }
    const ValueId stack = w_.concatenate(all, dim_);
    std::vector<ValueId> parts;
    for (std::size_t k = 0; k < source[0].size(); ++k) {
      std::vector<std::int64_t> from;
      for (const auto& places : source) from.push_back(places[k]);
      parts.push_back(w_.dynamic_slice(stack, dim_, here(from), 1));
    }
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim_));
    shape[dim_] = run * static_cast<std::int64_t>(parts.size());
    return w_.reshape(w_.concatenate(std::move(parts), dim_), shape);
  }

  Writer& w_;
  std::size_t dim_;
  SplitAxes axes_;
};

bool is_even(const DimSplit& dim) {
  return !dim.whole() && !dim.digits.empty() && dim.padded() == dim.size;
}

}  // namespace

std::optional<ValueId> write_exchange(Writer& w, ValueId value, const Split& from,
                                      const Split& to) {
  const auto dim = only_change(from, to);
  if (!dim || from.pending != to.pending) return std::nullopt;
  const DimSplit &a = from.dims[*dim], &b = to.dims[*dim];
  if (!is_even(a) || !is_even(b)) return std::nullopt;
  const SplitAxes axes = axes_of(a, b, w.mesh.mesh);
  const std::int64_t run = std::gcd(run_of(a), run_of(b));
  if (total(axes) > kMostPositions || a.local() / run > kMostRuns || b.local() / run > kMostRuns)
    return std::nullopt;
  return Exchange(w, *dim, axes)
      .write(value, run, runs_at(a, run, axes, w.mesh.mesh), runs_at(b, run, axes, w.mesh.mesh));
}

}  // namespace heddle
