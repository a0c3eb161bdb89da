#include "frontend/array_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <system_error>

#include "ir/eval/scalar.h"

namespace heddle::frontend {
namespace {

static_assert(std::endian::native == std::endian::little, "array files are read in place");

// Pipes and devices have no size: more than this is taken for endless.
constexpr std::size_t kMostFromPipe = std::size_t{4} << 30;
constexpr std::size_t kMaxRank = 64;

Reason cannot_read(const std::filesystem::path& file, int error) {
  return reason("cannot read {}: {}", file.string(), std::generic_category().message(error));
}

// 0, or the error number.
int append_all(int descriptor, std::string& content, std::size_t most) {
  for (;;) {
    const std::size_t before = content.size();
    if (before > most) return EFBIG;
    content.resize(std::max(content.capacity(), before + 65536));
    const ssize_t got = ::read(descriptor, content.data() + before, content.size() - before);
    content.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
}

}  // namespace

namespace {

Expected<std::string> read_descriptor(int descriptor, const std::filesystem::path& file) {
  struct stat about{};
  std::string content;
  int error = ::fstat(descriptor, &about) == 0 ? 0 : errno;
  try {
    const bool sized = S_ISREG(about.st_mode) && about.st_size > 0;
    if (error == 0 && sized) content.reserve(static_cast<std::size_t>(about.st_size) + 65536);
    if (error == 0) error = append_all(descriptor, content, sized ? SIZE_MAX : kMostFromPipe);
  } catch (const std::exception&) {  // no memory, or no string is so long
    error = ENOMEM;
  }
  if (error != 0) return cannot_read(file, error);
  return content;
}

}  // namespace

Expected<std::string> read_bytes(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(file, errno);
  auto content = read_descriptor(descriptor, file);
  ::close(descriptor);
  return content;
}

Expected<std::string> read_standard_input() {
  return read_descriptor(STDIN_FILENO, "standard input");
}

Expected<Type> sized_type(DType dtype, Shape shape, std::size_t bytes) {
  if (shape.size() > kMaxRank) return reason("{} dimensions are too many", shape.size());
  std::int64_t total = byte_size(dtype);
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return reason("a dimension has size {}", size);
    empty = empty || size == 0;
    if (size > 0 && __builtin_mul_overflow(total, size, &total))
      return reason("the sizes multiply to more than 2^63 bytes");
  }
  Type type = Type::tensor(dtype, std::move(shape));
  const std::size_t needed = empty ? 0 : static_cast<std::size_t>(total);
  if (needed != bytes)
    return reason("{} takes {} bytes, but there are {}", type.str(), needed, bytes);
  return type;
}

Array array_of(Type type, std::string_view bytes) {
  Array array(std::move(type));
  const auto target = array.mutable_bytes();
  if (!bytes.empty()) std::memcpy(target.data(), bytes.data(), bytes.size());
  settle_elements(array.dtype(), target);
  return array;
}

}  // namespace heddle::frontend
