#include "device/cuda/blas.h"

#include <map>

#include "device/cuda/blas_call.h"
#include "device/cuda/libraries.h"
#include "heddle/op.h"

namespace heddle::cuda {

namespace {

constexpr double kLarge = 1 << 24;  // products of two numbers

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
  auto types = product_types(program.type_of(operands[0]).dtype, program.type_of(operands[1]).dtype,
                             program.type_of(program.result(op, 0)).dtype);
  if (types && types->operands[0] == Blas::kF32 && asks_for_tf32(program.attrs_of(op)))
    types->compute = Blas::kComputeTF32;
  return types;
}

// The library's own state, of one device.
Expected<Handle> opened(Context& context, const Blas& blas) {
  static std::mutex mutex;
  static std::map<int, Handle> handles;
  const std::lock_guard lock(mutex);
  Handle& handle = handles[context.number()];
  if (handle == nullptr) {
    HEDDLE_TRY_VOID(context.enter());
    HEDDLE_TRY_VOID(blas_checked(blas.create(&handle), "start"));
  }
  return handle;
}

std::unique_ptr<BlasCall> new_call(Context& context, const Blas& blas, const Program& program,
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
  if (types->compute == Blas::kComputeTF32) text += " by tf32";
  if (const std::string words = words_of(then); !words.empty()) text += " " + words;
  return std::make_unique<BlasCall>(blas, *library, *std::move(plan), *types, then, sizes,
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
  BlasCall::Trial without(context), all(context);
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
  const std::string key = fmt::format("goes on {} {} {}{} {} {} {} {} {} {} {} {} {}", file,
                                      context.facts().name, name(program.type_of(op.results).dtype),
                                      asks_for_tf32(program.attrs_of(op)) ? " by tf32" : "",
                                      plan->m, plan->n, plan->k, plan->lda, plan->ldb, plan->ldc,
                                      plan->transpose_a, plan->transpose_b, words_of(then));
  if (!file.empty() && notebook.read)
    if (const auto noted = notebook.read(key)) return *noted == "yes";
  const auto blas = blas_library();
  if (!blas) return false;
  const auto call = new_call(context, **blas, program, op, nullptr, then);
  bool has_way = call && call->prepare(context, nullptr);
  // Where little is computed a launch less is what counts.
  const bool is_large =
      static_cast<double>(plan->m) * static_cast<double>(plan->n) * static_cast<double>(plan->k) >=
      kLarge;
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
