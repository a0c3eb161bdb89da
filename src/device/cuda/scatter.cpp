#include "device/cuda/scatter.h"

#include "device/cuda/scatter_text.h"
#include "device/cuda/sort.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kKeysAligned = 256;

class ScatterCall final : public CudaCall {
 public:
  ScatterCall(ScatterText scatter, SortedItems items, Handle keys, Handle combine)
      : scatter_(std::move(scatter)), items_(std::move(items)), keys_(keys), combine_(combine) {}

  std::string text() const override { return scatter_.text(); }
  int in_place_operand() const override { return 0; }
  std::int64_t workspace_bytes() const override {
    return key_bytes() + items_.room_bytes() + kKeysAligned;
  }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    const Pointer out = memory.results[0].value;
    if (out != memory.operands[0].value)
      HEDDLE_TRY_VOID(queue.copy(memory.operands[0], memory.results[0], scatter_.input_bytes()));
    const Pointer keys = (memory.workspace.value + kKeysAligned - 1) / kKeysAligned * kKeysAligned;
    HEDDLE_TRY_VOID(launch_words(queue, keys_, scatter_.key_blocks(), kScatteringThreads,
                                 {memory.operands[1].value, keys}));
    HEDDLE_TRY(const Pointer items,
               items_.run(queue, {keys}, keys + static_cast<Pointer>(key_bytes())));
    return launch_words(queue, combine_, scatter_.combine_blocks(), kScatteringThreads,
                        {items, memory.operands[2].value, out});
  }

 private:
  std::int64_t key_bytes() const {
    return (scatter_.runs() * 4 + kKeysAligned - 1) / kKeysAligned * kKeysAligned;
  }

  ScatterText scatter_;
  SortedItems items_;
  Handle keys_, combine_;
};

}  // namespace

std::unique_ptr<CudaCall> scatter_call(const FunctionLoader& load, const Program& program,
                                       const Op& op) {
  auto scatter = ScatterText::of(program, op);
  if (!scatter) return nullptr;
  const auto keys = load(scatter->keys(), "scatter_keys");
  const auto combine = load(scatter->combine(), "scatter_combine");
  auto items = SortedItems::load(load, SortText::of_keys(scatter->runs()));
  if (!keys || !combine || !items) return nullptr;
  return std::make_unique<ScatterCall>(*std::move(scatter), *std::move(items), *keys, *combine);
}

}  // namespace heddle::cuda
