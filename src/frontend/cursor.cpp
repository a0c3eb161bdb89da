#include "frontend/cursor.h"

#include <fmt/format.h>

#include <charconv>

namespace heddle::frontend {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }
bool is_value_part(char c) { return is_name_part(c) || c == '-'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  return (c | 0x20) - 'a' + 10;
}

// What stands here, for "expected … but found …".
std::string shown(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "the end of the file";
  std::size_t end = at;
  while (end < text.size() && end < at + 20 && text[end] > ' ' && text[end] < 127) ++end;
  return end == at ? "a character that cannot stand here"
                   : fmt::format("'{}'", text.substr(at, end - at));
}

}  // namespace

void Cursor::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && raw(1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

void Cursor::expect(char c, std::string_view where) {
  if (!take(c)) fail(fmt::format("expected '{}' {} but found {}", c, where, shown(text_, at_)));
}

bool Cursor::take_word(std::string_view word) {
  skip();
  if (text_.substr(at_, word.size()) != word || is_name_part(raw(word.size()))) return false;
  at_ += word.size();
  return true;
}

bool Cursor::take_text(std::string_view text) {
  skip();
  if (text_.substr(at_, text.size()) != text) return false;
  at_ += text.size();
  return true;
}

void Cursor::expect_text(std::string_view text, std::string_view where) {
  if (!take_text(text))
    fail(fmt::format("expected '{}' {} but found {}", text, where, shown(text_, at_)));
}

std::string_view Cursor::name() {
  skip();
  const std::size_t from = at_;
  if (!is_letter(raw())) return {};
  while (is_name_part(raw())) ++at_;
  return text_.substr(from, at_ - from);
}

std::string_view Cursor::expect_name(std::string_view what) {
  std::string_view n = name();
  if (n.empty()) fail(fmt::format("expected {} but found {}", what, shown(text_, at_)));
  return n;
}

std::string_view Cursor::value_name() {
  if (peek() != '%')
    fail(fmt::format("expected a value such as %0 but found {}", shown(text_, at_)));
  const std::size_t from = ++at_;
  while (is_value_part(raw())) ++at_;
  if (at_ == from) fail("expected a name after '%'");
  return text_.substr(from, at_ - from);
}

std::string Cursor::symbol() {
  if (peek() != '@')
    fail(fmt::format("expected a name such as @main but found {}", shown(text_, at_)));
  ++at_;
  if (raw() == '"') return quoted();
  const std::size_t from = at_;
  while (is_value_part(raw())) ++at_;
  if (at_ == from) fail("expected a name after '@'");
  return std::string(text_.substr(from, at_ - from));
}

std::string_view Cursor::raw_quoted() {
  if (peek() != '"') fail(fmt::format("expected a quoted text but found {}", shown(text_, at_)));
  const std::size_t from = at_ + 1;
  std::size_t end = text_.find('"', from);
  // Constants are long and have no escapes: only where there is one, each character is looked at.
  if (text_.substr(from, end - from).find('\\') != std::string_view::npos)
    for (end = from; end < text_.size() && text_[end] != '"';) end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) fail("the quoted text that starts here does not end");
  at_ = end + 1;
  return text_.substr(from, end - from);
}

std::string Cursor::quoted() {
  std::string_view raw_text = raw_quoted();
  if (raw_text.find('\\') == std::string_view::npos) return std::string(raw_text);
  std::string out;
  for (std::size_t i = 0; i < raw_text.size(); ++i) {
    if (raw_text[i] != '\\' || i + 1 >= raw_text.size()) {
      out += raw_text[i];
      continue;
    }
    const char c = raw_text[++i];
    if (is_hex(c) && i + 1 < raw_text.size() && is_hex(raw_text[i + 1])) {
      out += static_cast<char>(hex_value(c) * 16 + hex_value(raw_text[i + 1]));
      ++i;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

bool Cursor::peek_integer() {
  const char c = peek();
  return is_digit(c) || (c == '-' && is_digit(raw(1)));
}

std::int64_t Cursor::integer() {
  if (!peek_integer()) fail(fmt::format("expected a whole number but found {}", shown(text_, at_)));
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("the number does not fit 64 bits");
  at_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

std::string_view Cursor::number() {
  skip();
  const std::size_t from = at_;
  if (raw() == '-' || raw() == '+') ++at_;
  if (raw() == '0' && (raw(1) == 'x' || raw(1) == 'X')) {
    at_ += 2;
    while (is_hex(raw())) ++at_;
  } else {
    while (is_digit(raw())) ++at_;
    if (raw() == '.') {
      ++at_;
      while (is_digit(raw())) ++at_;
    }
    if ((raw() == 'e' || raw() == 'E') &&
        (is_digit(raw(1)) || ((raw(1) == '+' || raw(1) == '-') && is_digit(raw(2))))) {
      at_ += 2;
      while (is_digit(raw())) ++at_;
    }
  }
  if (at_ == from) fail(fmt::format("expected a number but found {}", shown(text_, from)));
  return text_.substr(from, at_ - from);
}

}  // namespace heddle::frontend
