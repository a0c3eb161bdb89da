#include "device/cuda/sort.h"

#include <algorithm>

#include "device/cuda/sort_text.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kItemAligned = 16;
constexpr std::int64_t kMostPlacing = 132 * 16;  // blocks, each of which has many elements

struct SortFunctions {
  Handle tiles = nullptr, merge = nullptr, place = nullptr;
};

class SortCall final : public CudaCall {
 public:
  SortCall(SortText sort, SortFunctions functions)
      : sort_(std::move(sort)), functions_(functions) {}

  std::string text() const override {
    return fmt::format("sort {} lines of {}", sort_.lines(), sort_.length());
  }

  std::int64_t workspace_bytes() const override {
    return sort_.is_long() ? 2 * list_bytes() + kItemAligned : 0;
  }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    std::vector<Pointer> operands, all;
    for (DeviceAddress a : memory.operands) operands.push_back(a.value);
    all = operands;
    for (DeviceAddress a : memory.results) all.push_back(a.value);
    if (!sort_.is_long()) return launch(queue, functions_.tiles, sort_.blocks(), all);
    Pointer from = (memory.workspace.value + kItemAligned - 1) / kItemAligned * kItemAligned;
    Pointer to = from + static_cast<Pointer>(list_bytes());
    operands.push_back(from);
    HEDDLE_TRY_VOID(launch(queue, functions_.tiles, sort_.blocks(), operands));
    for (std::int64_t width = kSortTile; width < sort_.length(); width *= 2) {
      HEDDLE_TRY_VOID(
          launch(queue, functions_.merge, sort_.blocks(), {from, to, static_cast<Pointer>(width)}));
      std::swap(from, to);
    }
    all.push_back(from);
    const std::int64_t blocks = sort_.lines() * sort_.length() / kSortThreads + 1;
    return launch(queue, functions_.place, std::min(blocks, kMostPlacing), all);
  }

 private:
  std::int64_t list_bytes() const {
    const std::int64_t bytes = sort_.lines() * sort_.length() * sort_.item_bytes();
    return (bytes + kItemAligned - 1) / kItemAligned * kItemAligned;
  }

  // Pointers and numbers, all of eight bytes.
  static Verdict launch(CudaQueue& queue, Handle function, std::int64_t blocks,
                        std::vector<Pointer> words) {
    std::vector<void*> arguments;
    for (Pointer& word : words) arguments.push_back(&word);
    const Driver& driver = queue.context().driver();
    return driver.checked(driver.launch(function, static_cast<unsigned>(blocks), 1, 1, kSortThreads,
                                        1, 1, 0, queue.stream(), arguments.data(), nullptr),
                          "launch a kernel");
  }

  SortText sort_;
  SortFunctions functions_;
};

}  // namespace

std::unique_ptr<CudaCall> sort_call(const FunctionLoader& load, const Program& program,
                                    const Op& op) {
  auto sort = SortText::of(program, op);
  if (!sort) return nullptr;
  SortFunctions functions;
  const auto loaded = [&](Handle& to, const std::string& text, const char* name) {
    const auto function = load(text, name);
    if (function) to = *function;
    return static_cast<bool>(function);
  };
  if (!loaded(functions.tiles, sort->tiles(), "sort_tiles")) return nullptr;
  if (sort->is_long() && !(loaded(functions.merge, sort->merge(), "sort_merge") &&
                           loaded(functions.place, sort->place(), "sort_place")))
    return nullptr;
  return std::make_unique<SortCall>(*std::move(sort), functions);
}

}  // namespace heddle::cuda
