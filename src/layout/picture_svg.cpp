// Pictures as SVG files that need nothing else: no fonts, scripts or style sheets.
#include <algorithm>

#include "layout/picture.h"

namespace heddle {
namespace {

constexpr double kWidth = 960;
constexpr double kMargin = 28;
constexpr double kLetter = 7.3;  // width of a letter of 12 px
constexpr double kLine = 20;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return out;
}

std::string cut_to(const std::string& text, double width, double letter) {
  const auto most = static_cast<std::size_t>(std::max(width / letter, 4.0));
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

double letters(const std::string& text) { return static_cast<double>(text.size()) * kLetter; }

struct Rect {
  double x, y, width, height;
};

constexpr std::string_view kHead = R"svg(<defs>
<pattern id="copies" width="7" height="7" patternUnits="userSpaceOnUse"
 patternTransform="rotate(45)"><path d="M0 0v7" stroke="#000" stroke-opacity="0.35"
 stroke-width="2"/></pattern>
<pattern id="pending" width="22" height="22" patternUnits="userSpaceOnUse">
<path d="M11 7v8M7 11h8" stroke="#000" stroke-opacity="0.6" stroke-width="1.5"/></pattern>
<pattern id="padding" width="8" height="8" patternUnits="userSpaceOnUse">
<circle cx="4" cy="4" r="1" fill="#999"/></pattern>
</defs>
<style>text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#111}.dim{fill:#666}
.name{font-size:16px;font-weight:bold}.cell{text-anchor:middle}</style>
)svg";

class SvgPicture {
 public:
  SvgPicture(const Picture& picture, const std::string& title, const std::vector<Remark>& remarks)
      : p_(picture), title_(title), remarks_(remarks) {
    std::size_t longest = 0;
    for (std::int64_t r = 0; r < p_.rows; ++r) longest = std::max(longest, row_label(p_, r).size());
    left_ =
        std::min(kMargin + static_cast<double>(longest) * kLetter + (longest > 0 ? 10 : 0), 300.0);
    const double room = kWidth - kMargin - left_;
    cell_width_ = std::min(room / static_cast<double>(p_.columns), p_.columns == 1 ? 480.0 : 160.0);
    cell_height_ = std::clamp(480.0 / static_cast<double>(p_.rows), 14.0, 44.0);
  }

