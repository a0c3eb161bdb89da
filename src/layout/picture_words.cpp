// A layout in words.
#include <algorithm>

#include "layout/digits.h"
#include "layout/picture.h"

namespace heddle {

using namespace detail;

std::string spaced(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ' ');
  return text;
}

namespace {

std::string plural(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", spaced(count), noun, count == 1 ? "" : "s");
}

// "split 2 ways over node, then 4 ways over gpu, 8 each"
std::string split_words(const Digits& digits, const AxisRegistry& axes, const Picture& picture) {
  std::size_t outer = digits.size();
  while (outer > 0 && !picture.names(digits[outer - 1].axis)) --outer;
  if (outer == 0) return "whole";
  std::string text;
  bool splits = false;
  for (std::size_t i = 0; i < outer; ++i) {
    const Iter& digit = digits[i];
    const std::string comma = text.empty() || text.ends_with(' ') ? "" : ", ";
    if (picture.names(digit.axis)) {
      text += fmt::format("{}{} {} ways over {}{}", comma, splits ? "then" : "split",
                          spaced(digit.extent.factor()), axes[digit.axis].name,
                          digit.stride.factor() < 0 ? ", last first" : "");
      splits = true;
    } else {
      text += fmt::format("{}{} rounds, each ", comma, spaced(digit.extent.factor()));
      splits = false;
    }
  }
  return fmt::format("{}, {} each", text, spaced(picture.inner_run(digits)));
}

// What padding does to the blocks of one dimension.
std::string uneven_words(const Picture::Side& side) {
  std::string text;
  if (side.origin < 0) text += fmt::format("; {} of padding come first", spaced(-side.origin));
  if (side.origin > 0)
    text += side.origin == 1 ? "; index 0 has no place"
                             : fmt::format("; indices 0-{} have no place", side.origin - 1);
  const std::int64_t end = side.size - side.origin;  // in the padded box
  if (end > side.padded)
    text += fmt::format("; indices from {} have no place", side.origin + side.padded);
  if (end >= side.padded || side.size == 0) return text;
  if (side.cells == 1) return fmt::format("{}; padded to {}", text, spaced(side.padded));
  const std::int64_t last = end / side.cell;  // the block that is cut
  const std::int64_t rest = end % side.cell;
  const std::int64_t empty = side.cells - last - (rest > 0 ? 1 : 0);
  if (rest > 0) text += fmt::format("; {} has {}", empty == 0 ? "the last" : "one", spaced(rest));
  if (empty > 0)
    text += fmt::format("; {} of {} blocks {} empty", spaced(empty), spaced(side.cells),
                        empty == 1 ? "is" : "are");
  return text;
}

std::string side_name(std::size_t d, std::size_t rank, std::int64_t size) {
  if (rank == 1) return plural(size, "element");
  if (rank == 2) return plural(size, d == 0 ? "row" : "column");
  return fmt::format("dim {}: {}", d, spaced(size));
}

void describe_dims(const Layout& layout, const AxisRegistry& axes, const Picture& picture,
                   std::vector<Remark>& out) {
  const auto groups = group(layout, layout.padded_shape());
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const Picture::Side& side = picture.sides[d];
    std::string text =
        groups ? split_words((*groups)[d], axes, picture) : "shares digits with the others";
    out.push_back({side_name(d, layout.rank(), side.size), text + uneven_words(side)});
  }
  if (groups) return;
  out.push_back({"row by row", split_words(layout.digits(), axes, picture)});
}

// "node and gpu: 2 x 8 = 16"
std::string counted(const Digits& iters, const AxisRegistry& axes, std::int64_t total) {
  std::string names, factors;
  std::size_t count = 0;
  for (std::size_t i = 0; i < iters.size(); ++i) {
    std::int64_t extent = iters[i].extent.factor();
    while (i + 1 < iters.size() && iters[i + 1].axis == iters[i].axis)
      extent *= iters[++i].extent.factor();
    names += (count == 0 ? "" : " and ") + axes[iters[i].axis].name;
    factors += (count == 0 ? "" : " x ") + spaced(extent);
    ++count;
  }
  return fmt::format("{}: {}{}", names, count > 1 ? factors + " = " : "", spaced(total));
}

