// Protobuf's coding of messages, as far as options and shardings need it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::pjrt {

// One field: a number, or bytes.
struct WireField {
  int number = 0;
  std::uint64_t value = 0;
  std::string_view bytes = {};  // of strings, messages and packed lists
};

// Calls `each` for every field; false where the bytes are no message.
bool read_fields(std::string_view message, const std::function<void(const WireField&)>& each);
// Numbers of a field that may come packed or one by one.
void add_numbers(const WireField& field, std::vector<std::int64_t>& to);

class WireWriter {
 public:
  void number(int field, std::uint64_t value);
  void bytes(int field, std::string_view value);
  void packed(int field, const std::vector<std::int64_t>& values);
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value);
  std::string text_;
};

}  // namespace heddle::pjrt
