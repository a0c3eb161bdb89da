// What sorts on a GPU, as CUDA text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/comparator.h"

namespace heddle::cuda {

inline constexpr int kSortTile = 2048;  // elements that a block sorts
inline constexpr int kSortThreads = 256;

// Lines along one dimension, and what a comparison looks at.
class SortText {
 public:
  // Nothing where no kernel sorts that: a comparison whose NaN have no place, or a long line whose
  // order is not that of one key.
  static std::optional<SortText> of(const Program& program, const Op& op);
  // One line of ui32 keys, of which only sorted items are wanted: key << 32 | number.
  static SortText of_keys(std::int64_t length);

  // Sorts tiles: short lines, several in a block, into results; of long ones, items for merging.
  std::string tiles() const;
  // Two sorted stretches of items of each line become one.
  std::string merge() const;
  // Elements go where the items say.
  std::string place() const;

  std::int64_t length() const { return length_; }
  std::int64_t lines() const { return outer_ * inner_; }
  bool is_long() const { return length_ > kSortTile; }
  // Whether tiles() leaves items; else results.
  bool gives_items() const { return is_long() || !comparator_; }
  std::int64_t blocks() const;  // of each
  std::int64_t item_bytes() const;

 private:
  // What stands for an element: its key and number in a word or two, or its number alone.
  enum class Items : std::uint8_t { packed, wide, numbers };

  explicit SortText(std::optional<Comparator> comparator) : comparator_(std::move(comparator)) {}
  int padded() const;  // elements of a line in a tile
  std::string begin() const;
  std::string items() const;
  std::string key() const;
  std::string comparison() const;
  std::string parameters(bool writes) const;
  std::string placed() const;
  std::string precedes() const;
  std::string item_at(std::string_view place, std::string_view number) const;

  std::optional<Comparator> comparator_;  // none: keys
  std::vector<DType> types_;              // of operands
  std::int64_t length_ = 0, outer_ = 1, inner_ = 1;
  Items kind_ = Items::numbers;
};

}  // namespace heddle::cuda
