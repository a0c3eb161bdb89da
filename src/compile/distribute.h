// The stages of compile() that turn a program into that of each device of a mesh.
#pragma once

#include "heddle/placement.h"
#include "heddle/schedule.h"
#include "heddle/spmd.h"
#include "heddle/target.h"

namespace heddle {

// Which mesh of the program the target names, entered into it where it is new; empty: its
// own.
Expected<std::string> enter_mesh(Program& program, const Target& target);

// What the target says of arguments and results, for a mesh of the program: words first, so that
// what is said by number counts more.
Expected<std::vector<Seed>> seeds_on(Program& program, const std::string& mesh,
                                     const Target& target);

// The target with what it says in words of arguments and results of this program, the whole one, by
// number: those of a micro-batch have other types.
Expected<Target> with_seeds_of(const Program& whole, const Target& target);

// What a plan would better take of a device: nearly all that its cluster has.
std::int64_t memory_wish(const Target& target);

// How the target has a plan searched for, where it does.
SearchOptions search_options(const Target& target);

// In which order its devices work: where a plan is to fit, order takes little memory.
ScheduleOptions schedule_options(const Target& target);

// The target with stages and micro-batches, where it leaves them to a search.
Expected<Target> with_best_pipeline(const Program& core, const Target& target);

// How often ops and arguments of a program of micro-batches are there in a step. With stages, what
// is done once counts for less: it comes when the others still work on their last micro-batches.
void count_micro_batches(const Program& program, const Function& function,
                         const MicroBatches& micro, int stages, SearchOptions& search);
double weight_of_once(std::int64_t micro_batches, int stages);

// The target's micro-batches of the program; nothing where it wants none.
Expected<std::optional<MicroBatches>> micro_batches_of(const Program& program,
                                                       const Target& target);

// What is decided for the target on its mesh; on the mesh of its cluster with the best plan, where
// it names a cluster and no mesh. `program` is inlined and has no client ops but those that devices
// compute. Where there are micro-batches of it, these are dealt out.
Expected<std::shared_ptr<Parallel>> decided_for(const Program& program, const Target& target,
                                                const MicroBatches* micro = nullptr);
// Of that, what a search has found.
Expected<FoundPlan> found_for(const Program& program, const Target& target);

// The layouts of the target on that mesh, and the program of its devices. `program` is inlined and
// has no client ops but those that devices compute.
// Where it is the program of micro-batches, a search counts what is done for each of them, in a
// pipeline of so many stages.
Expected<Spmd> distribute_on(Program& program, const std::string& mesh, const Target& target,
                             const MicroBatches* micro = nullptr, int stages = 1);

// Where arguments and results of the function lie.
// Where there is a pipeline, these are the devices of each stage.
Placement placement_of(const Spmd& spmd, const SpmdFunction& function,
                       std::vector<std::vector<int>> stages = {});

}  // namespace heddle
