#include "parallel/solver/byte_source.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace heddle {

Expected<JsonStream::Source> open_bytes(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    return reason("cannot read {}: it is a folder", file.string());
  // zlib passes on what is not packed.
  const gzFile opened = gzopen(file.c_str(), "rb");
  if (opened == nullptr)
    return reason("cannot read {}: {}", file.string(), std::generic_category().message(errno));
  const std::shared_ptr<gzFile_s> stream(opened, gzclose);
  gzbuffer(stream.get(), 1 << 17);
  return JsonStream::Source{[stream](char* buffer, std::size_t size) {
    const int count = gzread(stream.get(), buffer, static_cast<unsigned>(size));
    int problem = Z_OK;
    const char* const words = gzerror(stream.get(), &problem);
    if (count < 0 || problem != Z_OK)
      throw Error(fmt::format("the packed file is damaged: {}", words));
    return static_cast<std::size_t>(count);
  }};
}

}  // namespace heddle
