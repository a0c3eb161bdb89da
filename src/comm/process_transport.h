// Ranks that are processes of one machine, started by `heddle launch`.
#pragma once

#include "heddle/transport.h"

namespace heddle::comm {

// What a launcher leaves in the environment.
inline constexpr const char* kRankVariable = "HEDDLE_RANK";
inline constexpr const char* kRanksVariable = "HEDDLE_RANKS";
inline constexpr const char* kBoardVariable = "HEDDLE_BOARD";

Expected<std::unique_ptr<Transport>> process_transport(const WatchdogOptions& watchdog);

}  // namespace heddle::comm
