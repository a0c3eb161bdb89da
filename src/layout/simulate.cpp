// Executes a plan on arrays whose elements are tagged with what they are: the oracle of the
// planner.
#include <algorithm>
#include <map>
#include <set>

#include "heddle/hash.h"
#include "heddle/notation.h"
#include "heddle/plan.h"
#include "layout/digits.h"
#include "layout/map.h"

namespace heddle {

using namespace detail;

namespace {

constexpr std::int64_t kMostSimulated = 1 << 22;

// What a cell holds: an element, and which of its contributions are in it. A contribution counted
// twice or left out shows in the sum of random-looking marks.
struct Tag {
  std::int64_t element = -1;
  std::int64_t count = 0;
  std::uint64_t marks = 0;
};

std::uint64_t mark(std::size_t contribution) { return hash_mix(contribution + 1); }

using Address = std::vector<std::int64_t>;  // positions on memory axes

struct Holder {
  std::map<Address, Tag> memory;
};

class Simulator {
 public:
  Simulator(const Plan& plan, const Mesh& mesh, const AxisRegistry& axes)
      : plan_(plan), mesh_(mesh), axes_(axes) {}

  Expected<Traffic> run() {
    HEDDLE_TRY_VOID(can_simulate(plan_, mesh_));
    for (const AxisId a : axes_.ids())
      if (axes_[a].kind == AxisKind::memory) memory_axes_.push_back(a);
    fill();
    Layout at = plan_.source;
    for (std::size_t i = 0; i < plan_.moves.size(); ++i) {
      const Move& m = plan_.moves[i];
      if (!(m.from == at) && !(i == 0 || m.kind == MoveKind::halo_exchange))
        return reason("move {} starts from another layout than the one before left", i);
      auto ok = execute(m);
      if (!ok) return reason("move {} ({}): {}", i, name(m.kind), ok.reason());
      at = m.to;
    }
    HEDDLE_TRY_VOID(check());
    const std::int64_t most = *std::max_element(received_.begin(), received_.end());
    return Traffic{(most * plan_.element_bits + 7) / 8};
  }

 private:
  // ---- where cells are

  struct Place {
    std::int64_t device;
    Address address;
  };

  Place place(const LayoutMap& map, const std::vector<std::int64_t>& position) const {
    Place p{0, {}};
    for (const MeshAxis& a : mesh_.axes()) p.device = p.device * a.size + on(map, position, a.axis);
    for (AxisId a : memory_axes_) p.address.push_back(on(map, position, a));
    return p;
  }
  static std::int64_t on(const LayoutMap& map, const std::vector<std::int64_t>& position,
                         AxisId axis) {
    auto it = std::lower_bound(map.axes().begin(), map.axes().end(), axis);
    if (it == map.axes().end() || *it != axis) return 0;
    return position[static_cast<std::size_t>(it - map.axes().begin())];
  }
  // Devices that share everything but the move's sub-axes get the same number.
  std::int64_t peers(std::int64_t device, const std::vector<SubAxis>& over) const {
    std::int64_t group = 0;
    for (std::size_t i = mesh_.axes().size(); i-- > 0;) {
      const MeshAxis& a = mesh_.axes()[i];
      std::int64_t c = device % a.size;
      device /= a.size;
      for (const SubAxis& s : over)
        if (s.axis == a.axis) c -= c / s.stride % s.extent * s.stride;
      group = group * a.size + c;
    }
    return group;
  }

  std::int64_t flat(std::span<const std::int64_t> x) const {
    std::int64_t f = 0;
    for (std::size_t d = 0; d < x.size(); ++d) f = f * plan_.source.dims()[d].size.factor() + x[d];
    return f;
  }

  // ---- start, moves, end

  void fill() {
    holders_.assign(static_cast<std::size_t>(mesh_.devices()), {});
    received_.assign(holders_.size(), 0);
    LayoutMap map(plan_.source);
    contributions_ = map.partials();
    all_marks_ = 0;
    for (std::size_t p = 0; p < contributions_; ++p) all_marks_ += mark(p);
    map.for_each_cell(
        [&](std::span<const std::int64_t> x, const auto& position, std::size_t, std::size_t p,
            bool) {
          Place at = place(map, position);
          holders_[at.device].memory[at.address] = {flat(x), 1, mark(p)};
        },
        true);
  }

