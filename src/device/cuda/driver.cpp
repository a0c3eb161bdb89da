#include "device/cuda/driver.h"

#include <algorithm>

#include "device/cuda/shared_library.h"

namespace heddle::cuda {

namespace {

// Errors after which no call of this process succeeds on that GPU: memory that cannot be repaired,
// a device that has gone, work that took too long or went where it must not.
bool is_lost(int status) {
  constexpr int kLost[] = {46,  101, 214, 220, 226, 700, 702, 709,
                           710, 714, 715, 716, 717, 718, 719};
  return std::ranges::find(kLost, status) != std::end(kLost);
}

Expected<Driver> load_driver() {
  const auto opened = SharedLibrary::open("the CUDA driver", {"libcuda.so.1", "libcuda.so"});
  if (!opened)
    return reason("there is no CUDA device here: {}; a GPU's driver brings it", opened.reason());
  const SharedLibrary& library = *opened;
  Driver d;
  FunctionLookup find(library);
  find(d.init, "cuInit");
  find(d.count, "cuDeviceGetCount");
  find(d.device, "cuDeviceGet");
  find(d.device_name, "cuDeviceGetName");
  find(d.attribute, "cuDeviceGetAttribute");
  find(d.retain, "cuDevicePrimaryCtxRetain");
  find(d.set_current, "cuCtxSetCurrent");
  find(d.memory_info, "cuMemGetInfo_v2");
  find(d.create_pool, "cuMemPoolCreate");
  find(d.set_pool, "cuMemPoolSetAttribute");
  find(d.trim_pool, "cuMemPoolTrimTo");
  find(d.allocate, "cuMemAllocFromPoolAsync");
  find(d.release, "cuMemFreeAsync");
  find(d.lock_memory, "cuMemHostAlloc");
  find(d.unlock_memory, "cuMemFreeHost");
  find(d.load, "cuModuleLoadData");
  find(d.unload, "cuModuleUnload");
  find(d.function, "cuModuleGetFunction");
  find(d.set_function, "cuFuncSetAttribute");
  find(d.most_clusters, "cuOccupancyMaxActiveClusters");
  find(d.most_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  find(d.launch_together, "cuLaunchCooperativeKernel");
  find(d.launch, "cuLaunchKernel");
  find(d.create_stream, "cuStreamCreate");
  find(d.destroy_stream, "cuStreamDestroy_v2");
  find(d.synchronize, "cuStreamSynchronize");
  find(d.create_event, "cuEventCreate");
  find(d.destroy_event, "cuEventDestroy_v2");
  find(d.record, "cuEventRecord");
  find(d.query, "cuEventQuery");
  find(d.elapsed, "cuEventElapsedTime");
  find(d.wait_host, "cuEventSynchronize");
  find(d.wait_stream, "cuStreamWaitEvent");
  find(d.copy_in, "cuMemcpyHtoDAsync_v2");
  find(d.copy_out, "cuMemcpyDtoHAsync_v2");
  find(d.copy, "cuMemcpyDtoDAsync_v2");
  find(d.copy_rows, "cuMemcpy2DAsync_v2");
  find(d.fill, "cuMemsetD8Async");
  find(d.begin_capture, "cuStreamBeginCapture_v2");
  find(d.end_capture, "cuStreamEndCapture");
  find(d.instantiate, "cuGraphInstantiateWithFlags");
  find(d.launch_graph, "cuGraphLaunch");
  find(d.destroy_graph, "cuGraphDestroy");
  find(d.destroy_instance, "cuGraphExecDestroy");
  find(d.error, "cuGetErrorString");
  if (!find.found_all())
    return reason("{} is too old: a driver for CUDA 12 or later is needed", library.path());
  HEDDLE_TRY_VOID(d.checked(d.init(0), "start"));
  return d;
}

}  // namespace

Verdict Driver::checked(int status, std::string_view what) const {
  if (status == 0) return yes();
  const char* text = nullptr;
  if (error != nullptr) error(status, &text);
  return reason("CUDA cannot {}: {}{}", what, text != nullptr ? text : "unknown error",
                is_lost(status)
                    ? "; the GPU is lost to this process, which has to be started again; "
                      "other devices go on"
                    : "");
}

Expected<const Driver*> driver() {
  static const Expected<Driver> loaded = load_driver();
  if (!loaded) return loaded.why();
  return &*loaded;
}

}  // namespace heddle::cuda
