// The schedules that a tuner looks at.
#include <algorithm>
#include <map>

#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/tune_schedule.h"
#include "schedule/steps/chunk_plan.h"

namespace heddle {

namespace {

constexpr std::size_t kMostSites = 6;  // that are tried one by one
constexpr int kChunks[] = {2, 4};

// A product and the collective before or behind it, by their names.
struct Line {
  std::string first, last;
  bool is_sum = false;     // into an all_reduce
  std::int64_t bytes = 0;  // that travel
};

// Values that devices sum up, one by one.
struct Sum {
  std::string name;
  std::int64_t bytes = 0;
};

class Candidates {
 public:
  Candidates(const Spmd& spmd, std::string function, const std::vector<Carried>& carried)
      : spmd_(spmd), function_(std::move(function)), carried_(carried) {
    const Program& p = spmd.program;
    std::map<std::string_view, std::size_t> counts;
    for_each(p.find_function(function_)->body, [&](OpId id) {
      const Op& op = p.op(id);
      if (op.result_count == 0) return;
      names_[id] = fmt::format("{}.{}", op.def->short_name(), counts[op.def->short_name()]++);
      if (op.def->collective == CollectiveKind::all_reduce && op.operand_count == 1 &&
          p.type_of(op.results).rank() > 0)
        sums_.push_back({names_[id], p.type_of(op.results).bytes()});
    });
    find_lines();
    // What moves most comes first, and is tried where not all can be.
    std::ranges::stable_sort(sums_, std::ranges::greater{}, &Sum::bytes);
    std::ranges::stable_sort(lines_, std::ranges::greater{}, &Line::bytes);
  }

  std::vector<ScheduleTrial> run() {
    all_.push_back({"as it is", {"auto", {}}, 0, {}, {}});
    if (!sums_.empty()) {
      for_sums("all sums", "all_reduce.*", "");
      for (std::size_t i = 0; i < sums_.size() && i < kMostSites && sums_.size() > 1; ++i)
        for_sums(sums_[i].name, sums_[i].name, std::to_string(i));
    }
    for (std::size_t i = 0; i < lines_.size() && i < kMostSites; ++i) inside(lines_[i]);
    for (const int chunks : kChunks) {
      chunked(fmt::format("all lines in {}", chunks), lines_, chunks);
      for (std::size_t i = 0; i < lines_.size() && i < kMostSites && lines_.size() > 1; ++i)
        chunked(fmt::format("{} to {} in {}", lines_[i].first, lines_[i].last, chunks), {lines_[i]},
                chunks);
    }
    return std::move(all_);
  }

 private:
  template <typename See>
  void for_each(RegionId region, const See& see) {
    const Program& p = spmd_.program;
    for (OpId id : p.region(region).ops) {
      see(id);
      if (p.op(id).def->cls == OpClass::control)
        for (RegionId inner : p.regions(p.op(id))) for_each(inner, see);
    }
  }

  // Products that a line of ops leads from, or to, a collective.
  void find_lines() {
    const Program& p = spmd_.program;
    std::vector<OpId> products, meetings;
    for (const auto& [id, name] : names_) {
      const Op& op = p.op(id);
      if (op.def->cls == OpClass::contract && is_worth_overlapping(p, op)) products.push_back(id);
      const CollectiveKind kind = op.def->collective;
      if (kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
          kind == CollectiveKind::all_gather)
        meetings.push_back(id);
    }
    for (OpId product : products)
      for (OpId meeting : meetings) {
        const bool gathers = p.op(meeting).def->collective == CollectiveKind::all_gather;
        const OpId first = gathers ? meeting : product, last = gathers ? product : meeting;
        if (!line_between(p, first, last)) continue;
        lines_.push_back({names_.at(first), names_.at(last),
                          p.op(last).def->collective == CollectiveKind::all_reduce,
                          p.type_of(p.op(meeting).results).bytes()});
      }
  }

  // Where the schedule can be taken as a whole.
  void add(std::string name, const std::string& text) {
    auto schedule = parse_schedule(text, "auto");
    HEDDLE_CHECK(schedule, "the tuner wrote: {}", schedule.reason());
    if (std::ranges::any_of(all_, [&](const ScheduleTrial& t) { return t.schedule == *schedule; }))
      return;
    ScheduleTrial trial{std::move(name), *std::move(schedule), 0, {}, {}};
    Spmd copy = spmd_;
    if (const auto taken = apply_schedule(copy, function_, trial.schedule, carried_); !taken)
      trial.refused = taken.reason();
    all_.push_back(std::move(trial));
  }

  // `number` keeps the names of several apart, which may be put together.
  void for_sums(const std::string& name, const std::string& sums, const std::string& number) {
    const std::string rs = "rs" + number, ag = "ag" + number;
    const std::string split = fmt::format("{}, {} = split {}\n", rs, ag, sums);
    const std::string sliced = split + fmt::format("reorder * under {}\n", ag);
    add(name + " split", split);
    add(name + " split, what follows on slices", sliced);
    if (!carried_.empty()) add(name + " and state in slices", sliced + "as_slice *\n");
    for (const Line& line : lines_) {
      if (!line.is_sum || line.last != sums) continue;
      add(fmt::format("{} split, {} inside", name, line.first),
          fmt::format("{}fuse {} {} *\n", sliced, line.first, rs));
      for (const int chunks : kChunks)
        add(fmt::format("{} split, {} in {} chunks", name, line.first, chunks),
            fmt::format("{}overlap {} {} in {}\n", sliced, line.first, rs, chunks));
    }
  }

  // A product and what brings its rows, or sums them, as one.
  void inside(const Line& line) {
    if (line.is_sum) return;
    add(fmt::format("{} and {} as one", line.first, line.last),
        fmt::format("fuse {} {}\n", line.first, line.last));
  }

  void chunked(const std::string& name, const std::vector<Line>& lines, int chunks) {
    std::string text;
    for (const Line& line : lines)
      text += fmt::format("overlap {} {} in {}\n", line.first, line.last, chunks);
    if (!text.empty()) add(name, text);
  }

  const Spmd& spmd_;
  const std::string function_;
  const std::vector<Carried>& carried_;
  std::map<OpId, std::string> names_;
  std::vector<Sum> sums_;
  std::vector<Line> lines_;
  std::vector<ScheduleTrial> all_;
};

}  // namespace

std::vector<ScheduleTrial> candidate_schedules(const Spmd& spmd, const std::string& function,
                                               const std::vector<Carried>& carried) {
  return Candidates(spmd, function, carried).run();
}

}  // namespace heddle