const char* spoken(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return "a sum";
    case ReduceOp::product:
      return "a product";
    case ReduceOp::min:
      return "a minimum";
    case ReduceOp::max:
      return "a maximum";
    case ReduceOp::logical_and:
      return "a logical and";
    case ReduceOp::logical_or:
      return "a logical or";
  }
  return "a reduction";
}

// Where the layout begins, and mesh axes that it leaves alone.
void describe_places(const Layout& layout, const AxisRegistry& axes, bool halo,
                     std::vector<Remark>& out) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  for (const AxisOffset& o : layout.offset()) {
    const AxisInfo& axis = axes[o.axis];
    if (halo && axis.kind == AxisKind::memory) continue;  // room for the halo
    const Dim reach = span(layout, o.axis).value();
    add(fmt::format("{} position {} of {}", reach.is(1) ? "at" : "from", spaced(o.value.factor()),
                    axis.name));
  }
  const std::vector<AxisId> used = axes_of(layout);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto id = static_cast<AxisId>(i);
    if (axes[id].kind == AxisKind::mesh && axes[id].size > 1 &&
        !std::binary_search(used.begin(), used.end(), id))
      add(fmt::format("only at position 0 of {}", axes[id].name));
  }
  if (!text.empty()) out.push_back({"place", text});
}

}  // namespace

std::vector<Remark> describe_layout(const Layout& layout, const AxisRegistry& axes,
                                    const Picture& picture) {
  std::vector<Remark> out;
  describe_dims(layout, axes, picture, out);
  std::string halo;
  for (std::size_t d = 0; d < layout.rank(); ++d) {
    const DimInfo& dim = layout.dims()[d];
    if (dim.has_halo())
      halo += fmt::format("{}dim {}: each block also keeps {} before it and {} after it",
                          halo.empty() ? "" : "; ", d, spaced(dim.halo_lo), spaced(dim.halo_hi));
  }
  if (!halo.empty()) out.push_back({"halo", halo});
  if (!layout.replicas().empty())
    out.push_back({"copies", fmt::format("replicated over {} copies",
                                         counted(layout.replicas(), axes, picture.copies))});
  if (!layout.partials().empty())
    out.push_back(
        {"pending", fmt::format("{} is pending over {} contributions", spoken(layout.reduce()),
                                counted(layout.partials(), axes, picture.contributions))});
  describe_places(layout, axes, !halo.empty(), out);
  if (const auto& z = layout.swizzle())
    out.push_back({"swizzle", fmt::format("places on {} are swizzled: {} bits, base {}, shift {}",
                                          axes[z->axis].name, z->bits, z->base, z->shift)});
  return out;
}

std::vector<LegendEntry> legend_of(const Picture& picture) {
  std::vector<LegendEntry> legend;
  std::string names, stars;
  for (const Picture::Axis& a : picture.axes) {
    names += (names.empty() ? "" : ",") + a.name;
    if (a.everywhere()) stars += (stars.empty() ? "" : " and ") + a.name;
  }
  if (!names.empty()) {
    std::string text = fmt::format("position on {}", names);
    if (!stars.empty()) text += fmt::format("; * is every position of {}", stars);
    legend.push_back({LegendEntry::label, text});
  }
  if (picture.copies > 1)
    legend.push_back({LegendEntry::copies,
                      fmt::format("replicated: {} copies of each block", spaced(picture.copies))});
  if (picture.contributions > 1)
    legend.push_back(
        {LegendEntry::pending, fmt::format("{} of {} contributions is pending",
                                           spoken(picture.reduce), spaced(picture.contributions))});
  if (picture.uneven()) legend.push_back({LegendEntry::padding, "padding: no element lies there"});
  return legend;
}

std::string cut_note(const Picture& picture, std::int64_t rows, std::int64_t columns) {
  std::string text;
  if (rows < picture.all_rows)
    text += fmt::format("first {} of {} rows of blocks", rows, spaced(picture.all_rows));
  if (columns < picture.all_columns)
    text += fmt::format("{}first {} of {} columns of blocks", text.empty() ? "" : ", ", columns,
                        spaced(picture.all_columns));
  return text;
}

}  // namespace heddle
