#include "report/cuda_libraries.h"

#include <chrono>

#include "base/subprocess.h"
#include "device/cuda/found_libraries.h"
#include "report/json.h"

namespace heddle::report {

namespace {

// The end of a path says more than its beginning.
std::string shortened_path(const std::string& path, std::size_t columns) {
  if (path.size() <= columns) return path;
  return "..." + path.substr(path.size() - (columns - 3));
}

}  // namespace

std::vector<DoctorReport::Library> cuda_libraries() {
  constexpr std::chrono::seconds kLimit{10};
  const CommandOutcome outcome = run_isolated(
      [] {
        Json all = Json::array();
        for (const cuda::FoundLibrary& one : cuda::find_libraries())
          all.push_back({one.name, one.version, one.path, one.use, one.package});
        return print_json(all);
      },
      kLimit);
  const Json all = parse_json(outcome.output);
  std::vector<DoctorReport::Library> libraries;
  if (!outcome.finished || !all.is_array()) return libraries;
  for (const Json& one : all) {
    const bool found = !one[2].get<std::string>().empty();
    libraries.push_back({one[0], found, one[1], one[2],
                         found
                             ? one[3].get<std::string>()
                             : fmt::format("{}: pip install heddle[cuda], or {}",
                                           one[3].get<std::string>(), one[4].get<std::string>())});
  }
  return libraries;
}

std::string libraries_text(const std::vector<DoctorReport::Library>& libraries,
                           const Style& style) {
  const auto columns = static_cast<std::size_t>(style.columns());
  std::string text;
  if (!libraries.empty()) text += "\nfor a GPU it opens\n";
  for (const DoctorReport::Library& one : libraries) {
    const std::string mark = fmt::format("{:<8}", one.found ? "found" : "none");
    const std::string what =
        one.found ? fmt::format("{}, {}", one.version, shortened_path(one.path, columns - 36))
                  : one.note;
    text += fmt::format("  {}  {:<10}  {}\n", one.found ? style.green(mark) : style.yellow(mark),
                        one.name, one.found ? what : style.dim(what));
  }
  return text;
}

}  // namespace heddle::report