  // A copy of an element before the move, and which partial it is.
  struct Copy {
    std::int64_t device, group;
    std::size_t partial;
    Tag tag;
  };

  Verdict execute(const Move& m) {
    const bool everywhere = m.kind == MoveKind::exchange;
    const bool local =
        m.kind == MoveKind::slice || m.kind == MoveKind::mask || m.kind == MoveKind::local_copy;
    // The same reduction stays pending: each contribution goes its own way.
    const bool keeps =
        everywhere && m.from.partials() == m.to.partials() && m.from.reduce() == m.to.reduce();
    const bool reduces =
        m.kind == MoveKind::all_reduce || m.kind == MoveKind::reduce_scatter || everywhere;
    std::map<std::int64_t, std::vector<Copy>> copies;
    LayoutMap from(m.from);
    std::string wrong;
    from.for_each_cell(
        [&](std::span<const std::int64_t> x, const auto& position, std::size_t, std::size_t p,
            bool) {
          Place at = place(from, position);
          auto it = holders_[at.device].memory.find(at.address);
          if (it == holders_[at.device].memory.end() || it->second.element != flat(x)) {
            wrong = fmt::format("device {} does not have element {} where its layout says",
                                at.device, flat(x));
            return;
          }
          std::int64_t group = local ? at.device : peers(at.device, m.over);
          copies[flat(x)].push_back({at.device, group, p, it->second});
        },
        false);
    if (!wrong.empty()) return reason("{}", wrong);

    std::vector<Holder> after(holders_.size());
    std::vector<std::int64_t> received(holders_.size(), 0);
    std::vector<std::int64_t> only_source(holders_.size(), -1);
    std::set<std::pair<std::int64_t, std::int64_t>> arrived;
    const bool adds_partials =
        !keeps && !m.to.partials().empty() && (m.kind == MoveKind::mask || everywhere);
    LayoutMap to(m.to);
    to.for_each_cell(
        [&](std::span<const std::int64_t> x, const auto& position, std::size_t, std::size_t p,
            bool owned) {
          if (!wrong.empty()) return;
          Place at = place(to, position);
          const std::int64_t group = local ? at.device : peers(at.device, m.over);
          Tag tag{flat(x), 0, 0};
          const bool identity = adds_partials && masked(m, to, position, p, everywhere);
          if (!identity) {
            std::map<std::size_t, const Copy*> chosen;  // per partial, the nearest copy
            for (const Copy& c : copies[flat(x)])
              if ((everywhere && (!keeps || c.partial == p)) || (!everywhere && c.group == group)) {
                const Copy*& best = chosen[c.partial];
                if (best == nullptr || c.device == at.device) best = &c;
              }
            if (chosen.empty()) {
              wrong =
                  fmt::format("nobody in reach of device {} has element {}", at.device, flat(x));
              return;
            }
            if (!reduces && chosen.size() > 1) {
              wrong = fmt::format("device {} reaches several partials of element {}", at.device,
                                  flat(x));
              return;
            }
            for (auto& [partial, c] : chosen) {
              tag.count += c->tag.count;
              tag.marks += c->tag.marks;
              if (c->device == at.device) continue;
              // Corners of a halo come along with an edge: each element travels once.
              if (m.kind != MoveKind::halo_exchange || arrived.insert({at.device, flat(x)}).second)
                received[at.device] += 1;
              if (only_source[at.device] >= 0 && only_source[at.device] != c->device)
                only_source[at.device] = INT64_MAX;
              else
                only_source[at.device] = c->device;
            }
          }
          auto [slot, fresh] = after[at.device].memory.try_emplace(at.address, tag);
          if (!fresh)
            wrong = fmt::format("two elements on device {} share one address ({})", at.device,
                                owned ? "own" : "halo");
        },
        true);
    if (!wrong.empty()) return reason("{}", wrong);
    holders_ = std::move(after);
    for (std::size_t h = 0; h < received.size(); ++h) received_[h] += received[h];
    return check_traffic(m, received, only_source);
  }

