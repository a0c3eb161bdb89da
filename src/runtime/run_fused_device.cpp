// A collective with a kernel inside, of ranks that share a device: one launch for all of them.
#include <algorithm>

#include "heddle/log.h"
#include "runtime/run_collective.h"
#include "runtime/run_fused.h"
#include "runtime/run_state.h"
#include "runtime/step.h"
#include "schedule/chunks/check_chunks.h"

namespace heddle::runtime {

namespace {

using chunks::Chunk;

Verdict one_by_one(const StartStep& start, const WaitStep& wait, RunState& run,
                   Transport& transport, const RunOptions& options) {
  HEDDLE_TRY_VOID(start_collective(start, run, transport, options));
  return wait_for_collective(wait, run, transport);
}

class FusedOnDevice {
 public:
  FusedOnDevice(const FusedStep& step, RunState& run, FusedRun& kept,
                const ResolvedCollective& resolved, Transport& transport)
      : step_(step), run_(run), kept_(kept), resolved_(resolved), transport_(transport) {}

  // A reason where ranks go one by one; the same on all of them.
  Verdict prepare() {
    if (!transport_.shares_device(*run_.queue)) return reason("ranks do not share the device");
    Verdict here = prepare_here();
    HEDDLE_TRY(const bool everywhere, agreed(here.ok()));
    if (here && !everywhere) return reason("another rank could not prepare it");
    return here;
  }

  Verdict run() {
    const std::vector<std::uint64_t> mine = addresses();
    const std::uint64_t turn = kept_.turn++;
    return transport_.together(
        *run_.queue, resolved_.group, mine,
        [&](Queue& queue, std::span<const std::uint64_t> all) {
          std::vector<ChunkAddresses> ranks;
          const std::size_t buffers = program().buffers.size();
          for (std::size_t at = 0; at < all.size(); at += mine.size()) {
            ChunkAddresses& rank = ranks.emplace_back();
            for (std::size_t i = 0; i < mine.size(); ++i)
              (i < buffers ? rank.buffers : rank.kernel).push_back({all[at + i]});
          }
          return kept_.launch->run(queue, ranks, kept_.memory[0].address, kept_.memory[1].address,
                                   turn);
        },
        step_.reduce->label);
  }

  // All that is known before the norm is, and the norm.
  Verdict run_norm(const RunOptions& options) {
    const FusedStep::Apart& apart = *step_.apart;
    HEDDLE_TRY_VOID(one_by_one(apart.scatter, apart.scattered, run_, transport_, options));
    HEDDLE_TRY_VOID(launch_all(step_.norm.before));
    HEDDLE_TRY_VOID(one_by_one(apart.norm, apart.normed, run_, transport_, options));
    return launch_all(step_.norm.after);
  }

  Verdict run_apart(const RunOptions& options) {
    const FusedStep::Apart& apart = *step_.apart;
    HEDDLE_TRY_VOID(step_.norm.op
                        ? run_norm(options)
                        : one_by_one(apart.scatter, apart.scattered, run_, transport_, options));
    HEDDLE_TRY_VOID(run_.queue->launch(*step_.launch, run_.now.data()));
    if (!step_.gather) return yes();
    return one_by_one(apart.gather, apart.gathered, run_, transport_, options);
  }

 private:
  const chunks::ChunkProgram& program() const { return *kept_.program; }

  Verdict launch_all(const std::vector<std::unique_ptr<Launch>>& launches) {
    for (const auto& launch : launches)
      HEDDLE_TRY_VOID(run_.queue->launch(*launch, run_.now.data()));
    return yes();
  }

