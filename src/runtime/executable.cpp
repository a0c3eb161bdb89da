#include "heddle/executable.h"

#include "heddle/hash.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "heddle/thread_pool.h"
#include "heddle/transport.h"
#include "runtime/run_arrays.h"
#include "runtime/run_collective.h"

namespace heddle {

using namespace runtime;

namespace {

Verdict check_arguments(const ExecutableState& state, const std::vector<Array>& arguments) {
  const CompiledProgram& compiled = state.compiled;
  const Function& f = compiled.entry();
  if (arguments.size() != state.argument_types.size())
    return reason("{}: function @{} takes {} arguments, {} came in", compiled.program.where(f.loc),
                  f.name, state.argument_types.size(), arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!(arguments[i].type() == state.argument_types[i]))
      return reason("{}: argument {} of function @{} is {}, {} came in",
                    compiled.program.where(f.loc), i, f.name, state.argument_types[i].str(),
                    arguments[i].type().str());
  return yes();
}

Verdict check_buffers(const ExecutableState& state, const std::vector<Buffer>& arguments) {
  const Function& f = state.compiled.entry();
  const std::string& file = state.compiled.program.file;
  if (arguments.size() != state.argument_types.size())
    return reason("{}: function @{} takes {} arguments, {} buffers came in", file, f.name,
                  state.argument_types.size(), arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = state.argument_types[i];
    if (type.bytes() > 0 && arguments[i].device != &state.device())
      return reason(
          "{}: argument {} of function @{} does not lie on the device that it was "
          "compiled for, {}: bring it there with to_device()",
          file, i, f.name, state.device().name());
    if (arguments[i].bytes < type.bytes())
      return reason("{}: argument {} of function @{} is {}, a buffer of {} bytes came in", file, i,
                    f.name, type.str(), arguments[i].bytes);
  }
  return yes();
}

// What all ranks have in common: their program, or all those of a pipeline together.
std::uint64_t shared_fingerprint(ExecutableState& state) {
  return state.placement.stages().empty() ? state.fingerprint() : state.placement.fingerprint;
}

// The first time that ranks meet over a program: it has to be the same.
Verdict agree(ExecutableState& state, Transport& transport) {
  std::vector<int> everyone(static_cast<std::size_t>(transport.size()));
  for (int r = 0; r < transport.size(); ++r) everyone[static_cast<std::size_t>(r)] = r;
  HEDDLE_TRY(const GroupId group, transport.group(everyone));
  const std::uint64_t mine = shared_fingerprint(state);
  std::vector<std::uint64_t> all(everyone.size());
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, sizeof mine};
  c.what = "comparing programs before the run";
  if (const Verdict met = run_collective(transport, c); !met) {
    transport.abort(met.reason());  // before these numbers go
    return met;
  }
  std::string others;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r] != all[0]) others += fmt::format("{}{}", others.empty() ? "" : ", ", r);
  if (others.empty()) return yes();
  return reason(
      "{}: rank {} of {} runs another program than rank 0, or its collectives in another order "
      "(this is rank {}): start all ranks with the same file, options and version",
      state.compiled.program.file, others, transport.size(), transport.rank());
}

Verdict prepare(ExecutableState& state, RunState& run, const RunOptions& options,
                Transport& transport) {
  const ResolvedFor now{transport.id(), options.replicas, options.partitions};
  if (run.resolved_for == now) return yes();
  HEDDLE_TRY_VOID(rank_grid(transport, options));
  run.collectives.assign(state.meetings.size(), {});
  if (transport.size() > 1 && options.same_program &&
      transport.first_time(shared_fingerprint(state)))
    HEDDLE_TRY_VOID(agree(state, transport));
  run.resolved_for = now;
  return yes();
}

