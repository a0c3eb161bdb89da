#include "parallel/solver/json_stream.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace heddle {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr int kDeepest = 64;
constexpr std::size_t kLongestText = 1 << 20;
constexpr int kEnd = -1;

bool is_blank(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_of_number(int c) {
  return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

}  // namespace

JsonStream::JsonStream(Source source) : source_(std::move(source)), buffer_(kBuffer) {}

void JsonStream::fail(const std::string& what) {
  throw Error(fmt::format("line {}, column {}: {}", line_, column_, what));
}

int JsonStream::refill() {
  if (at_ == 0 && size_ > 0) return kEnd;
  at_ = 0;
  size_ = source_(buffer_.data(), buffer_.size());
  if (size_ > 0) return static_cast<unsigned char>(buffer_[0]);
  // Asking once more at the end gives the end again.
  source_ = [](char*, std::size_t) { return std::size_t{0}; };
  return kEnd;
}

void JsonStream::advance() {
  if (buffer_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

int JsonStream::peek() {
  int c = next_byte();
  while (is_blank(c)) {
    advance();
    c = next_byte();
  }
  return c;
}

std::string JsonStream::shown() {
  const int c = peek();
  if (c == kEnd) return "the end";
  if (std::isprint(c) == 0) return fmt::format("byte {}", c);
  return fmt::format("'{}'", static_cast<char>(c));
}

void JsonStream::expect(char sign, const char* what) {
  if (peek() != sign) fail(fmt::format("expected {}, found {}", what, shown()));
  advance();
}

bool JsonStream::skip_if(char sign) {
  if (peek() != sign) return false;
  advance();
  return true;
}

bool JsonStream::more(char close) {
  if (skip_if(',')) return true;
  if (skip_if(close)) return false;
  fail(fmt::format("expected ',' or '{}', found {}", close, shown()));
}

void JsonStream::object(const std::function<void(const std::string& key)>& member) {
  expect('{', "an object");
  if (skip_if('}')) return;
  do {
    const std::string key = text();
    expect(':', "':'");
    member(key);
  } while (more('}'));
}

std::int64_t JsonStream::integer() {
  int c = peek();
  if (!is_digit(c) && c != '-') fail("expected a whole number, found " + shown());
  const bool negative = c == '-';
  if (negative) advance();
  std::int64_t value = 0;
  bool is_large = false;
  std::size_t digits = 0;
  for (c = next_byte(); is_digit(c); c = next_byte(), ++digits) {
    is_large = is_large || value > (std::numeric_limits<std::int64_t>::max() - 9) / 10;
    if (!is_large) value = value * 10 + (c - '0');
    // No line ends inside of a number.
    ++column_;
    ++at_;
  }
  if (digits == 0) fail("expected a digit after '-', found " + shown());
  if (c == '.' || c == 'e' || c == 'E') {
    if (is_large) fail("a number has too many digits before its point");
    return fraction(fmt::format("{}{}", negative ? "-" : "", value));
  }
  if (is_large) value = std::numeric_limits<std::int64_t>::max();
  return negative ? -value : value;
}

// 1e18 and 3.0 are whole numbers too.
std::int64_t JsonStream::fraction(std::string digits) {
  for (int c = next_byte(); is_of_number(c) && digits.size() < 64; c = next_byte()) {
    digits += static_cast<char>(c);
    advance();
  }
  double value = 0;
  const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole =
      problem == std::errc() && stop == digits.data() + digits.size() && value == std::floor(value);
  if (!whole) fail(fmt::format("expected a whole number, found {}", digits));
  constexpr double kMost = 9.2e18;
  if (value > kMost) return std::numeric_limits<std::int64_t>::max();
  if (value < -kMost) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::string JsonStream::text() {
  expect('"', "a text in quotes");
  std::string result;
  for (int c = next_byte(); c != '"'; c = next_byte()) {
    if (c == kEnd) fail("a text has no end");
    if (result.size() >= kLongestText) fail("a text is longer than 1 MiB");
    if (c == '\\') {
      advance();
      if (next_byte() == kEnd) fail("a text has no end");
    }
    result += buffer_[at_];
    advance();
  }
  advance();
  return result;
}

void JsonStream::skip_word() {
  bool any = false;
  for (int c = peek(); std::isalnum(c) != 0 || is_of_number(c); c = next_byte()) {
    advance();
    any = true;
  }
  if (!any) fail("expected a value, found " + shown());
}

void JsonStream::skip() { skip_at(0); }

void JsonStream::skip_at(int depth) {
  if (depth > kDeepest) fail(fmt::format("lists are nested more than {} deep", kDeepest));
  const int c = peek();
  if (c == '"')
    static_cast<void>(text());
  else if (c == '{')
    object([&](const std::string&) { skip_at(depth + 1); });
  else if (c == '[')
    array([&] { skip_at(depth + 1); });
  else
    skip_word();
}

void JsonStream::end() {
  if (peek() != kEnd) fail("expected nothing more, found " + shown());
}

}  // namespace heddle
