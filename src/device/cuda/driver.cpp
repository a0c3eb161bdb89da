#include "device/cuda/driver.h"

#include <algorithm>

#include "device/cuda/nvrtc.h"
#include "device/cuda/shared_library.h"
#include "kernel/emit_cuda.h"

namespace heddle {

using DevicePointer = unsigned long long;
using Handle = void*;

// The functions of the driver that are used; 0 is success.
struct CudaFunctions {
  int (*init)(unsigned) = nullptr;
  int (*device)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*retain)(Handle*, int) = nullptr;
  int (*set_current)(Handle) = nullptr;
  int (*load)(Handle*, const void*) = nullptr;
  int (*unload)(Handle) = nullptr;
  int (*function)(Handle*, Handle, const char*) = nullptr;
  int (*allocate)(DevicePointer*, std::size_t) = nullptr;
  int (*release)(DevicePointer) = nullptr;
  int (*copy_in)(DevicePointer, const void*, std::size_t) = nullptr;
  int (*copy_out)(void*, DevicePointer, std::size_t) = nullptr;
  int (*fill)(DevicePointer, unsigned char, std::size_t) = nullptr;
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                Handle, void**, void**) = nullptr;
  int (*synchronize)() = nullptr;
  int (*error)(int, const char**) = nullptr;
};

namespace {

Expected<CudaFunctions> load_driver() {
  HEDDLE_TRY(const SharedLibrary library,
             SharedLibrary::open("the CUDA driver", {"libcuda.so.1", "libcuda.so"}));
  CudaFunctions f;
  const bool whole =
      library.find(f.init, "cuInit") && library.find(f.device, "cuDeviceGet") &&
      library.find(f.device_name, "cuDeviceGetName") &&
      library.find(f.attribute, "cuDeviceGetAttribute") &&
      library.find(f.retain, "cuDevicePrimaryCtxRetain") &&
      library.find(f.set_current, "cuCtxSetCurrent") && library.find(f.load, "cuModuleLoadData") &&
      library.find(f.unload, "cuModuleUnload") && library.find(f.function, "cuModuleGetFunction") &&
      library.find(f.allocate, "cuMemAlloc_v2") && library.find(f.release, "cuMemFree_v2") &&
      library.find(f.copy_in, "cuMemcpyHtoD_v2") && library.find(f.copy_out, "cuMemcpyDtoH_v2") &&
      library.find(f.fill, "cuMemsetD8_v2") && library.find(f.launch, "cuLaunchKernel") &&
      library.find(f.synchronize, "cuCtxSynchronize") && library.find(f.error, "cuGetErrorString");
  if (!whole) return reason("{} lacks functions of the CUDA driver", library.path());
  return f;
}

// Why a call failed; a yes where it did not.
Verdict checked(const CudaFunctions& f, int status, std::string_view what) {
  if (status == 0) return yes();
  const char* text = nullptr;
  f.error(status, &text);
  return reason("CUDA cannot {}: {}", what, text ? text : "unknown error");
}

// What one run holds on the device; given back at the end.
class DeviceRun {
 public:
  explicit DeviceRun(const CudaFunctions& functions) : f_(functions) {}
  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;
  ~DeviceRun() {
    for (DevicePointer pointer : memory_) f_.release(pointer);
    if (module_) f_.unload(module_);
  }

