// What the steps of an executable do, counted for the cost model.
#include "runtime/state.h"

namespace heddle {

using namespace runtime;

namespace {

// A loop whose text does not say how often it runs.
constexpr double kUnknownTrips = 10;
// Of an f32, in which loads and stores are counted.
constexpr double kBytesOfElement = 4;

class StepCounter {
 public:
  explicit StepCounter(const std::vector<StepInfo>& infos) : infos_(infos) {}

  std::vector<StepWork> run(const StepList& list) {
    std::vector<StepWork> all;
    for (const Step& step : list.steps) {
      const std::size_t before = all.size();
      std::visit([&](const auto& work) { add(step, work, all); }, step.work);
      for (std::size_t i = before; i < all.size(); ++i) all[i].number = step.info;
    }
    return all;
  }

 private:
  using Works = std::vector<StepWork>;

  double bytes_of(const Step& step) const {
    const StepInfo& info = infos_[step.info];
    return static_cast<double>(info.bytes_read + info.bytes_written);
  }

  void add(const Step&, const LaunchStep& work, Works& all) { all.push_back(work.launch->work()); }

  void add(const Step& step, const LibraryStep& work, Works& all) {
    all.push_back(work.call->work());
    all.back().bytes += bytes_of(step);
  }

  void add(const Step&, const ReferenceStep&, Works& all) { all.push_back({.is_counted = false}); }

  void add(const Step&, const CopyStep& work, Works& all) {
    const auto bytes = static_cast<double>(work.bytes);
    all.push_back({.alone = {.accesses = 2 * bytes / kBytesOfElement}, .bytes = 2 * bytes});
  }

  // Small operands go as one, which are copied for that.
  void add(const Step&, const StartStep& work, Works& all) { add(*work.op, all); }
  void add(const Step&, const FusedStep& work, Works& all) {
    if (work.produce.rows) all.push_back(work.produce.rows->work());
    if (work.reduce) add(*work.reduce, all);
    for (const auto& launch : work.norm.before) all.push_back(launch->work());
    if (work.norm.op) add(*work.norm.op, all);
    for (const auto& launch : work.norm.after) all.push_back(launch->work());
    if (work.launch) all.push_back(work.launch->work());
    if (work.gather) add(*work.gather, all);
    if (work.consume.rows) all.push_back(work.consume.rows->work());
  }
  void add(const CollectiveOp& op, Works& all) {
    if (op.kind == CollectiveKind::partition_id || op.kind == CollectiveKind::replica_id) return;
    StepWork step;
    step.kind = op.combiner ? CollectiveKind::all_gather : op.kind;
    for (const Pack& pack : op.packs) {
      step.moved.push_back(0);
      for (std::size_t i = pack.first; i < pack.end(); ++i) {
        step.moved.back() += static_cast<double>(op.operands[i].bytes());
        if (pack.count > 1)
          step.bytes += 2 * static_cast<double>(op.operands[i].bytes() + op.results[i].bytes());
      }
    }
    step.alone.accesses = step.bytes / kBytesOfElement;
    step.members = op.groups.empty() ? 0 : static_cast<std::int64_t>(op.groups[0].size());
    all.push_back(step);
  }

  void add(const Step&, const WaitStep&, Works&) {}

  void add(const Step&, const LoopStep& work, Works& all) {
    StepWork loop;
    loop.inside = run(work.condition);
    for (StepWork& step : run(work.body)) loop.inside.push_back(std::move(step));
    loop.turns = work.trips ? static_cast<double>(*work.trips) : kUnknownTrips;
    all.push_back(std::move(loop));
  }

  // Any of them, as often as the others.
  void add(const Step&, const BranchStep& work, Works& all) {
    for (const StepList& branch : work.branches) {
      StepWork one{.turns = 1.0 / static_cast<double>(work.branches.size())};
      one.inside = run(branch);
      all.push_back(std::move(one));
    }
  }

  const std::vector<StepInfo>& infos_;
};

}  // namespace

std::vector<StepWork> Executable::step_work() const {
  return StepCounter(state_->infos).run(state_->steps);
}

}  // namespace heddle
