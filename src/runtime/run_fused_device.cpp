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

class FusedOnDevice {
 public:
  FusedOnDevice(const FusedStep& step, RunState& run, FusedRun& kept,
                const ResolvedCollective& resolved, Transport& transport)
      : step_(step), run_(run), kept_(kept), resolved_(resolved), transport_(transport) {}

  // A reason where ranks go one by one; the same on all of them.
  Verdict prepare() {
    if (!transport_.shares_device(*run_.queue)) return reason("ranks do not share the device");
    HEDDLE_TRY(kept_.program, fused_program(step_, transport_, resolved_, kept_));
    if (const auto fault = check_chunks(*kept_.program))
      return reason("the chunk program is wrong ({}): {}", name(fault->kind), fault->text);
    HEDDLE_TRY(kept_.launch,
               run_.queue->device().prepare_chunks({.program = &*kept_.program,
                                                    .reduce = step_.reduce->reduce,
                                                    .dtype = step_.reduce->operands[0].dtype,
                                                    .finish = step_.launch.get()}));
    const std::uint32_t sum = program().buffer("sum");
    HEDDLE_TRY_VOID(take(program().bytes(program().held(sum, resolved_.me))));
    if (resolved_.me != 0) return yes();
    HEDDLE_TRY_VOID(take(kept_.launch->slot_bytes()));
    HEDDLE_TRY_VOID(take(kept_.launch->flag_bytes()));
    for (std::size_t i : {std::size_t{1}, std::size_t{2}})
      HEDDLE_TRY_VOID(run_.queue->zero(kept_.memory[i].address, kept_.memory[i].bytes));
    return yes();
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
          return kept_.launch->run(queue, ranks, kept_.memory[1].address, kept_.memory[2].address,
                                   turn);
        },
        step_.reduce->label);
  }

 private:
  const chunks::ChunkProgram& program() const { return *kept_.program; }

  Verdict take(std::int64_t bytes) {
    HEDDLE_TRY(Buffer made, run_.queue->device().allocate(std::max<std::int64_t>(bytes, 16)));
    kept_.memory.push_back(std::move(made));
    return yes();
  }

  // Of the program's buffers, then of the kernel's, for which a slice begins with element 0.
  std::vector<std::uint64_t> addresses() const {
    const std::uint32_t in = program().buffer("in"), out = program().buffer("out"),
                        sum = program().buffer("sum");
    const auto element = [&](std::uint32_t b) { return program().buffers[b].element_bytes; };
    std::vector<DeviceAddress> at(program().buffers.size());
    at[in] = run_.now[step_.given];
    at[out] = run_.now[step_.gathered];
    at[sum] = kept_.memory[0].address + -program().held(sum, resolved_.me).first * element(sum);
    std::vector<std::uint64_t> all;
    for (DeviceAddress a : at) all.push_back(a.value);
    std::vector<DeviceAddress> slots = run_.now;
    slots[step_.sum] = at[sum] + program().slice(sum, resolved_.me).first * element(sum);
    slots[step_.made] = at[out] + program().slice(out, resolved_.me).first * element(out);
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
    if (const Verdict fused = work.prepare(); !fused) {
      kept.launch.reset();
      log(kLogSteps, "{}: one by one: {}", step.reduce->label, fused.reason());
    }
  }
  if (kept.launch) return work.run();
  const FusedStep::Apart& apart = *step.apart;
  // Resolved as the sum is: the same ranks meet.
  run.collectives[apart.gather.number] = resolved;
  HEDDLE_TRY_VOID(start_collective(apart.scatter, run, transport, options));
  HEDDLE_TRY_VOID(wait_for_collective(apart.scattered, run, transport));
  HEDDLE_TRY_VOID(run.queue->launch(*step.launch, run.now.data()));
  HEDDLE_TRY_VOID(start_collective(apart.gather, run, transport, options));
  return wait_for_collective(apart.gathered, run, transport);
}

}  // namespace heddle::runtime
