#include "device/cuda/target.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/bytes.h"
#include "base/cache_directory.h"
#include "device/code_cache.h"
#include "device/cuda/blas.h"
#include "device/cuda/conv_call.h"
#include "device/cuda/fft_call.h"
#include "device/cuda/host_call.h"
#include "device/cuda/scatter_text.h"
#include "device/cuda/select_scatter.h"
#include "device/cuda/sort_text.h"
#include "device/cuda/top_k.h"
#include "heddle/cost.h"
#include "heddle/hash.h"
#include "heddle/index_rule.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "ir/product_then.h"
#include "kernel/cuda_layout.h"

namespace heddle {

using namespace cuda;

namespace {

const std::map<std::string, GpuFacts, std::less<>>& known_kinds() {
  static const std::map<std::string, GpuFacts, std::less<>> kinds = {
      {"a100",
       {"NVIDIA A100", "sm_80", 108, 1'410'000, 163 << 10, 40 << 20, 1'593'000, 5120, 80LL << 30}},
      {"h100",
       {"NVIDIA H100", "sm_90", 132, 1'980'000, 227 << 10, 50 << 20, 2'619'000, 5120, 80LL << 30}},
      {"h200",
       {"NVIDIA H200", "sm_90", 132, 1'980'000, 227 << 10, 60 << 20, 3'201'000, 6144, 140LL << 30}},
  };
  return kinds;
}

class UnloadedCode final : public DeviceCode {};
class UnlaunchedKernels final : public Launch {};

class CallName final : public LibraryCall {
 public:
  explicit CallName(std::string text) : text_(std::move(text)) {}
  std::string text() const override { return text_; }

