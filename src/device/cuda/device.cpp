#include "device/cuda/device.h"

#include <cstdlib>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "base/cache_directory.h"
#include "device/code_cache.h"
#include "device/cuda/blas.h"
#include "device/cuda/blas_library.h"
#include "device/cuda/chunk_launch.h"
#include "device/cuda/combine.h"
#include "device/cuda/conv_call.h"
#include "device/cuda/fft_call.h"
#include "device/cuda/host_call.h"
#include "device/cuda/kernel_trial.h"
#include "device/cuda/launch.h"
#include "device/cuda/libraries.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/queue.h"
#include "device/cuda/scatter.h"
#include "device/cuda/select_scatter.h"
#include "device/cuda/sort.h"
#include "device/cuda/top_k.h"
#include "device/lazy_code.h"
#include "heddle/hash.h"
#include "heddle/op.h"
#include "kernel/cuda_ways.h"

namespace heddle {

using namespace cuda;

namespace {

// A name for a file of the cache.
std::string noted_at(const std::string& key) {
  return fmt::format("choice_{:016x}{:016x}", hash_combine(1, key), hash_combine(2, key));
}

// Opening it takes long, and its file tells as well.
bool has_blas() {
  static const bool has = !file_words(CudaLibrary::blas).empty() || blas_library();
  return has;
}

}  // namespace

Expected<std::unique_ptr<CudaDevice>> CudaDevice::open(
    int number, Device& host, const std::optional<std::filesystem::path>& cache) {
  HEDDLE_TRY(auto context, Context::open(number));
  return std::unique_ptr<CudaDevice>(new CudaDevice(std::move(context), host, cache));
}

CudaDevice::CudaDevice(std::shared_ptr<Context> context, Device& host,
                       const std::optional<std::filesystem::path>& cache)
    : CudaTarget(context->facts(), fmt::format("cuda:{}", context->number()), host, cache),
      context_(std::move(context)),
      chunk_turns_(std::make_shared<cuda::ChunkTurns>()) {}

CudaDevice::~CudaDevice() = default;

bool CudaDevice::multiplies(const Program& program, const Op& op) const {
  return has_blas() && CudaTarget::multiplies(program, op);
}

bool CudaDevice::can_go_on(const Program& program, const Op& op, const ProductThen& then) const {
  return CudaTarget::can_go_on(program, op, then) &&
         has_way_to_go_on(*context_, notebook(), program, op, then);
}

std::string CudaDevice::plans_depend_on() const {
  return CudaTarget::plans_depend_on() + (has_blas() ? " cublasLt" : "");
}

// Each library by a thread of its own; all of them end with what is given back.
std::shared_ptr<void> CudaDevice::open_ahead(const Program& program) {
  bool multiplies = false, convolves = false;
  for (OpId id = 0; id < program.op_count(); ++id) {
    const OpDef* const def = program.op(id).def;
    multiplies = multiplies || def->call == DeviceCall::product;
    convolves = convolves || def->call == DeviceCall::convolution;
  }
  struct Ahead {
    explicit Ahead(Context& context) : hold(context) {}
    TrialHold hold;  // libraries and kernels are tried until the compiling call ends
    std::vector<std::jthread> threads;
  };
  auto opening = std::make_shared<Ahead>(*context_);
  if ((multiplies || convolves) && !has_opened_blas_.exchange(true))
    opening->threads.emplace_back([this, &program] { open_blas(*context_, program); });
  if (convolves && may_use_dnn())
    opening->threads.emplace_back(
        [this, &program] { plan_convolutions_ahead(*context_, notebook(), program); });
  return opening;
}

// ---- memory

Expected<Buffer> CudaDevice::allocate(std::int64_t bytes) { return allocate(bytes, nullptr); }

Expected<Buffer> CudaDevice::allocate(std::int64_t bytes, Handle stream) {
  HEDDLE_TRY(const Pointer pointer, context_->allocate(bytes, stream));
  std::shared_ptr<void> held(
      nullptr, [context = context_, pointer, bytes](void*) { context->release(pointer, bytes); });
  return Buffer{.device = this,
                .address = {static_cast<std::uintptr_t>(pointer)},
                .bytes = bytes,
                .memory = std::move(held)};
}

// ---- code

Expected<std::shared_ptr<const DeviceCode>> CudaDevice::compile_for(const Kernel& kernel,
                                                                    double share) {
  const TrialHold hold(*context_);
  HEDDLE_TRY(std::shared_ptr<const DeviceCode> code,
             fastest_code(kernel, may_time(kernel, share) ? cuda_ways(kernel, kernel_limits())
                                                          : std::vector{kernel_limits()}));
  return code;
}

Expected<std::shared_ptr<const CudaCode>> CudaDevice::fastest_code(
    const Kernel& kernel, const std::vector<CudaLimits>& ways) const {
  using Code = Expected<std::shared_ptr<const CudaCode>>;
  const auto code_of = [&](std::size_t way) -> Code {
    HEDDLE_TRY(const CudaObject object,
               way == 0 ? kept(kernel, ways[0]) : kept_without_spills(kernel, ways[way]));
    return CudaCode::load(context_, object.code, cuda_plan(kernel, ways[way]));
  };
  if (ways.size() < 2) return code_of(0);
  const std::string text = print(kernel);
  const std::string key = fmt::format("rows {} {} {:016x}{:016x}", facts().name, ways.size(),
                                      hash_combine(1, text), hash_combine(2, text));
  std::vector<Code> codes(ways.size(), reason("it is not compiled"));
  // Compiled before anything is timed, which only one kernel is at a time, and all at once: the
  // largest kernel of a program would be waited for several times otherwise.
  if (!noted_way(notebook(), key, ways.size())) {
    std::vector<std::future<Code>> others;
    for (std::size_t way = 1; way < ways.size(); ++way)
      others.push_back(std::async(std::launch::async, code_of, way));
    codes[0] = code_of(0);
    for (std::size_t way = 1; way < ways.size(); ++way) codes[way] = others[way - 1].get();
    if (!codes[0]) return codes[0];
  }
  KernelTrial trial(*context_, kernel);
  const std::size_t best =
      fastest(*context_, notebook(), key, ways.size(), [&](std::size_t way, Handle stream) {
        return codes[way] ? trial.run(stream, **codes[way]) : Verdict(codes[way].why());
      });
  if (codes[best]) return codes[best];
  return code_of(best);
}

Expected<std::shared_ptr<const RearrangeKernels>> CudaDevice::rearrange_kernels() const {
  const std::lock_guard lock(mutex_);
  if (!rearrange_) {
    const std::string text = RearrangeKernels::source();
    HEDDLE_TRY(const CudaObject object,
               kept(text, [&] { return compile_cuda(text, facts().arch); }));
    HEDDLE_TRY(rearrange_, RearrangeKernels::load(context_, object.code));
  }
  return rearrange_;
}

Expected<Handle> CudaDevice::function_of(const std::string& text, const char* name) const {
  const std::lock_guard lock(mutex_);
  const std::pair<std::string, std::string> key(text, name);  // a text may have several
  if (const auto found = functions_.find(key); found != functions_.end()) return found->second;
  HEDDLE_TRY(const CudaObject object, kept(text, [&] { return compile_cuda(text, facts().arch); }));
  const Driver& driver = context_->driver();
  HEDDLE_TRY_VOID(context_->enter());
  Handle module = nullptr, function = nullptr;
  HEDDLE_TRY_VOID(driver.checked(driver.load(&module, object.code.data()), "load the code"));
  HEDDLE_TRY_VOID(driver.checked(driver.function(&function, module, name), "find the code"));
  return functions_.emplace(key, function).first->second;
}

bool CudaDevice::runs_chunks() const {
  const char* word = std::getenv("HEDDLE_CUDA_CHUNKS");
  return word != nullptr && std::string_view(word) == "1";
}

Expected<std::unique_ptr<ChunkLaunch>> CudaDevice::prepare_chunks(const ChunkWork& work) {
  const auto& launch = static_cast<const CudaLaunch&>(*work.finish);
  if (launch.kernels.size() != 1) return reason("it has several kernels");
  const FunctionLoader load = [this](const std::string& text, const char* function) {
    return function_of(text, function);
  };
  return cuda::prepare_chunks(context_, chunk_turns_, load, work, launch.kernels[0]);
}

Expected<std::unique_ptr<Launch>> CudaDevice::prepare(std::vector<LaunchKernel> kernels) {
  auto launch = std::make_unique<CudaLaunch>();
  launch->kernels = std::move(kernels);
  std::vector<bool> is_packed(launch->kernels.size(), false);
  for (auto& numbers : CudaPack::chosen(launch->kernels, kernel_limits())) {
    CudaPack pack(launch->kernels, numbers, kernel_limits());
    HEDDLE_TRY(const CudaObject object,
               kept(pack.text(), [&] { return compile_cuda(pack.text(), facts().arch); }));
    HEDDLE_TRY_VOID(pack.load(context_, object.code));
    for (std::size_t number : numbers) is_packed[number] = true;
    launch->packs.push_back(std::move(pack));
  }
  for (std::size_t k = 0; k < launch->kernels.size(); ++k) {
    const LaunchKernel& given = launch->kernels[k];
    if (!given.code)
      return reason("{} interprets no kernels, and {} has no code", name(), given.kernel.name);
    if (is_packed[k]) continue;
    launch->single.push_back(k);
    const auto* code = static_cast<const CudaCode*>(given.code->get());  // may be on its way
    const std::int64_t bytes = code != nullptr
                                   ? code->scratch_bytes()
                                   : cuda_plan(given.kernel, kernel_limits()).scratch_bytes;
    launch->scratch_bytes = std::max(launch->scratch_bytes, bytes);
  }
  return std::unique_ptr<Launch>(std::move(launch));
}

// ---- calls

Notebook CudaDevice::notebook() const {
  return {[this](const std::string& key) {
            return cache() ? cache()->read(noted_at(key)) : std::nullopt;
          },
          [this](const std::string& key, const std::string& words) {
            if (cache()) cache()->write(noted_at(key), words);
          }};
}

std::unique_ptr<LibraryCall> CudaDevice::library_call(const Program& program, const Op& op,
                                                      const ProductViews* views) const {
  const TrialHold hold(*context_);
  const Notebook notebook = this->notebook();
  const auto load = [&](const std::string& text, const char* function) {
    return function_of(text, function);
  };
  const auto planned = [&]() -> std::unique_ptr<CudaCall> {
    if (auto product = product_call(*context_, notebook, program, op, views)) return product;
    if (views != nullptr) return nullptr;
    const RearrangeLoader rearrange{[&] { return rearrange_kernels(); }, load};
    return conv_call(*context_, notebook, rearrange, program, op);
  };
  if (auto call = shared_calls_.call(program, op, views, planned)) return call;
  if (views != nullptr) return nullptr;
  if (auto transform = fft_call(*context_, load, program, op)) return transform;
  if (auto pooled = select_scatter_call(load, program, op)) return pooled;
  if (auto top = top_k_call(load, program, op)) return top;
  if (auto scatter = scatter_call(load, program, op)) return scatter;
  if (auto sort = sort_call(load, program, op)) return sort;
  return host_call(host(), program, op);
}

Expected<Handle> CudaDevice::combine_kernel(ReduceOp op, DType dtype) const {
  return function_of(combine_text(op, dtype), "combine");
}

std::unique_ptr<Queue> CudaDevice::queue() { return std::make_unique<CudaQueue>(*this, context_); }

Expected<CudaDevice*> cuda_device(int number, Device& host) {
  static std::mutex mutex;
  static auto& opened = *new std::map<int, std::unique_ptr<CudaDevice>>();  // never destroyed
  const std::lock_guard lock(mutex);
  std::unique_ptr<CudaDevice>& device = opened[number];
  if (!device) {
    HEDDLE_TRY(device, CudaDevice::open(number, host, cache_directory()));
  }
  return device.get();
}

}  // namespace heddle
