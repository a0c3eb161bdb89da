// Name: a short text that is made, copied and compared often, such as the name of an attribute.
// Equal texts share one entry per process, so that making one allocates nothing and a copy is a
// pointer.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heddle {

class Name {
 public:
  Name() : Name(std::string_view()) {}
  // The number of entries that are kept is bounded; further and long texts are the name's own.
  Name(std::string_view text);
  Name(const char* text) : Name(std::string_view(text)) {}
  Name(const std::string& text) : Name(std::string_view(text)) {}

  std::string_view view() const { return entry_->text; }
  operator std::string_view() const { return view(); }
  std::string str() const { return entry_->text; }
  bool empty() const { return entry_->text.empty(); }
  std::uint64_t hash() const { return entry_->hash; }

  friend bool operator==(const Name& a, const Name& b) {
    return a.entry_ == b.entry_ ||
           (a.entry_->hash == b.entry_->hash && a.entry_->text == b.entry_->text);
  }
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) {
    return a.view() <=> b.view();
  }
  template <typename Text>
    requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, Name>)
  friend bool operator==(const Name& a, const Text& b) {
    return a.view() == std::string_view(b);
  }
  template <typename Text>
    requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, Name>)
  friend std::strong_ordering operator<=>(const Name& a, const Text& b) {
    return a.view() <=> std::string_view(b);
  }

 private:
  struct Entry {
    std::string text;
    std::uint64_t hash = 0;
  };
  friend class NameTable;
  // Entries of the table have no count: it keeps them.
  std::shared_ptr<const Entry> entry_;
};

inline std::string operator+(std::string text, const Name& name) { return text += name.view(); }

}  // namespace heddle

template <>
struct fmt::formatter<heddle::Name> : fmt::formatter<std::string_view> {
  auto format(const heddle::Name& name, fmt::format_context& ctx) const {
    return fmt::formatter<std::string_view>::format(name.view(), ctx);
  }
};
