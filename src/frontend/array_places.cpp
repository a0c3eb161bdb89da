#include "frontend/array_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "ir/eval/scalar.h"

namespace heddle::frontend {
namespace {

class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path file)
      : path_(std::move(file)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  Expected<std::size_t> size() const {
    struct stat about{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) return cannot_read(errno);
    if (S_ISDIR(about.st_mode)) return cannot_read(EISDIR);
    return static_cast<std::size_t>(about.st_size);
  }

  Verdict read(std::span<std::byte> to, std::uint64_t offset) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<::off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return cannot_read(errno);
      if (got == 0) return reason("{} has become shorter while it was read", path_.string());
      to = to.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return yes();
  }

  // Its first bytes.
  Expected<std::string> start(std::size_t bytes) const {
    std::string text(bytes, '\0');
    HEDDLE_TRY_VOID(read(std::as_writable_bytes(std::span(text)), 0));
    return text;
  }

 private:
  Reason cannot_read(int error) const {
    return reason("cannot read {}: {}", path_.string(), std::generic_category().message(error));
  }

  std::filesystem::path path_;
  int descriptor_;
};

// Headers of .npy files end well before this.
constexpr std::size_t kNpyStart = 1 << 16;

Expected<std::vector<ArrayPlace>> places_of(const OpenFile& file, std::size_t bytes, bool is_npy) {
  HEDDLE_TRY(std::string start, file.start(std::min(bytes, is_npy ? kNpyStart : 8)));
  if (is_npy) {
    HEDDLE_TRY(ArrayPlace place, place_in_npy(start, bytes));
    return std::vector{std::move(place)};
  }
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), std::min<std::size_t>(start.size(), sizeof length));
  if (start.size() == 8 && length <= bytes - 8) {
    HEDDLE_TRY(start, file.start(8 + length));
  }
  return places_in_safetensors(start, bytes);
}

}  // namespace

Expected<std::vector<ArrayPlace>> array_places(const std::filesystem::path& path) {
  const bool is_npy = path.extension() == ".npy";
  if (!is_npy && path.extension() != ".safetensors")
    return reason("{}: arrays are in files that end in .npy or .safetensors", path.string());
  const OpenFile file(path);
  HEDDLE_TRY(const std::size_t bytes, file.size());
  auto places = places_of(file, bytes, is_npy);
  if (!places) return reason("{}: {}", path.string(), places.reason());
  return places;
}

Expected<Array> read_part(const std::filesystem::path& path, const ArrayPlace& place,
                          const Type& type, std::uint64_t skip) {
  const OpenFile file(path);
  HEDDLE_TRY(const std::size_t bytes, file.size());
  if (bytes < place.offset + skip + static_cast<std::uint64_t>(type.bytes()))
    return reason("{} has become shorter since it was first looked at", path.string());
  Array array(type);
  const auto target = array.mutable_bytes();
  HEDDLE_TRY_VOID(file.read(target, place.offset + skip));
  settle_elements(array.dtype(), target);
  return array;
}

}  // namespace heddle::frontend
