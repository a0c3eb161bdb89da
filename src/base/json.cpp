#include "base/json.h"

namespace heddle {

Json parse_json(std::string_view text, const JsonWatch& watch) {
  return Json::parse(text.begin(), text.end(), watch, false);
}

std::string print_json(const Json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace heddle
