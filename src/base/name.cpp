#include "heddle/name.h"

#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "heddle/hash.h"

namespace heddle {

// The entries of all names. Each thread looks first where it found a text of this hash before.
class NameTable {
 public:
  using Entry = Name::Entry;

  // Null where the text is long or the table full.
  static const Entry* find(std::string_view text, std::uint64_t hash) {
    static constexpr std::size_t kMostText = 64;
    if (text.size() > kMostText) return nullptr;
    static thread_local std::array<const Entry*, 256> recent{};
    const Entry*& place = recent[hash % recent.size()];
    if (place == nullptr || place->hash != hash || place->text != text) {
      const Entry* entry = table().find_or_add(text, hash);
      if (entry == nullptr) return nullptr;
      place = entry;
    }
    return place;
  }

 private:
  static NameTable& table() {
    static NameTable* instance = new NameTable;  // outlives every static Name
    return *instance;
  }

  const Entry* find_or_add(std::string_view text, std::uint64_t hash) {
    static constexpr std::size_t kMostEntries = 1 << 14;
    const std::lock_guard lock(mutex_);
    if (auto it = by_text_.find(text); it != by_text_.end()) return it->second;
    if (entries_.size() >= kMostEntries) return nullptr;
    const Entry& entry = entries_.emplace_back(Entry{std::string(text), hash});
    by_text_.emplace(entry.text, &entry);
    return &entry;
  }

  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string_view, const Entry*> by_text_;
};

Name::Name(std::string_view text) {
  const std::uint64_t hash = hash_combine(0, text);
  if (const Entry* entry = NameTable::find(text, hash))
    entry_ = std::shared_ptr<const Entry>(std::shared_ptr<const Entry>(), entry);
  else
    entry_ = std::make_shared<const Entry>(Entry{std::string(text), hash});
}

}  // namespace heddle
