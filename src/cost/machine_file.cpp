#include "cost/machine_file.h"

#include <fstream>

#include "base/cache_directory.h"
#include "base/file.h"

namespace heddle {

Json kept_json(const std::string& name, const std::string& machine) {
  const auto directory = cache_directory();
  if (!directory) return {};
  std::ifstream file(*directory / name);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Json json = parse_json(text);
  if (!json.is_object() || !json.contains("machine") || json["machine"] != machine) return {};
  return json;
}

double kept_number(const Json& json, const char* key) {
  const auto kept = json.find(key);
  if (kept == json.end() || !kept->is_number() || kept->get<double>() <= 0) return 0;
  return kept->get<double>();
}

Verdict keep_json(const std::string& name, const Json& json) {
  const auto directory = cache_directory();
  if (!directory)
    return Reason{"there is no cache directory to keep the figures in: set HEDDLE_CACHE_DIR"};
  std::error_code error;
  std::filesystem::create_directories(*directory, error);
  return write_file(*directory / name, print_json(json, 1) + "\n");
}

}  // namespace heddle
