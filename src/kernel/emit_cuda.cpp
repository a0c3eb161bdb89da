#include "kernel/emit_cuda.h"

#include <algorithm>

#include "kernel/cuda_flat.h"
#include "kernel/cuda_image.h"
#include "kernel/cuda_march.h"
#include "kernel/cuda_walk.h"
#include "kernel/emit_cuda_resident.h"
#include "kernel/emit_cuda_stage.h"
#include "kernel/needless_guards.h"
#include "kernel/rows_apart.h"
#include "kernel/split_loop.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostBlocks = 4096;  // of a grid whose size does not matter

constexpr std::int64_t kRoomBytes = 16 << 10;  // of a block, for what threads put together

// Workers' scratch lies apart by this.
std::int64_t scratch_stride(const Kernel& kernel) {
  return (kernel.scratch_bytes + 255) / 256 * 256;
}

void set_last_block(Phase& phase, std::int64_t block) {
  const std::size_t last = phase.outer.size() - 1;
  phase.outer[last].block = block;
  for (Stage& stage : phase.stages)
    for (StageLoop& loop : stage.loops)
      if (loop.block_of == static_cast<int>(last)) loop.size = block;
}

// Elements of a block: as many as threads have neighbours in memory for; where each is a long sum,
// as many as one sector of memory has.
constexpr std::int64_t kLeast = 32, kLeastOfSums = 8;

bool adds_up_many(const Stage& stage) {
  constexpr std::int64_t kMany = 128;
  std::int64_t others = 1;
  for (const StageLoop& loop : stage.loops)
    if (loop.block_of < 0 && __builtin_mul_overflow(others, loop.size, &others)) return true;
  return others >= kMany && std::ranges::any_of(stage.statements, [](const Statement& statement) {
           return statement.kind == Statement::Kind::update;
         });
}

// As many blocks as fill the device, if blocks may be that small; of long sums, most of it.
std::int64_t smaller_block(Phase phase, const CudaLimits& limits) {
  std::int64_t& block = phase.outer.back().block;
  while (block % 2 == 0 && block > kLeast && phase.blocks() < 2 * limits.multiprocessors)
    block /= 2;
  if (!std::ranges::any_of(phase.stages, adds_up_many)) return block;
  while (2 * phase.blocks() <= limits.multiprocessors) {
    const std::int64_t times = block % 3 == 0 ? 3 : 2;
    if (block % times != 0 || block / times < kLeastOfSums) break;
    block /= times;
  }
  return block;
}

}  // namespace

Phase cuda_spread(const Kernel& kernel, const Phase& given, const CudaLimits& limits) {
  const Phase phase = with_rows_apart(kernel, given);
  Phase made = phase;
  made.stages.clear();
  for (const Stage& stage : phase.stages)
    for (const Stage& part : split_sums(without_needless_guards(kernel, phase, stage)))
      made.stages.push_back(split_divided_loop(part));
  if (phase.chunks > 0 || phase.outer.empty()) return made;
  const std::size_t last = phase.outer.size() - 1;
  for (const Stage& stage : phase.stages) {
    const bool has_loop = std::ranges::any_of(stage.loops, [&](const StageLoop& loop) {
      return loop.block_of == static_cast<int>(last);
    });
    if (!has_loop) return made;
  }
  std::int64_t block = smaller_block(made, limits);
  set_last_block(made, block);
  while (block % 2 == 0 && wants_smaller_tile(kernel, made)) set_last_block(made, block /= 2);
  return made;
}

