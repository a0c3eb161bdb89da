// Style: how a report is written as text.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// Colour and Unicode only where the reader wants them, and so many columns.
class Style {
 public:
  Style(bool colour, bool unicode, int columns)
      : colour_(colour), unicode_(unicode), columns_(columns) {}

  // Looks at standard output, NO_COLOR, TERM and the locale; `plain` switches all of it off.
  static Style of_stdout(bool plain);
  static Style plain() { return {false, false, kMaxColumns}; }
  // The same with another width.
  Style wide(int columns) const { return {colour_, unicode_, columns}; }

  bool colour() const { return colour_; }
  bool unicode() const { return unicode_; }
  int columns() const { return columns_; }

  std::string bold(std::string_view text) const;
  std::string dim(std::string_view text) const;
  std::string red(std::string_view text) const;
  std::string green(std::string_view text) const;
  std::string yellow(std::string_view text) const;
  // Colour 0..255 of the usual terminal palette, as background.
  std::string on_colour(int colour, std::string_view text) const;
  // The first where Unicode may be written, the second elsewhere.
  std::string_view either(std::string_view unicode, std::string_view ascii) const;

  static constexpr int kMaxColumns = 100;

 private:
  std::string wrapped(std::string_view code, std::string_view text) const;
  bool colour_, unicode_;
  int columns_;
};

}  // namespace heddle
