#include "heddle/executable_cache.h"

#include "base/fork.h"
#include "ir/program_cache.h"

namespace heddle {

namespace {

// All that a target says, field by field: a new one does not compile until it is listed here.
template <typename Use>
decltype(auto) of_target(const Target& target, Use use) {
  const auto& [mesh, layouts, carried, micro_batches, batch, pipeline, chunks, stages, cut,
               schedule, cluster, ranks, rank, options] = target;
  const auto& [entry, verified, device, machine_code, async, stitch, overlap, machine, donated,
               memory_limit, on_program, on_spmd, on_unordered, on_schedule, on_kernel, stop,
               report, progress] = options;
  const auto& [fuse, stitch_machine, calls, explain, can_lower] = stitch;
  (void)verified;  // these make no difference to what comes out
  (void)stop;
  const bool watched = on_program || on_spmd || on_unordered || on_schedule || on_kernel ||
                       can_lower || report != nullptr || progress != nullptr;
  return use(std::tie(mesh, layouts, carried, micro_batches, batch, pipeline, chunks, stages, cut,
                      schedule, cluster, ranks, rank, entry, device, machine_code, async, machine,
                      donated, memory_limit, overlap, fuse, stitch_machine, calls, explain),
             watched);
}

// Who watches the compiling wants it to happen.
bool is_watched(const Target& target) {
  return of_target(target, [](const auto&, bool watched) { return watched; });
}

// The target of a question, which may be gone before that of an entry.
struct Asked {
  const Target& target;
  std::uint64_t hash() const {
    const CompileOptions& options = target.options;
    const std::uint64_t switches = (options.machine_code ? 1 : 0) + (options.async ? 2 : 0) +
                                   (options.stitch.fuse ? 4 : 0) + (target.ranks ? 8 : 0) +
                                   (options.overlap ? 16 : 0);
    return hash_combine(hash_combine(switches, options.entry), target.mesh);
  }
};

struct Kept {
  Target target;
  std::uint64_t hash() const { return Asked{target}.hash(); }
  friend bool operator==(const Kept& a, const Asked& b) {
    return of_target(a.target, [&](const auto& x, bool) {
      return of_target(b.target, [&](const auto& y, bool) { return x == y; });
    });
  }
  friend bool operator==(const Kept& a, const Kept& b) { return a == Asked{b.target}; }
};

}  // namespace

class ExecutableCache::State : public ProgramCache<Kept, Executable> {
  using ProgramCache::ProgramCache;
};

ExecutableCache::ExecutableCache(std::size_t most) : state_(std::make_unique<State>(most)) {}
ExecutableCache::~ExecutableCache() = default;

std::optional<Executable> ExecutableCache::find(const Program& program,
                                                const Target& target) const {
  if (is_watched(target)) return {};
  const auto found = state_->find(program, Asked{target});
  return found ? std::optional(*found) : std::nullopt;
}

Expected<Executable> ExecutableCache::compile(const Program& program, const Target& target) {
  if (is_watched(target)) return heddle::compile(program, target);
  if (auto found = find(program, target)) return *found;
  const ForkHold hold;
  HEDDLE_TRY(Executable made, heddle::compile(program, target));
  return *state_->put(program, Kept{target}, std::move(made));
}

std::size_t ExecutableCache::size() const { return state_->size(); }

}  // namespace heddle
