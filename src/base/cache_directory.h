// Where Heddle keeps what it can make again: compiled kernels, calibration.
#pragma once

#include <filesystem>
#include <optional>

namespace heddle {

// $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle. None where nothing of this
// is set, or where HEDDLE_CACHE_DIR is set but empty: nothing is kept then.
std::optional<std::filesystem::path> cache_directory();

}  // namespace heddle