 private:
  std::string text_;
};

// As it lies in the cache, and back; none where the bytes are something else.
std::string bytes_of(const CudaObject& object) {
  ByteWriter bytes;
  bytes.number(object.functions.size());
  for (const auto& [name, registers, shared_bytes, spilled_bytes] : object.functions) {
    bytes.text(name);
    for (int number : {registers, shared_bytes, spilled_bytes}) bytes.integer(number);
  }
  bytes.text(object.code);
  return bytes.take();
}

std::optional<CudaObject> object_from(std::string_view bytes) {
  ByteReader from(bytes);
  CudaObject object;
  object.functions.resize(from.count());
  for (CudaFunction& function : object.functions) {
    function.name = from.text();
    for (int* number : {&function.registers, &function.shared_bytes, &function.spilled_bytes})
      *number = static_cast<int>(from.integer());
  }
  object.code = from.text();
  return from.is_whole() ? std::optional(std::move(object)) : std::nullopt;
}

bool spills(const CudaObject& object) {
  return std::ranges::any_of(object.functions,
                             [](const CudaFunction& f) { return f.spilled_bytes > 0; });
}

Reason nothing_there(std::string_view name) {
  return reason("{} is a kind of GPU to compile for: nothing runs there", name);
}

}  // namespace

CudaTarget::CudaTarget(GpuFacts facts, std::string name, Device& host,
                       const std::optional<std::filesystem::path>& cache)
    : facts_(std::move(facts)),
      name_(std::move(name)),
      host_(host),
      cache_(cache ? std::make_unique<const CodeCache>(*cache, kMostBytesOfCode) : nullptr) {}

CudaTarget::~CudaTarget() = default;

// ---- what it can do

MachineFigures CudaTarget::figures(int sharers) const {
  return figures_of_gpu({.model = facts_.name,
                         .multiprocessors = facts_.multiprocessors,
                         .clock = facts_.clock_khz * 1e3,
                         .memory_rate = 2e3 * facts_.memory_khz * facts_.memory_bits / 8,
                         .shared_bytes = facts_.shared_bytes,
                         .far_cache = facts_.far_cache},
                        sharers);
}

DeviceLimits CudaTarget::limits() const {
  return {.alignment = 256, .memory_bytes = facts_.memory_bytes};
}

bool CudaTarget::multiplies(const Program& program, const Op& op) const {
  if (!is_product(program, op)) return false;
  const bool is_small = byte_size(program.type_of(program.operands(op)[0]).dtype) == 1;
  return !is_small || facts_.arch >= "sm_89";
}

bool CudaTarget::has_call(const OpDef& def) const { return host_.has_call(def); }

// Everything that a kernel computes stays on the device; a call takes what a kernel would leave to
// few threads.
bool CudaTarget::prefers_call(const Program& program, const Op& op) const {
  if (ScatterText::of(program, op)) return true;
  return multiplies(program, op) && host_.prefers_call(program, op);
}

bool CudaTarget::takes_views(const Program& program, const Op& op) const {
  return multiplies(program, op) && byte_size(program.type_of(program.operands(op)[0]).dtype) > 1;
}

// Matrices of 16-bit floats reach the multiplying units by 16 bytes at a time only where every row
// begins at a multiple of them, and sums along rows have no odd end. Measured on an H200: 8192 x
// 50257 x 768 of bf16 takes 5 ms where rows are uneven, 4.8 where only its sums are, and 1.2
// otherwise. In f32, 12 ms in either case.
EvenRows CudaTarget::even_rows(const Program& program, const Op& op) const {
  constexpr double kShareOfPeak = 0.6, kTimesAsLong = 5;
  const DType type = program.type_of(program.operands(op)[0]).dtype;
  if (type != DType::bf16 && type != DType::f16) return {};
  const double operations_at_once = facts_.arch >= "sm_90" ? 4096 : 2048;  // of a multiprocessor
  const double rate =
      kShareOfPeak * operations_at_once * facts_.multiprocessors * facts_.clock_khz * 1e3;
  double operations = 2;
  for (const Factor& f : index_rule(program, op).factors) operations *= static_cast<double>(f.size);
  return {.multiple = 8, .seconds = (kTimesAsLong - 1) * operations / rate};
}

bool CudaTarget::can_go_on(const Program& program, const Op& op, const ProductThen& then) const {
  return multiplies(program, op) && is_product_to_go_on(program, op, then);
}

// What is known of the GPU, and what of the host counts, which is the same in every build.
std::string CudaTarget::plans_depend_on() const {
  const auto& [name, arch, multiprocessors, clock_khz, shared_bytes, far_cache, memory_khz,
               memory_bits, memory_bytes] = facts_;
  return fmt::format("cuda {} {} {} {} {} {} {} {} {}", name, arch, multiprocessors, clock_khz,
                     shared_bytes, far_cache, memory_khz, memory_bits, memory_bytes);
}

// ---- code

CudaLimits CudaTarget::kernel_limits() const {
  return {.shared_bytes = facts_.shared_bytes,
          .multiprocessors = facts_.multiprocessors,
          .clusters = facts_.arch >= "sm_90",
          .most_cluster = facts_.arch == "sm_90" ? 16 : 8};
}

Verdict CudaTarget::can_compile() const {
  HEDDLE_TRY_VOID(find_nvrtc());
  return yes();
}

std::string CudaTarget::source(const Kernel& kernel) const {
  return emit_cuda(kernel, kernel_limits());
}

std::vector<std::string> CudaTarget::mapping(const Kernel& kernel) const {
  return describe_cuda_mapping(kernel, kernel_limits());
}

Expected<CudaObject> CudaTarget::object_of(const Kernel& kernel, CudaLimits limits) const {
  HEDDLE_TRY(CudaObject object, compile_cuda(emit_cuda(kernel, limits), facts_.arch));
  for (int spare : {64, 128}) {
    if (!spills(object)) break;
    limits.spare_registers = spare;
    HEDDLE_TRY(object, compile_cuda(emit_cuda(kernel, limits), facts_.arch));
  }
  return object;
}

Expected<CudaObject> CudaTarget::kept(const std::string& text,
                                      const std::function<Expected<CudaObject>()>& make) const {
  if (cache_ == nullptr) return make();
  HEDDLE_TRY(const std::string compiler, find_nvrtc());
  const auto hash = [&](std::uint64_t seed) {
    return hash_combine(hash_combine(seed, text), compiler);
  };
  const std::string key = fmt::format("cuda2_{}_{:016x}{:016x}", facts_.arch, hash(1), hash(2));
  if (const auto found = cache_->read(key))
    if (auto object = object_from(*found)) return *std::move(object);
  HEDDLE_TRY(CudaObject object, make());
  cache_->write(key, bytes_of(object));
  return object;
}

Expected<CudaObject> CudaTarget::kept(const Kernel& kernel, const CudaLimits& limits) const {
  return kept(emit_cuda(kernel, limits), [&] { return object_of(kernel, limits); });
}

Expected<CudaObject> CudaTarget::kept_without_spills(const Kernel& kernel,
                                                     const CudaLimits& limits) const {
  const std::string text = emit_cuda(kernel, limits);
  // What is kept for the text alone may come of another one with fewer registers.
  HEDDLE_TRY(const CudaObject object,
             kept(text + "// by this text", [&] { return compile_cuda(text, facts_.arch); }));
  if (spills(object)) return reason("it would need more registers than there are");
  return object;
}

Expected<std::shared_ptr<const DeviceCode>> CudaTarget::compile(const Kernel& kernel) {
  HEDDLE_TRY(const CudaObject object, kept(kernel, kernel_limits()));
  for (const CudaFunction& function : object.functions)
    log(kLogSteps, "{}: {} registers, {} bytes of shared memory, {} bytes spilled", function.name,
        function.registers, function.shared_bytes, function.spilled_bytes);
  return std::shared_ptr<const DeviceCode>(std::make_shared<const UnloadedCode>());
}

// ---- what only a GPU has

Expected<Buffer> CudaTarget::allocate(std::int64_t) { return nothing_there(name_); }

Expected<std::unique_ptr<Launch>> CudaTarget::prepare(std::vector<LaunchKernel>) {
  return std::unique_ptr<Launch>(std::make_unique<UnlaunchedKernels>());
}

std::unique_ptr<LibraryCall> CudaTarget::library_call(const Program& program, const Op& op,
                                                      const ProductViews* views) const {
  if (multiplies(program, op)) {
    const std::string then = words_of(product_then(program, op));
    return std::make_unique<CallName>(then.empty() ? "cublasLt" : "cublasLt " + then);
  }
  if (views != nullptr) return nullptr;
  if (is_convolution(program, op)) return std::make_unique<CallName>("cudnn");
  if (is_transform(program, op)) return std::make_unique<CallName>("cufft");
  if (select_scatter_texts(program, op)) return std::make_unique<CallName>("select and scatter");
  if (top_k_text(program, op)) return std::make_unique<CallName>("top k");
  if (ScatterText::of(program, op)) return std::make_unique<CallName>("scatter");
  if (SortText::of(program, op)) return std::make_unique<CallName>("sort");
  return host_call(host_, program, op);
}

std::unique_ptr<Queue> CudaTarget::queue() { return nullptr; }

Expected<CudaTarget*> cuda_target(std::string_view kind, Device& host) {
  static std::mutex mutex;
  static auto& made =
      *new std::map<std::string, std::unique_ptr<CudaTarget>, std::less<>>();  // never destroyed
  const auto known = known_kinds().find(kind);
  if (known == known_kinds().end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, facts] : known_kinds()) names.push_back(name);
    return reason("there is no kind of GPU \"{}\": those that are known are {}", kind,
                  fmt::join(names, ", "));
  }
  const std::lock_guard lock(mutex);
  std::unique_ptr<CudaTarget>& target = made[known->first];
  if (!target)
    target = std::make_unique<CudaTarget>(known->second, fmt::format("cuda:{}", kind), host,
                                          cache_directory());
  return target.get();
}

}  // namespace heddle
