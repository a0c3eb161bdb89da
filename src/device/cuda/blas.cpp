#include "device/cuda/blas.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <span>

#include "device/cuda/libraries.h"
#include "device/cuda/product_types.h"
#include "heddle/op.h"
#include "ir/product_then.h"
#include "stitch/product_plan.h"

namespace heddle::cuda {

namespace {

constexpr std::size_t kWorkspace = 32 << 20;
constexpr std::int64_t kWorkspaceAligned = 256;
constexpr std::int64_t kAligned = 64;     // that values begin at, in bytes
constexpr std::size_t kMostWays = 8;      // to multiply, that are tried
constexpr double kWorthTrying = 1 << 24;  // products of two numbers

bool multiplies_matrices(const Op& op) {
  return op.def->call == DeviceCall::product || op.def->call == DeviceCall::product_then;
}

std::optional<ProductPlan> plan_of(const Program& program, const Op& op,
                                   const ProductViews* views) {
  if (!multiplies_matrices(op)) return {};
  const Type& result = program.type_of(program.result(op, 0));
  const auto operands = program.operands(op);
  for (ValueId v : operands)
    if (program.type_of(v).elements() == 0) return {};
  if (operands.size() < 2 || result.elements() == 0) return {};
  auto plan = plan_product(program, op, views != nullptr ? *views : dense_views(program, op), {});
  if (!plan || plan->sides[0].copied || plan->sides[1].copied) return {};
  if (byte_size(program.type_of(operands[0]).dtype) == 1 && !is_for_small_types(*plan)) return {};
  return plan;
}

std::optional<ProductTypes> types_of(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  return product_types(program.type_of(operands[0]).dtype, program.type_of(operands[1]).dtype,
                       program.type_of(program.result(op, 0)).dtype);
}

// One of the library's objects; `destroy` ends it.
class Object {
 public:
  explicit Object(int (*destroy)(Handle)) : destroy_(destroy) {}
  ~Object() {
    if (handle != nullptr) destroy_(handle);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  Handle handle = nullptr;

 private:
  int (*destroy_)(Handle);
};

Verdict checked(int status, std::string_view what) {
  return status == 0 ? yes() : reason("cuBLASLt cannot {}: error {}", what, status);
}

// The library's own state, of one device.
Expected<Handle> opened(Context& context, const Blas& blas) {
  static std::mutex mutex;
  static std::map<int, Handle> handles;
  const std::lock_guard lock(mutex);
  Handle& handle = handles[context.number()];
  if (handle == nullptr) {
    HEDDLE_TRY_VOID(context.enter());
    HEDDLE_TRY_VOID(checked(blas.create(&handle), "start"));
  }
  return handle;
}

// The library has columns one after the other, Heddle rows: C' = B' A'.
class ProductCall final : public CudaCall {
 public:
  ProductCall(const Blas& blas, Handle library, ProductPlan plan, const ProductTypes& types,
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
    if (!plan_.loops.empty()) {
      // The longest loop is one call.
      const auto longest = std::ranges::max_element(plan_.loops, {}, &ProductLoop::size);
      batch_ = *longest;
      plan_.loops.erase(longest);
    }
  }

