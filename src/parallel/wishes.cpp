#include "parallel/wishes.h"

#include <algorithm>

namespace heddle {

namespace {

// Axes that split one dimension, as text.
std::string spelled(const SplitAxes& axes, const Mesh& mesh) {
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  Split one;
  one.dims.push_back(is_strided(axes) ? DimSplit{kAny, axes} : DimSplit::blocks(kAny, axes));
  return text_of(one, mesh);
}

std::string weighed(const Wish& w, const Mesh& mesh) {
  return fmt::format("{} ({:.0f} bytes)", spelled(w.axes, mesh), w.weight - w.values);
}

}  // namespace

std::string told(const std::string& place, const std::vector<Wish>& wishes, const Wish& best,
                 const Mesh& mesh) {
  std::string text;
  for (const Wish& w : wishes)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", weighed(w, mesh));
  return fmt::format("{} is wanted over {}; {} stays since most bytes have it", place, text,
                     spelled(best.axes, mesh));
}

std::string told(const std::string& place, const Wish& wish, const Wish& kept, const Mesh& mesh) {
  return fmt::format("{} is wanted over {}, of which {} is left: another dimension has the rest",
                     place, weighed(wish, mesh), spelled(kept.axes, mesh));
}

bool starts_with(const SplitAxes& list, const SplitAxes& prefix) {
  return list.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), list.begin());
}

void add_wish(std::vector<Wish>& wishes, Wish wish) {
  for (Wish& other : wishes) {
    if (!starts_with(other.axes, wish.axes) && !starts_with(wish.axes, other.axes)) continue;
    if (wish.axes.size() > other.axes.size()) other.axes = wish.axes;
    other.weight += wish.weight;
    other.values += wish.values;
    return;
  }
  wishes.push_back(std::move(wish));
}

void keep_apart(std::vector<Wish>& wishes) {
  std::vector<std::size_t> order(wishes.size());
  for (std::size_t f = 0; f < order.size(); ++f) order[f] = f;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t f) { return wishes[f].weight; });
  SplitAxes used;
  for (std::size_t f : order) {
    SplitAxes kept;
    for (const SplitDigit& d : wishes[f].axes) {
      if (overlap(used, d)) break;
      kept.push_back(d);
    }
    end_with_axis(kept);
    used.insert(used.end(), kept.begin(), kept.end());
    wishes[f].axes = std::move(kept);
  }
}

}  // namespace heddle
