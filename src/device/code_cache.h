// Object files of any device on disk, by key, and what else is kept for later processes. Several
// may use one folder: a file is whole or not there, and says itself whether it is what was asked
// for.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace heddle {

// What all that is kept may take together.
inline constexpr std::int64_t kMostBytesOfCode = 1LL << 30;

class CodeCache {
 public:
  CodeCache(std::filesystem::path directory, std::int64_t most_bytes)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  // Nothing where there is none, or where what is there is damaged.
  std::optional<std::string> read(const std::string& key) const;
  // A cache that cannot be written is slow, not wrong: failures are logged only.
  void write(const std::string& key, const std::string& object) const;

 private:
  std::filesystem::path file_of(const std::string& key) const { return directory_ / (key + ".o"); }
  // After so many bytes more: looks into the folder where that may be too much, or where others may
  // have written a lot since the last look, and removes what was not used for longest.
  void make_room(std::int64_t more) const;
  std::int64_t clear_out() const;  // what is left, in bytes

  std::filesystem::path directory_;
  std::int64_t most_bytes_;
  mutable std::mutex mutex_;
  mutable std::int64_t bytes_ = -1;  // in the folder, as far as is known; -1: not at all
  mutable int unseen_ = 0;           // files that were written since the last look
};

}  // namespace heddle
