// Numbers and texts as bytes, and back. A reader of bytes that end too early gives zeros from there
// on, and says so when it is asked: no damaged file makes it read elsewhere.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace heddle {

class ByteWriter {
 public:
  // Small ones take one byte.
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  // Of either sign: small ones are short too.
  void integer(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void real(double value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_.append(text);
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return fail();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::int64_t integer() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  double real() {
    double value = 0;
    const std::string_view raw = part(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view text() { return part(number()); }
  // How many follow: no more than there are bytes left.
  std::size_t count() {
    const std::uint64_t value = number();
    return value <= rest_.size() ? value : fail();
  }

  // Whether all of it was there, and nothing more.
  bool is_whole() const { return !failed_ && rest_.empty(); }

 private:
  std::uint64_t fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }
  std::string_view part(std::uint64_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace heddle
