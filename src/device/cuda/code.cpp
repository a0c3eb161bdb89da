#include "device/cuda/code.h"

#include <algorithm>

namespace heddle::cuda {

namespace {
constexpr int kMostShared = 8;  // the attribute of a function: dynamic shared memory
// What a function has of its own counts too: 16 kB at most.
constexpr int kWithoutAsking = (48 - 16) << 10;
constexpr int kLargeClusters = 14;  // the attribute: clusters that not every device has
constexpr int kAnyCluster = 8;
constexpr int kClusterSize = 4;  // the attribute of a launch

// As the driver has them.
struct LaunchAttribute {
  int id = 0, unused = 0;
  unsigned value[16] = {};
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared_bytes = 0;
  Handle stream = nullptr;
  const LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};

// Clusters lie in parts of the device of different sizes, so that only the driver knows how many
// there can be at a time. One that waits until others leave would have its share when they are
// done.
unsigned fitting_grid(const Driver& driver, Handle function, const CudaPhase& phase) {
  const auto cluster = static_cast<unsigned>(phase.cluster);
  const auto grid = static_cast<unsigned>(phase.grid);
  if (!phase.stays || cluster == 1) return grid;
  const LaunchAttribute size{.id = kClusterSize, .value = {cluster, 1, 1}};
  const LaunchConfig config{.grid = {grid, 1, 1},
                            .block = {static_cast<unsigned>(phase.threads), 1, 1},
                            .shared_bytes = static_cast<unsigned>(phase.shared_bytes),
                            .attributes = &size,
                            .count = 1};
  int most = 0;
  if (driver.most_clusters(&most, function, &config) != 0 || most <= 0) return grid;
  return std::min(grid, static_cast<unsigned>(most) * cluster);
}

}  // namespace

Expected<std::shared_ptr<const CudaCode>> CudaCode::load(std::shared_ptr<Context> context,
                                                         const std::string& object,
                                                         const CudaPlan& plan) {
  const Driver& driver = context->driver();
  HEDDLE_TRY_VOID(context->enter());
  std::shared_ptr<CudaCode> code(new CudaCode(std::move(context)));
  HEDDLE_TRY_VOID(driver.checked(driver.load(&code->module_, object.data()), "load the code"));
  code->scratch_bytes_ = plan.scratch_bytes;
  for (const CudaPhase& phase : plan.phases) {
    Phase made{.grid = static_cast<unsigned>(phase.grid),
               .threads = static_cast<unsigned>(phase.threads),
               .shared_bytes = static_cast<unsigned>(phase.shared_bytes)};
    HEDDLE_TRY_VOID(driver.checked(
        driver.function(&made.function, code->module_, phase.function.c_str()), "find the code"));
    if (phase.shared_bytes > kWithoutAsking)
      HEDDLE_TRY_VOID(driver.checked(
          driver.set_function(made.function, kMostShared, static_cast<int>(phase.shared_bytes)),
          "give a block its memory"));
    if (phase.cluster > kAnyCluster)
      HEDDLE_TRY_VOID(driver.checked(driver.set_function(made.function, kLargeClusters, 1),
                                     "ask for a cluster"));
    made.grid = fitting_grid(driver, made.function, phase);
    code->phases_.push_back(made);
  }
  return std::shared_ptr<const CudaCode>(std::move(code));
}

CudaCode::~CudaCode() {
  if (module_ != nullptr && context_->enter()) context_->driver().unload(module_);
}

Verdict CudaCode::launch(Handle stream, void* const* buffers, Pointer scratch) const {
  void* arguments[] = {static_cast<void*>(const_cast<void**>(buffers)), &scratch};
  for (const Phase& phase : phases_) HEDDLE_TRY_VOID(launch(stream, phase, arguments));
  return yes();
}

Verdict CudaCode::launch_phase(Handle stream, std::size_t phase, void* argument) const {
  void* arguments[] = {argument};
  return launch(stream, phases_[phase], arguments);
}

Verdict CudaCode::launch(Handle stream, const Phase& phase, void** arguments) const {
  if (phase.grid == 0) return yes();
  return context_->driver().checked(
      context_->driver().launch(phase.function, phase.grid, 1, 1, phase.threads, 1, 1,
                                phase.shared_bytes, stream, arguments, nullptr),
      "launch a kernel");
}

}  // namespace heddle::cuda