  // Finds a way, and with a notebook the fastest.
  Verdict prepare(Context& context, const Notebook* notebook) {
    HEDDLE_TRY_VOID(checked(blas_.create_product(&product_.handle, types_.compute, types_.scale),
                            "plan a product"));
    const int flip_first = plan_.transpose_b ? 1 : 0, flip_second = plan_.transpose_a ? 1 : 0;
    HEDDLE_TRY_VOID(set_product(Blas::kTransposeA, flip_first));
    HEDDLE_TRY_VOID(set_product(Blas::kTransposeB, flip_second));
    HEDDLE_TRY_VOID(set_epilogue());
    const ProductPlan& p = plan_;
    HEDDLE_TRY_VOID(set_matrix(a_, types_.operands[p.swapped ? 1 : 0], p.transpose_a ? p.m : p.k,
                               p.transpose_a ? p.k : p.m, p.lda, batch_.a));
    HEDDLE_TRY_VOID(set_matrix(b_, types_.operands[p.swapped ? 0 : 1], p.transpose_b ? p.k : p.n,
                               p.transpose_b ? p.n : p.k, p.ldb, batch_.b));
    HEDDLE_TRY_VOID(set_matrix(c_, types_.result, p.n, p.m, p.ldc, batch_.c));
    Object wish(blas_.destroy_wish);
    HEDDLE_TRY_VOID(checked(blas_.create_wish(&wish.handle), "plan a product"));
    HEDDLE_TRY_VOID(
        checked(blas_.set_wish(wish.handle, Blas::kWorkspace, &kWorkspace, sizeof(kWorkspace)),
                "plan a product"));
    // The library's first operand is the plan's second.
    const std::size_t first = plan_.swapped ? 1 : 0;
    HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedA, 1 - first, &ProductLoop::b));
    HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedB, first, &ProductLoop::a));
    HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedC, 2, &ProductLoop::c));
    HEDDLE_TRY_VOID(set_aligned(wish, Blas::kAlignedD, 2, &ProductLoop::c));
    int found = 0;
    std::array<Blas::Way, kMostWays> ways;
    HEDDLE_TRY_VOID(checked(blas_.ways(library_, product_.handle, b_.handle, a_.handle, c_.handle,
                                       c_.handle, wish.handle, kMostWays, ways.data(), &found),
                            "find a way to multiply"));
    if (found == 0) return reason("cuBLASLt knows no way to multiply {}", text());
    way_ = ways[0];
    if (notebook != nullptr)
      choose(context, *notebook, std::span(ways).first(static_cast<std::size_t>(found)));
    return yes();
  }

  std::string text() const override {
    std::string text = fmt::format("cublasLt {}x{}x{} {}", plan_.m, plan_.n, plan_.k, types_text_);
    std::int64_t turns = batch_.size;
    for (const ProductLoop& loop : plan_.loops) turns *= loop.size;
    return turns > 1 ? text + fmt::format(" x{}", turns) : text;
  }
  // The library adds to what lies where it writes.
  int in_place_operand() const override {
    return then_.addend ? static_cast<int>(addend_operand(then_)) : -1;
  }
  std::int64_t workspace_bytes() const override {
    return way_.workspace == 0 ? 0 : static_cast<std::int64_t>(way_.workspace) + kWorkspaceAligned;
  }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    const std::size_t first = plan_.swapped ? 1 : 0;
    const auto start = [&](std::size_t side) {
      return (memory.operands[side] + plan_.sides[side].offset * sizes_[side]).value;
    };
    const Pointer room =
        (memory.workspace.value + kWorkspaceAligned - 1) / kWorkspaceAligned * kWorkspaceAligned;
    Beside beside;
    if (then_.bias) beside.bias = memory.operands[bias_operand()].value;
    if (then_.addend) beside.addend = memory.operands[addend_operand(then_)].value;
    if (then_.keeps) beside.aux = memory.results[1].value;
    if (is_gradient(then_)) beside.aux = memory.operands[at_operand(then_)].value;
    if (!goes_on())
      return run_loops(queue, start(first), start(1 - first), memory.results[0].value, room, 0);
    return multiply(queue.stream(), start(first), start(1 - first), memory.results[0].value, room,
                    beside);
  }

  // What a product that goes on reads and writes more; `aux` is what it keeps, or where a gradient
  // is taken.
  struct Beside {
    Pointer bias = 0, addend = 0, aux = 0;
  };
  // Memory of a try; taken with the first.
  struct Trial {
    explicit Trial(Context& context) : memory(context) {}
    TrialMemory memory;
    Pointer a = 0, b = 0, c = 0, room = 0;
    Beside beside;
  };
  Verdict try_on(Trial& trial, Handle stream) const {
    if (trial.room == 0) HEDDLE_TRY_VOID(take(trial));
    return multiply(stream, trial.a, trial.b, trial.c, trial.room, trial.beside);
  }
  std::int64_t result_bytes() const {
    return bytes_of(plan_.m, plan_.ldc, plan_.n, batch_.c, sizes_[2]);
  }

 private:
  Verdict run_loops(CudaQueue& queue, Pointer a, Pointer b, Pointer c, Pointer workspace,
                    std::size_t depth) const {
    if (depth < plan_.loops.size()) {
      const ProductLoop& loop = plan_.loops[depth];
      const std::size_t first = plan_.swapped ? 1 : 0;
      for (std::int64_t i = 0; i < loop.size; ++i)
        HEDDLE_TRY_VOID(run_loops(queue, a + static_cast<Pointer>(i * loop.a * sizes_[first]),
                                  b + static_cast<Pointer>(i * loop.b * sizes_[1 - first]),
                                  c + static_cast<Pointer>(i * loop.c * sizes_[2]), workspace,
                                  depth + 1));
      return yes();
    }
    return multiply(queue.stream(), a, b, c, workspace, {});
  }

  bool has_aux() const { return then_.keeps || is_gradient(then_); }

  bool goes_on() const {
    return then_.bias || then_.addend || then_.function != ProductThen::Function::none;
  }

  Verdict set_epilogue() {
    if (!goes_on()) return yes();
    int what = 0;
    if (then_.function == ProductThen::Function::relu) what += Blas::kRelu;
    if (then_.function == ProductThen::Function::gelu) what += Blas::kGelu;
    if (is_gradient(then_)) what += Blas::kGeluGradient;
    if (then_.bias) what += Blas::kWithBias;
    if (has_aux()) what += Blas::kWithAux;
    HEDDLE_TRY_VOID(set_product(Blas::kEpilogue, what == 0 ? Blas::kNothing : what));
    if (has_aux())
      HEDDLE_TRY_VOID(checked(
          blas_.set_product(product_.handle, Blas::kAuxApart, &plan_.ldc, sizeof(plan_.ldc)),
          "plan a product"));
    // Ways are found for places that are aligned as far as these.
    return set_places({kAligned, kAligned, kAligned});
  }

  Verdict set_places(const Beside& beside) const {
    const auto set = [&](int what, Pointer place) {
      return checked(blas_.set_product(product_.handle, what, &place, sizeof(place)),
                     "plan a product");
    };
    if (then_.bias) HEDDLE_TRY_VOID(set(Blas::kBias, beside.bias));
    if (has_aux()) HEDDLE_TRY_VOID(set(Blas::kAux, beside.aux));
    return yes();
  }

  Verdict multiply(Handle stream, Pointer a, Pointer b, Pointer c, Pointer workspace,
                   const Beside& beside) const {
    // Places are part of the plan, which runs at the same time share.
    const std::lock_guard lock(mutex_);
    if (goes_on()) HEDDLE_TRY_VOID(set_places(beside));
    const Pointer addend = then_.addend ? beside.addend : c;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const bool is_double = types_.scale == Blas::kF64;
    const void* one = is_double ? static_cast<const void*>(&one64) : &one32;
    const void* zero = is_double ? static_cast<const void*>(&zero64) : &zero32;
    return checked(blas_.multiply(library_, product_.handle, one, b, b_.handle, a, a_.handle,
                                  then_.addend ? one : zero, addend, c_.handle, c, c_.handle, &way_,
                                  workspace, way_.workspace, stream),
                   fmt::format("multiply {} (lda {}, ldb {}, ldc {}, places {} {} {} of 256)",
                               text(), plan_.lda, plan_.ldb, plan_.ldc, a % 256, b % 256, c % 256));
  }

  // The fastest of the library's ways, where the product is large enough for that to matter.
  void choose(Context& context, const Notebook& notebook, std::span<const Blas::Way> ways) {
    const ProductPlan& p = plan_;
    if (static_cast<double>(p.m) * static_cast<double>(p.n) *
            static_cast<double>(p.k * batch_.size) <
        kWorthTrying)
      return;
    const std::string key =
        fmt::format("cuBLASLt {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", blas_.version(),
                    context.facts().name, types_text_, p.m, p.n, p.k, p.lda, p.ldb, p.ldc,
                    p.transpose_a, p.transpose_b, batch_.size, batch_.a, batch_.b, batch_.c);
    Trial trial(context);
    const auto try_it = [&](std::size_t way, Handle stream) {
      way_ = ways[way];
      return try_on(trial, stream);
    };
    way_ = ways[fastest(context, notebook, key, ways.size(), try_it)];
  }

  std::int64_t bytes_of(std::int64_t rows, std::int64_t apart, std::int64_t columns,
                        std::int64_t step, std::int64_t size) const {
    return ((rows - 1) * apart + columns + (batch_.size - 1) * step) * size;
  }

  Verdict take(Trial& trial) const {
    const ProductPlan& p = plan_;
    const std::size_t first = p.swapped ? 1 : 0;
    HEDDLE_TRY(trial.a,
               trial.memory.take(bytes_of(p.transpose_a ? p.k : p.m, p.lda,
                                          p.transpose_a ? p.m : p.k, batch_.a, sizes_[first])));
    HEDDLE_TRY(trial.b,
               trial.memory.take(bytes_of(p.transpose_b ? p.n : p.k, p.ldb,
                                          p.transpose_b ? p.k : p.n, batch_.b, sizes_[1 - first])));
    HEDDLE_TRY(trial.c, trial.memory.take(result_bytes()));
    if (then_.bias) {
      HEDDLE_TRY(trial.beside.bias, trial.memory.take(p.n * sizes_[2]));
    }
    if (then_.addend) {
      HEDDLE_TRY(trial.beside.addend, trial.memory.take(result_bytes()));
    }
    if (has_aux()) {
      HEDDLE_TRY(trial.beside.aux, trial.memory.take(result_bytes()));
    }
    HEDDLE_TRY(trial.room, trial.memory.take(static_cast<std::int64_t>(kWorkspace)));
    return yes();
  }

  // How far every place is aligned at which a matrix begins that a call gets.
  Verdict set_aligned(const Object& wish, int what, std::size_t which,
                      std::int64_t ProductLoop::* step) {
    std::int64_t bytes = which < 2 ? plan_.sides[which].offset * sizes_[which] : 0;
    for (const ProductLoop& loop : plan_.loops) bytes = std::gcd(bytes, loop.*step * sizes_[which]);
    const auto aligned = static_cast<std::uint32_t>(std::gcd(bytes, kAligned));
    return checked(blas_.set_wish(wish.handle, what, &aligned, sizeof(aligned)), "plan a product");
  }
  Verdict set_product(int what, int value) {
    return checked(blas_.set_product(product_.handle, what, &value, sizeof(value)),
                   "plan a product");
  }
  Verdict set_matrix(Object& matrix, int type, std::int64_t rows, std::int64_t columns,
                     std::int64_t apart, std::int64_t next) {
    HEDDLE_TRY_VOID(
        checked(blas_.create_matrix(&matrix.handle, type, static_cast<std::uint64_t>(rows),
                                    static_cast<std::uint64_t>(columns), std::max(apart, rows)),
                "plan a matrix"));
    const auto count = static_cast<std::int32_t>(batch_.size);
    HEDDLE_TRY_VOID(checked(blas_.set_matrix(matrix.handle, Blas::kCount, &count, sizeof(count)),
                            "plan a matrix"));
    return checked(blas_.set_matrix(matrix.handle, Blas::kApart, &next, sizeof(next)),
                   "plan a matrix");
  }

  const Blas& blas_;
  Handle library_;
  ProductPlan plan_;
  ProductTypes types_;
  ProductThen then_;
  std::array<std::int64_t, 3> sizes_;  // bytes of an element: of the operands, and of the result
  std::string types_text_;
  ProductLoop batch_;
  Object product_, a_, b_, c_;
  Blas::Way way_;
  mutable std::mutex mutex_;
};

