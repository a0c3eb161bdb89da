// Laws of slice: right at every element, and a no only where no digits exist at all.
#include <gtest/gtest.h>

#include "generate.h"

namespace heddle::property {
namespace {

std::string show_slice(const Layout& layout, const Index& start, const Index& size,
                       const Expected<Layout>& got) {
  return show(layout) + "\n  from " + show(start) + " size " + show(size) + show(got);
}

// Compares slice with a table of all its elements; returns the complaint, empty where it is right.
std::string complaint(const Layout& layout, const Index& start, const Index& size) {
  const auto got = slice(layout, start, size);
  const Oracle whole(layout);
  std::vector<Place> table;
  std::vector<std::int64_t> flats;
  each_index(size, [&](const Index& x) {
    Index y = x;
    for (std::size_t d = 0; d < y.size(); ++d) y[d] += start[d];
    flats.push_back(whole.flat(y).value());
    table.push_back(whole.affine(flats.back()));
  });
  if (got.ok() != some_digits_give(table))
    return (got ? "yes, but no digits give this:" : "no, but there is a layout:") +
           show_slice(layout, start, size, got);
  if (!got) return "";
  for (std::size_t d = 0; d < size.size(); ++d)
    if (got->dims()[d] != DimInfo{size[d], size[d], 0, 0, 0})
      return "wrong dimensions:" + show_slice(layout, start, size, got);
  if (got->rank() != size.size() ||
      (!layout.partials().empty() && got->reduce() != layout.reduce()))
    return "wrong rank or reduction:" + show_slice(layout, start, size, got);
  const Oracle part(*got);
  for (std::size_t i = 0; i < flats.size(); ++i)
    if (part.cells(static_cast<std::int64_t>(i)) != whole.cells(flats[i]))
      return "wrong cells at " + std::to_string(i) + show_slice(layout, start, size, got);
  return "";
}

void require_right(const Layout& layout, const Index& start, const Index& size) {
  const std::string wrong = complaint(layout, start, size);
  require(wrong.empty(), [&] { return wrong; });
}

// A box of indices that all have cells; none where a dimension has no such index.
bool random_box(Choices& choices, const Layout& layout, Index& start, Index& size) {
  for (const DimInfo& dim : layout.dims()) {
    const std::int64_t low = std::max<std::int64_t>(0, dim.origin);
    const std::int64_t high = std::min(number(dim.size), dim.origin + number(dim.padded));
    if (low >= high) return false;
    start.push_back(choices.between(low, high - 1));
    const std::int64_t most = high - start.back();
    size.push_back(choices.one_in(3) ? choices.between(1, most) : most);
    if (choices.one_in(4)) {
      start.back() = low;
      size.back() = high - low;
    }
  }
  return true;
}

HEDDLE_LAW_REFUSING(Slice, IsRightAndExact, 0.2) {
  const Layout layout = random_layout(choices, {});
  Index start, size;
  if (!random_box(choices, layout, start, size)) leave_out();
  require_right(layout, start, size);
}

// One dimension of several digits whose strides often fit together by chance.
HEDDLE_LAW(Slice, OfOneDimensionIsRightAndExact) {
  LayoutParts parts;
  std::int64_t total = 1;
  for (std::int64_t n = choices.between(1, 4); n > 0; --n) {
    const std::int64_t extent = choices.between(2, n > 2 ? 3 : 6);
    parts.digits.push_back(
        {extent, choices.between(-3, 12), choices.one_in(4) ? world().lane : world().mem});
    total *= extent;
  }
  parts.dims = {{total, total, 0, 0, 0}};
  const Layout layout = Layout::make(parts).value();
  const std::int64_t start = choices.below(total);
  const std::int64_t size = choices.between(1, total - start);
  require_right(layout, Index{start}, Index{size});
}

// Two dimensions with few strides: what one dimension cannot say alone, both together might.
HEDDLE_LAW(Slice, OfTwoDimensionsIsRightAndExact) {
  LayoutParts parts;
  for (int d = 0; d < 2; ++d) {
    const std::int64_t extent = choices.pick({2, 3, 4, 6, 8});
    for (const std::int64_t e : choices.pick(factorizations(extent)))
      parts.digits.push_back(
          {e, choices.between(-2, 6), choices.one_in(5) ? world().lane : world().mem});
    parts.dims.push_back({extent, extent, 0, 0, 0});
  }
  const Layout layout = Layout::make(parts).value();
  Index start, size;
  random_box(choices, layout, start, size);
  require_right(layout, start, size);
}

// A layout of at most 4,096 elements, cut on one side only so that the cut follows some digit.
HEDDLE_LAW_REFUSING(Slice, OfLargeLayoutsIsRight, 0.1) {
  Recipe recipe;
  recipe.most = choices.pick({100, 256, 1000});
  recipe.uneven = false;
  const Layout layout = random_layout(choices, recipe);
  Index start, size;
  random_box(choices, layout, start, size);
  const auto got = slice(layout, start, size);
  if (!got) return;
  const Oracle whole(layout);
  const Oracle part(*got);
  each_index(size, [&](const Index& x) {
    Index y = x;
    for (std::size_t d = 0; d < y.size(); ++d) y[d] += start[d];
    require(part.cells(flatten(size, x)) == whole.cells(*whole.flat(y)),
            [&] { return show_slice(layout, start, size, got); });
  });
}

// A slice of a slice is the slice from the sum of the starts.
HEDDLE_LAW_REFUSING(Slice, OfASliceIsASlice, 0.2) {
  Recipe recipe;
  recipe.uneven = false;
  const Layout layout = random_layout(choices, recipe);
  Index start, size, inner_start, inner_size;
  random_box(choices, layout, start, size);
  const auto once = slice(layout, start, size);
  if (!once) return;
  random_box(choices, *once, inner_start, inner_size);
  const auto twice = slice(*once, inner_start, inner_size);
  for (std::size_t d = 0; d < start.size(); ++d) start[d] += inner_start[d];
  const auto direct = slice(layout, start, inner_size);
  require(twice.ok() == direct.ok() && (!twice || *twice == *direct),
          [&] { return show(layout) + show(once) + show(twice) + show(direct); });
}

HEDDLE_LAW_REFUSING(Slice, OutsideIsRefused, 0.4) {
  const Layout layout = random_layout(choices, {});
  Index start, size;
  if (layout.rank() == 0 || !random_box(choices, layout, start, size)) leave_out();
  const auto d = static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(layout.rank())));
  const std::int64_t end = number(layout.dims()[d].size);
  switch (choices.below(4)) {
    case 0:
      size[d] = end - start[d] + choices.between(1, 5);
      break;
    case 1:
      start[d] = -choices.between(1, 5);
      break;
    case 2:
      size[d] = choices.between(-3, 0);
      break;
    default:
      start[d] = end;
      break;
  }
  require(!slice(layout, start, size), [&] { return show(layout) + show(start) + show(size); });
}

