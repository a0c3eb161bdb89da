#include "layout/picture.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "layout/digits.h"
#include "layout/map.h"

namespace heddle {

using namespace detail;

namespace {

// How many offsets of one axis are kept, and how many cells are drawn at most.
constexpr std::int64_t kOffsets = 64;
constexpr std::int64_t kMostCells = 1 << 20;
constexpr std::int64_t kMany = std::int64_t{1} << 62;

// The product, or 2^62 where it is more.
std::int64_t times(std::int64_t a, std::int64_t b) {
  const __int128 p = static_cast<__int128>(a) * b;
  return p > kMany ? kMany : static_cast<std::int64_t>(p);
}

std::string unknown_sizes(const Layout& layout, const AxisRegistry& axes) {
  std::vector<SymbolId> seen;
  std::string names, example;
  const auto add = [&](const Dim& dim) {
    for (const SymbolId s : dim.symbols()) {
      if (s == 0 || std::find(seen.begin(), seen.end(), s) != seen.end()) continue;
      seen.push_back(s);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", axes.symbol_name(s));
      example += fmt::format("{}{}=16", example.empty() ? "" : ",", axes.symbol_name(s));
    }
  };
  for (const DimInfo& d : layout.dims())
    for (const Dim& size : {d.size, d.padded}) add(size);
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list)
      for (const Dim& size : {i.extent, i.stride}) add(size);
  for (const AxisOffset& o : layout.offset()) add(o.value);
  return fmt::format("a picture needs numbers for the sizes {}: give them, as in --bind {}", names,
                     example);
}

// Mesh axes, then kernel axes from blocks to lanes.
std::vector<AxisId> holder_axes(const Layout& layout, const AxisRegistry& axes) {
  std::vector<AxisId> chosen = axes_of(layout);
  std::erase_if(chosen, [&](AxisId a) { return axes[a].kind == AxisKind::memory; });
  // The registry has mesh axes in the order of the mesh.
  const auto place = [&](AxisId a) {
    const AxisInfo& axis = axes[a];
    const bool mesh = axis.kind == AxisKind::mesh;
    return std::tuple(axis.kind, mesh ? Scope::world : axis.outer, mesh ? Scope::world : axis.inner,
                      a);
  };
  std::sort(chosen.begin(), chosen.end(), [&](AxisId a, AxisId b) { return place(a) < place(b); });
  return chosen;
}

// The positions of copies and contributions on one axis, from the first.
void add_offsets(Picture::Axis& axis, std::vector<Iter> iters) {
  std::sort(iters.begin(), iters.end(),
            [](const Iter& a, const Iter& b) { return a.stride.factor() < b.stride.factor(); });
  std::int64_t next = 1;
  for (const Iter& i : iters) {
    axis.together = axis.together && i.stride.factor() == next;
    next = times(next, i.extent.factor());
  }
  axis.offsets = {0};
  for (const Iter& i : iters) {
    const auto smaller = static_cast<std::int64_t>(axis.offsets.size());
    for (std::int64_t d = 1; d < i.extent.factor(); ++d)
      for (std::int64_t k = 0; k < smaller; ++k) {
        if (static_cast<std::int64_t>(axis.offsets.size()) == kOffsets) return;
        axis.offsets.push_back(axis.offsets[static_cast<std::size_t>(k)] + d * i.stride.factor());
      }
  }
}

Picture::Axis read_axis(const Layout& layout, const AxisRegistry& axes, AxisId id) {
  Picture::Axis axis;
  axis.axis = id;
  axis.name = axes[id].name;
  axis.kind = axes[id].kind;
  axis.positions = std::max(axes[id].size, range_on(layout.parts(), id).hi + 1);
  std::vector<Iter> fibres;
  for (const Iter& i : layout.digits()) {
    if (i.axis != id) continue;
    axis.used = times(axis.used, i.extent.factor());
    axis.splits = true;
  }
  for (const Iter& i : layout.replicas()) {
    if (i.axis != id) continue;
    fibres.push_back(i);
    axis.copies = times(axis.copies, i.extent.factor());
  }
  for (const Iter& i : layout.partials()) {
    if (i.axis != id) continue;
    fibres.push_back(i);
    axis.contributions = times(axis.contributions, i.extent.factor());
  }
  axis.used = times(axis.used, axis.count());
  add_offsets(axis, std::move(fibres));
  return axis;
}

// Cells where the dimensions share digits: what lies inside one run of the flat order.
void flat_cells(Picture& picture, const Layout& layout) {
  std::int64_t run = picture.inner_run(layout.digits());
  for (std::size_t d = picture.sides.size(); d-- > 0;) {
    Picture::Side& side = picture.sides[d];
    side.cell = std::gcd(run, side.padded);
    run = side.cell == side.padded ? run / side.padded : 1;
  }
}

void find_cells(Picture& picture, const Layout& layout) {
  for (const DimInfo& d : layout.dims())
    picture.sides.push_back({d.size.factor(), d.padded.factor(), d.origin, 1, 1});
  const auto groups = group(layout, layout.padded_shape());
  picture.grouped = groups.ok();
  if (groups)
    for (std::size_t d = 0; d < layout.rank(); ++d)
      picture.sides[d].cell = picture.inner_run((*groups)[d]);
  else
    flat_cells(picture, layout);
  for (Picture::Side& side : picture.sides) side.cells = side.padded / side.cell;
}

// What one holder has, with and without the halo.
void count_elements(Picture& picture, const Layout& layout) {
  for (const Picture::Side& side : picture.sides) {
    const std::int64_t from = std::max<std::int64_t>(side.origin, 0);
    const std::int64_t to = std::min(side.size, side.origin + side.padded);
    picture.elements = times(picture.elements, std::max<std::int64_t>(to - from, 0));
  }
  for (const Iter& i : layout.digits())
    if (!picture.names(i.axis)) picture.per_holder = times(picture.per_holder, i.extent.factor());
  picture.stored = picture.per_holder;
  const auto groups = group(layout, layout.padded_shape());
  for (std::size_t d = 0; groups && d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (!dim.has_halo() || (*groups)[d].empty()) continue;
    const std::int64_t run = (*groups)[d].back().extent.factor();
    picture.stored = times(picture.stored / run, run + dim.halo_lo + dim.halo_hi);
  }
}

void fill_cells(Picture& picture, const Layout& layout) {
  const LayoutMap map(layout, false);
  std::vector<std::ptrdiff_t> slots;  // where each holder axis is in a position; -1: at 0
  for (const Picture::Axis& axis : picture.axes) {
    const auto found = std::find(map.axes().begin(), map.axes().end(), axis.axis);
    slots.push_back(found == map.axes().end() ? -1 : found - map.axes().begin());
  }
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    Index x;
    bool row_held = true;
    for (const CellRange& r : row_ranges(picture, row)) {
      x.push_back(r.lo);
      row_held = row_held && !r.empty();
    }
    if (layout.rank() > 0) x.push_back(0);
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      const CellRange range = column_range(picture, column);
      Picture::Cell& cell = picture.cells.emplace_back();
      if (!row_held || range.empty()) continue;
      if (layout.rank() > 0) x.back() = range.lo;
      const std::vector<std::int64_t> position = map.at(x);
      cell.held = true;
      for (const std::ptrdiff_t s : slots)
        cell.at.push_back(s < 0 ? 0 : position[static_cast<std::size_t>(s)]);
    }
  }
}

}  // namespace

