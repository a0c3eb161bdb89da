// JSON that is read piece by piece as it comes: large files never lie in memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heddle/error.h"

namespace heddle {

class JsonStream {
 public:
  // Fills a buffer with the bytes that come next; fewer than asked for only at the end.
  using Source = std::function<std::size_t(char* buffer, std::size_t size)>;

  explicit JsonStream(Source source);

  // Each of these throws an Error with line and column where something else comes.
  // {"key": value, ...}: calls `member` with each key; it has to read or skip the value.
  void object(const std::function<void(const std::string& key)>& member);
  // [value, ...]: calls `element` at each value.
  template <typename Element>
  void array(Element&& element) {
    expect('[', "a list");
    if (skip_if(']')) return;
    do element();
    while (more(']'));
  }
  std::int64_t integer();
  std::string text();
  void skip();
  // Nothing may come any more.
  void end();

  [[noreturn]] void fail(const std::string& what);

 private:
  int peek();
  int next_byte() { return at_ < size_ ? static_cast<unsigned char>(buffer_[at_]) : refill(); }
  int refill();
  void advance();
  void expect(char sign, const char* what);
  bool skip_if(char sign);
  bool more(char close);
  std::string shown();
  std::int64_t fraction(std::string digits);
  void skip_word();
  void skip_at(int depth);

  Source source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, size_ = 0;
  std::int64_t line_ = 1, column_ = 1;
};

}  // namespace heddle