namespace {

std::string function_name(const Kernel& kernel, std::size_t phase) {
  std::string name = kernel.name.empty() ? "kernel" : kernel.name;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return fmt::format("k_{}_phase{}", name, phase);
}

bool is_shared(const Kernel& kernel, const CudaLimits& limits) {
  return kernel.scratch_bytes + kRoomBytes <= limits.shared_bytes;
}

// Where scratch is shared memory too.
std::optional<CudaImage> image_of(const Kernel& kernel, const Phase& phase,
                                  const CudaLimits& limits) {
  if (!is_shared(kernel, limits)) return {};
  return cuda_image(kernel, cuda_spread(kernel, phase, limits), limits);
}

// Scratch has to be where the blocks of a cluster reach it.
int cluster_of(const Kernel& kernel, const Phase& phase, const CudaLimits& limits) {
  return is_shared(kernel, limits)
             ? cuda_cluster(kernel, cuda_spread(kernel, phase, limits), limits)
             : 1;
}

// Tiles that blocks of a phase keep behind their scratch; `phase` as it is spread.
std::vector<CudaStaged> staged_tiles(const Kernel& kernel, const Phase& phase, int cluster,
                                     const CudaLimits& limits) {
  if (cluster > 1 || !is_shared(kernel, limits)) return {};
  CudaLimits rest = limits;
  rest.shared_bytes -= kRoomBytes;
  return cuda_staged(kernel, phase, kernel.scratch_bytes, rest);
}

// What a phase is, of the kinds that have an emitter of their own: one of them, or none.
struct PhaseKind {
  std::optional<CudaMarch> march;
  std::optional<CudaFlat> flat;
  std::optional<CudaWalk> walk;
  std::optional<CudaResident> resident;
  std::optional<CudaImage> image;
};
PhaseKind kind_of(const Kernel& kernel, const Phase& phase, const CudaLimits& limits) {
  PhaseKind kind;
  kind.march = cuda_march(kernel, phase);
  if (kind.march) return kind;
  kind.flat = cuda_flat(kernel, phase);
  if (kind.flat) return kind;
  kind.walk = cuda_walk(kernel, phase, limits);
  if (kind.walk) return kind;
  kind.resident = cuda_resident(kernel, phase, limits);
  if (kind.resident) return kind;
  kind.image = image_of(kernel, phase, limits);
  return kind;
}

class Emitter {
 public:
  Emitter(const Kernel& kernel, const CudaLimits& limits)
      : kernel_(kernel), limits_(limits), shared_(is_shared(kernel, limits)) {}

  std::string emit() {
    text_ = IndentedText(std::string(cuda_prelude()));
    text_.line("struct Buffers {{ void* at[{}]; }};", kernel_.buffers.size() + 1);
    for (const CudaPhase& launch : cuda_plan(kernel_, limits_).phases) emit(launch);
    return text_.take();
  }

  // A phase as a function for many: `Entry` has the pointers.
  std::string emit_part(std::size_t number, std::size_t of_kernel) {
    const Phase& phase = kernel_.phases[of_kernel];
    text_.line("");
    text_.open(
        "__device__ __forceinline__ void part{}_{}(const Entry& buffers, unsigned at_block, "
        "unsigned of_blocks) {{",
        of_kernel, number);
    text_.line("char* const scratch = nullptr;");
    emit_body(phase, kind_of(kernel_, phase, limits_));
    text_.close();
    return text_.take();
  }

 private:
  void emit(const CudaPhase& launch) {
    const Phase& phase = kernel_.phases[launch.of];
    const PhaseKind kind = kind_of(kernel_, phase, limits_);
    text_.line("");
    text_.line("// {}: {} blocks of {} threads, {} bytes of shared memory", launch.function,
               launch.grid, launch.threads, launch.shared_bytes);
    text_.line(
        "extern \"C\" {}__launch_bounds__({}{}) __global__ void {}(const Buffers buffers, char* "
        "scratch) {{",
        launch.cluster > 1 ? fmt::format("__cluster_dims__({}) ", launch.cluster) : "",
        launch.threads, at_once_text(kind, launch), launch.function);
    text_.deeper();
    text_.line("const unsigned at_block = blockIdx.x, of_blocks = gridDim.x;");
    if (shared_ || kind.image || (kind.resident && kind.resident->slots > 0))
      text_.line("extern __shared__ ulonglong2 own[];");
    const bool in_passes = kind.image && kind.image->parts > 0;
    if (in_passes) text_.line("char* const partials = scratch;");
    if (shared_) {
      text_.line("scratch = (char*)own;");
    } else {
      text_.line("scratch += {}ll * at_block;", scratch_stride(kernel_));
    }
    emit_body(phase, kind, launch.pass);
    text_.close();
  }