// The state of a run, until it goes back to the pool or is given up.
class Lease {
 public:
  Lease(ExecutableState& state, std::unique_ptr<RunState> run)
      : state_(state), run_(std::move(run)) {}
  // After a failure nobody knows what is still on the queue.
  ~Lease() {
    if (run_) (void)run_->queue->finish();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  RunState& operator*() { return *run_; }
  void give_back() { state_.runs.give_back(std::move(run_)); }

 private:
  ExecutableState& state_;
  std::unique_ptr<RunState> run_;
};

// One run of one rank. `enter` gives it its arguments, `leave` takes its results.
template <typename Results, typename Enter, typename Leave>
Expected<Results> run_rank(ExecutableState& state, const RunOptions& options, Enter enter,
                           Leave leave) {
  if (options.times != nullptr && options.times->size() < state.infos.size())
    options.times->resize(state.infos.size());
  auto taken = state.runs.take(options.transport == nullptr ? 0 : options.transport->id());
  if (!taken) {
    auto made = make_run_state(state);
    if (!made && options.transport != nullptr) options.transport->abort(made.reason());
    HEDDLE_TRY(taken, std::move(made));
  }
  Lease lease(state, std::move(taken));
  RunState& run = *lease;
  if (options.transport == nullptr && !run.solo) run.solo = solo_transport();
  Transport& transport = options.transport == nullptr ? *run.solo : *options.transport;
  // After a failure collectives may still be under way, in memory that goes with the lease.
  const struct Forgetting {
    Transport& transport;
    ~Forgetting() { transport.forget_requests(); }
  } forgetting{transport};
  run.queue->set_workers(options.pool != nullptr ? *options.pool : ThreadPool::shared());
  Expected<Results> results = [&]() -> Expected<Results> {
    HEDDLE_TRY_VOID(prepare(state, run, options, transport));
    HEDDLE_TRY_VOID(enter(run));
    HEDDLE_TRY_VOID(run_steps(state, run, options, transport));
    HEDDLE_TRY_VOID(finish_sends(run, transport));
    return leave(run);
  }();
  // A rank that fails ends the run of all; otherwise they would wait for it, or read from memory
  // that goes with the lease.
  if (results)
    lease.give_back();
  else if (options.transport != nullptr)
    transport.abort(results.reason());
  return results;
}

template <typename Results, typename Enter, typename Leave>
Expected<Results> run_among_others(ExecutableState& state, const RunOptions& options, Enter enter,
                                   Leave leave) {
  if (options.transport == nullptr) return run_rank<Results>(state, options, enter, leave);
  Transport& transport = *options.transport;
  const std::lock_guard turn(transport.turn());
  transport.enter();
  auto results = run_rank<Results>(state, options, enter, leave);
  transport.leave();
  return results;
}

template <typename Results, typename Enter, typename Leave>
Expected<Results> run_safely(ExecutableState& state, const RunOptions& options, Enter enter,
                             Leave leave) {
  try {
    return run_among_others<Results>(state, options, enter, leave);
  } catch (const std::bad_alloc&) {
    return reason(
        "{}: there is not enough memory: {:.1f} MB for values that are computed, beside the "
        "arguments",
        state.compiled.program.file, static_cast<double>(state.peak.bytes) / 1e6);
  } catch (const Error& error) {
    return Reason{error.what()};
  }
}

}  // namespace

Expected<const std::vector<Buffer>*> ExecutableState::constant_buffers(Queue& queue) {
  const std::lock_guard lock(mutex_);
  if (constant_buffers_) return &*constant_buffers_;
  std::vector<Buffer> buffers(constants.size());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const auto bytes = constants[i].bytes();
    if (bytes.empty()) continue;
    if (device().in_host_memory()) {
      buffers[i] = buffer_of(device(), constants[i].block());
      continue;
    }
    HEDDLE_TRY(buffers[i], device().allocate(static_cast<std::int64_t>(bytes.size())));
    HEDDLE_TRY_VOID(queue.write(bytes, buffers[i].address, constants[i].block()));
  }
  HEDDLE_TRY_VOID(queue.finish());
  constant_buffers_ = std::move(buffers);
  return &*constant_buffers_;
}

std::uint64_t ExecutableState::fingerprint() {
  const std::lock_guard lock(mutex_);
  if (!fingerprint_) {
    std::uint64_t hash = hash_combine(0, print_stablehlo(compiled.program, TextForm::generic));
    for (OpId meeting : meetings) hash = hash_combine(hash, std::uint64_t{meeting});
    fingerprint_ = hash;
  }
  return *fingerprint_;
}

Expected<std::vector<Array>> Executable::run(std::vector<Array> arguments,
                                             const RunOptions& options) const {
  ExecutableState& state = *state_;
  if (!state.compiled.interpreted_because.empty()) {
    if (options.transport != nullptr && options.transport->size() > 1)
      return reason("{} cannot run on {} ranks, since it can only be interpreted: {}",
                    state.compiled.program.file, options.transport->size(),
                    state.compiled.interpreted_because);
    InterpretOptions whole;
    whole.verified = true;
    whole.memory_limit = state.memory_limit;
    whole.print = options.print;
    whole.host_call = options.host_call;
    whole.stop = options.stop;
    whole.trace = options.trace;
    return interpret(state.compiled.program, state.compiled.entry(), std::move(arguments), whole);
  }
  bool has_begun = false;
  auto results = run_safely<std::vector<Array>>(
      state, options,
      [&](RunState& run) -> Verdict {
        HEDDLE_TRY_VOID(check_arguments(state, arguments));
        HEDDLE_TRY_VOID(bring_in(state, run, arguments));
        has_begun = true;
        return yes();
      },
      [&](RunState& run) { return bring_out(state, run, arguments); });
  if (!results && options.left != nullptr) {
    options.left->clear();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_written =
          has_begun && i < state.inputs.size() && state.slots[state.inputs[i]].donated;
      options.left->emplace_back();
      if (!is_written) options.left->back().emplace(std::move(arguments[i]));
    }
  }
  return results;
}

