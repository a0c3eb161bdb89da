// One of cuDNN's objects.
#pragma once

#include <utility>
#include <vector>

#include "device/cuda/dnn_library.h"

namespace heddle::cuda {

// Made, then set, then finished; destroyed with the last who holds it.
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Dnn& dnn, int kind) : dnn_(&dnn) {
    made_ = dnn.create_descriptor(kind, &handle_);
  }
  ~Descriptor() {
    if (handle_ != nullptr) dnn_->destroy_descriptor(handle_);
  }
  Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(dnn_, other.dnn_);
    std::swap(handle_, other.handle_);
    std::swap(made_, other.made_);
    std::swap(failed_at_, other.failed_at_);
    return *this;
  }

  Handle handle() const { return handle_; }

  void set(int name, int type, std::int64_t count, const void* values) {
    if (made_ == 0) made_ = dnn_->set(handle_, name, type, count, values);
    if (made_ != 0 && failed_at_ == 0) failed_at_ = name;
  }
  void set(int name, int type, std::int64_t count, void* const* pointers) {
    set(name, type, count, static_cast<const void*>(pointers));
  }
  void set(int name, const Descriptor& other) {
    Handle handle = other.handle_;
    set(name, Dnn::kDescriptor, 1, &handle);
  }
  void set(int name, std::int64_t value) { set(name, Dnn::kInt64, 1, &value); }
  void set(int name, const std::vector<std::int64_t>& values) {
    set(name, Dnn::kInt64, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set_number(int name, int type, int value) { set(name, type, 1, &value); }

  // What has failed since it was made comes out here.
  Verdict finish(std::string_view what) {
    if (made_ == 0) made_ = dnn_->finalize(handle_);
    if (made_ == 0) return yes();
    return reason("cuDNN cannot {}: {}{}", what, dnn_->error(made_),
                  failed_at_ == 0 ? "" : fmt::format(" (attribute {})", failed_at_));
  }

 private:
  const Dnn* dnn_ = nullptr;
  Handle handle_ = nullptr;
  int made_ = 0, failed_at_ = 0;
};

}  // namespace heddle::cuda
