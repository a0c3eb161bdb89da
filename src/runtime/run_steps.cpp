// The executor: nothing is looked up or allocated here but by reference evaluations.
#include <cstring>

#include "heddle/interpreter.h"
#include "heddle/trace.h"
#include "runtime/reference.h"
#include "runtime/run_collective.h"
#include "runtime/state.h"

namespace heddle::runtime {

namespace {

constexpr std::int64_t kCountedTurns = 1024;

class Runner {
 public:
  Runner(const ExecutableState& state, RunState& run, const RunOptions& options,
         Transport& transport)
      : state_(state), run_(run), queue_(*run.queue), options_(options), transport_(transport) {}

  Verdict run(const StepList& list) {
    for (SlotId s : list.moved) run_.now[s] = run_.home[s];
    const bool timed = options_.trace != nullptr || options_.times != nullptr;
    std::size_t done = 0;
    if (!timed && queue_.can_record())
      for (const Stretch& stretch : list.stretches) {
        HEDDLE_TRY_VOID(run_some(list, done, stretch.begin, timed));
        HEDDLE_TRY_VOID(run_stretch(list, stretch));
        done = stretch.end;
      }
    return run_some(list, done, list.steps.size(), timed);
  }

 private:
  Verdict run_some(const StepList& list, std::size_t begin, std::size_t end, bool timed) {
    for (std::size_t i = begin; i < end; ++i) {
      const Step& step = list.steps[i];
      transport_.at_step(step.info);
      HEDDLE_TRY_VOID(may_go_on(step));
      HEDDLE_TRY_VOID(timed ? run_timed(step) : run_step(step));
    }
    return yes();
  }

  // As it was done before, where all lies where it did; else step by step.
  Verdict run_stretch(const StepList& list, const Stretch& stretch) {
    StretchMemory& memory = run_.stretches[stretch.number];
    const auto once = [&] { return run_some(list, stretch.begin, stretch.end, false); };
    const Recording* recording = nullptr;
    switch (memory.next(stretch, run_.now)) {
      case StretchMemory::Next::run:
        return once();
      case StretchMemory::Next::record:
        recording = memory.keep(queue_, once);
        if (recording == nullptr) return once();
        break;
      case StretchMemory::Next::replay:
        recording = memory.kept();
        break;
    }
    const Step& first = list.steps[stretch.begin];
    transport_.at_step(first.info);
    HEDDLE_TRY_VOID(may_go_on(first));
    return queue_.replay(*recording);
  }

  // Another rank has failed, while this one had nothing to wait for.
  Reason stopped(const Step& step) const {
    const StepInfo& info = state_.infos[step.info];
    return reason("{}\n  rank {} was before step {}, {}{}", transport_.failure(), transport_.rank(),
                  step.info, info.name, info.where.empty() ? "" : " at " + info.where);
  }

  Reason asked_to_stop(const Step& step) const {
    return reason("the run was stopped before step {}, {}", step.info,
                  state_.infos[step.info].name);
  }

  bool is_stopped() const { return options_.stop && options_.stop(); }

  Verdict may_go_on(const Step& step) const {
    if (transport_.failed()) return stopped(step);
    if (is_stopped()) return asked_to_stop(step);
    return yes();
  }

  Verdict run_step(const Step& step) {
    return std::visit(
        [&](const auto& work) {
          if constexpr (std::is_same_v<decltype(work), const LoopStep&>)
            return run_loop(work, step);
          else
            return run_work(work);
        },
        step.work);
  }

  Verdict run_timed(const Step& step) {
    const auto start = TraceClock::now();
    HEDDLE_TRY_VOID(run_step(step));
    HEDDLE_TRY_VOID(queue_.finish());  // the step's own time, not that of the call
    const auto took = TraceClock::now() - start;
    const auto* waits = std::get_if<WaitStep>(&step.work);
    if (options_.times != nullptr) {
      StepTime& time = (*options_.times)[step.info];
      time.calls += waits == nullptr ? 1 : 0;  // begun and waited for is once
      time.seconds += std::chrono::duration<double>(took).count();
    }
    if (options_.trace != nullptr) {
      // A collective is one span, from where it began to where it had been waited for.
      if (const auto* begins = std::get_if<StartStep>(&step.work);
          begins && begins->op->travels()) {
        run_.under_way[begins->number].since = start;
        return yes();
      }
      const auto since = waits == nullptr ? start : run_.under_way[waits->number].since;
      const StepInfo& info = state_.infos[step.info];
      const std::string process =
          transport_.size() == 1 ? "heddle" : fmt::format("rank {}", transport_.rank());
      const bool talks = info.kind == "collective";
      options_.trace->complete(options_.trace->lane(process, talks ? "communication" : "steps"),
                               info.name, info.kind, since, start + took - since,
                               {{"ops", info.ops},
                                {"where", info.where},
                                {"bytes", info.bytes_read + info.bytes_written}});
    }
    return yes();
  }

  Verdict run_work(const LaunchStep& work) { return queue_.launch(*work.launch, run_.now.data()); }