  Verdict prepare_here() {
    HEDDLE_TRY(kept_.program, fused_program(step_, transport_, resolved_, kept_));
    if (const auto fault = check_chunks(*kept_.program))
      return reason("the chunk program is wrong ({}): {}", name(fault->kind), fault->text);
    HEDDLE_TRY(kept_.launch,
               run_.queue->device().prepare_chunks({.program = &*kept_.program,
                                                    .reduce = step_.reduce->reduce,
                                                    .dtype = step_.reduce->operands[0].dtype,
                                                    .finish = step_.launch.get(),
                                                    .sum = step_.sum,
                                                    .grain = step_.grain}));
    const bool leads = resolved_.me == 0;
    HEDDLE_TRY_VOID(take(leads ? kept_.launch->slot_bytes() : 0));
    HEDDLE_TRY_VOID(take(leads ? kept_.launch->flag_bytes() : 0));
    for (const Buffer& zeros : kept_.memory)
      HEDDLE_TRY_VOID(run_.queue->zero(zeros.address, zeros.bytes));
    if (const std::uint32_t sum = program().buffer("sum");
        sum != kNone && kept_.launch->keeps_sums())
      HEDDLE_TRY_VOID(take(program().bytes(program().held(sum, resolved_.me))));
    return yes();
  }

  Verdict take(std::int64_t bytes) {
    HEDDLE_TRY(Buffer made, run_.queue->device().allocate(std::max<std::int64_t>(bytes, 16)));
    kept_.memory.push_back(std::move(made));
    return yes();
  }

  // Whether all of the group say yes.
  Expected<bool> agreed(bool here) {
    const std::uint64_t mine = here ? 1 : 0;
    std::vector<std::uint64_t> all(transport_.members(resolved_.group).size());
    Collective c{.kind = CollectiveKind::all_gather, .group = resolved_.group};
    c.in = reinterpret_cast<const std::byte*>(&mine);
    c.out = reinterpret_cast<std::byte*>(all.data());
    c.in_pieces = c.out_pieces = {1, sizeof mine};
    c.what = step_.reduce->label;
    HEDDLE_TRY_VOID(run_collective(transport_, c));
    return std::ranges::all_of(all, [](std::uint64_t one) { return one == 1; });
  }

  // Of the program's buffers, then of the kernel's, for which a slice begins with element 0.
  std::vector<std::uint64_t> addresses() const {
    const std::uint32_t in = program().buffer("in"), out = program().buffer("out"),
                        sum = program().buffer("sum");
    const auto before_slice = [&](std::uint32_t b) {
      return program().slice(b, resolved_.me).first * program().buffers[b].element_bytes;
    };
    std::vector<DeviceAddress> at(program().buffers.size());
    std::vector<DeviceAddress> slots = run_.now;
    if (step_.norm.op)
      at[in] = run_.now[step_.sum] + -before_slice(in);
    else
      at[in] = run_.now[step_.given];
    if (sum != kNone && kept_.launch->keeps_sums()) {
      const std::int64_t held = program().held(sum, resolved_.me).first;
      at[sum] = kept_.memory[2].address + -held * program().buffers[sum].element_bytes;
      slots[step_.sum] = at[sum] + before_slice(sum);
    }
    if (step_.gather) {
      at[out] = run_.now[step_.gathered];
      slots[step_.made] = at[out] + before_slice(out);
    }
    std::vector<std::uint64_t> all;
    for (DeviceAddress a : at) all.push_back(a.value);
    for (DeviceAddress a : kept_.launch->of_kernel(*step_.launch, slots.data()))
      all.push_back(a.value);
    return all;
  }

  const FusedStep& step_;
  RunState& run_;
  FusedRun& kept_;
  const ResolvedCollective& resolved_;
  Transport& transport_;
};

}  // namespace

Verdict run_fused_on_device(const FusedStep& step, RunState& run, FusedRun& kept,
                            const ResolvedCollective& resolved, Transport& transport,
                            const RunOptions& options) {
  FusedOnDevice work(step, run, kept, resolved, transport);
  if (!kept.asked) {
    kept.asked = true;
    // Resolved as the sum is: the same ranks meet.
    if (step.gather) run.collectives[step.apart->gather.number] = resolved;
    if (step.norm.op) run.collectives[step.apart->norm.number] = resolved;
    if (const Verdict fused = work.prepare(); !fused) {
      kept.launch.reset();
      log(kLogSteps, "{}: one by one: {}", step.reduce->label, fused.reason());
    }
  }
  if (!kept.launch) return work.run_apart(options);
  if (step.norm.op) HEDDLE_TRY_VOID(work.run_norm(options));
  return work.run();
}

}  // namespace heddle::runtime
