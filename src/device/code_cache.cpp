#include "device/code_cache.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "heddle/hash.h"
#include "heddle/log.h"

namespace heddle {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "heddle object 1\n";

std::string header_of(const std::string& key, std::string_view object) {
  return fmt::format("{}{}\n{:016x} {:016x}\n", kMagic, key, object.size(),
                     hash_combine(0, object));
}

}  // namespace

std::optional<std::string> CodeCache::read(const std::string& key) const {
  std::ifstream stream(file_of(key), std::ios::binary);
  if (!stream) return std::nullopt;
  std::error_code failure;
  const auto size = fs::file_size(file_of(key), failure);
  if (failure) return std::nullopt;  // a folder
  std::string content(size, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(size));
  if (stream.gcount() != static_cast<std::streamsize>(size)) content.clear();
  const std::size_t length = header_of(key, "").size();
  std::string object = content.size() < length ? "" : content.substr(length);
  if (std::string_view(content).substr(0, length) != header_of(key, object)) {
    log(kLogSteps, "{} is damaged, and made again", file_of(key).string());
    return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
  return object;
}

void CodeCache::write(const std::string& key, const std::string& object) const {
  std::error_code failure;
  fs::create_directories(directory_, failure);
  const Verdict written =
      write_file(file_of(key), header_of(key, object) + object, Durability::cache);
  if (!written) {
    static std::atomic<bool> told = false;
    if (!told.exchange(true))
      warn("compiled code is not kept: {}; HEDDLE_CACHE_DIR names another folder, or none",
           written.reason());
    return;
  }
  make_room(static_cast<std::int64_t>(object.size()));
}

void CodeCache::make_room(std::int64_t more) const {
  constexpr int kLookAfter = 64;
  const std::lock_guard lock(mutex_);
  bytes_ += bytes_ < 0 ? 0 : more;
  if (bytes_ >= 0 && bytes_ <= most_bytes_ && ++unseen_ < kLookAfter) return;
  bytes_ = clear_out();
  unseen_ = 0;
}

std::int64_t CodeCache::clear_out() const {
  struct Entry {
    fs::path file;
    fs::file_time_type used;
    std::int64_t bytes;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code failure;
  for (const auto& found : fs::directory_iterator(directory_, failure)) {
    // Another process may remove it while we look.
    std::error_code gone;
    const auto bytes = static_cast<std::int64_t>(found.file_size(gone));
    const auto used = found.last_write_time(gone);
    if (gone || found.path().extension() != ".o") continue;
    entries.push_back({found.path(), used, bytes});
    total += bytes;
  }
  if (total <= most_bytes_) return total;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most_bytes_ / 4 * 3) break;
    fs::remove(entry.file, failure);
    total -= entry.bytes;
  }
  return total;
}

}  // namespace heddle
