// The executor: nothing is looked up or allocated here but by reference evaluations.
#include <cstring>

#include "cost/sharing.h"
#include "heddle/interpreter.h"
#include "heddle/trace.h"
#include "runtime/launch.h"
#include "runtime/run_collective.h"
#include "runtime/state.h"

namespace heddle::runtime {

namespace {

class Runner {
 public:
  Runner(const ExecutableState& state, RankState& rank, const RunOptions& options,
         Transport& transport, ThreadPool& pool)
      : state_(state), rank_(rank), options_(options), transport_(transport), pool_(pool) {}

  Verdict run(const StepList& list) {
    for (SlotId s : list.moved) rank_.now[s] = rank_.home[s];
    const bool timed = options_.trace != nullptr || options_.times != nullptr;
    for (const Step& step : list.steps) {
      transport_.at_step(step.info);
      if (transport_.failed()) return stopped(step);
      HEDDLE_TRY_VOID(timed ? run_timed(step) : run_step(step));
    }
    return yes();
  }

 private:
  // Another rank has failed, while this one had nothing to wait for.
  Reason stopped(const Step& step) const {
    const StepInfo& info = state_.infos[step.info];
    return reason("{}\n  rank {} was before step {}, {}{}", transport_.failure(), transport_.rank(),
                  step.info, info.name, info.where.empty() ? "" : " at " + info.where);
  }

  Verdict run_step(const Step& step) {
    return std::visit([&](const auto& work) { return run_work(work); }, step.work);
  }

  Verdict run_timed(const Step& step) {
    const auto start = TraceClock::now();
    HEDDLE_TRY_VOID(run_step(step));
    const auto took = TraceClock::now() - start;
    if (options_.times != nullptr) {
      StepTime& time = (*options_.times)[step.info];
      ++time.calls;
      time.seconds += std::chrono::duration<double>(took).count();
    }
    if (options_.trace != nullptr) {
      const StepInfo& info = state_.infos[step.info];
      const std::string process =
          transport_.size() == 1 ? "heddle" : fmt::format("rank {}", transport_.rank());
      const bool talks = info.kind == "collective";
      options_.trace->complete(options_.trace->lane(process, talks ? "communication" : "steps"),
                               info.name, info.kind, start, took,
                               {{"ops", info.ops},
                                {"where", info.where},
                                {"bytes", info.bytes_read + info.bytes_written}});
    }
    return yes();
  }

  Verdict run_work(const LaunchStep& launch) {
    return run_launch(launch,
                      {rank_.now.data(), rank_.scratch ? rank_.scratch->data() : nullptr,
                       state_.scratch_stride, rank_.pointers.data()},
                      pool_);
  }

  Verdict run_work(const LibraryStep& work) {
    pointers_.clear();
    for (SlotId s : work.operands) pointers_.push_back(rank_.now[s]);
    for (SlotId s : work.results) pointers_.push_back(rank_.now[s]);
    const std::span<std::byte* const> all(pointers_);
    return work.call->run({all.first(work.operands.size()), all.subspan(work.operands.size()),
                           work.workspace == kNone ? nullptr : rank_.now[work.workspace], pool_});
  }

  Verdict run_work(const ReferenceStep& work) {
    const std::lock_guard turn(*work.turn);
    const Function& f = work.program->functions[0];
    const auto& args = work.program->region(f.body).args;
    std::vector<Array> operands;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Type& type = work.program->type_of(args[i]);
      operands.emplace_back(
          type, Block::view(rank_.now[work.operands[i]], static_cast<std::size_t>(type.bytes())));
    }
    InterpretOptions interpret_options;
    interpret_options.verified = true;
    interpret_options.memory_limit = state_.memory_limit;
    interpret_options.print = options_.print;
    HEDDLE_TRY(auto results, interpret(*work.program, f, std::move(operands), interpret_options));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto bytes = results[i].bytes();
      if (!bytes.empty()) std::memcpy(rank_.now[work.results[i]], bytes.data(), bytes.size());
    }
    return yes();
  }

  Verdict run_work(const CopyStep& work) {
    const std::byte* from = rank_.now[work.from];
    std::byte* to = rank_.now[work.to];
    if (work.bytes <= cost::kSharedCopy) {
      if (work.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(work.bytes));
      return yes();
    }
    pool_.parallel_for(
        (work.bytes + cost::kCopyPart - 1) / cost::kCopyPart, [&](std::int64_t part, int) {
          const std::int64_t at = part * cost::kCopyPart;
          std::memcpy(to + at, from + at,
                      static_cast<std::size_t>(std::min(cost::kCopyPart, work.bytes - at)));
        });
    return yes();
  }

  Verdict run_work(const CollectiveStep& work) {
    return run_collective_step(work, rank_, transport_, options_);
  }

  Verdict run_work(const LoopStep& loop) {
    for (;;) {
      HEDDLE_TRY_VOID(run(loop.condition));
      if (*rank_.now[loop.predicate] == std::byte{0}) return yes();
      HEDDLE_TRY_VOID(run(loop.body));
      for (const auto& [a, b] : loop.swaps) std::swap(rank_.now[a], rank_.now[b]);
    }
  }

  Verdict run_work(const BranchStep& branch) {
    const std::byte* index = rank_.now[branch.index];
    std::size_t chosen = 0;
    if (branch.is_case) {
      std::int32_t number = 0;
      std::memcpy(&number, index, sizeof number);
      const std::size_t last = branch.branches.size() - 1;
      chosen = number < 0 ? last : std::min(static_cast<std::size_t>(number), last);
    } else {
      chosen = *index == std::byte{0} ? 1 : 0;
    }
    return run(branch.branches[chosen]);
  }

  const ExecutableState& state_;
  RankState& rank_;
  const RunOptions& options_;
  Transport& transport_;
  ThreadPool& pool_;
  std::vector<std::byte*> pointers_;
};

}  // namespace

Verdict run_steps(const ExecutableState& state, RankState& rank, const RunOptions& options,
                  Transport& transport, ThreadPool& pool) {
  return Runner(state, rank, options, transport, pool).run(state.steps);
}

}  // namespace heddle::runtime
