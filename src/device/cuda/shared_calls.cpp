#include "device/cuda/shared_calls.h"

#include "ir/program_bytes.h"

namespace heddle::cuda {

namespace {

constexpr std::size_t kMostNames = 4096;  // before those that nobody holds are looked for

class SharedCall final : public CudaCall {
 public:
  explicit SharedCall(std::shared_ptr<const CudaCall> call) : call_(std::move(call)) {}

  std::string text() const override { return call_->text(); }
  std::int64_t workspace_bytes() const override { return call_->workspace_bytes(); }
  int in_place_operand() const override { return call_->in_place_operand(); }
  bool can_be_recorded() const override { return call_->can_be_recorded(); }
  StepWork work() const override { return call_->work(); }
  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    return call_->run(queue, memory);
  }

 private:
  std::shared_ptr<const CudaCall> call_;
};

}  // namespace

std::unique_ptr<LibraryCall> SharedCalls::call(const Program& program, const Op& op,
                                               const ProductViews* views, const Make& make) {
  ByteWriter key;
  if (!write_op_kind(program, op, key)) return make();
  key.number(views != nullptr ? 1 : 0);
  if (views != nullptr)
    for (const StridedView* view : {&views->lhs, &views->rhs, &views->result})
      write_strides(*view, key);
  const std::lock_guard lock(mutex_);
  if (calls_.size() > kMostNames)
    std::erase_if(calls_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const CudaCall>& kept = calls_[key.take()];
  if (auto call = kept.lock()) return std::make_unique<SharedCall>(std::move(call));
  std::shared_ptr<const CudaCall> made = make();
  if (made == nullptr) return nullptr;
  kept = made;
  return std::make_unique<SharedCall>(std::move(made));
}

}  // namespace heddle::cuda
