#include "device/cuda/blas_call.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace heddle::cuda {

namespace {

constexpr std::size_t kWorkspace = 32 << 20;
constexpr std::int64_t kWorkspaceAligned = 256;
constexpr std::int64_t kAligned = 64;     // that values begin at, in bytes
constexpr std::size_t kMostWays = 8;      // to multiply, that are tried
constexpr double kWorthTrying = 1 << 24;  // products of two numbers

Pointer moved(Pointer from, std::int64_t elements, std::int64_t size) {
  return from + static_cast<Pointer>(elements * size);
}

// What one thread puts on a stream, kept, so that its start takes the host no time when it is
// timed.
class KeptWork {
 public:
  explicit KeptWork(const Driver& driver) : driver_(driver) {}
  ~KeptWork() { drop(); }
  KeptWork(const KeptWork&) = delete;
  KeptWork& operator=(const KeptWork&) = delete;

  template <typename Work>
  Verdict keep(Handle stream, Work work) {
    drop();
    HEDDLE_TRY_VOID(driver_.checked(driver_.begin_capture(stream, kRelaxed), "keep work"));
    Verdict kept = work();
    Handle graph = nullptr;
    const int ended = driver_.end_capture(stream, &graph);
    if (kept) kept = driver_.checked(ended, "keep work");
    if (kept) kept = driver_.checked(driver_.instantiate(&instance_, graph, 0), "make a graph");
    if (graph != nullptr) driver_.destroy_graph(graph);
    return kept;
  }
  Verdict launch(Handle stream) const {
    return driver_.checked(driver_.launch_graph(instance_, stream), "launch a graph");
  }

 private:
  void drop() {
    if (instance_ != nullptr) driver_.destroy_instance(instance_);
    instance_ = nullptr;
  }
  const Driver& driver_;
  Handle instance_ = nullptr;
};

}  // namespace

Verdict blas_checked(int status, std::string_view what) {
  return status == 0 ? yes() : reason("cuBLASLt cannot {}: error {}", what, status);
}

BlasCall::BlasCall(const Blas& blas, Handle library, ProductPlan plan, const ProductTypes& types,
                   const ProductThen& then, const std::array<std::int64_t, 3>& sizes,
                   std::string types_text)
    : blas_(blas),
      library_(library),
      plan_(std::move(plan)),
      types_(types),
      then_(then),
      sizes_(sizes),
      types_text_(std::move(types_text)),
      product_(blas.destroy_product),
      a_(blas.destroy_matrix),
      b_(blas.destroy_matrix),
      c_(blas.destroy_matrix) {
  if (plan_.loops.empty()) return;
  // The longest loop is one call.
  const auto longest = std::ranges::max_element(plan_.loops, {}, &ProductLoop::size);
  batch_ = *longest;
  plan_.loops.erase(longest);
}

// ---- the plan

Verdict BlasCall::prepare(Context& context, const Notebook* notebook) {
  HEDDLE_TRY_VOID(blas_checked(blas_.create_product(&product_.handle, types_.compute, types_.scale),
                               "plan a product"));
  HEDDLE_TRY_VOID(set_product(Blas::kTransposeA, plan_.transpose_b ? 1 : 0));
  HEDDLE_TRY_VOID(set_product(Blas::kTransposeB, plan_.transpose_a ? 1 : 0));
  HEDDLE_TRY_VOID(set_epilogue());
  const ProductPlan& p = plan_;
  HEDDLE_TRY_VOID(set_matrix(a_, types_.operands[p.swapped ? 1 : 0], p.transpose_a ? p.m : p.k,
                             p.transpose_a ? p.k : p.m, p.lda, batch_.a));
  HEDDLE_TRY_VOID(set_matrix(b_, types_.operands[p.swapped ? 0 : 1], p.transpose_b ? p.k : p.n,
                             p.transpose_b ? p.n : p.k, p.ldb, batch_.b));
  HEDDLE_TRY_VOID(set_matrix(c_, types_.result, p.n, p.m, p.ldc, batch_.c));
  int found = 0;
  std::array<Blas::Way, kMostWays> ways;
  HEDDLE_TRY_VOID(find_ways(ways, found));
  if (found == 0) return reason("cuBLASLt knows no way to multiply {}", text());
  way_ = ways[0];
  if (notebook != nullptr)
    choose(context, *notebook, std::span(ways).first(static_cast<std::size_t>(found)));
  return yes();
}

