// ProgramCache: what was made of programs before, by what they are. A hash finds candidates, and a
// program is compared with them in full, so that equal hashes mean nothing wrong. Bounded: what was
// not asked for longest goes first. Safe for threads.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "heddle/hash.h"
#include "heddle/program.h"

namespace heddle {

// `Key` is all that counts beside the program; it has == and hash(). A question may come with
// another type that compares with it and has the same hash().
template <typename Key, typename Value>
class ProgramCache {
 public:
  using Hash = std::uint64_t (*)(const Program&);

  // Another hash only where a test wants collisions.
  explicit ProgramCache(
      std::size_t most, Hash hash = [](const Program& p) { return p.hash(); })
      : most_(most), hash_(hash) {}

  // What was made of an equal program for an equal key; null where nothing was.
  template <typename Asked = Key>
  std::shared_ptr<const Value> find(const Program& program, const Asked& key) {
    return find(hash_combine(hash_(program), key.hash()), program, key);
  }

  // Keeps a value, unless another thread was first with an equal one; gives the one that is kept.
  std::shared_ptr<const Value> put(Program program, Key key, Value value) {
    const std::uint64_t hash = hash_combine(hash_(program), key.hash());
    if (auto first = find(hash, program, key)) return first;
    auto entry = std::make_shared<const Entry>(
        Entry{hash, std::move(program), std::move(key), std::move(value)});
    std::shared_ptr<const Value> kept(entry, &entry->value);
    const std::lock_guard lock(mutex_);
    entries_.push_front(std::move(entry));
    places_.emplace(hash, entries_.begin());
    while (entries_.size() > most_) drop_last();
    return kept;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::uint64_t hash;
    Program program;
    Key key;
    Value value;
  };
  using Entries = std::list<std::shared_ptr<const Entry>>;

  template <typename Asked>
  std::shared_ptr<const Value> find(std::uint64_t hash, const Program& program, const Asked& key) {
    // Programs are compared outside of the lock: others need not wait for it.
    for (std::size_t tried = 0;; ++tried) {
      const auto entry = candidate(hash, tried);
      if (entry == nullptr) return nullptr;
      if (!(entry->key == key) || !same_program(entry->program, program)) continue;
      used(hash, entry);
      return {entry, &entry->value};
    }
  }

  // The entry of this hash after `tried` others.
  std::shared_ptr<const Entry> candidate(std::uint64_t hash, std::size_t tried) const {
    const std::lock_guard lock(mutex_);
    auto [first, last] = places_.equal_range(hash);
    for (; first != last && tried > 0; --tried) ++first;
    return first == last ? nullptr : *first->second;
  }

  void used(std::uint64_t hash, const std::shared_ptr<const Entry>& entry) {
    const std::lock_guard lock(mutex_);
    auto [first, last] = places_.equal_range(hash);
    for (; first != last; ++first)
      if (*first->second == entry)
        return entries_.splice(entries_.begin(), entries_, first->second);
  }

  void drop_last() {
    const auto last = std::prev(entries_.end());
    auto [first, end] = places_.equal_range((*last)->hash);
    while (first != end && first->second != last) ++first;
    places_.erase(first);
    entries_.pop_back();
  }

  const std::size_t most_;
  const Hash hash_;
  mutable std::mutex mutex_;
  Entries entries_;  // the one used last comes first
  std::unordered_multimap<std::uint64_t, typename Entries::iterator> places_;
};

}  // namespace heddle
