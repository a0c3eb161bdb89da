// Pictures in a terminal: coloured blocks, or boxes of characters.
#include <algorithm>
#include <array>

#include "layout/picture.h"

namespace heddle {
namespace {

constexpr int kNoColour = -1;
constexpr int kWidest = 16;          // of a cell
constexpr int kWidestAlone = 40;     // of the only cell in a row
constexpr std::int64_t kBoxed = 12;  // rows that are worth a line between them

// A rectangle of characters, each with a background.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        points_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

  void put(int x, int y, std::string_view glyph, int colour) {
    points_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
            static_cast<std::size_t>(x)] = {glyph, colour};
  }
  void write(int x, int y, const std::string& text, int colour) {
    static constexpr std::string_view kAscii =
        " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
        "abcdefghijklmnopqrstuvwxyz{|}~";
    for (const char c : text)
      put(x++, y, kAscii.substr(static_cast<std::size_t>(c - ' '), 1), colour);
  }

  std::string line(int y) const {
    std::string text;
    int now = kNoColour;
    for (int x = 0; x < width_; ++x) {
      const Point& p = points_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                               static_cast<std::size_t>(x)];
      if (p.colour != now) {
        if (now != kNoColour) text += "\x1b[0m";
        if (p.colour != kNoColour) text += fmt::format("\x1b[38;5;16;48;5;{}m", p.colour);
        now = p.colour;
      }
      text += p.glyph;
    }
    if (now != kNoColour) return text + "\x1b[0m";
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  struct Point {
    std::string_view glyph = " ";
    int colour = kNoColour;
  };
  int width_;
  std::vector<Point> points_;
};