Verdict BlasCall::find_ways(std::span<Blas::Way> ways, int& found) {
  BlasObject wish(blas_.destroy_wish);
  HEDDLE_TRY_VOID(blas_checked(blas_.create_wish(&wish.handle), "plan a product"));
  const std::size_t most = kWorkspace / lanes();
  HEDDLE_TRY_VOID(blas_checked(blas_.set_wish(wish.handle, Blas::kWorkspace, &most, sizeof(most)),
                               "plan a product"));
  // The library's first operand is the plan's second.
  const std::size_t first = plan_.swapped ? 1 : 0;
  HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedA, 1 - first, &ProductLoop::b));
  HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedB, first, &ProductLoop::a));
  HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedC, 2, &ProductLoop::c));
  HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedD, 2, &ProductLoop::c));
  return blas_checked(
      blas_.ways(library_, product_.handle, b_.handle, a_.handle, c_.handle, c_.handle, wish.handle,
                 static_cast<int>(ways.size()), ways.data(), &found),
      "find a way to multiply");
}

Verdict BlasCall::set_epilogue() {
  if (!goes_on()) return yes();
  int what = 0;
  if (then_.function == ProductThen::Function::relu) what += Blas::kRelu;
  if (then_.function == ProductThen::Function::gelu) what += Blas::kGelu;
  if (is_gradient(then_)) what += Blas::kGeluGradient;
  if (then_.bias) what += Blas::kWithBias;
  if (has_aux()) what += Blas::kWithAux;
  HEDDLE_TRY_VOID(set_product(Blas::kEpilogue, what == 0 ? Blas::kNothing : what));
  if (has_aux())
    HEDDLE_TRY_VOID(blas_checked(
        blas_.set_product(product_.handle, Blas::kAuxApart, &plan_.ldc, sizeof(plan_.ldc)),
        "plan a product"));
  // Ways are found for places that are aligned as far as these.
  return set_places({kAligned, kAligned, kAligned});
}

Verdict BlasCall::set_aligned(const BlasObject& wish, int what, std::size_t which,
                              std::int64_t ProductLoop::* step) {
  std::int64_t bytes = which < 2 ? plan_.sides[which].offset * sizes_[which] : 0;
  for (const ProductLoop& loop : plan_.loops) bytes = std::gcd(bytes, loop.*step * sizes_[which]);
  const auto aligned = static_cast<std::uint32_t>(std::gcd(bytes, kAligned));
  return blas_checked(blas_.set_wish(wish.handle, what, &aligned, sizeof(aligned)),
                      "plan a product");
}

Verdict BlasCall::set_product(int what, int value) {
  return blas_checked(blas_.set_product(product_.handle, what, &value, sizeof(value)),
                      "plan a product");
}

Verdict BlasCall::set_matrix(BlasObject& matrix, int type, std::int64_t rows, std::int64_t columns,
                             std::int64_t apart, std::int64_t next) {
  HEDDLE_TRY_VOID(
      blas_checked(blas_.create_matrix(&matrix.handle, type, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(columns), std::max(apart, rows)),
                   "plan a matrix"));
  const auto count = static_cast<std::int32_t>(batch_.size);
  HEDDLE_TRY_VOID(blas_checked(blas_.set_matrix(matrix.handle, Blas::kCount, &count, sizeof(count)),
                               "plan a matrix"));
  return blas_checked(blas_.set_matrix(matrix.handle, Blas::kApart, &next, sizeof(next)),
                      "plan a matrix");
}

