#include "base/openblas.h"

#include <dlfcn.h>

#include <cstdlib>

#include "heddle/log.h"

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
  void (*set_threads)(int) = nullptr;
  find("openblas_set_num_threads", set_threads);
  if (set_threads != nullptr) set_threads(1);
}

void* OpenBlas::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

}  // namespace heddle