  // Whether this partial of the target starts as the identity: it is not the first along what the
  // move made pending.
  bool masked(const Move& m, const LayoutMap& to, const std::vector<std::int64_t>& position,
              std::size_t p, bool everywhere) const {
    if (everywhere) return p != 0;
    for (const SubAxis& s : m.over)
      if (on(to, position, s.axis) / s.stride % s.extent != 0) return true;
    return false;
  }

  Verdict check_traffic(const Move& m, const std::vector<std::int64_t>& received,
                        const std::vector<std::int64_t>& only_source) const {
    const std::int64_t most = *std::max_element(received.begin(), received.end());
    switch (m.kind) {
      case MoveKind::slice:
      case MoveKind::mask:
      case MoveKind::local_copy:
        if (most != 0) return reason("a local move received {} elements", most);
        break;
      case MoveKind::permute:
        if (std::find(only_source.begin(), only_source.end(), INT64_MAX) != only_source.end())
          return reason("a permute received from two holders");
        [[fallthrough]];
      case MoveKind::all_gather:
      case MoveKind::all_to_all:
      case MoveKind::broadcast:
      case MoveKind::halo_exchange:
      case MoveKind::exchange:
        if ((most * plan_.element_bits + 7) / 8 > m.bytes)
          return reason("a holder received {} elements and the plan counts {} bytes", most,
                        m.bytes);
        break;
      default:
        break;
    }
    return yes();
  }

  Verdict check() const {
    LayoutMap map(plan_.target);
    std::string wrong;
    std::map<std::pair<std::int64_t, std::size_t>, Tag> totals;  // per element and replica
    map.for_each_cell(
        [&](std::span<const std::int64_t> x, const auto& position, std::size_t r, std::size_t,
            bool owned) {
          if (!wrong.empty()) return;
          Place at = place(map, position);
          auto it = holders_[at.device].memory.find(at.address);
          if (it == holders_[at.device].memory.end() || it->second.element != flat(x)) {
            wrong =
                fmt::format("device {} does not hold element {} of the target", at.device, flat(x));
            return;
          }
          if (!owned) {
            if (map.partials() == 1 &&
                (it->second.count != static_cast<std::int64_t>(contributions_) ||
                 it->second.marks != all_marks_))
              wrong = fmt::format("the halo copy of element {} on device {} is not finished",
                                  flat(x), at.device);
            return;
          }
          Tag& total = totals[{flat(x), r}];
          total.count += it->second.count;
          total.marks += it->second.marks;
        },
        true);
    if (!wrong.empty()) return reason("{}", wrong);
    for (const auto& [key, total] : totals)
      if (total.count != static_cast<std::int64_t>(contributions_) || total.marks != all_marks_)
        return reason("element {} arrived with {} of {} contributions", key.first, total.count,
                      contributions_);
    return yes();
  }

  const Plan& plan_;
  const Mesh& mesh_;
  const AxisRegistry& axes_;
  std::vector<AxisId> memory_axes_;
  std::vector<Holder> holders_;
  std::vector<std::int64_t> received_;  // elements, by each holder
  std::size_t contributions_ = 1;
  std::uint64_t all_marks_ = 0;
};

}  // namespace

Verdict can_simulate(const Plan& plan, const Mesh& mesh) {
  for (const Layout* l : {&plan.source, &plan.target}) {
    if (!l->concrete()) return reason("[simulate] bind unknown sizes first");
    double cells = 1;
    for (const auto* list : {&l->digits(), &l->replicas(), &l->partials()})
      for (const Iter& i : *list) cells *= static_cast<double>(i.extent.factor());
    if (cells > kMostSimulated || mesh.devices() > kMostSimulated)
      return reason(
          "[simulate] the copies of all elements on {} devices are {:.3g}, and at most {} are "
          "looked at one by one: take smaller sizes or a smaller mesh",
          mesh.devices(), cells, kMostSimulated);
  }
  return yes();
}

Expected<Traffic> simulate(const Plan& plan, const Mesh& mesh, const AxisRegistry& axes) {
  return Simulator(plan, mesh, axes).run();
}

}  // namespace heddle
