#include "base/openblas.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>

#include "heddle/log.h"
#include "heddle/thread_pool.h"

namespace heddle {

namespace {

// A variable for as long as a library is loaded.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (std::getenv(name) == nullptr) set_ = ::setenv(name, value, 0) == 0;
  }
  ~Environment() {
    if (set_) ::unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  bool set_ = false;
};

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

// OpenBLAS takes a buffer of 128 MB for every thread that calls it, and asks for ever where it gets
// none. Of what a process may have only a limit of its own is that near.
bool has_room_for_buffers() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  constexpr std::size_t kBuffer = (std::size_t{1} << 27) + (std::size_t{1} << 20);
  const std::size_t bytes = kBuffer * static_cast<std::size_t>(ThreadPool::shared().threads());
  void* const tried = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tried == MAP_FAILED) return false;
  ::munmap(tried, bytes);
  return true;
}

// Loops over its calls are ours, so that one thread inside is enough. Processors newer than the
// library get kernels of an older family; those for AVX-512 take small and narrow products up to
// 1.7 times as fast.
void* open() {
  const Environment threads("OPENBLAS_NUM_THREADS", "1");
  if (!has_avx512()) return ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const Environment family("OPENBLAS_CORETYPE", "SkylakeX");
  return ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

const OpenBlas& OpenBlas::get() {
  static const OpenBlas library;
  return library;
}

OpenBlas::OpenBlas() : handle_(open()) {
  if (handle_ == nullptr) {
    log(kLogSteps, "libopenblas.so.0 was not found: matrix products are slow");
    return;
  }
  if (!has_room_for_buffers()) {
    warn(
        "the memory that this process may have (`ulimit -v`) leaves OpenBLAS no room for its "
        "buffers, 128 MB for "
        "each worker: matrix products are slow; give it more, or fewer workers by HEDDLE_THREADS");
    handle_ = nullptr;
    return;
  }
  void (*set_threads)(int) = nullptr;
  find("openblas_set_num_threads", set_threads);
  if (set_threads != nullptr) set_threads(1);
}

void* OpenBlas::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

}  // namespace heddle
