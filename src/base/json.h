// JSON. Its parser and its printer are compiled once, here: they take longer than all the rest.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle {

using Json = nlohmann::ordered_json;

// Sees what is parsed as it comes, and may throw.
using JsonWatch = std::function<bool(int depth, Json::parse_event_t event, Json& parsed)>;

// Discarded (is_discarded) where the text is no correct JSON.
Json parse_json(std::string_view text, const JsonWatch& watch = {});

// On one line, or indented; bytes that are no UTF-8 are replaced.
std::string print_json(const Json& json, int indent = -1, bool ascii = false);

}  // namespace heddle
