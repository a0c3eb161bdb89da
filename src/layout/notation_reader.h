// Characters and words of the notation, and where in the text something is wrong.
#pragma once

#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/error.h"

namespace heddle {

class NotationReader {
 public:
  explicit NotationReader(std::string_view text) : text_(text) {}

 protected:
  void skip() {
    while (pos_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[pos_])) != 0)
      ++pos_;
  }
  bool at_end() {
    skip();
    return pos_ == text_.size();
  }
  bool peek(char c) {
    skip();
    return pos_ < text_.size() && text_[pos_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++pos_;
    return true;
  }
  bool expect(char c, const char* where) {
    return take(c) || fail(fmt::format("expected '{}' {}", c, where));
  }
  bool fail(std::string why) {
    skip();
    return fail_at(pos_, std::move(why));
  }
  bool fail_at(std::size_t at, std::string why) {
    error_ = std::move(why);
    error_at_ = at;
    return false;
  }
  Reason shown_error() const { return shown(error_, error_at_); }
  // The text with a mark below the place; control characters and long lines are kept off it.
  Reason shown(const std::string& why, std::size_t at) const {
    std::size_t from = at > 60 ? at - 60 : 0;
    std::string line;
    for (char c : text_.substr(from, 90))
      line += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
    return reason("layout, column {}: {}\n  {}\n  {:>{}}", at + 1, why, line, "^", at - from + 1);
  }

  std::string_view word() {
    skip();
    std::size_t from = pos_;
    while (pos_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[pos_])) != 0 || text_[pos_] == '_'))
      ++pos_;
    return text_.substr(from, pos_ - from);
  }
  bool peek_name() {
    skip();
    return pos_ < text_.size() &&
           (std::isalpha(static_cast<unsigned char>(text_[pos_])) != 0 || text_[pos_] == '_');
  }
  bool integer(std::int64_t& out) {
    skip();
    std::size_t from = pos_;
    if (pos_ < text_.size() && text_[pos_] == '-') ++pos_;
    while (pos_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[pos_])) != 0)
      ++pos_;
    auto [end, error] = std::from_chars(text_.data() + from, text_.data() + pos_, out);
    if (error == std::errc::result_out_of_range || (error == std::errc() && out == INT64_MIN))
      return fail_at(from, "the number is too large");
    if (error != std::errc() || end != text_.data() + pos_) {
      pos_ = from;
      return fail_at(from, "expected a number or the name of a size");
    }
    return true;
  }

  std::string_view text_;
  std::size_t pos_ = 0;

 private:
  std::string error_;
  std::size_t error_at_ = 0;
};

}  // namespace heddle
