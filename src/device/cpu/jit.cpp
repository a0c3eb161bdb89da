#include "device/cpu/jit.h"

#include <future>
#include <list>
#include <map>
#include <mutex>

#include "device/code_cache.h"
#include "device/cpu/jit_backend.h"
#include "heddle/hash.h"
#include "heddle/version.h"

namespace heddle {

namespace {

using Compiled = Expected<std::shared_ptr<const CpuKernel>>;

// All that decides what the code is: its text says what to compute and for which vectors.
std::string key_of(const std::string& ir, const CpuTarget& target) {
  std::string key;
  for (std::uint64_t seed : {1, 2}) {
    std::uint64_t hash = hash_combine(seed, ir);
    for (std::string_view part : {std::string_view(target.cpu), std::string_view(target.features),
                                  std::string_view(target.compiler), version()})
      hash = hash_combine(hash, part);
    key += fmt::format("{:016x}", hash);
  }
  return key;
}

}  // namespace

struct CpuJit::State {
  struct Entry {
    std::shared_ptr<const CpuKernel> kernel;
    std::list<std::string>::iterator used;
  };

  explicit State(CpuJitOptions given)
      : options(std::move(given)), backend(make_jit_backend(options)) {
    if (options.cache_directory) disk.emplace(*options.cache_directory, options.disk_bytes);
  }

  const CpuJitOptions options;
  const Expected<std::shared_ptr<JitBackend>> backend;

  std::optional<CodeCache> disk;

  std::mutex mutex;
  std::map<std::string, Entry> kernels;
  std::list<std::string> recent;  // keys, the last used first
  std::int64_t bytes = 0;
  std::map<std::string, std::shared_future<Compiled>> under_way;
  Counts counts;

  // ---- under the mutex
  std::shared_ptr<const CpuKernel> find(const std::string& key) {
    const auto found = kernels.find(key);
    if (found == kernels.end()) return nullptr;
    recent.splice(recent.begin(), recent, found->second.used);
    ++counts.from_memory;
    return found->second.kernel;
  }
  void keep(const std::string& key, const std::shared_ptr<const CpuKernel>& kernel) {
    recent.push_front(key);
    kernels[key] = {kernel, recent.begin()};
    bytes += kernel->code_bytes;
    ++(kernel->from_disk ? counts.from_disk : counts.compiled);
    while (bytes > options.memory_bytes && kernels.size() > 1) {
      const auto oldest = kernels.find(recent.back());
      bytes -= oldest->second.kernel->code_bytes;
      kernels.erase(oldest);
      recent.pop_back();
    }
  }

  // ---- without it
  Compiled make(const std::string& key, const std::string& ir, std::size_t phases, bool joins) {
    if (disk) {
      if (const auto object = disk->read(key)) {
        auto loaded = (*backend)->load(*object, phases);
        // An object that does not link is as good as none.
        if (loaded) {
          loaded->from_disk = true;
          return std::make_shared<const CpuKernel>(*std::move(loaded));
        }
      }
    }
    HEDDLE_TRY(const std::string object, (*backend)->compile(ir, joins));
    HEDDLE_TRY(CpuKernel kernel, (*backend)->load(object, phases));
    if (disk) disk->write(key, object);
    return std::make_shared<const CpuKernel>(std::move(kernel));
  }
};

CpuJit::CpuJit(CpuJitOptions options) : state_(std::make_unique<State>(std::move(options))) {}
CpuJit::~CpuJit() = default;

Expected<CpuTarget> CpuJit::target() const {
  if (!state_->backend) return state_->backend.why();
  return (*state_->backend)->target();
}

const CpuJitOptions& CpuJit::options() const { return state_->options; }

CpuJit::Counts CpuJit::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

Expected<std::shared_ptr<const CpuKernel>> CpuJit::compile(const Kernel& kernel) {
  HEDDLE_TRY(const CpuTarget target, this->target());
  HEDDLE_TRY(const std::string ir, emit_llvm(kernel, target.vectors));
  return compile(ir, kernel.phases.size(), false);
}

Expected<std::shared_ptr<const CpuKernel>> CpuJit::compile_text(const std::string& ir,
                                                                std::size_t functions) {
  return compile(ir, functions, true);
}

Expected<std::shared_ptr<const CpuKernel>> CpuJit::compile(const std::string& ir,
                                                           std::size_t phases, bool joins) {
  HEDDLE_TRY(const CpuTarget target, this->target());
  const std::string key = key_of(ir, target);
  std::promise<Compiled> promise;
  {
    std::unique_lock lock(state_->mutex);
    if (auto found = state_->find(key)) return found;
    if (const auto other = state_->under_way.find(key); other != state_->under_way.end()) {
      const std::shared_future<Compiled> result = other->second;
      lock.unlock();
      return result.get();
    }
    state_->under_way.emplace(key, promise.get_future().share());
  }
  Compiled result = reason("[jit] compilation did not finish");
  try {
    result = state_->make(key, ir, phases, joins);
  } catch (const std::exception& error) {
    result = Compiled(Reason{error.what()});
  }
  {
    const std::lock_guard lock(state_->mutex);
    if (result) state_->keep(key, *result);
    state_->under_way.erase(key);
  }
  promise.set_value(result);
  return result;
}

}  // namespace heddle
