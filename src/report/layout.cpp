// A layout in words and as a picture.
#include <algorithm>

#include "base/text.h"
#include "heddle/layout_report.h"
#include "heddle/notation.h"
#include "layout/picture.h"
#include "report/json.h"
#include "report/words.h"

namespace heddle {

using report::Json;

namespace {

constexpr std::int64_t kTextRows = 24;
constexpr std::int64_t kMostCells = 64;  // in each direction, in JSON
constexpr std::int64_t kSvgRows = 32, kSvgColumns = 24;
constexpr std::size_t kHoldersListed = 16;  // of one cell, in JSON

std::string bytes_of(std::int64_t elements, DType type) {
  return format_bytes(static_cast<double>(elements) * byte_size(type));
}

// "1 024 of 8 192 elements on each of 8 devices (4.1 kB of f32)"
std::string held_words(const Picture& picture, DType type) {
  if (picture.elements == 0) return "nothing: there are no elements";
  std::string bytes = fmt::format("{} of {}", bytes_of(picture.stored, type), name(type));
  if (picture.stored != picture.per_holder) bytes += " with the halo";
  const std::string share =
      picture.elements == 1 ? "the only element"
      : picture.per_holder >= picture.elements
          ? fmt::format("all {} elements", spaced(picture.elements))
          : fmt::format("{}{} of {} elements", picture.uneven() ? "at most " : "",
                        spaced(picture.per_holder), spaced(picture.elements));
  if (picture.axes.empty()) return fmt::format("{} with one holder ({})", share, bytes);
  const std::string noun = holder_noun(picture) + (picture.all_holders == 1 ? "" : "s");
  const std::string count =
      picture.holders == picture.all_holders
          ? spaced(picture.holders)
          : fmt::format("{} of {}", spaced(picture.holders), spaced(picture.all_holders));
  return fmt::format("{} on {}{} {} ({})", share, picture.holders == 1 ? "" : "each of ", count,
                     noun, bytes);
}

Picture picture_of(const LayoutReport& report, std::int64_t rows, std::int64_t columns) {
  return draw(report.layout, report.world.axes, {report.axes, rows, columns}).value();
}

std::vector<Remark> remarks_of(const LayoutReport& report, const Picture& picture) {
  std::vector<Remark> remarks;
  const std::string origin = report.world.inferred ? " (from the layout; --mesh sets it)" : "";
  if (!report.world.mesh.axes().empty())
    remarks.push_back({"mesh", report.world.mesh.str() + origin});
  for (Remark& remark : describe_layout(report.layout, report.world.axes, picture))
    remarks.push_back(std::move(remark));
  remarks.push_back({"held", held_words(picture, report.type)});
  return remarks;
}

Json dims_json(const LayoutReport& report, const Picture& picture) {
  Json dims = Json::array();
  for (std::size_t d = 0; d < picture.sides.size(); ++d) {
    const Picture::Side& side = picture.sides[d];
    const DimInfo& info = report.layout.dims()[d];
    dims.push_back({{"size", side.size},
                    {"padded", side.padded},
                    {"origin", side.origin},
                    {"halo", {info.halo_lo, info.halo_hi}},
                    {"cell", side.cell},
                    {"cells", side.cells}});
  }
  return dims;
}

Json axes_json(const Picture& picture) {
  Json axes = Json::array();
  for (const Picture::Axis& axis : picture.axes)
    axes.push_back({{"name", axis.name},
                    {"kind", name(axis.kind)},
                    {"positions", axis.positions},
                    {"used", axis.used},
                    {"copies", axis.copies},
                    {"contributions", axis.contributions}});
  return axes;
}

// Each cell with its first and last index in every dimension, and its holders' positions.
Json cells_json(const Picture& picture) {
  Json cells = Json::array();
  for (std::int64_t row = 0; row < picture.rows; ++row)
    for (std::int64_t column = 0; column < picture.columns; ++column) {
      const Picture::Cell& cell = picture.cell(row, column);
      Json json = {{"row", row}, {"column", column}, {"held", cell.held}};
      if (cell.held) {
        Index first, last;
        std::vector<CellRange> ranges = row_ranges(picture, row);
        if (!picture.sides.empty()) ranges.push_back(column_range(picture, column));
        for (const CellRange& range : ranges) first.push_back(range.lo);
        for (const CellRange& range : ranges) last.push_back(range.hi - 1);
        json["first"] = first;
        json["last"] = last;
        json["holders"] = holders_of(picture, cell, kHoldersListed);
        json["holder_count"] = holder_count(picture);
      }
      cells.push_back(std::move(json));
    }
  return cells;
}

// Whole, unless there are too many to count.
Json bytes_json(std::int64_t elements, DType type) {
  constexpr std::int64_t kCounted = std::int64_t{1} << 57;
  if (elements < kCounted) return elements * byte_size(type);
  return static_cast<double>(elements) * byte_size(type);
}

}  // namespace

Expected<LayoutReport> layout_report(const std::string& text, const WorldText& said, DType type,
                                     const std::vector<std::string>& axes) {
  HEDDLE_TRY(LayoutWorld world, make_world(said, {text}));
  HEDDLE_TRY(Layout layout, world.read(text));
  if (const Verdict valid = validate(layout, world.axes); !valid)
    return reason("{}: {}", shortened(text, 60), valid.reason());
  // No plan could move what counts one thing on two axes, so it is no layout to look at either.
  LayoutWorld moved = world;
  HEDDLE_TRY_VOID(add_kernel_axes(moved, said, {layout}));
  LayoutReport report{std::move(world), std::move(layout), type};
  for (const std::string& name : axes) {
    const auto axis = report.world.axes.require(name);
    if (!axis) return reason("axes {}: {}", shortened(name, 60), axis.reason());
    report.axes.push_back(*axis);
  }
  report.notation = print_layout(report.layout, report.world.axes);
  return report;
}

std::string LayoutReport::text(const Style& style) const {
  const Picture picture = picture_of(*this, kTextRows, style.columns());
  const std::vector<Remark> remarks = remarks_of(*this, picture);
  std::size_t widest = 0;
  for (const Remark& remark : remarks) widest = std::max(widest, remark.what.size());
  const std::size_t indent = widest + 4;
  const auto columns = static_cast<std::size_t>(style.columns());
  const std::size_t room = std::max(columns, indent + 20) - indent;
  std::string text = style.bold(notation) + "\n";
  for (const Remark& remark : remarks)
    text += fmt::format("  {}  {}\n", style.dim(fmt::format("{:<{}}", remark.what, widest)),
                        report::wrapped(remark.text, room, indent));
  if (picture.elements > 0)
    text += "\n" + picture_text(picture, {style.colour(), style.unicode(), style.columns()});
  if (picture.elements > 1 && picture.axes.empty())
    text += "\n  --axes mem draws where in memory each element lies\n";
  if (!drawn_in.empty()) text += fmt::format("\ndrawn in {}\n", drawn_in);
  return text;
}

std::string LayoutReport::json() const {
  const Picture picture = picture_of(*this, kMostCells, kMostCells);
  Json mesh = Json::object();
  for (const MeshAxis& axis : world.mesh.axes()) mesh[axis.name] = axis.size;
  Json words = Json::array();
  for (const Remark& remark : remarks_of(*this, picture))
    words.push_back({{"what", remark.what}, {"text", remark.text}});
  Json report = {{"layout", notation},
                 {"full", print_layout_full(layout, world.axes)},
                 {"mesh", mesh},
                 {"mesh_inferred", world.inferred},
                 {"dims", dims_json(*this, picture)},
                 {"axes", axes_json(picture)},
                 {"copies", picture.copies},
                 {"contributions", picture.contributions},
                 {"reduce", name(picture.reduce)},
                 {"elements", picture.elements},
                 {"elements_per_holder", picture.per_holder},
                 {"bytes_per_holder", bytes_json(picture.stored, type)},
                 {"holders", picture.holders},
                 {"all_holders", picture.all_holders},
                 {"words", words},
                 {"rows", picture.rows},
                 {"columns", picture.columns},
                 {"all_rows", picture.all_rows},
                 {"all_columns", picture.all_columns},
                 {"cells", cells_json(picture)}};
  if (picture.contributions == 1) report["reduce"] = nullptr;
  if (!drawn_in.empty()) report["svg"] = drawn_in;
  return report::json_text(report);
}

std::string LayoutReport::svg() const {
  const Picture picture = picture_of(*this, kSvgRows, kSvgColumns);
  return picture_svg(picture, notation, remarks_of(*this, picture));
}

}  // namespace heddle