std::string BlasCall::text() const {
  std::string text = fmt::format("cublasLt {}x{}x{} {}", plan_.m, plan_.n, plan_.k, types_text_);
  const std::int64_t all = batch_.size * turns();
  return all > 1 ? text + fmt::format(" x{}", all) : text;
}

// ---- a run

std::int64_t BlasCall::turns() const {
  std::int64_t turns = 1;
  for (const ProductLoop& loop : plan_.loops) turns *= loop.size;
  return turns;
}
std::size_t BlasCall::lanes() const {
  return static_cast<std::size_t>(
      std::min(turns(), static_cast<std::int64_t>(SideStreams::kMostLanes)));
}
std::int64_t BlasCall::lane_workspace() const {
  return (static_cast<std::int64_t>(way_.workspace) + kWorkspaceAligned - 1) / kWorkspaceAligned *
         kWorkspaceAligned;
}
std::int64_t BlasCall::workspace_bytes() const {
  return way_.workspace == 0
             ? 0
             : static_cast<std::int64_t>(lanes()) * lane_workspace() + kWorkspaceAligned;
}

Verdict BlasCall::run(CudaQueue& queue, const CallMemory& memory) const {
  const std::size_t first = plan_.swapped ? 1 : 0;
  const auto start = [&](std::size_t side) {
    return (memory.operands[side] + plan_.sides[side].offset * sizes_[side]).value;
  };
  Places places{start(first), start(1 - first), memory.results[0].value, 0, {}};
  places.room =
      (memory.workspace.value + kWorkspaceAligned - 1) / kWorkspaceAligned * kWorkspaceAligned;
  if (then_.bias) places.beside.bias = memory.operands[bias_operand()].value;
  if (then_.addend) places.beside.addend = memory.operands[addend_operand(then_)].value;
  if (then_.keeps) places.beside.aux = memory.results[1].value;
  if (is_gradient(then_)) places.beside.aux = memory.operands[at_operand(then_)].value;
  return run_turns(queue.sides(), queue.stream(), places);
}

Verdict BlasCall::run_turns(SideStreams& sides, Handle stream, const Places& places) const {
  const std::size_t first = plan_.swapped ? 1 : 0;
  return sides.run(stream, lanes(), turns(),
                   [&](std::int64_t turn, std::size_t lane, Handle on) -> Verdict {
                     Places its = places;
                     for (auto loop = plan_.loops.rbegin(); loop != plan_.loops.rend(); ++loop) {
                       const std::int64_t at = turn % loop->size;
                       turn /= loop->size;
                       its.a = moved(its.a, at * loop->a, sizes_[first]);
                       its.b = moved(its.b, at * loop->b, sizes_[1 - first]);
                       its.c = moved(its.c, at * loop->c, sizes_[2]);
                     }
                     its.room = moved(its.room, static_cast<std::int64_t>(lane), lane_workspace());
                     return multiply(on, its);
                   });
}

Verdict BlasCall::set_places(const Beside& beside) const {
  const auto set = [&](int what, Pointer place) {
    return blas_checked(blas_.set_product(product_.handle, what, &place, sizeof(place)),
                        "plan a product");
  };
  if (then_.bias) HEDDLE_TRY_VOID(set(Blas::kBias, beside.bias));
  if (has_aux()) HEDDLE_TRY_VOID(set(Blas::kAux, beside.aux));
  return yes();
}

Verdict BlasCall::multiply(Handle stream, const Places& places) const {
  // Places are part of the plan, which runs at the same time share.
  const std::lock_guard lock(mutex_);
  if (goes_on()) HEDDLE_TRY_VOID(set_places(places.beside));
  const auto [a, b, c, workspace, beside] = places;
  const Pointer addend = then_.addend ? beside.addend : c;
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool is_double = types_.scale == Blas::kF64;
  const void* one = is_double ? static_cast<const void*>(&one64) : &one32;
  const void* zero = is_double ? static_cast<const void*>(&zero64) : &zero32;
  return blas_checked(
      blas_.multiply(library_, product_.handle, one, b, b_.handle, a, a_.handle,
                     then_.addend ? one : zero, addend, c_.handle, c, c_.handle, &way_, workspace,
                     way_.workspace, stream),
      fmt::format("multiply {} (lda {}, ldb {}, ldc {}, places {} {} {} of 256)", text(), plan_.lda,
                  plan_.ldb, plan_.ldc, a % 256, b % 256, c % 256));
}