// Every cut of every list of digits with these sizes and a few strides.
TEST(Slice, EveryCutOfSmallDigitsIsRightAndExact) {
  const std::vector<std::pair<std::int64_t, AxisId>> steps = {{1, world().mem},  {2, world().mem},
                                                              {3, world().mem},  {-1, world().mem},
                                                              {1, world().lane}, {0, kNoAxis}};
  int cuts = 0;
  for (const std::int64_t total : {4, 6, 8, 12})
    for (const Index& extents : factorizations(total))
      each_index(Index(extents.size(), static_cast<std::int64_t>(steps.size())),
                 [&](const Index& way) {
                   LayoutParts parts;
                   parts.dims = {{total, total, 0, 0, 0}};
                   for (std::size_t i = 0; i < extents.size(); ++i) {
                     const auto& [stride, axis] = steps[static_cast<std::size_t>(way[i])];
                     parts.digits.push_back({extents[i], stride, axis});
                   }
                   const Layout layout = Layout::make(parts).value();
                   for (std::int64_t start = 0; start < total; ++start)
                     for (std::int64_t size = 1; start + size <= total; ++size) {
                       const std::string wrong = complaint(layout, {start}, {size});
                       ASSERT_EQ(wrong, "");
                       ++cuts;
                     }
                 });
  EXPECT_GT(cuts, 50'000);
}

// Every box of small two-dimensional layouts; the dimensions need not separate.
TEST(Slice, EveryBoxOfSmallPlanesIsRightAndExact) {
  int boxes = 0;
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{2, 4}, {3, 4}, {4, 3}, {2, 6}})
    for (const Index& extents : factorizations(rows * columns))
      each_index(Index(extents.size(), 4), [&](const Index& way) {
        LayoutParts parts;
        parts.dims = {{rows, rows, 0, 0, 0}, {columns, columns, 0, 0, 0}};
        for (std::size_t i = 0; i < extents.size(); ++i)
          parts.digits.push_back({extents[i], way[i] + 1, world().mem});
        const Layout layout = Layout::make(parts).value();
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c)
            each_index(Index{rows - r, columns - c}, [&](const Index& less) {
              const std::string wrong =
                  complaint(layout, {r, c}, {rows - r - less[0], columns - c - less[1]});
              ASSERT_EQ(wrong, "");
              ++boxes;
            });
      });
  EXPECT_GT(boxes, 10'000);
}

}  // namespace
}  // namespace heddle::property