  std::string str() {
    write_heading();
    write_column_labels();
    write_row_labels();
    for (const PictureBlock& b : blocks_of(p_, p_.rows, p_.columns)) write_block(b);
    y_ += cell_height_ * static_cast<double>(p_.rows) + 2 * kLine;
    write_legend();
    const double height = y_ + kMargin - kLine;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0} {1:.0f}\">\n<title>{2}</title>\n{3}"
               "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
               kWidth, height, escaped(title_), kHead) +
           body_ + "</svg>\n";
  }

 private:
  void text(double x, double y, const std::string& what, const std::string& attributes = "") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes,
                         escaped(what));
  }
  void rect(const Rect& r, const std::string& fill, bool border = false) {
    if (r.width <= 0 || r.height <= 0) return;
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n", r.x,
        r.y, r.width, r.height, fill, border ? " stroke=\"#333\"" : "");
  }

  void write_heading() {
    y_ = kMargin + 12;
    text(kMargin, y_, cut_to(title_, kWidth - 2 * kMargin, 9.8), " class=\"name\"");
    y_ += kLine + 4;
    std::size_t widest = 0;
    for (const Remark& r : remarks_) widest = std::max(widest, r.what.size());
    const double indent = kMargin + static_cast<double>(widest + 2) * kLetter;
    for (const Remark& r : remarks_) {
      text(kMargin, y_, r.what, " class=\"dim\"");
      text(indent, y_, cut_to(r.text, kWidth - kMargin - indent, kLetter));
      y_ += kLine;
    }
    y_ += kLine;
  }

  // As many as fit next to each other.
  void write_column_labels() {
    if (p_.sides.empty()) return;
    double free = 0;
    for (std::int64_t c = 0; c < p_.columns; ++c) {
      const CellRange range = column_range(p_, c);
      if (range.empty()) continue;
      std::string label = range.str();
      if (letters(label) > cell_width_) label = std::to_string(range.lo);
      const double x = left_ + (static_cast<double>(c) + 0.5) * cell_width_;
      if (x - letters(label) / 2 < free) continue;
      text(x, y_, label, " class=\"dim\" text-anchor=\"middle\"");
      free = x + letters(label) / 2 + kLetter;
    }
    y_ += 8;
  }

  void write_row_labels() {
    for (std::int64_t r = 0; r < p_.rows; ++r) {
      const std::string label = cut_to(row_label(p_, r), left_ - kMargin, kLetter);
      if (label.empty()) continue;
      text(left_ - 8, y_ + (static_cast<double>(r) + 0.5) * cell_height_ + 4, label,
           " class=\"dim\" text-anchor=\"end\"");
    }
  }

  // The part of a block that has elements: padding is cut off at its sides.
  Rect held_part(const PictureBlock& b, const Rect& whole) const {
    Rect part = whole;
    const auto cut = [](const CellRange& first, const CellRange& last, double cell, double& from,
                        double& size) {
      const auto share = [](const CellRange& r, std::int64_t n) {
        return static_cast<double>(n) / static_cast<double>(r.before + r.hi - r.lo + r.after);
      };
      const double before = share(first, first.before) * cell;
      from += before;
      size = std::max(size - before - share(last, last.after) * cell, 2.0);
    };
    if (p_.sides.empty()) return part;
    cut(column_range(p_, b.column), column_range(p_, b.column + b.columns - 1), cell_width_, part.x,
        part.width);
    if (p_.sides.size() < 2) return part;
    cut(row_ranges(p_, b.row).back(), row_ranges(p_, b.row + b.rows - 1).back(), cell_height_,
        part.y, part.height);
    return part;
  }

  std::string tooltip(const PictureBlock& b, const Picture::Cell& cell) const {
    std::string where;
    const auto from = row_ranges(p_, b.row);
    const auto to = row_ranges(p_, b.row + b.rows - 1);
    for (std::size_t d = 0; d < from.size(); ++d)
      where += CellRange{from[d].lo, std::max(from[d].hi, to[d].hi), 0, 0}.str() + ", ";
    if (!p_.sides.empty())
      where += CellRange{column_range(p_, b.column).lo,
                         column_range(p_, b.column + b.columns - 1).hi, 0, 0}
                   .str();
    if (!cell.held) return "padding";
    return fmt::format("[{}] on {}", where, holder_words(p_, cell));
  }

  // In the middle of a rectangle, smaller where it must be, on clear ground where it is marked.
  void write_label(const Rect& r, const std::string& label, const Hue& hue) {
    const double size = std::min({12.0, 12 * (r.width - 4) / letters(label), r.height - 2});
    if (size < 6) return;
    const double x = r.x + r.width / 2;
    const double y = r.y + r.height / 2;
    const double width = letters(label) * size / 12 + 4;
    if (p_.copies > 1 || p_.contributions > 1)
      rect({x - width / 2, y - size * 0.65, width, size * 1.3}, hue.rgb);
    text(x, y + size * 0.36, label,
         size < 12 ? fmt::format(" class=\"cell\" style=\"font-size:{:.1f}px\"", size)
                   : " class=\"cell\"");
  }

  void write_block(const PictureBlock& b) {
    const Picture::Cell& cell = p_.cell(b.row, b.column);
    const Rect whole = {left_ + static_cast<double>(b.column) * cell_width_,
                        y_ + static_cast<double>(b.row) * cell_height_,
                        static_cast<double>(b.columns) * cell_width_,
                        static_cast<double>(b.rows) * cell_height_};
    body_ += fmt::format("<g><title>{}</title>\n", escaped(tooltip(b, cell)));
    if (!cell.held) {
      rect(whole, "url(#padding)");
    } else {
      const Rect part = held_part(b, whole);
      if (part.width < whole.width || part.height < whole.height) rect(whole, "url(#padding)");
      const Hue hue = hue_of(p_, cell);
      rect(part, hue.rgb, true);
      if (p_.copies > 1) rect(part, "url(#copies)");
      if (p_.contributions > 1) rect(part, "url(#pending)");
      write_label(part, holder_label(p_, cell), hue);
    }
    body_ += "</g>\n";
  }

  void write_legend() {
    const Picture::Cell& example = first_held();
    const Hue hue = example.held ? hue_of(p_, example) : Hue{231, "#ffffff"};
    for (const LegendEntry& entry : legend_of(p_)) {
      const Rect swatch = {kMargin, y_ - 12, 44, 16};
      rect(swatch, entry.mark == LegendEntry::padding ? "url(#padding)" : hue.rgb, true);
      if (entry.mark == LegendEntry::label) write_label(swatch, holder_label(p_, example), hue);
      if (entry.mark == LegendEntry::copies) rect(swatch, "url(#copies)");
      if (entry.mark == LegendEntry::pending)
        body_ += fmt::format("<path d=\"M{0} {1}v8M{2} {3}h8\" stroke=\"#000\"/>\n", kMargin + 22,
                             y_ - 8, kMargin + 18, y_ - 4);
      text(kMargin + 56, y_, entry.text);
      y_ += kLine + 2;
    }
    const std::string cut = cut_note(p_, p_.rows, p_.columns);
    if (cut.empty()) return;
    text(kMargin, y_, "shown: " + cut, " class=\"dim\"");
    y_ += kLine;
  }

  const Picture::Cell& first_held() const {
    for (const Picture::Cell& cell : p_.cells)
      if (cell.held) return cell;
    return p_.cells.front();
  }

  const Picture& p_;
  const std::string& title_;
  const std::vector<Remark>& remarks_;
  std::string body_;
  double left_ = 0, cell_width_ = 0, cell_height_ = 0;
  double y_ = 0;  // the next line goes here
};

}  // namespace

std::string picture_svg(const Picture& picture, const std::string& title,
                        const std::vector<Remark>& remarks) {
  return SvgPicture(picture, title, remarks).str();
}

}  // namespace heddle