  // ", 4": blocks of a multiprocessor, where that is asked for.
  std::string at_once_text(const PhaseKind& kind, const CudaPhase& launch) const {
    if (kind.image && kind.image->parts > 0)
      return fmt::format(
          ", {}", image_launch(kernel_, cuda_spread(kernel_, kernel_.phases[launch.of], limits_),
                               *kind.image, kind.image->passes[launch.pass])
                      .at_once);
    const int at_once = kind.march      ? kind.march->at_once(limits_.spare_registers)
                        : kind.walk     ? kind.walk->at_once
                        : kind.resident ? kind.resident->at_once
                        : kind.image    ? kind.image->at_once
                                        : 0;
    return at_once > 0 ? fmt::format(", {}", at_once) : "";
  }

  // What a block does, once `buffers`, `scratch` and its number are there.
  void emit_body(const Phase& phase, const PhaseKind& kind, std::size_t pass = 0) {
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) emit(kernel_.buffers[b], b);
    if (kind.march)
      emit_cuda_march(kernel_, phase, *kind.march, text_);
    else if (kind.flat)
      emit_cuda_flat(kernel_, phase, *kind.flat, text_);
    else if (kind.walk)
      emit_cuda_walk(kernel_, *kind.walk, text_);
    else if (kind.resident)
      emit_cuda_resident(kernel_, *kind.resident, text_);
    else if (kind.image && kind.image->parts > 0)
      emit_cuda_image_pass(kernel_, cuda_spread(kernel_, phase, limits_), *kind.image, pass, text_);
    else if (kind.image)
      emit_cuda_image(kernel_, cuda_spread(kernel_, phase, limits_), *kind.image, text_);
    else
      emit_stages(cuda_spread(kernel_, phase, limits_), cluster_of(kernel_, phase, limits_));
  }

  // Stages one after the other, with scratch between them.
  void emit_stages(const Phase& phase, int cluster) {
    text_.line("__shared__ ui64 room[{}];", kCudaThreads);
    const auto staged = staged_tiles(kernel_, phase, cluster, limits_);
    const std::int64_t blocks = phase.blocks();
    if (phase.chunks > 0) {
      text_.line("const i64 chunk = at_block;");
      for (const Stage& stage : phase.begin)
        emit_cuda_stage(kernel_, phase, stage, kCudaThreads, cluster, staged, text_);
      text_.open(
          "for (i64 block = {0}ll * chunk / {1}; block < {0}ll * (chunk + 1) / {1}; ++block) {{",
          blocks, phase.chunks);
    } else {
      text_.open("for (i64 block = at_block / {0}; block < {1}ll; block += of_blocks / {0}) {{",
                 cluster, blocks);
    }
    std::int64_t inner = 1;
    for (std::size_t i = phase.outer.size(); i-- > 0;) {
      const OuterLoop& loop = phase.outer[i];
      text_.line("const i64 outer{} = block / {}ll % {}ll * {}ll;", i, inner,
                 std::max<std::int64_t>(loop.blocks(), 1), loop.block);
      inner *= std::max<std::int64_t>(loop.blocks(), 1);
    }
    for (const CudaStaged& tile : staged) emit_cuda_tile(kernel_, tile, kCudaThreads, text_);
    for (const Stage& stage : phase.stages)
      emit_cuda_stage(kernel_, phase, stage, kCudaThreads, cluster, staged, text_);
    text_.close();
  }

  void emit(const KernelBuffer& buffer, std::size_t number) {
    const std::string_view type = cuda_memory_type(buffer.dtype);
    if (buffer.reach == Reach::block)
      text_.line("{0}* b{1} = ({0}*)(scratch + {2}ll);", type, number, buffer.offset);
    else
      text_.line("{0}* b{1} = ({0}*)buffers.at[{1}];", type, number);
  }

