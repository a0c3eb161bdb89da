// A place in the text, and what can be read from there. A mistake throws ParseFailure, which only
// read_stablehlo catches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::frontend {

struct ParseFailure {
  std::size_t at;
  std::string what;
};

class Cursor {
 public:
  explicit Cursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::string_view text() const { return text_; }
  std::size_t at() const { return at_; }
  void go(std::size_t at) { at_ = at; }

  // Past blanks and comments.
  void skip();
  bool done() {
    skip();
    return at_ >= text_.size();
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char raw(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void advance(std::size_t n = 1) { at_ += n; }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, std::string_view where);
  // A word that ends where a name would end.
  bool take_word(std::string_view word);
  // Characters, whatever follows.
  bool take_text(std::string_view text);
  void expect_text(std::string_view text, std::string_view where);

  // [A-Za-z_][A-Za-z0-9_$.]*; empty where there is none.
  std::string_view name();
  std::string_view expect_name(std::string_view what);
  // %name, without the %; "%5#1" gives "5" and leaves #1.
  std::string_view value_name();
  std::string symbol();           // @name or @"name", without @
  std::string quoted();           // "…" with escapes resolved
  std::string_view raw_quoted();  // what stands between the quotes, escapes and all
  std::int64_t integer();
  bool peek_integer();
  // The characters of a number: -1, 2.5e+00, 0x7FC0.
  std::string_view number();

  [[noreturn]] void fail(std::string what) const { throw ParseFailure{at_, std::move(what)}; }
  [[noreturn]] static void fail_at(std::size_t at, std::string what) {
    throw ParseFailure{at, std::move(what)};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace heddle::frontend