std::unique_ptr<ProductCall> new_call(Context& context, const Blas& blas, const Program& program,
                                      const Op& op, const ProductViews* views,
                                      const ProductThen& then) {
  const auto types = types_of(program, op);
  auto plan = plan_of(program, op, views);
  if (!types || !plan) return nullptr;
  const auto library = opened(context, blas);
  if (!library) return nullptr;
  const DType from = program.type_of(program.operands(op)[0]).dtype;
  const DType other = program.type_of(program.operands(op)[1]).dtype;
  const DType to = program.type_of(program.result(op, 0)).dtype;
  const std::array<std::int64_t, 3> sizes{byte_size(from), byte_size(from), byte_size(to)};
  std::string text(name(from));
  if (from != other) text += fmt::format(" with {}", name(other));
  if (from != to) text += fmt::format(" to {}", name(to));
  if (const std::string words = words_of(then); !words.empty()) text += " " + words;
  return std::make_unique<ProductCall>(blas, *library, *std::move(plan), *types, then, sizes,
                                       std::move(text));
}

}  // namespace

bool is_product(const Program& program, const Op& op) {
  return multiplies_matrices(op) && types_of(program, op) && plan_of(program, op, nullptr);
}

// One matrix, a bias along its rows, and everything at multiples of 16 bytes: others are rather
// laid out evenly first.
bool is_product_to_go_on(const Program& program, const Op& op, const ProductThen& then) {
  const DType type = program.type_of(op.results).dtype;
  if (type != DType::f32 && type != DType::bf16 && type != DType::f16) return false;
  // The library's GELU is good to five digits or so (measured), which is no f32.
  const bool is_gelu = then.function == ProductThen::Function::gelu || is_gradient(then);
  if (type == DType::f32 && is_gelu) return false;
  for (ValueId v : program.operands(op))
    if (program.type_of(v).dtype != type) return false;
  const auto plan = plan_of(program, op, nullptr);
  if (!plan || plan->swapped || !plan->loops.empty()) return false;
  if (then.bias && plan->n != program.type_of(op.results).shape.back()) return false;
  const std::int64_t multiple = 16 / byte_size(type);
  return (plan->n | plan->k | plan->lda | plan->ldb | plan->ldc) % multiple == 0;
}

