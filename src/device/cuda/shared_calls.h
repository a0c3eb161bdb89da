// Calls that equal ops have together: the layers of a network multiply and convolve alike, and a
// library takes longer to plan a product than to read a plan.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "device/cuda/queue.h"

namespace heddle::cuda {

class SharedCalls {
 public:
  using Make = std::function<std::unique_ptr<CudaCall>()>;

  // A call for the op, made by `make` unless one for an equal op is still held by somebody; null
  // where `make` gives none. `make` is called by one thread at a time.
  std::unique_ptr<LibraryCall> call(const Program& program, const Op& op, const ProductViews* views,
                                    const Make& make);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const CudaCall>> calls_;  // by what they compute
};

}  // namespace heddle::cuda
