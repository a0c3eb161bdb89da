#include "device/cuda/code.h"

namespace heddle::cuda {

namespace {
constexpr int kMostShared = 8;  // the attribute of a function: dynamic shared memory
// What a function has of its own counts too: 16 kB at most.
constexpr int kWithoutAsking = (48 - 16) << 10;
}  // namespace

Expected<std::shared_ptr<const CudaCode>> CudaCode::load(std::shared_ptr<Context> context,
                                                         const std::string& object,
                                                         const CudaPlan& plan) {
  const Driver& driver = context->driver();
  HEDDLE_TRY_VOID(context->enter());
  std::shared_ptr<CudaCode> code(new CudaCode(std::move(context)));
  HEDDLE_TRY_VOID(driver.checked(driver.load(&code->module_, object.data()), "load the code"));
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
    code->phases_.push_back(made);
  }
  return std::shared_ptr<const CudaCode>(std::move(code));
}

CudaCode::~CudaCode() {
  if (module_ != nullptr && context_->enter()) context_->driver().unload(module_);
}

Verdict CudaCode::launch(Handle stream, void* const* buffers, Pointer scratch) const {
  void* arguments[] = {static_cast<void*>(const_cast<void**>(buffers)), &scratch};
  return launch_all(stream, arguments);
}

Verdict CudaCode::launch(Handle stream, void* argument) const {
  void* arguments[] = {argument};
  return launch_all(stream, arguments);
}

Verdict CudaCode::launch_all(Handle stream, void** arguments) const {
  for (const Phase& phase : phases_) {
    if (phase.grid == 0) continue;
    HEDDLE_TRY_VOID(context_->driver().checked(
        context_->driver().launch(phase.function, phase.grid, 1, 1, phase.threads, 1, 1,
                                  phase.shared_bytes, stream, arguments, nullptr),
        "launch a kernel"));
  }
  return yes();
}

}  // namespace heddle::cuda