bool Picture::uneven() const {
  return std::any_of(sides.begin(), sides.end(),
                     [](const Side& s) { return s.origin != 0 || s.size < s.padded; });
}

bool Picture::names(AxisId axis) const {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return a.axis == axis; });
}

std::int64_t Picture::inner_run(const Digits& digits) const {
  std::int64_t run = 1;
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (names(digits[i].axis)) break;
    run *= digits[i].extent.factor();
  }
  return run;
}

Expected<Picture> draw(const Layout& layout, const AxisRegistry& axes,
                       const PictureOptions& options) {
  if (!layout.concrete()) return Reason{unknown_sizes(layout, axes)};
  HEDDLE_TRY_VOID(validate(layout, axes));
  if (options.max_rows < 1 || options.max_columns < 1 ||
      options.max_rows > kMostCells / options.max_columns)
    return reason("a picture has between 1 and {} cells", kMostCells);
  Picture picture;
  picture.reduce = layout.reduce();
  for (const AxisId id : options.axes.empty() ? holder_axes(layout, axes) : options.axes) {
    if (!axes.knows(id)) return reason("axis number {} is not in the registry", id);
    if (picture.names(id)) return reason("axis {} is asked for twice", axes[id].name);
    picture.axes.push_back(read_axis(layout, axes, id));
    picture.holders = times(picture.holders, picture.axes.back().used);
    // Of an axis without a size, only positions in use are known.
    const Picture::Axis& axis = picture.axes.back();
    picture.all_holders =
        times(picture.all_holders, axes[id].size > 0 ? axis.positions : axis.used);
  }
  for (const Iter& i : layout.replicas()) picture.copies = times(picture.copies, i.extent.factor());
  for (const Iter& i : layout.partials())
    picture.contributions = times(picture.contributions, i.extent.factor());
  find_cells(picture, layout);
  count_elements(picture, layout);
  picture.all_rows = picture.all_columns = 1;
  for (std::size_t d = 0; d < picture.sides.size(); ++d) {
    std::int64_t& all = d + 1 == picture.sides.size() ? picture.all_columns : picture.all_rows;
    all = times(all, picture.sides[d].cells);
  }
  picture.rows = std::min(picture.all_rows, options.max_rows);
  picture.columns = std::min(picture.all_columns, options.max_columns);
  fill_cells(picture, layout);
  return picture;
}