  Verdict run_work(const LibraryStep& work) {
    auto& addresses = run_.of_call;
    addresses.clear();
    for (SlotId s : work.operands) addresses.push_back(run_.now[s]);
    for (SlotId s : work.results) addresses.push_back(run_.now[s]);
    const std::span<const DeviceAddress> all(addresses);
    return queue_.call(*work.call,
                       {all.first(work.operands.size()), all.subspan(work.operands.size()),
                        work.workspace == kNone ? DeviceAddress{} : run_.now[work.workspace]});
  }

  // What lies on the device, for the interpreter; as it lies where the host can see it.
  Expected<Array> operand(SlotId slot, const Type& type) {
    const auto size = static_cast<std::size_t>(type.bytes());
    if (queue_.device().in_host_memory())
      return Array(type, Block::view(host_pointer(run_.now[slot]), size));
    auto block = Block::raw(size);
    HEDDLE_TRY_VOID(queue_.read(run_.now[slot], {block->data(), size}));
    return Array(type, std::move(block));
  }

  Verdict run_work(const ReferenceStep& work) {
    std::call_once(*work.written_out, [&] { write_out_constants(*work.program); });
    const Function& f = work.program->functions[0];
    const auto& args = work.program->region(f.body).args;
    std::vector<Array> operands;
    for (std::size_t i = 0; i < args.size(); ++i) {
      HEDDLE_TRY(Array array, operand(work.operands[i], work.program->type_of(args[i])));
      operands.push_back(std::move(array));
    }
    HEDDLE_TRY_VOID(queue_.finish());
    InterpretOptions interpret_options;
    interpret_options.verified = true;
    interpret_options.memory_limit = state_.memory_limit;
    interpret_options.print = options_.print;
    interpret_options.host_call = options_.host_call;
    interpret_options.stop = [this] { return transport_.failed() || is_stopped(); };
    HEDDLE_TRY(auto results, interpret(*work.program, f, std::move(operands), interpret_options));
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const auto bytes = results[i].bytes(); !bytes.empty())
        HEDDLE_TRY_VOID(queue_.write(bytes, run_.now[work.results[i]], results[i].block()));
    return yes();
  }

  Verdict run_work(const CopyStep& work) {
    return queue_.copy(run_.now[work.from], run_.now[work.to], work.bytes);
  }

  Verdict run_work(const StartStep& work) {
    return start_collective(work, run_, transport_, options_);
  }
  Verdict run_work(const FusedStep& work) { return run_fused(work, run_, transport_, options_); }
  Verdict run_work(const WaitStep& work) { return wait_for_collective(work, run_, transport_); }

  // Condition and body may have no steps, before which it would be asked whether to stop.
  Verdict run_loop(const LoopStep& loop, const Step& step) {
    // A device of its own would have to be waited for at every turn.
    const bool is_counted = loop.exact_trips && !queue_.device().in_host_memory();
    // A trace shows every step.
    LoopLaunch* whole = options_.trace == nullptr ? loop.whole.get() : nullptr;
    for (std::int64_t turn = 0;; ++turn) {
      HEDDLE_TRY_VOID(may_go_on(step));
      if (whole != nullptr) {
        if (turn % kCountedTurns == 0) whole->count(turn == 0 ? 0 : kCountedTurns);
        if (whole->is_ready()) return run_whole(*whole, step);
      }
      if (is_counted) {
        if (turn == *loop.exact_trips) return yes();
      } else {
        HEDDLE_TRY_VOID(run(loop.condition));
        HEDDLE_TRY(const auto goes_on, scalar<std::uint8_t>(loop.predicate));
        if (goes_on == 0) {
          if (whole != nullptr) whole->count(turn % kCountedTurns);
          return yes();
        }
      }
      HEDDLE_TRY_VOID(run(loop.body));
      for (const auto& [a, b] : loop.swaps) std::swap(run_.now[a], run_.now[b]);
    }
  }

  Verdict run_whole(const LoopLaunch& whole, const Step& step) {
    while (true) {
      HEDDLE_TRY(const TurnsDone did, queue_.turns(whole, run_.now.data(), whole.turns_at_once()));
      if (did.turns % 2 != 0)
        for (const auto& [a, b] : whole.moved()) std::swap(run_.now[a], run_.now[b]);
      if (did.over) return yes();
      HEDDLE_TRY_VOID(may_go_on(step));
    }
  }

  Verdict run_work(const BranchStep& branch) {
    if (!branch.is_case) {
      HEDDLE_TRY(const auto truth, scalar<std::uint8_t>(branch.index));
      return run(branch.branches[truth != 0 ? 0 : 1]);
    }
    HEDDLE_TRY(const auto number, scalar<std::int32_t>(branch.index));
    const std::size_t last = branch.branches.size() - 1;
    return run(
        branch.branches[number < 0 ? last : std::min(static_cast<std::size_t>(number), last)]);
  }

  // One number that the host has to know.
  template <typename T>
  Expected<T> scalar(SlotId slot) {
    T value = {};
    std::byte bytes[sizeof(T)];
    HEDDLE_TRY_VOID(read_now(queue_, run_.now[slot], bytes));
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  const ExecutableState& state_;
  RunState& run_;
  Queue& queue_;
  const RunOptions& options_;
  Transport& transport_;
};

}  // namespace

Verdict run_steps(const ExecutableState& state, RunState& run, const RunOptions& options,
                  Transport& transport) {
  return Runner(state, run, options, transport).run(state.steps);
}

}  // namespace heddle::runtime