// Joins of lines, by the arms they have: 1 up, 2 down, 4 left, 8 right.
constexpr std::array<std::string_view, 16> kJoins = {" ", "╵", "╷", "│", "╴", "┘", "┐", "┤",
                                                     "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
constexpr std::array<std::string_view, 16> kAsciiJoins = {" ", "|", "|", "|", "-", "+", "+", "+",
                                                          "-", "+", "+", "+", "-", "+", "+", "+"};

class TextPicture {
 public:
  TextPicture(const Picture& picture, const PictureStyle& style) : p_(picture), style_(style) {
    boxed_ = !style.colour;
    lined_ = boxed_ && p_.rows <= kBoxed;
    // Long indices of a row leave half of the line to the cells.
    const auto most = static_cast<std::size_t>(std::max(style.columns / 2 - 3, 8));
    for (std::int64_t row = 0; row < p_.rows; ++row) {
      std::string label = row_label(p_, row);
      if (label.size() > most) label = ".." + label.substr(label.size() - most + 2);
      margin_ = std::max(margin_, static_cast<int>(label.size()));
      row_labels_.push_back(std::move(label));
    }
    measure();
  }

  std::string str() const {
    Canvas canvas(columns_ * pitch() + (boxed_ ? 1 : 0), y_of(p_.rows - 1) + 1 + (boxed_ ? 1 : 0));
    for (std::int64_t r = 0; r < p_.rows; ++r)
      for (int c = 0; c < columns_; ++c) fill(canvas, r, c);
    if (boxed_) draw_lines(canvas);
    for (const PictureBlock& b : blocks_of(p_, p_.rows, columns_)) write_label(canvas, b);
    return header() + body(canvas) + legend();
  }

 private:
  // ---- sizes

  void measure() {
    int label = 1;
    int heading = 1;
    for (const Picture::Cell& cell : p_.cells)
      label = std::max(label, static_cast<int>(holder_label(p_, cell).size()));
    for (std::int64_t c = 0; c < p_.columns; ++c)
      heading = std::max(heading, static_cast<int>(column_range(p_, c).str().size()));
    // A label that would take the whole line is cut.
    const int room = std::max(style_.columns - margin_ - 4, 8);
    const int border = boxed_ ? 1 : 0;
    const int least = std::min(label + 2, room - border);
    columns_ = static_cast<int>(std::min<std::int64_t>(p_.columns, room / (least + border)));
    const int most = columns_ == 1 ? kWidestAlone : std::max(kWidest, heading);
    width_ = std::clamp(room / columns_ - border, least, std::max(least, most));
  }

  int pitch() const { return width_ + (boxed_ ? 1 : 0); }
  int x_of(int column) const { return column * pitch() + (boxed_ ? 1 : 0); }
  int y_of(std::int64_t row) const {
    const int r = static_cast<int>(row);
    return lined_ ? 2 * r + 1 : boxed_ ? r + 1 : r;
  }

  // ---- cells

  int colour_of(const Picture::Cell& cell) const {
    return style_.colour && cell.held ? hue_of(p_, cell).terminal : kNoColour;
  }

  // The mark of a cell at one place: hatched for copies, + for a pending reduction.
  std::string_view mark(bool held, int x) const {
    if (!held) return x % 2 == 0 ? " " : style_.unicode ? "·" : ".";
    const bool copies = p_.copies > 1;
    const bool pending = p_.contributions > 1;
    const std::string_view hatch = style_.unicode ? "░" : "/";
    if (copies && pending) return x % 4 == 1 ? "+" : hatch;
    if (copies) return hatch;
    return pending && x % 2 == 1 ? "+" : " ";
  }

  // Where the elements of a cell begin and end between its borders; the rest is padding.
  std::pair<int, int> held_part(int column) const {
    const CellRange r = column_range(p_, column);
    const std::int64_t all = r.before + (r.hi - r.lo) + r.after;
    const auto place = [&](std::int64_t n) {
      return static_cast<int>(static_cast<__int128>(n) * width_ / all);
    };
    if (r.empty()) return {0, width_};
    int from = place(r.before);
    int to = width_ - place(r.after);
    if (to - from < 1) to = std::min(from + 1, width_), from = to - 1;
    return {from, to};
  }

  void fill(Canvas& canvas, std::int64_t row, int column) const {
    const Picture::Cell& cell = p_.cell(row, column);
    const auto [from, to] = held_part(column);
    const int start = x_of(column);
    // A border that is not drawn belongs to the cell on its left, or above.
    const bool joined = lined_ && row + 1 < p_.rows && !differ(row, column, row + 1, column);
    const int bottom = y_of(row) + (joined ? 1 : 0);
    for (int x = 0; x < pitch() && start + x < columns_ * pitch(); ++x) {
      const bool held = cell.held && x >= from && (x < to || x == width_);
      for (int y = y_of(row); y <= bottom; ++y)
        canvas.put(start + x, y, mark(held, x), held ? colour_of(cell) : kNoColour);
    }
  }

  void write_label(Canvas& canvas, const PictureBlock& b) const {
    const Picture::Cell& cell = p_.cell(b.row, b.column);
    if (!cell.held) return;
    const int first = x_of(static_cast<int>(b.column));
    const int last = x_of(static_cast<int>(b.column + b.columns)) - (boxed_ ? 1 : 0);
    const auto [from, to] = held_part(static_cast<int>(b.column));
    const int tail = width_ - held_part(static_cast<int>(b.column + b.columns - 1)).second;
    std::string label = holder_label(p_, cell);
    const int room = last - first;
    if (static_cast<int>(label.size()) > room)
      label = label.substr(0, static_cast<std::size_t>(std::max(room - 2, 1))) + "..";
    const bool marked = p_.copies > 1 || p_.contributions > 1;
    if (marked && static_cast<int>(label.size()) + 2 <= room) label = " " + label + " ";
    // In the middle of what is held, but always inside the block.
    const int size = static_cast<int>(label.size());
    const int middle = first + from + (last - tail - first - from - size) / 2;
    const int x = std::clamp(middle, first, std::max(first, last - size));
    canvas.write(x, y_of(b.row + (b.rows - 1) / 2), label, colour_of(cell));
  }

  // ---- lines

  bool differ(std::int64_t r1, int c1, std::int64_t r2, int c2) const {
    return !(p_.cell(r1, c1) == p_.cell(r2, c2));
  }
  // A line left of the cell. The side where the picture is cut stays open.
  bool line_left(std::int64_t r, int c) const {
    if (r < 0 || r >= p_.rows) return false;
    if (c == 0) return true;
    if (c == columns_) return columns_ == p_.all_columns;
    return differ(r, c - 1, r, c);
  }
  bool line_above(std::int64_t r, int c) const {
    if (c < 0 || c >= columns_) return false;
    if (r == 0) return true;
    if (r == p_.rows) return p_.rows == p_.all_rows;
    return lined_ && differ(r - 1, c, r, c);
  }

  void draw_lines(Canvas& canvas) const {
    const auto& joins = style_.unicode ? kJoins : kAsciiJoins;
    const std::int64_t last = p_.rows == p_.all_rows ? p_.rows : p_.rows - 1;
    for (std::int64_t r = 0; r <= last; ++r)
      for (int c = 0; c <= columns_; ++c) {
        if (line_left(r, c)) canvas.put(c * pitch(), y_of(r), joins[3], kNoColour);
        if (!lined_ && r > 0 && r < p_.rows) continue;
        const int y = r == p_.rows && !lined_ ? y_of(r) : y_of(r) - 1;
        const bool right = line_above(r, c);
        const unsigned arms = (line_left(r - 1, c) ? 1U : 0U) | (line_left(r, c) ? 2U : 0U) |
                              (line_above(r, c - 1) ? 4U : 0U) | (right ? 8U : 0U);
        const bool inside = arms == 0 && c > 0 && c < columns_ && r > 0 && r < p_.rows;
        if (!inside) canvas.put(c * pitch(), y, joins[arms], kNoColour);
        for (int x = 1; right && x <= width_; ++x)
          canvas.put(c * pitch() + x, y, joins[12], kNoColour);
      }
  }

  // ---- around it

  std::string indent(const std::string& label) const {
    return fmt::format("  {:>{}}{}", label, margin_, margin_ > 0 ? " " : "");
  }

  // The indices of each column, or only the first ones, where they fit.
  std::string header() const {
    if (p_.sides.empty()) return "";
    std::vector<std::string> texts;
    bool fit = true;
    for (int c = 0; c < columns_; ++c) {
      texts.push_back(column_range(p_, c).str());
      fit = fit && static_cast<int>(texts.back().size()) <= pitch() - 1;
    }
    std::string line = indent("") + (boxed_ ? " " : "");
    for (std::string& text : texts) {
      if (!fit) text = text.substr(0, std::max<std::size_t>(text.find('-'), 1));
      if (static_cast<int>(text.size()) > pitch() - 1) text = "";
      line += fmt::format("{:^{}}", text, width_) + (boxed_ ? " " : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line.empty() ? "" : line + "\n";
  }

  std::string body(const Canvas& canvas) const {
    std::string text;
    const int height = y_of(p_.rows - 1) + 1 + (boxed_ ? 1 : 0);
    std::int64_t row = 0;
    for (int y = 0; y < height; ++y) {
      const bool labelled = row < p_.rows && y_of(row) == y;
      std::string line =
          indent(labelled ? row_labels_[static_cast<std::size_t>(row)] : "") + canvas.line(y);
      if (labelled) ++row;
      if (line.find_first_not_of(' ') == line.npos) continue;  // the open side at the bottom
      text += line + "\n";
    }
    return text;
  }

  std::string legend() const {
    std::string text;
    for (const LegendEntry& entry : legend_of(p_)) {
      if (entry.mark == LegendEntry::padding && !shows_padding()) continue;
      std::string mark;
      switch (entry.mark) {
        case LegendEntry::label:
          mark = example();
          break;
        case LegendEntry::copies:
          mark = style_.unicode ? "░░" : "//";
          break;
        case LegendEntry::pending:
          mark = "+";
          break;
        case LegendEntry::padding:
          mark = style_.unicode ? "·" : ".";
          break;
      }
      const int columns = entry.mark == LegendEntry::copies ? 2 : static_cast<int>(mark.size());
      const std::string gap(static_cast<std::size_t>(std::max(6 - (mark == "·" ? 1 : columns), 0)),
                            ' ');
      text += fmt::format("  {}{}  {}\n", mark, gap, entry.text);
    }
    if (const std::string cut = cut_note(p_, p_.rows, columns_); !cut.empty())
      text += fmt::format("  {:<6}  {}\n", style_.unicode ? "…" : "...", cut);
    return text.empty() ? "" : "\n" + text;
  }

  // Padding at the end of a row of cells shows only in the row's indices.
  bool shows_padding() const {
    for (std::int64_t r = 0; r < p_.rows; ++r)
      for (int c = 0; c < columns_; ++c) {
        const CellRange range = column_range(p_, c);
        if (!p_.cell(r, c).held || range.before + range.after > 0) return true;
      }
    return false;
  }

  // The label of the first block, as an example.
  std::string example() const {
    for (const Picture::Cell& cell : p_.cells)
      if (cell.held) return holder_label(p_, cell);
    return "";
  }

  const Picture& p_;
  const PictureStyle& style_;
  bool boxed_ = true;  // borders of characters; colours need none
  bool lined_ = true;  // also between rows
  int margin_ = 0;     // of row labels
  int columns_ = 1;    // shown
  int width_ = 1;      // of a cell, without borders
  std::vector<std::string> row_labels_;
};

}  // namespace

std::string picture_text(const Picture& picture, const PictureStyle& style) {
  if (picture.rows < 1 || picture.columns < 1) return "";
  return TextPicture(picture, style).str();
}

}  // namespace heddle