// ---- reading a picture -------------------------------------------------------------------------

std::string CellRange::str() const {
  if (empty()) return "-";
  return hi - lo == 1 ? fmt::format("{}", lo) : fmt::format("{}-{}", lo, hi - 1);
}

CellRange cell_range(const Picture::Side& side, std::int64_t k) {
  const std::int64_t from = side.origin + k * side.cell;
  const std::int64_t to = from + side.cell;
  CellRange range{std::max<std::int64_t>(from, 0), std::min(to, side.size), 0, 0};
  if (range.empty()) return {0, 0, side.cell, 0};
  range.before = range.lo - from;
  range.after = to - range.hi;
  return range;
}

std::vector<CellRange> row_ranges(const Picture& picture, std::int64_t row) {
  if (picture.sides.empty()) return {};
  std::vector<CellRange> ranges(picture.sides.size() - 1);
  for (std::size_t d = ranges.size(); d-- > 0;) {
    ranges[d] = cell_range(picture.sides[d], row % picture.sides[d].cells);
    row /= picture.sides[d].cells;
  }
  return ranges;
}

CellRange column_range(const Picture& picture, std::int64_t column) {
  if (picture.sides.empty()) return {0, 1, 0, 0};
  return cell_range(picture.sides.back(), column);
}

std::string row_label(const Picture& picture, std::int64_t row) {
  std::string text;
  for (const CellRange& r : row_ranges(picture, row)) text += (text.empty() ? "" : ", ") + r.str();
  return text;
}

std::vector<PictureBlock> blocks_of(const Picture& picture, std::int64_t rows,
                                    std::int64_t columns) {
  std::vector<PictureBlock> blocks;
  std::vector<bool> taken(static_cast<std::size_t>(rows * columns), false);
  const auto place = [&](std::int64_t r, std::int64_t c) {
    return static_cast<std::size_t>(r * columns + c);
  };
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      if (taken[place(r, c)]) continue;
      const Picture::Cell& cell = picture.cell(r, c);
      PictureBlock b{r, c, 1, 1};
      const auto same = [&](std::int64_t i, std::int64_t j) {
        return !taken[place(i, j)] && picture.cell(i, j) == cell;
      };
      while (c + b.columns < columns && same(r, c + b.columns)) ++b.columns;
      const auto row_same = [&](std::int64_t i) {
        for (std::int64_t j = c; j < c + b.columns; ++j)
          if (!same(i, j)) return false;
        return true;
      };
      while (r + b.rows < rows && row_same(r + b.rows)) ++b.rows;
      for (std::int64_t i = r; i < r + b.rows; ++i)
        for (std::int64_t j = c; j < c + b.columns; ++j) taken[place(i, j)] = true;
      blocks.push_back(b);
    }
  return blocks;
}

