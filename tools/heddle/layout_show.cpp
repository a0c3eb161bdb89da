// heddle layout show: a layout in words and as a picture.
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "heddle/dtype.h"
#include "heddle/notation.h"
#include "layout/picture.h"
#include "layout_commands.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kTextRows = 24;
constexpr std::int64_t kMostCells = 64;  // in each direction, in JSON
constexpr std::int64_t kSvgRows = 32, kSvgColumns = 24;
constexpr std::size_t kHoldersListed = 16;  // of one cell, in JSON

struct ShowOptions {
  LayoutOptions common;
  std::string layout;
  std::optional<std::string> svg;  // a file, or - for standard output
  std::vector<std::string> axes;
  std::string dtype = "f32";
  int width = 0;
};

// The end of the word that begins at `at`. A number such as 1 024 is one word.
std::size_t word_end(const std::string& text, std::size_t at) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (at = text.find(' ', at); at < text.size(); at = text.find(' ', at + 1))
    if (at == 0 || !digit(at - 1) || !digit(at + 1)) return at;
  return text.size();
}

// Breaks `text` between words; lines after the first are indented.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    if (used > 0 && used + 1 + end - at > columns) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    }
    out += (used > 0 ? " " : "") + text.substr(at, end - at);
    used += (used > 0 ? 1 : 0) + end - at;
    at = end + 1;
  }
  return out;
}

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

struct Shown {
  LayoutWorld world;
  Layout layout;
  std::string text;
  DType type = DType::f32;
  std::vector<AxisId> axes;

  Picture picture(std::int64_t rows, std::int64_t columns) const {
    return draw(layout, world.axes, {axes, rows, columns}).value();
  }
};

Shown read(const ShowOptions& options) {
  Shown shown{layout_value(make_world(options.common.said, {options.layout})),
              {},
              "",
              parse_dtype(options.dtype).value(),
              {}};
  shown.layout = layout_value(shown.world.read(options.layout));
  if (const Verdict valid = validate(shown.layout, shown.world.axes); !valid)
    throw Error(fmt::format("{}: {}", shortened(options.layout, 60), valid.reason()));
  // No plan could move what counts one thing on two axes, so it is no layout to look at either.
  LayoutWorld moved = shown.world;
  (void)add_kernel_axes(moved, options.common.said, {shown.layout}).value();
  for (const std::string& name : options.axes) {
    const auto axis = shown.world.axes.require(name);
    if (!axis) throw Error(fmt::format("--axes {}: {}", shortened(name, 60), axis.reason()));
    shown.axes.push_back(*axis);
  }
  shown.text = print_layout(shown.layout, shown.world.axes);
  return shown;
}

std::vector<Remark> remarks_of(const Shown& shown, const Picture& picture) {
  std::vector<Remark> remarks;
  const std::string origin = shown.world.inferred ? " (from the layout; --mesh sets it)" : "";
  if (!shown.world.mesh.axes().empty())
    remarks.push_back({"mesh", shown.world.mesh.str() + origin});
  for (Remark& remark : describe_layout(shown.layout, shown.world.axes, picture))
    remarks.push_back(std::move(remark));
  remarks.push_back({"held", held_words(picture, shown.type)});
  return remarks;
}

void write_text(const Shown& shown, const ShowOptions& options) {
  const Style style = Style::of_stdout(options.common.report.plain);
  const int columns = options.width > 0 ? options.width : style.columns();
  const Picture picture = shown.picture(kTextRows, columns);
  const std::vector<Remark> remarks = remarks_of(shown, picture);
  std::size_t widest = 0;
  for (const Remark& remark : remarks) widest = std::max(widest, remark.what.size());
  const std::size_t indent = widest + 4;
  const std::size_t room =
      std::max<std::size_t>(static_cast<std::size_t>(columns), indent + 20) - indent;
  std::string text = style.bold(shown.text) + "\n";
  for (const Remark& remark : remarks)
    text += fmt::format("  {}  {}\n", style.dim(fmt::format("{:<{}}", remark.what, widest)),
                        wrapped(remark.text, room, indent));
  if (picture.elements > 0)
    text += "\n" + picture_text(picture, {style.colour(), style.unicode(), columns});
  if (picture.elements > 1 && picture.axes.empty())
    text += "\n  --axes mem draws where in memory each element lies\n";
  if (options.svg) text += fmt::format("\ndrawn in {}\n", *options.svg);
  write_stdout(text);
}