namespace {

// Whether the call takes less with it than without it and a kernel behind, which reads the product
// and one more matrix and writes a third: as long as a copy of as many bytes. (8192x3072x768 of
// bf16 on an H200: 49 us, 72 with the gradient of GELU; with the sum of its columns too the library
// takes 216, and with that of ReLU 185.)
bool gains_by_going_on(Context& context, const Notebook& notebook, const Blas& blas,
                       const Program& program, const Op& op, const ProductThen& then,
                       const std::string& key) {
  const auto plain = new_call(context, blas, program, op, nullptr, {});
  const auto with = new_call(context, blas, program, op, nullptr, then);
  if (!plain || !with || !plain->prepare(context, &notebook) || !with->prepare(context, &notebook))
    return false;
  ProductCall::Trial without(context), all(context);
  Pointer from = 0, to = 0;
  const std::int64_t moved = plain->result_bytes() * 3 / 2;  // each is read and written
  const auto try_it = [&](std::size_t way, Handle stream) -> Verdict {
    if (way == 1) return with->try_on(all, stream);
    HEDDLE_TRY_VOID(plain->try_on(without, stream));
    if (from == 0) {
      HEDDLE_TRY(from, without.memory.take(moved));
      HEDDLE_TRY(to, without.memory.take(moved));
    }
    const Driver& driver = context.driver();
    return driver.checked(driver.copy(to, from, static_cast<std::size_t>(moved), stream), "copy");
  };
  return fastest(context, notebook, key + " gains", 2, try_it) == 1;
}

}  // namespace

