// The bytes of a file, unpacked where it is packed by gzip.
#pragma once

#include <filesystem>

#include "parallel/solver/json_stream.h"

namespace heddle {

Expected<JsonStream::Source> open_bytes(const std::filesystem::path& file);

}  // namespace heddle
