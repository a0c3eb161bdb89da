// The clusters that come along, of the folder clusters/, as they stand there.
#pragma once

#include <span>
#include <string_view>

namespace heddle {

struct ShippedCluster {
  std::string_view name, text;
};
std::span<const ShippedCluster> shipped_clusters();

}  // namespace heddle