// ---- the fastest way

std::string BlasCall::key(const Context& context) const {
  const ProductPlan& p = plan_;
  std::string key =
      fmt::format("cuBLASLt {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", blas_.version(),
                  context.facts().name, types_text_, p.m, p.n, p.k, p.lda, p.ldb, p.ldc,
                  p.transpose_a, p.transpose_b, batch_.size, batch_.a, batch_.b, batch_.c);
  for (const ProductLoop& loop : p.loops)
    key += fmt::format(" by {} {} {} {}", loop.size, loop.a, loop.b, loop.c);
  return key;
}

void BlasCall::choose(Context& context, const Notebook& notebook, std::span<const Blas::Way> ways) {
  const ProductPlan& p = plan_;
  if (static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
          static_cast<double>(batch_.size * turns()) <
      kWorthTrying)
    return;
  Trial trial(context);
  KeptWork kept(context.driver());
  std::optional<std::size_t> is_kept;
  const auto try_it = [&](std::size_t way, Handle stream) -> Verdict {
    way_ = ways[way];
    if (turns() == 1) return try_on(trial, stream);
    if (is_kept != way) {
      HEDDLE_TRY_VOID(try_on(trial, stream));  // which loads code
      HEDDLE_TRY_VOID(kept.keep(stream, [&] { return try_on(trial, stream); }));
      is_kept = way;
    }
    return kept.launch(stream);
  };
  way_ = ways[fastest(context, notebook, key(context), ways.size(), try_it)];
}

Verdict BlasCall::try_on(Trial& trial, Handle stream) const {
  if (trial.places.room == 0) HEDDLE_TRY_VOID(take(trial));
  return run_turns(trial.sides, stream, trial.places);
}

std::int64_t BlasCall::bytes_of(std::int64_t rows, std::int64_t apart, std::int64_t columns,
                                std::int64_t ProductLoop::* step, std::int64_t size) const {
  std::int64_t last = (rows - 1) * apart + columns + (batch_.size - 1) * (batch_.*step);
  for (const ProductLoop& loop : plan_.loops) last += (loop.size - 1) * (loop.*step);
  return last * size;
}
std::int64_t BlasCall::result_bytes() const {
  return bytes_of(plan_.m, plan_.ldc, plan_.n, &ProductLoop::c, sizes_[2]);
}

Verdict BlasCall::take(Trial& trial) const {
  const ProductPlan& p = plan_;
  const std::size_t first = p.swapped ? 1 : 0;
  Places& places = trial.places;
  HEDDLE_TRY(places.a,
             trial.memory.take(bytes_of(p.transpose_a ? p.k : p.m, p.lda, p.transpose_a ? p.m : p.k,
                                        &ProductLoop::a, sizes_[first])));
  HEDDLE_TRY(places.b,
             trial.memory.take(bytes_of(p.transpose_b ? p.n : p.k, p.ldb, p.transpose_b ? p.k : p.n,
                                        &ProductLoop::b, sizes_[1 - first])));
  HEDDLE_TRY(places.c, trial.memory.take(result_bytes()));
  if (then_.bias) {
    HEDDLE_TRY(places.beside.bias, trial.memory.take(p.n * sizes_[2]));
  }
  if (then_.addend) {
    HEDDLE_TRY(places.beside.addend, trial.memory.take(result_bytes()));
  }
  if (has_aux()) {
    HEDDLE_TRY(places.beside.aux, trial.memory.take(result_bytes()));
  }
  HEDDLE_TRY(places.room, trial.memory.take(static_cast<std::int64_t>(kWorkspace)));
  return yes();
}

}  // namespace heddle::cuda