  const Kernel& kernel_;
  const CudaLimits& limits_;
  const bool shared_;  // whether scratch is shared memory
  IndentedText text_;
};

}  // namespace

std::string emit_cuda(const Kernel& kernel, const CudaLimits& limits) {
  return Emitter(kernel, limits).emit();
}

bool can_be_packed(const Kernel& kernel, const CudaLimits& limits) {
  const CudaPlan plan = cuda_plan(kernel, limits);
  return plan.scratch_bytes == 0 && std::ranges::all_of(plan.phases, [](const CudaPhase& phase) {
           return phase.cluster == 1 && phase.grid > 0 && phase.shared_bytes == 0;
         });
}

std::size_t cuda_pack_firsts(std::size_t entries) { return (entries + 1) / 2 * 2; }

std::string cuda_pack_name(std::size_t phase) { return fmt::format("k_pack{}", phase); }

namespace {

// Each block looks for its entry, and runs its kernel's phase.
void emit_pack_phase(std::size_t phase, int threads, std::size_t kernels, std::size_t entries,
                     IndentedText& text) {
  text.open(
      "extern \"C\" __launch_bounds__({}) __global__ void {}(const __grid_constant__ Pack pack) {{",
      threads, cuda_pack_name(phase));
  text.line("int low = 0, high = {};", entries);
  text.open("while (high - low > 1) {{");
  text.line("const int middle = (low + high) / 2;");
  text.line("if (pack.first[middle] <= blockIdx.x) low = middle; else high = middle;");
  text.close();
  text.line("const Entry& mine = pack.at[low];");
  text.line("const unsigned first = pack.first[low];");
  text.line("const unsigned end = low + 1 < {} ? pack.first[low + 1] : gridDim.x;", entries);
  text.open("switch (mine.kernel) {{");
  for (std::size_t k = 0; k < kernels; ++k)
    text.line("case {1}: part{0}_{1}(mine, blockIdx.x - first, end - first); break;", phase, k);
  text.close();
  text.close();
}

}  // namespace

std::string emit_cuda_pack(const std::vector<const Kernel*>& kernels, std::size_t entries,
                           std::size_t pointers, const CudaLimits& limits) {
  IndentedText text{std::string(cuda_prelude())};
  text.line("struct Entry {{ unsigned long long kernel; void* at[{}]; }};", pointers);
  text.line("struct Pack {{ unsigned first[{}]; Entry at[{}]; }};", cuda_pack_firsts(entries),
            entries);
  const CudaPlan plan = cuda_plan(*kernels[0], limits);
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    std::string parts;
    for (std::size_t k = 0; k < kernels.size(); ++k)
      parts += Emitter(*kernels[k], limits).emit_part(k, p);
    text.line("{}", parts);
    emit_pack_phase(p, plan.phases[p].threads, kernels.size(), entries, text);
  }
  return text.take();
}

std::optional<CudaPart> emit_cuda_part(const Kernel& kernel, const CudaLimits& limits) {
  CudaLimits own = limits;
  own.multiprocessors = 1;  // blocks stay as large as they are: others share them out
  if (kernel.phases.size() != 1 || !can_be_packed(kernel, own)) return {};
  const Phase& phase = kernel.phases[0];
  if (phase.chunks > 0 || phase.outer.size() != 1) return {};
  const PhaseKind kind = kind_of(kernel, phase, own);
  if (kind.march || kind.walk || kind.resident || kind.image) return {};
  const Phase spread = cuda_spread(kernel, phase, own);
  if (!kind.flat &&
      (cluster_of(kernel, phase, own) > 1 || !staged_tiles(kernel, spread, 1, own).empty()))
    return {};
  // The first block of one that stays has what is behind the last whole access.
  if (kind.flat && kind.flat->stays && kind.flat->extent % kind.flat->vectors.count != 0) return {};
  return CudaPart{Emitter(kernel, own).emit_part(0, 0),
                  kind.flat ? std::int64_t{CudaFlat::kThreads} * kind.flat->vectors.count
                            : spread.outer[0].block};
}

