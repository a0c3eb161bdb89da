#include "device/cuda/sort.h"

#include <algorithm>

namespace heddle::cuda {

namespace {

constexpr std::int64_t kItemAligned = 16;
constexpr std::int64_t kMostPlacing = 132 * 16;  // blocks, each of which has many elements

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kItemAligned - 1) / kItemAligned * kItemAligned;
}

class SortCall final : public CudaCall {
 public:
  // `tiles` where lines fit; else items and `place`.
  SortCall(SortText sort, Handle tiles, std::optional<SortedItems> items, Handle place)
      : sort_(std::move(sort)), tiles_(tiles), items_(std::move(items)), place_(place) {}

  std::string text() const override {
    return fmt::format("sort {} lines of {}", sort_.lines(), sort_.length());
  }
  std::int64_t workspace_bytes() const override {
    return items_ ? items_->room_bytes() + kItemAligned : 0;
  }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    std::vector<Pointer> operands, all;
    for (DeviceAddress a : memory.operands) operands.push_back(a.value);
    all = operands;
    for (DeviceAddress a : memory.results) all.push_back(a.value);
    if (!items_) return launch_words(queue, tiles_, sort_.blocks(), kSortThreads, all);
    const auto room =
        static_cast<Pointer>(aligned(static_cast<std::int64_t>(memory.workspace.value)));
    HEDDLE_TRY(const Pointer items, items_->run(queue, operands, room));
    all.push_back(items);
    const std::int64_t blocks = sort_.lines() * sort_.length() / kSortThreads + 1;
    return launch_words(queue, place_, std::min(blocks, kMostPlacing), kSortThreads, all);
  }

 private:
  SortText sort_;
  Handle tiles_;
  std::optional<SortedItems> items_;
  Handle place_;
};

}  // namespace

Expected<SortedItems> SortedItems::load(const FunctionLoader& load, const SortText& sort) {
  SortedItems made(sort);
  HEDDLE_TRY(made.tiles_, load(sort.tiles(), "sort_tiles"));
  if (!sort.is_long()) return made;
  HEDDLE_TRY(made.merge_, load(sort.merge(), "sort_merge"));
  return made;
}

std::int64_t SortedItems::list_bytes() const {
  return aligned(sort_.lines() * sort_.length() * sort_.item_bytes());
}

std::int64_t SortedItems::room_bytes() const { return 2 * list_bytes(); }

Expected<Pointer> SortedItems::run(CudaQueue& queue, std::vector<Pointer> operands,
                                   Pointer room) const {
  Pointer from = room, to = room + static_cast<Pointer>(list_bytes());
  operands.push_back(from);
  HEDDLE_TRY_VOID(launch_words(queue, tiles_, sort_.blocks(), kSortThreads, operands));
  for (std::int64_t width = kSortTile; width < sort_.length(); width *= 2) {
    HEDDLE_TRY_VOID(launch_words(queue, merge_, sort_.blocks(), kSortThreads,
                                 {from, to, static_cast<Pointer>(width)}));
    std::swap(from, to);
  }
  return from;
}

std::unique_ptr<CudaCall> sort_call(const FunctionLoader& load, const Program& program,
                                    const Op& op) {
  auto sort = SortText::of(program, op);
  if (!sort) return nullptr;
  if (!sort->is_long()) {
    const auto tiles = load(sort->tiles(), "sort_tiles");
    if (!tiles) return nullptr;
    return std::make_unique<SortCall>(*std::move(sort), *tiles, std::nullopt, nullptr);
  }
  auto items = SortedItems::load(load, *sort);
  const auto place = load(sort->place(), "sort_place");
  if (!items || !place) return nullptr;
  return std::make_unique<SortCall>(*std::move(sort), nullptr, *std::move(items), *place);
}

}  // namespace heddle::cuda
