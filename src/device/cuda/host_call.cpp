#include "device/cuda/host_call.h"

#include "base/text.h"

namespace heddle::cuda {

namespace {

class HostCall final : public CudaCall {
 public:
  HostCall(Device& host, std::unique_ptr<LibraryCall> inner, const Program& program, const Op& op)
      : host_(host), inner_(std::move(inner)) {
    for (ValueId v : program.operands(op)) operands_.push_back(program.type_of(v).bytes());
    for (std::size_t i = 0; i < op.result_count; ++i)
      results_.push_back(program.type_of(program.result(op, i)).bytes());
  }

  std::string text() const override {
    std::int64_t bytes = 0;
    for (std::int64_t b : operands_) bytes += b;
    for (std::int64_t b : results_) bytes += b;
    return fmt::format("{} on the host, {} copied", inner_->text(),
                       format_bytes(static_cast<double>(bytes)));
  }

  bool can_be_recorded() const override { return false; }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    std::vector<std::shared_ptr<Block>> blocks;
    std::vector<DeviceAddress> addresses;
    const auto add = [&](std::int64_t bytes) -> Block& {
      blocks.push_back(Block::raw(static_cast<std::size_t>(bytes)));
      addresses.push_back(address_of(blocks.back()->data()));
      return *blocks.back();
    };
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      Block& block = add(operands_[i]);
      HEDDLE_TRY_VOID(queue.read(memory.operands[i], {block.data(), block.size()}));
    }
    HEDDLE_TRY_VOID(queue.finish());
    for (std::int64_t bytes : results_) add(bytes);
    const auto room = Block::raw(static_cast<std::size_t>(inner_->workspace_bytes()));
    const auto worker = host_.queue();
    const std::span<const DeviceAddress> all(addresses);
    HEDDLE_TRY_VOID(worker->call(
        *inner_,
        {all.first(operands_.size()), all.subspan(operands_.size()), address_of(room->data())}));
    HEDDLE_TRY_VOID(worker->finish());
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto& block = blocks[operands_.size() + i];
      HEDDLE_TRY_VOID(queue.write({block->data(), block->size()}, memory.results[i], block));
    }
    return yes();
  }

 private:
  Device& host_;
  std::unique_ptr<LibraryCall> inner_;
  std::vector<std::int64_t> operands_, results_;  // bytes
};

}  // namespace

std::unique_ptr<CudaCall> host_call(Device& host, const Program& program, const Op& op) {
  auto inner = host.library_call(program, op, nullptr);
  if (!inner) return nullptr;
  return std::make_unique<HostCall>(host, std::move(inner), program, op);
}

}  // namespace heddle::cuda