  Expected<DevicePointer> allocate(std::size_t bytes) {
    DevicePointer pointer = 0;
    HEDDLE_TRY_VOID(checked(f_, f_.allocate(&pointer, std::max<std::size_t>(bytes, 1)),
                            fmt::format("take {} bytes", bytes)));
    memory_.push_back(pointer);
    // What nobody has written is no number.
    HEDDLE_TRY_VOID(checked(f_, f_.fill(pointer, 0xff, std::max<std::size_t>(bytes, 1)), "fill"));
    return pointer;
  }
  Expected<DevicePointer> upload(const void* from, std::size_t bytes) {
    HEDDLE_TRY(const DevicePointer pointer, allocate(bytes));
    if (bytes > 0) HEDDLE_TRY_VOID(checked(f_, f_.copy_in(pointer, from, bytes), "copy"));
    return pointer;
  }
  Verdict load(const std::vector<char>& code) {
    return checked(f_, f_.load(&module_, code.data()), "load the code");
  }
  Verdict launch(const CudaPhase& phase, DevicePointer buffers, DevicePointer scratch,
                 DevicePointer temporaries) const {
    if (phase.grid == 0) return yes();
    Handle function = nullptr;
    HEDDLE_TRY_VOID(
        checked(f_, f_.function(&function, module_, phase.function.c_str()), "find the kernel"));
    void* arguments[] = {&buffers, &scratch, &temporaries};
    HEDDLE_TRY_VOID(checked(
        f_,
        f_.launch(function, static_cast<unsigned>(phase.grid), 1, 1,
                  static_cast<unsigned>(phase.threads), 1, 1, 0, nullptr, arguments, nullptr),
        "launch"));
    return checked(f_, f_.synchronize(), "run " + phase.function);
  }

 private:
  const CudaFunctions& f_;
  Handle module_ = nullptr;
  std::vector<DevicePointer> memory_;
};

}  // namespace

Expected<CudaDevice> CudaDevice::open() {
  HEDDLE_TRY(const CudaFunctions f, load_driver());
  HEDDLE_TRY_VOID(checked(f, f.init(0), "start"));
  int device = 0, major = 0, minor = 0;
  HEDDLE_TRY_VOID(checked(f, f.device(&device, 0), "find a device"));
  Handle context = nullptr;
  HEDDLE_TRY_VOID(checked(f, f.retain(&context, device), "open the device"));
  HEDDLE_TRY_VOID(checked(f, f.set_current(context), "open the device"));
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
  HEDDLE_TRY_VOID(checked(f, f.attribute(&major, kMajor, device), "ask the device"));
  HEDDLE_TRY_VOID(checked(f, f.attribute(&minor, kMinor, device), "ask the device"));
  char text[128] = {};
  f.device_name(text, sizeof(text) - 1, device);
  CudaDevice opened;
  opened.functions_ = std::make_shared<CudaFunctions>(f);
  opened.name_ = text;
  opened.arch_ = fmt::format("sm_{}{}", major, minor);
  return opened;
}

Verdict CudaDevice::run(const Kernel& kernel, std::span<const std::span<std::byte>> buffers) const {
  HEDDLE_TRY_VOID(verify(kernel));
  HEDDLE_TRY(const auto code, compile_cuda(emit_cuda(kernel), arch_));
  DeviceRun run(*functions_);
  HEDDLE_TRY_VOID(run.load(code));
  std::vector<DevicePointer> pointers(kernel.buffers.size(), 0);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const Reach reach = kernel.buffers[i].reach;
    if (reach != Reach::input && reach != Reach::output) continue;
    if (i >= buffers.size()) return reason("buffer {} of {} is missing", i, kernel.name);
    HEDDLE_TRY(pointers[i], reach == Reach::input ? run.upload(buffers[i].data(), buffers[i].size())
                                                  : run.allocate(buffers[i].size()));
  }
  HEDDLE_TRY(const auto table,
             run.upload(pointers.data(), pointers.size() * sizeof(DevicePointer)));
  const CudaLaunch launch = cuda_launch(kernel);
  HEDDLE_TRY(const auto scratch, run.allocate(static_cast<std::size_t>(launch.scratch_bytes)));
  HEDDLE_TRY(const auto temporaries,
             run.allocate(static_cast<std::size_t>(launch.temporary_bytes)));
  for (const CudaPhase& phase : launch.phases)
    HEDDLE_TRY_VOID(run.launch(phase, table, scratch, temporaries));
  for (std::size_t i = 0; i < pointers.size(); ++i)
    if (kernel.buffers[i].reach == Reach::output && !buffers[i].empty())
      HEDDLE_TRY_VOID(checked(
          *functions_, functions_->copy_out(buffers[i].data(), pointers[i], buffers[i].size()),
          "copy back"));
  return yes();
}

}  // namespace heddle