bool has_way_to_go_on(Context& context, const Notebook& notebook, const Program& program,
                      const Op& op, const ProductThen& then) {
  const auto plan = plan_of(program, op, nullptr);
  if (!plan) return false;
  static const std::string file = file_words(CudaLibrary::blas);  // folders are gone through once
  const std::string key =
      fmt::format("goes on {} {} {} {} {} {} {} {} {} {} {} {}", file, context.facts().name,
                  name(program.type_of(op.results).dtype), plan->m, plan->n, plan->k, plan->lda,
                  plan->ldb, plan->ldc, plan->transpose_a, plan->transpose_b, words_of(then));
  if (!file.empty() && notebook.read)
    if (const auto noted = notebook.read(key)) return *noted == "yes";
  const auto blas = blas_library();
  if (!blas) return false;
  const auto call = new_call(context, **blas, program, op, nullptr, then);
  bool has_way = call && call->prepare(context, nullptr);
  // Where little is computed a launch less is what counts.
  const bool is_large =
      static_cast<double>(plan->m) * static_cast<double>(plan->n) * static_cast<double>(plan->k) >=
      kWorthTrying;
  if (has_way && is_gradient(then) && is_large)
    has_way = gains_by_going_on(context, notebook, **blas, program, op, then, key);
  if (!file.empty() && notebook.write) notebook.write(key, has_way ? "yes" : "no");
  return has_way;
}

void open_blas(Context& context, const Program& program) {
  const auto blas = blas_library();
  if (!blas || !opened(context, **blas)) return;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (!is_product(program, op)) continue;
    if (auto call = new_call(context, **blas, program, op, nullptr, {})) {
      (void)call->prepare(context, nullptr);
      return;
    }
  }
}

std::unique_ptr<CudaCall> product_call(Context& context, const Notebook& notebook,
                                       const Program& program, const Op& op,
                                       const ProductViews* views) {
  const auto blas = blas_library();
  if (!blas || !multiplies_matrices(op)) return nullptr;
  auto call = new_call(context, **blas, program, op, views, product_then(program, op));
  if (!call || !call->prepare(context, &notebook)) return nullptr;
  return call;
}

Expected<std::string> find_blas() {
  HEDDLE_TRY(const Blas* blas, blas_library());
  return fmt::format("{} (cuBLASLt {})", blas->path, blas->version());
}

}  // namespace heddle::cuda
