#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

namespace heddle {
namespace {

namespace fs = std::filesystem;

Reason cannot_write(const fs::path& file, int error) {
  return reason("cannot write {}: {}", file.string(), std::generic_category().message(error));
}

// Replacing a file needs only a writable folder, so that its own mode must be asked for. Without
// any write bit it is protected from everybody, root included.
bool is_read_only(const fs::path& file, const struct stat& about) {
  return (about.st_mode & 0222U) == 0 || (::access(file.c_str(), W_OK) != 0 && errno == EACCES);
}

Reason read_only(const fs::path& file) {
  return reason("cannot write {}: it is read-only; name another file, or make it writable",
                file.string());
}

// 0, or the error number. Closes `descriptor`.
int write_and_close(int descriptor, std::span<const std::string_view> parts,
                    Durability durability) {
  int error = 0;
  for (std::string_view content : parts)
    while (error == 0 && !content.empty()) {
      const ssize_t written = ::write(descriptor, content.data(), content.size());
      if (written >= 0) {
        content.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        error = errno;
      }
    }
  // A full disk may show only here. Pipes and devices cannot be synced, which is no failure.
  if (error == 0 && durability == Durability::lasting && ::fsync(descriptor) != 0 &&
      errno != EINVAL && errno != EROFS)
    error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

// A name beside `file` that nobody else uses.
fs::path temporary_beside(const fs::path& file) {
  static std::atomic<unsigned> counter = 0;
  fs::path result = file;
  result.replace_filename(
      fmt::format(".{}.{}.{}.tmp", file.filename().string(), ::getpid(), counter++));
  return result;
}

// 0, or the error number: a file is made there and removed.
int try_to_make_file(const fs::path& beside) {
  const fs::path temporary = temporary_beside(beside);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  ::close(descriptor);
  ::unlink(temporary.c_str());
  return 0;
}

}  // namespace

Verdict write_file(const fs::path& file, std::string_view content, Durability durability) {
  return write_file_parts(file, {&content, 1}, durability);
}

Verdict write_file_parts(const fs::path& file, std::span<const std::string_view> parts,
                         Durability durability) {
  struct stat before{};
  const bool exists = ::stat(file.c_str(), &before) == 0;
  if (exists && S_ISDIR(before.st_mode)) return cannot_write(file, EISDIR);
  if (exists && !S_ISREG(before.st_mode)) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_write(file, errno);
    const int error = write_and_close(descriptor, parts, durability);
    return error == 0 ? yes() : Verdict(cannot_write(file, error));
  }

  if (exists && is_read_only(file, before)) return read_only(file);

  // Through links, so that a link stays a link.
  std::error_code failure;
  const fs::path resolved = exists ? fs::canonical(file, failure) : file;
  if (failure) return cannot_write(file, failure.value());

  const fs::path temporary = temporary_beside(resolved);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return cannot_write(file, errno);
  int error = 0;
  if (exists && ::fchmod(descriptor, before.st_mode & 07777) != 0) error = errno;
  const int write_error = write_and_close(descriptor, parts, durability);
  if (error == 0) error = write_error;
  if (error == 0 && ::rename(temporary.c_str(), resolved.c_str()) != 0) error = errno;
  if (error == 0) return yes();
  ::unlink(temporary.c_str());
  return cannot_write(file, error);
}

Verdict can_write(const fs::path& file) {
  struct stat before{};
  const bool exists = ::stat(file.c_str(), &before) == 0;
  if (!exists && errno != ENOENT) return cannot_write(file, errno);
  if (exists && S_ISDIR(before.st_mode)) return cannot_write(file, EISDIR);
  if (exists && !S_ISREG(before.st_mode))
    return ::access(file.c_str(), W_OK) == 0 ? yes() : Verdict(cannot_write(file, errno));
  if (exists && is_read_only(file, before)) return read_only(file);
  std::error_code failure;
  const fs::path resolved = exists ? fs::canonical(file, failure) : file;
  if (failure) return cannot_write(file, failure.value());
  const int error = try_to_make_file(resolved);
  return error == 0 ? yes() : Verdict(cannot_write(file, error));
}

Verdict can_write_into(const fs::path& folder) {
  fs::path there = folder.empty() ? fs::path(".") : folder;
  std::error_code failure;
  while (!fs::exists(there, failure) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::exists(there, failure)) there = ".";
  if (!fs::is_directory(there, failure)) return cannot_write(there, ENOTDIR);
  const int error = try_to_make_file(there / "file");
  return error == 0 ? yes() : Verdict(cannot_write(there, error));
}

std::optional<double> room_in(const fs::path& folder) {
  struct statvfs disk = {};
  const char* const path = folder.empty() ? "." : folder.c_str();
  if (::statvfs(path, &disk) != 0) return std::nullopt;
  return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
}

}  // namespace heddle