Json dims_json(const Shown& shown, const Picture& picture) {
  Json dims = Json::array();
  for (std::size_t d = 0; d < picture.sides.size(); ++d) {
    const Picture::Side& side = picture.sides[d];
    const DimInfo& info = shown.layout.dims()[d];
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

void write_report(const Shown& shown, const ShowOptions& options) {
  const Picture picture = shown.picture(kMostCells, kMostCells);
  Json mesh = Json::object();
  for (const MeshAxis& axis : shown.world.mesh.axes()) mesh[axis.name] = axis.size;
  Json words = Json::array();
  for (const Remark& remark : remarks_of(shown, picture))
    words.push_back({{"what", remark.what}, {"text", remark.text}});
  Json report = {{"layout", shown.text},
                 {"full", print_layout_full(shown.layout, shown.world.axes)},
                 {"mesh", mesh},
                 {"mesh_inferred", shown.world.inferred},
                 {"dims", dims_json(shown, picture)},
                 {"axes", axes_json(picture)},
                 {"copies", picture.copies},
                 {"contributions", picture.contributions},
                 {"reduce", name(picture.reduce)},
                 {"elements", picture.elements},
                 {"elements_per_holder", picture.per_holder},
                 {"bytes_per_holder", bytes_json(picture.stored, shown.type)},
                 {"holders", picture.holders},
                 {"all_holders", picture.all_holders},
                 {"words", words},
                 {"rows", picture.rows},
                 {"columns", picture.columns},
                 {"all_rows", picture.all_rows},
                 {"all_columns", picture.all_columns},
                 {"cells", cells_json(picture)}};
  if (picture.contributions == 1) report["reduce"] = nullptr;
  if (options.svg) report["svg"] = *options.svg;
  write_json(report);
}

void check_svg(const ShowOptions& options) {
  if (options.svg == "")
    throw CLI::ValidationError("--svg", "write the name of a file, or - for standard output");
  if (options.svg == "-" && options.common.report.json)
    throw CLI::ValidationError("--svg -", "standard output takes either --json or the picture");
}

void show(const ShowOptions& options) {
  check_svg(options);
  const Shown shown = read(options);
  if (options.svg) {
    const Picture picture = shown.picture(kSvgRows, kSvgColumns);
    const std::string svg = picture_svg(picture, shown.text, remarks_of(shown, picture));
    if (options.svg == "-") return write_stdout(svg);
    if (const Verdict written = write_file(*options.svg, svg); !written)
      throw Error(written.reason());
  }
  if (options.common.report.json) {
    write_report(shown, options);
  } else {
    write_text(shown, options);
  }
}

// Empty where --width is well; CLI::Range says of words that they are out of range.
std::string columns_of_text(const std::string& text) {
  int columns = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, columns);
  if (problem == std::errc() && stop == end && columns >= 40 && columns <= 1000) return "";
  return fmt::format("'{}' is no width: write a whole number from 40 to 1000", shortened(text, 40));
}

}  // namespace

void add_layout_show(CLI::App& layout) {
  auto* const command = layout.add_subcommand("show", "A layout in words and as a picture");
  const auto options = std::make_shared<ShowOptions>();
  command->add_option("LAYOUT", options->layout, "For example \"(64:8@gpu, 128)\"")->required();
  add_layout_options(*command, options->common);
  command->add_option("--axes", options->axes, "Axes whose positions are drawn: warp,lane")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--svg", options->svg,
                      "Draw the picture into this file too; - for standard output alone");
  command->add_option("--dtype", options->dtype, "Element type that bytes are counted for")
      ->capture_default_str();
  command->add_option("--width", options->width, "Columns of text")
      ->type_name("40..1000")
      ->check(columns_of_text);
  command->callback([options] { show(*options); });
}

}  // namespace heddle::cli