namespace {

// The positions of a cell on one axis, in short.
std::string positions_on(const Picture::Axis& axis, std::int64_t at, bool star) {
  const std::int64_t count = axis.count();
  if (count == 1) return fmt::format("{}", at);
  if (star && axis.everywhere()) return "*";
  if (axis.together) return fmt::format("{}-{}", at, at + count - 1);
  std::string text;
  for (std::size_t i = 0; i < axis.offsets.size() && i < 3; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : "|", at + axis.offsets[i]);
  return count > 3 ? text + "|.." : text;
}

}  // namespace

std::string holder_label(const Picture& picture, const Picture::Cell& cell) {
  if (!cell.held) return "";
  std::string text;
  for (std::size_t a = 0; a < picture.axes.size(); ++a)
    text += (a == 0 ? "" : ",") + positions_on(picture.axes[a], cell.at[a], true);
  return picture.axes.empty() ? "all" : text;
}

std::string holder_words(const Picture& picture, const Picture::Cell& cell) {
  if (!cell.held) return "padding";
  std::string text;
  for (std::size_t a = 0; a < picture.axes.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", picture.axes[a].name,
                        positions_on(picture.axes[a], cell.at[a], false));
  return picture.axes.empty() ? "the only holder" : text;
}

std::vector<Index> holders_of(const Picture& picture, const Picture::Cell& cell, std::size_t most) {
  if (!cell.held || most == 0) return {};
  std::vector<Index> all = {{}};
  for (std::size_t a = 0; a < picture.axes.size(); ++a) {
    std::vector<Index> next;
    for (const Index& start : all)
      for (const std::int64_t offset : picture.axes[a].offsets) {
        if (next.size() == most) break;
        next.push_back(start);
        next.back().push_back(cell.at[a] + offset);
      }
    all = std::move(next);
  }
  return all;
}

std::int64_t holder_count(const Picture& picture) {
  std::int64_t count = 1;
  for (const Picture::Axis& a : picture.axes) count = times(count, a.count());
  return count;
}

std::string holder_noun(const Picture& picture) {
  const auto& axes = picture.axes;
  const bool mesh = std::all_of(axes.begin(), axes.end(),
                                [](const Picture::Axis& a) { return a.kind == AxisKind::mesh; });
  if (mesh) return axes.empty() ? "holder" : "device";
  if (axes.size() == 1 && axes[0].kind == AxisKind::kernel) return axes[0].name;
  return axes.size() == 1 ? "place" : "holder";
}

Hue hue_of(const Picture& picture, const Picture::Cell& cell) {
  // Light colours that stay apart with each of the three kinds of colour blindness; neighbours
  // in the list differ most.
  static constexpr std::array<Hue, 11> kHues = {{{75, "#5fafff"},
                                                 {218, "#ffafd7"},
                                                 {159, "#afffff"},
                                                 {149, "#afd75f"},
                                                 {172, "#d78700"},
                                                 {117, "#87d7ff"},
                                                 {223, "#ffd7af"},
                                                 {246, "#949494"},
                                                 {176, "#d787d7"},
                                                 {192, "#d7ff87"},
                                                 {71, "#5faf5f"}}};
  std::uint64_t number = 0;
  for (std::size_t a = 0; a < cell.at.size(); ++a)
    if (picture.axes[a].splits)
      number = number * static_cast<std::uint64_t>(picture.axes[a].positions) +
               static_cast<std::uint64_t>(cell.at[a]);
  // The sum of its digits to the base 11, so that rows of any power of two do not line up.
  std::uint64_t sum = 0;
  for (; number > 0; number /= kHues.size()) sum += number % kHues.size();
  return kHues[sum % kHues.size()];
}

}  // namespace heddle