Expected<std::vector<Buffer>> Executable::run_on_device(std::vector<Buffer> arguments,
                                                        const RunOptions& options) const {
  ExecutableState& state = *state_;
  if (!state.compiled.interpreted_because.empty())
    return reason("{} runs on no device, since it can only be interpreted: {}",
                  state.compiled.program.file, state.compiled.interpreted_because);
  return run_safely<std::vector<Buffer>>(
      state, options,
      [&](RunState& run) -> Verdict {
        HEDDLE_TRY_VOID(check_buffers(state, arguments));
        return take_buffers(state, run, std::move(arguments));
      },
      [&](RunState& run) { return give_buffers(state, run); });
}

namespace {

Expected<std::vector<DeviceValue>> run_in_host_memory(const Executable& executable,
                                                      std::vector<DeviceValue> arguments,
                                                      const RunOptions& options) {
  std::vector<Array> arrays;
  arrays.reserve(arguments.size());
  for (DeviceValue& value : arguments) {
    if (!value.in_host_memory())
      return reason("a value of {} was to be used on {}: bring it to the host first",
                    value.buffer().device->name(), executable.device().name());
    arrays.push_back(value.take_array());
  }
  HEDDLE_TRY(std::vector<Array> results, executable.run(std::move(arrays), options));
  arguments.assign(std::make_move_iterator(results.begin()),
                   std::make_move_iterator(results.end()));
  return arguments;
}

// Of a program that only the interpreter can run: through host memory.
Expected<std::vector<DeviceValue>> run_interpreted(const Executable& executable,
                                                   const std::vector<DeviceValue>& arguments,
                                                   const RunOptions& options) {
  const auto queue = executable.device().queue();
  std::vector<Array> arrays;
  for (const DeviceValue& value : arguments) {
    HEDDLE_TRY(Array array, to_host(*queue, value));
    arrays.push_back(std::move(array));
  }
  HEDDLE_TRY(const std::vector<Array> results, executable.run(std::move(arrays), options));
  std::vector<DeviceValue> values;
  for (const Array& result : results) {
    HEDDLE_TRY(DeviceValue value, to_device(*queue, DeviceValue(result)));
    values.push_back(std::move(value));
  }
  HEDDLE_TRY_VOID(queue->finish());
  return values;
}

}  // namespace

Expected<std::vector<DeviceValue>> Executable::run_values(std::vector<DeviceValue> arguments,
                                                          const RunOptions& options) const {
  ExecutableState& state = *state_;
  if (in_host_memory()) return run_in_host_memory(*this, std::move(arguments), options);
  if (!state.compiled.interpreted_because.empty())
    return run_interpreted(*this, arguments, options);
  std::vector<Type> types;
  if (options.left != nullptr)
    for (const DeviceValue& argument : arguments) types.push_back(argument.type());
  return run_safely<std::vector<DeviceValue>>(
      state, options,
      [&](RunState& run) -> Verdict {
        HEDDLE_TRY(std::vector<Buffer> buffers, buffers_from(state, run, std::move(arguments)));
        HEDDLE_TRY_VOID(check_buffers(state, buffers));
        const Verdict taken = take_buffers(state, run, std::move(buffers));
        if (!taken && options.left != nullptr) {
          options.left->clear();
          for (std::size_t i = 0; i < types.size(); ++i)
            options.left->emplace_back(DeviceValue(types[i], run.buffers[state.inputs[i]]));
        }
        return taken;
      },
      [&](RunState& run) -> Expected<std::vector<DeviceValue>> {
        HEDDLE_TRY(std::vector<Buffer> buffers, give_buffers(state, run));
        std::vector<DeviceValue> values;
        for (std::size_t i = 0; i < buffers.size(); ++i)
          values.emplace_back(state.output_types[i], std::move(buffers[i]));
        return values;
      });
}

bool Executable::in_host_memory() const { return device().in_host_memory(); }

Device& Executable::device() const { return state_->device(); }

Verdict Executable::finish_compiling() const {
  const auto& background = state_->compiled.background;
  return background ? background->wait() : yes();
}

std::uint64_t Executable::fingerprint() const { return state_->fingerprint(); }
const std::vector<StepInfo>& Executable::steps() const { return state_->infos; }
const Program& Executable::program() const { return state_->compiled.program; }
const Placement& Executable::placement() const { return state_->placement; }
Executable Executable::together(std::vector<Executable> stages) {
  const Executable first = stages[0];
  first.state_->later_stages.assign(stages.begin() + 1, stages.end());
  return first;
}
std::vector<Executable> Executable::stages() const {
  std::vector<Executable> all = {*this};
  all.insert(all.end(), state_->later_stages.begin(), state_->later_stages.end());
  return all;
}
const PeakMemory& Executable::peak() const { return state_->peak; }
void Executable::drop_spare_memory() const { state_->runs.clear(); }
const std::string& Executable::interpreted_because() const {
  return state_->compiled.interpreted_because;
}

}  // namespace heddle