namespace {

std::int64_t own_bytes(const Kernel& kernel, const Phase& phase, const PhaseKind& kind) {
  constexpr std::int64_t kRoom = 2 << 10, kOfScan = 4 << 10;
  if (kind.walk) return kRoom + kind.walk->part_bytes(kernel);
  const bool scans = std::ranges::any_of(phase.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.statements,
                               [](const Statement& s) { return s.kind == Statement::Kind::scan; });
  });
  return scans ? kRoom + kOfScan : kRoom;
}

}  // namespace

namespace {

void add_passes(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                const CudaPhase& first, CudaPlan& plan) {
  for (std::size_t pass = 0; pass < image.passes.size(); ++pass) {
    const CudaImageLaunch launch = image_launch(kernel, phase, image, image.passes[pass]);
    CudaPhase made = first;
    if (pass > 0) made.function += fmt::format("_pass{}", pass);
    made.grid = launch.grid;
    made.threads = launch.threads;
    made.shared_bytes = launch.shared_bytes;
    made.pass = pass;
    plan.phases.push_back(std::move(made));
  }
  plan.scratch_bytes = std::max(plan.scratch_bytes, image.saved_bytes + image.partial_bytes);
}

}  // namespace

CudaPlan cuda_plan(const Kernel& kernel, const CudaLimits& limits) {
  CudaPlan launch;
  std::int64_t most = 0;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    CudaPhase made{.function = function_name(kernel, p), .of = p};
    bool needs_scratch = true;
    const PhaseKind kind = kind_of(kernel, phase, limits);
    if (kind.image && kind.image->parts > 0) {
      add_passes(kernel, cuda_spread(kernel, phase, limits), *kind.image, made, launch);
      continue;
    }
    const auto& resident = kind.resident;
    if (kind.march) {
      made.threads = CudaMarch::kThreads;
      made.grid = march_grid(*kind.march, phase);
      needs_scratch = false;
    } else if (kind.flat) {
      made.threads = CudaFlat::kThreads;
      made.grid = kind.flat->grid();
      needs_scratch = false;
    } else if (kind.walk) {
      made.threads = kind.walk->threads;
      made.grid = kind.walk->grid;
    } else if (resident) {
      made.threads = resident->threads;
      made.cluster = resident->cluster;
      made.grid = resident_grid(*resident);
      made.stays = resident->workers > 0 && phase.chunks == 0;
      needs_scratch = !resident->in_registers;
    } else if (const auto& image = kind.image) {
      made.threads = image->threads;
      made.cluster = image->cluster;
      made.shared_bytes = image->shared_bytes;
      made.grid = std::min(image->workers, phase.blocks()) * image->cluster;
      made.stays = true;
    } else {
      made.cluster = cluster_of(kernel, phase, limits);
      made.threads = kCudaThreads;
      const Phase cut = cuda_spread(kernel, phase, limits);
      for (const CudaStaged& tile : staged_tiles(kernel, cut, made.cluster, limits))
        made.shared_bytes = tile.offset + tile.bytes();
      made.grid =
          phase.chunks > 0 ? phase.chunks : std::min(cut.blocks(), kMostBlocks) * made.cluster;
    }
    if (needs_scratch && is_shared(kernel, limits))
      made.shared_bytes = std::max(made.shared_bytes, kernel.scratch_bytes);
    if (resident && resident->slots > 0) made.shared_bytes = resident->slots * resident->slot_bytes;
    made.own_bytes = own_bytes(kernel, phase, kind);
    if (needs_scratch) most = std::max(most, made.grid);
    launch.phases.push_back(std::move(made));
  }
  if (!is_shared(kernel, limits)) launch.scratch_bytes = most * scratch_stride(kernel);
  return launch;
}

}  // namespace heddle
