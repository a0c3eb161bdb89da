// The executor: nothing is looked up or allocated here but by reference evaluations.
#include <cstring>

#include "heddle/interpreter.h"
#include "heddle/trace.h"
#include "runtime/launch.h"
#include "runtime/state.h"

namespace heddle::runtime {

namespace {

constexpr std::int64_t kCopyAlone = std::int64_t{1} << 18;
constexpr std::int64_t kCopyPart = std::int64_t{1} << 20;

class Runner {
 public:
  Runner(ExecutableState& state, const RunOptions& options)
      : state_(state), options_(options), pool_(ThreadPool::shared()) {}

  Verdict run(const StepList& list) {
    for (SlotId s : list.moved) state_.now[s] = state_.home[s];
    const bool timed = options_.trace != nullptr || options_.times != nullptr;
    for (const Step& step : list.steps) HEDDLE_TRY_VOID(timed ? run_timed(step) : run_step(step));
    return yes();
  }

 private:
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
      options_.trace->complete(options_.trace->lane("heddle", "steps"), info.name, info.kind, start,
                               took,
                               {{"ops", info.ops},
                                {"where", info.where},
                                {"bytes", info.bytes_read + info.bytes_written}});
    }
    return yes();
  }

  Verdict run_work(const LaunchStep& launch) {
    return run_launch(launch,
                      {state_.now.data(), state_.scratch ? state_.scratch->data() : nullptr,
                       state_.scratch_stride},
                      pool_);
  }

  Verdict run_work(const LibraryStep& work) {
    pointers_.clear();
    for (SlotId s : work.operands) pointers_.push_back(state_.now[s]);
    for (SlotId s : work.results) pointers_.push_back(state_.now[s]);
    const std::span<std::byte* const> all(pointers_);
    return work.call->run({all.first(work.operands.size()), all.subspan(work.operands.size()),
                           work.workspace == kNone ? nullptr : state_.now[work.workspace], pool_});
  }

  Verdict run_work(const ReferenceStep& work) {
    const Function& f = work.program->functions[0];
    const auto& args = work.program->region(f.body).args;
    std::vector<Array> operands;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Type& type = work.program->type_of(args[i]);
      operands.emplace_back(
          type, Block::view(state_.now[work.operands[i]], static_cast<std::size_t>(type.bytes())));
    }
    InterpretOptions interpret_options;
    interpret_options.verified = true;
    interpret_options.memory_limit = state_.memory_limit;
    interpret_options.print = options_.print;
    HEDDLE_TRY(auto results, interpret(*work.program, f, std::move(operands), interpret_options));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto bytes = results[i].bytes();
      if (!bytes.empty()) std::memcpy(state_.now[work.results[i]], bytes.data(), bytes.size());
    }
    return yes();
  }

  Verdict run_work(const CopyStep& work) {
    const std::byte* from = state_.now[work.from];
    std::byte* to = state_.now[work.to];
    if (work.bytes <= kCopyAlone) {
      if (work.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(work.bytes));
      return yes();
    }
    pool_.parallel_for((work.bytes + kCopyPart - 1) / kCopyPart, [&](std::int64_t part, int) {
      const std::int64_t at = part * kCopyPart;
      std::memcpy(to + at, from + at,
                  static_cast<std::size_t>(std::min(kCopyPart, work.bytes - at)));
    });
    return yes();
  }

  Verdict run_work(const LoopStep& loop) {
    for (;;) {
      HEDDLE_TRY_VOID(run(loop.condition));
      if (*state_.now[loop.predicate] == std::byte{0}) return yes();
      HEDDLE_TRY_VOID(run(loop.body));
      for (const auto& [a, b] : loop.swaps) std::swap(state_.now[a], state_.now[b]);
    }
  }

  Verdict run_work(const BranchStep& branch) {
    const std::byte* index = state_.now[branch.index];
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

  ExecutableState& state_;
  const RunOptions& options_;
  ThreadPool& pool_;
  std::vector<std::byte*> pointers_;
};

}  // namespace

Verdict run_steps(ExecutableState& state, const StepList& list, const RunOptions& options) {
  return Runner(state, options).run(list);
}

}  // namespace heddle::runtime
