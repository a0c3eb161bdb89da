// Text of lines that are indented by how deep they stand.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace heddle {

class IndentedText {
 public:
  explicit IndentedText(std::string text = {}) : text_(std::move(text)) {}

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  // A line that begins a block in braces, and the brace that ends it.
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line(format, std::forward<Args>(args)...);
    deeper();
  }
  void close() {
    back();
    line("}}");
  }
  void deeper() { ++depth_; }
  void back() { --depth_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace heddle
