// Cost-function networks as files of the ASPLOS 2025 contest on intra-operator parallelism.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "heddle/cost_network.h"

namespace heddle {

// Its JSON text: {"problem": {"nodes": {"intervals", "costs", "usages"}, "edges": {"nodes",
// "costs"}, "usage_limit"}}. Costs of 10^15 and more are forbidden.
Expected<CostNetwork> parse_cost_network(std::string_view text);
// The same from a file, which may be packed by gzip.
Expected<CostNetwork> read_cost_network(const std::filesystem::path& file);
// A text that reads as the same network. Networks with more than one usage of a variable have none.
Expected<std::string> format_cost_network(const CostNetwork& network);

}  // namespace heddle
