#include "pjrt/wire.h"

namespace heddle::pjrt {

namespace {

bool take_varint(std::string_view& text, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool take_bytes(std::string_view& text, std::uint64_t count, std::string_view& bytes) {
  if (count > text.size()) return false;
  bytes = text.substr(0, count);
  text.remove_prefix(count);
  return true;
}

}  // namespace

bool read_fields(std::string_view message, const std::function<void(const WireField&)>& each) {
  while (!message.empty()) {
    std::uint64_t key = 0, size = 0;
    if (!take_varint(message, key)) return false;
    WireField field;
    field.number = static_cast<int>(key >> 3U);
    bool fits = true;
    switch (key & 7U) {
      case 0:
        fits = take_varint(message, field.value);
        break;
      case 1:
        fits = take_bytes(message, 8, field.bytes);
        break;
      case 2:
        fits = take_varint(message, size) && take_bytes(message, size, field.bytes);
        break;
      case 5:
        fits = take_bytes(message, 4, field.bytes);
        break;
      default:
        return false;
    }
    if (!fits) return false;
    each(field);
  }
  return true;
}

void add_numbers(const WireField& field, std::vector<std::int64_t>& to) {
  if (field.bytes.empty()) {
    to.push_back(static_cast<std::int64_t>(field.value));
    return;
  }
  std::string_view rest = field.bytes;
  for (std::uint64_t value = 0; !rest.empty() && take_varint(rest, value);)
    to.push_back(static_cast<std::int64_t>(value));
}

void WireWriter::varint(std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) text_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
  text_.push_back(static_cast<char>(value));
}

void WireWriter::number(int field, std::uint64_t value) {
  varint(static_cast<std::uint64_t>(field) << 3U);
  varint(value);
}

void WireWriter::bytes(int field, std::string_view value) {
  varint((static_cast<std::uint64_t>(field) << 3U) | 2U);
  varint(value.size());
  text_.append(value);
}

void WireWriter::packed(int field, const std::vector<std::int64_t>& values) {
  WireWriter inner;
  for (std::int64_t value : values) inner.varint(static_cast<std::uint64_t>(value));
  bytes(field, inner.text());
}

}  // namespace heddle::pjrt
