#include "layout/digits.h"

namespace heddle {

using namespace detail;

Expected<std::vector<Digits>> group(const Layout& layout, std::span<const Dim> shape) {
  return group_digits(layout.digits(), shape);
}

Expected<std::vector<Dim>> common_refinement(std::span<const std::vector<Dim>> shapes) {
  if (shapes.empty()) return reason("no shapes to refine");
  std::vector<Dim> refined;
  // What is left of the entry that each shape is in, and where it is.
  std::vector<std::size_t> at(shapes.size(), 0);
  std::vector<Dim> left(shapes.size(), Dim(1));
  for (;;) {
    std::size_t done = 0;
    for (std::size_t s = 0; s < shapes.size(); ++s) {
      while (left[s].is(1) && at[s] < shapes[s].size()) left[s] = shapes[s][at[s]++];
      if (left[s].is(1)) ++done;
    }
    if (done == shapes.size()) return refined;
    if (done > 0) return reason("the shapes have different total sizes");
    Dim step = left[0];
    for (const Dim& l : left)
      if (Dim::divides(l, step)) step = l;
    for (Dim& l : left) {
      if (!Dim::divides(step, l))
        return reason("{} and {} have no common refinement: neither divides the other", show(step),
                      show(l));
      l = Dim::quotient(l, step);
    }
    refined.push_back(step);
  }
}

Expected<GroupMany> group_many(const Layout& layout, std::span<const std::vector<Dim>> shapes) {
  GroupMany result;
  HEDDLE_TRY(result.shape, common_refinement(shapes));
  HEDDLE_TRY(result.groups, group(layout, result.shape));
  for (const std::vector<Dim>& shape : shapes) {
    std::vector<std::size_t> counts;
    std::size_t next = 0;
    for (const Dim& entry : shape) {
      std::size_t count = 0;
      for (Dim seen = 1; !(seen == entry); ++count) seen = seen * result.shape[next++];
      counts.push_back(count);
    }
    result.pieces.push_back(std::move(counts));
  }
  return result;
}

Expected<Layout> permute(const Layout& layout, std::span<const std::size_t> order) {
  std::vector<bool> seen(layout.rank(), false);
  if (order.size() != layout.rank())
    return reason("[permute] {} dimensions are ordered and the layout has {}", order.size(),
                  layout.rank());
  for (std::size_t d : order) {
    if (d >= layout.rank() || seen[d])
      return reason("[permute] the order must name each of {} dimensions once", layout.rank());
    seen[d] = true;
  }
  HEDDLE_TRY(auto groups, group(layout, layout.padded_shape()));
  LayoutParts parts = layout.parts();
  parts.dims.clear();
  parts.digits.clear();
  for (std::size_t d : order) {
    parts.dims.push_back(layout.dims()[d]);
    parts.digits.insert(parts.digits.end(), groups[d].begin(), groups[d].end());
  }
  return Layout::make(std::move(parts));
}

}  // namespace heddle
