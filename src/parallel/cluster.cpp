#include "heddle/cluster.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "frontend/array_file.h"
#include "parallel/here.h"
#include "parallel/shipped_clusters.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 40;

// Of one device.
struct Figure {
  const char* key;
  double DeviceFigures::* figure;
  FigureUnits units;
  bool needed = false;
};
constexpr Figure kFigures[] = {
    {"memory_rate", &DeviceFigures::memory_rate, kRateUnits, true},
    {"compute_rate", &DeviceFigures::compute_rate, kOperationUnits, true},
    {"cache", &DeviceFigures::cache, kSizeUnits},
    {"cache_rate", &DeviceFigures::cache_rate, kRateUnits},
    {"light_rate", &DeviceFigures::light_rate, kOperationUnits},
    {"heavy_rate", &DeviceFigures::heavy_rate, kOperationUnits},
    {"launch", &DeviceFigures::launch, kTimeUnits},
    {"start", &DeviceFigures::start, kTimeUnits}};

// As `calibrate` writes them: seconds, bytes, and counts a second.
struct StepFigure {
  const char* key;
  double StepFigures::* figure;
  bool may_be_none =
      false;  // times that do not show, and rates that were not needed to explain any
};
constexpr StepFigure kStepFigures[] = {{"workers", &StepFigures::workers},
                                       {"together", &StepFigures::together},
                                       {"products_together", &StepFigures::products_together},
                                       {"start", &StepFigures::start},
                                       {"array", &StepFigures::array, true},
                                       {"beside", &StepFigures::beside},
                                       {"call", &StepFigures::call},
                                       {"wake", &StepFigures::wake, true},
                                       {"light_rate", &StepFigures::light_rate},
                                       {"access_rate", &StepFigures::access_rate},
                                       {"heavy_rate", &StepFigures::heavy_rate},
                                       {"lane_rate", &StepFigures::lane_rate},
                                       {"convert_rate", &StepFigures::convert_rate},
                                       {"run_rate", &StepFigures::run_rate},
                                       {"product_call", &StepFigures::product_call, true},
                                       {"pack_rate", &StepFigures::pack_rate, true},
                                       {"result_rate", &StepFigures::result_rate, true},
                                       {"product_rate", &StepFigures::product_rate},
                                       {"first_cache", &StepFigures::first_cache},
                                       {"near_cache", &StepFigures::near_cache},
                                       {"far_cache", &StepFigures::far_cache},
                                       {"near_rate", &StepFigures::near_rate},
                                       {"far_rate", &StepFigures::far_rate},
                                       {"memory_rate", &StepFigures::memory_rate}};

constexpr CollectiveKind kTimed[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                     CollectiveKind::permute,    CollectiveKind::broadcast};

std::set<std::string> device_keys() {
  std::set<std::string> keys{"memory"};
  for (const Figure& one : kFigures) keys.insert(one.key);
  return keys;
}

// Reads a cluster, and says of anything wrong where it stands.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Expected<Cluster> read(const std::string& text) {
    const Json json = parse_json(text);
    if (!json.is_object()) return wrong("this is no JSON object");
    HEDDLE_TRY_VOID(only(json, "", {"name", "about", "device", "levels", "steps", "moves"}));
    Cluster cluster;
    HEDDLE_TRY(cluster.name, word(json, "name", ""));
    if (json.contains("about")) {
      HEDDLE_TRY(cluster.about, word(json, "about", ""));
    }
    if (!json.contains("device") || !json["device"].is_object())
      return wrong("\"device\" should be an object with memory, memory_rate and compute_rate");
    const Json& device = json["device"];
    HEDDLE_TRY_VOID(only(device, "device: ", device_keys()));
    HEDDLE_TRY(const std::string memory, word(device, "memory", "device: "));
    const auto bytes = parse_bytes(memory);
    if (!bytes || *bytes <= 0)
      return wrong("device: \"memory\" is {}, and should be as 80GB", memory);
    cluster.memory = *bytes;
    for (const Figure& one : kFigures)
      if (one.needed || device.contains(one.key)) {
        HEDDLE_TRY(cluster.device.*one.figure, figure(device, one.key, "device: ", one.units));
      }
    if (!json.contains("levels") || !json["levels"].is_array())
      return wrong("\"levels\" should be a list, the outermost first");
    if (json["levels"].empty())
      return wrong(
          "\"levels\" is empty: name at least one, as in {{\"name\": \"gpu\", \"size\": 8, "
          "\"rate\": "
          "\"50GB/s\", \"latency\": \"3us\"}}; its size may be 1");
    std::int64_t devices = 1;
    for (const Json& one : json["levels"]) {
      HEDDLE_TRY(Cluster::Level level, level_of(one));
      if (level.size > kMostDevices / devices) return wrong("there are more than 2^40 devices");
      devices *= level.size;
      for (const Cluster::Level& other : cluster.levels)
        if (other.name == level.name) return wrong("two levels are called {}", level.name);
      cluster.levels.push_back(std::move(level));
    }
    HEDDLE_TRY_VOID(read_steps(json, cluster));
    HEDDLE_TRY_VOID(read_moves(json, cluster));
    return cluster;
  }

 private:
  template <typename... Args>
  Reason wrong(fmt::format_string<Args...> format, Args&&... args) const {
    return reason("cluster {}: {}", file_, fmt::format(format, std::forward<Args>(args)...));
  }

  Verdict only(const Json& json, const std::string& at, const std::set<std::string>& keys) const {
    for (const auto& [key, _] : json.items())
      if (!keys.contains(key)) {
        const std::vector<std::string> known(keys.begin(), keys.end());
        return wrong("{}\"{}\" is no key of it{}", at, key, did_you_mean(key, known));
      }
    return yes();
  }

  Expected<std::string> word(const Json& json, const char* key, const std::string& at) const {
    if (!json.contains(key) || !json[key].is_string() || json[key].get<std::string>().empty())
      return wrong("{}\"{}\" should be a word in quotes", at, key);
    return json[key].get<std::string>();
  }

  Expected<double> figure(const Json& json, const char* key, const std::string& at,
                          FigureUnits units) const {
    HEDDLE_TRY(const std::string text, word(json, key, at));
    if (const auto value = parse_figure(text, units); value && *value > 0) return *value;
    return wrong("{}\"{}\" is {}, and should be a number above 0 with one of {}", at, key, text,
                 spelled(units));
  }

  Verdict read_steps(const Json& json, Cluster& cluster) const {
    if (!json.contains("steps")) return yes();
    const Json& steps = json["steps"];
    std::set<std::string> keys;
    for (const StepFigure& one : kStepFigures) keys.insert(one.key);
    if (!steps.is_object()) return wrong("\"steps\" should be an object, as `calibrate` writes it");
    HEDDLE_TRY_VOID(only(steps, "steps: ", keys));
    for (const StepFigure& one : kStepFigures) {
      if (!steps.contains(one.key))
        return wrong("steps: \"{}\" is missing; `heddle calibrate -o FILE` writes all of them",
                     one.key);
      const double least = one.may_be_none ? 0 : std::numeric_limits<double>::min();
      if (!steps[one.key].is_number() || !(steps[one.key].get<double>() >= least))
        return wrong("steps: \"{}\" is {}, and should be a number {} 0", one.key,
                     print_json(steps[one.key]), one.may_be_none ? "of at least" : "above");
      cluster.steps.*one.figure = steps[one.key].get<double>();
    }
    return yes();
  }

  // {"all-reduce": [[1024, 5e-6], ...]}: bytes that a device has before it, the smallest first, and
  // seconds.
  Verdict read_moves(const Json& json, Cluster& cluster) const {
    if (!json.contains("moves")) return yes();
    if (!json["moves"].is_object()) return wrong("\"moves\" should be an object of lists");
    for (const auto& [key, list] : json["moves"].items()) {
      const auto kind = std::ranges::find(kTimed, key, [](CollectiveKind k) { return name(k); });
      if (kind == std::end(kTimed)) return wrong("moves: \"{}\" is no collective", key);
      double before = 0;
      if (!list.is_array()) return wrong("moves: \"{}\" should be a list", key);
      for (const Json& one : list) {
        const bool is_pair =
            one.is_array() && one.size() == 2 && one[0].is_number() && one[1].is_number();
        if (!is_pair || !(one[0].get<double>() > before) || !(one[1].get<double>() > 0))
          return wrong("moves: \"{}\" should have pairs of bytes and seconds, the smallest first",
                       key);
        before = one[0].get<double>();
        cluster.moves.push_back({*kind, before, one[1].get<double>()});
      }
    }
    return yes();
  }

  Expected<Cluster::Level> level_of(const Json& json) const {
    if (!json.is_object()) return wrong("a level should be an object");
    HEDDLE_TRY_VOID(only(json, "a level: ", {"name", "size", "rate", "latency"}));
    Cluster::Level level;
    HEDDLE_TRY(level.name, word(json, "name", "a level: "));
    const std::string at = fmt::format("level {}: ", level.name);
    AxisRegistry scratch = AxisRegistry::standard();
    if (const auto axis = Mesh::parse(level.name + "=1", scratch); !axis)
      return wrong("{}its name becomes an axis of meshes: {}", at, axis.reason());
    if (!json.contains("size") || !json["size"].is_number_integer() ||
        json["size"].get<std::int64_t>() < 1)
      return wrong("{}\"size\" should be a whole number of at least 1", at);
    level.size = json["size"].get<std::int64_t>();
    HEDDLE_TRY(level.link.bandwidth, figure(json, "rate", at, kRateUnits));
    HEDDLE_TRY(level.link.latency, figure(json, "latency", at, kTimeUnits));
    return level;
  }

  const std::string& file_;
};

// With the largest unit that gives the same number back.
std::string figure_text(double value, FigureUnits units) {
  for (std::size_t u = units.size(); u-- > 0;) {
    const auto& [unit, factor] = units[u];
    const double count = value / factor;
    if (count >= 1 && count * factor == value) return fmt::format("{}{}", count, unit);
  }
  const FigureUnit& base = *std::ranges::find(units, 1.0, &FigureUnit::factor);
  return fmt::format("{}{}", value, base.spelling);
}

constexpr std::string_view kHere = "here", kAsRanks = "-ranks";

// Of "here" a device for each core, of "here-4" four, of "here-4-ranks" four that are ranks.
std::optional<std::int64_t> devices_here(std::string_view name) {
  if (name.ends_with(kAsRanks)) name.remove_suffix(kAsRanks.size());
  if (name == kHere) return 0;
  if (!name.starts_with("here-")) return std::nullopt;
  name.remove_prefix(kHere.size() + 1);
  constexpr std::int64_t kMost = 4096;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), count);
  const bool is_count = error == std::errc() && end == name.data() + name.size();
  return is_count && count >= 1 && count <= kMost ? std::optional(count) : std::nullopt;
}

// "node=8,gpu=8"
std::string text_of(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::string text;
  for (const auto& [name, size] : axes)
    if (size > 1) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
  // One device is a mesh too.
  return text.empty() ? axes.back().first + "=1" : text;
}

}  // namespace

std::int64_t Cluster::devices() const {
  std::int64_t count = 1;
  for (const Level& level : levels) count *= level.size;
  return count;
}

Expected<Mesh> Cluster::with_figures(const Mesh& mesh) const {
  if (mesh.devices() > devices())
    return reason("the mesh {} has {} devices, and cluster {} has {}{}", mesh.str(), mesh.devices(),
                  name, devices(),
                  name == kHere ? fmt::format("; {}-{} has as many", kHere, mesh.devices()) : "");
  std::vector<MeshAxis> axes = mesh.axes();
  std::size_t level = levels.size();
  std::int64_t room = 1;  // of the level at hand, for further axes
  for (std::size_t a = axes.size(); a-- > 0;) {
    Link slowest{0, INFINITY};
    for (std::int64_t left = axes[a].size; left > 1;) {
      while (room <= 1 && level > 0) room = levels[--level].size;
      const Link& link = levels[level].link;
      slowest = {std::max(slowest.latency, link.latency),
                 std::min(slowest.bandwidth, link.bandwidth)};
      // What does not come out even takes a part of the next level too.
      const std::int64_t here = std::min(left, room);
      left = (left + here - 1) / here;
      room /= here;
      if (room <= 1 && level == 0) break;
    }
    if (axes[a].size > 1) axes[a].link = slowest;
  }
  // What all devices were timed with says nothing of some of them.
  const bool is_all = mesh.devices() == devices();
  return Mesh::make(std::move(axes), device, is_all ? moves : std::vector<TimedMove>());
}

Expected<Cluster> parse_cluster(const std::string& text, const std::string& file) {
  return Reader(file).read(text);
}

std::string cluster_text(const Cluster& cluster) {
  Json levels = Json::array();
  for (const Cluster::Level& level : cluster.levels)
    levels.push_back({{"name", level.name},
                      {"size", level.size},
                      {"rate", figure_text(level.link.bandwidth, kRateUnits)},
                      {"latency", figure_text(level.link.latency, kTimeUnits)}});
  Json json = {{"name", cluster.name}};
  if (!cluster.about.empty()) json["about"] = cluster.about;
  json["device"] = {{"memory", fmt::format("{}", cluster.memory)}};
  for (const Figure& one : kFigures)
    if (const double value = cluster.device.*one.figure; one.needed || value > 0)
      json["device"][one.key] = figure_text(value, one.units);
  json["levels"] = std::move(levels);
  if (cluster.steps.workers > 0)
    for (const StepFigure& one : kStepFigures) json["steps"][one.key] = cluster.steps.*one.figure;
  for (const TimedMove& move : cluster.moves)
    json["moves"][std::string(name(move.kind))].push_back({move.bytes, move.seconds});
  return print_json(json, 2) + "\n";
}

std::vector<std::string> known_clusters() {
  std::vector<std::string> names;
  for (const ShippedCluster& one : shipped_clusters()) names.emplace_back(one.name);
  names.emplace_back(kHere);
  return names;
}

Expected<Cluster> find_cluster(const std::string& file_or_name) {
  for (const ShippedCluster& one : shipped_clusters())
    if (one.name == file_or_name) return parse_cluster(std::string(one.text), file_or_name);
  if (const auto devices = devices_here(file_or_name))
    return cluster_here(
        *devices, file_or_name.ends_with(kAsRanks) ? DevicesAs::ranks : devices_of_this_process());
  std::error_code none;
  if (!std::filesystem::exists(file_or_name, none)) {
    const std::vector<std::string> names = known_clusters();
    return reason("cluster {}: there is no such file, and none of that name comes along{}",
                  file_or_name, did_you_mean(file_or_name, names));
  }
  const auto text = frontend::read_bytes(file_or_name);
  if (!text) return reason("cluster: {}", text.reason());
  return parse_cluster(*text, file_or_name);
}

std::vector<std::string> meshes_of(const Cluster& cluster) {
  std::vector<std::pair<std::string, std::int64_t>> levels;
  for (const Cluster::Level& level : cluster.levels) levels.emplace_back(level.name, level.size);
  std::vector<std::string> meshes{text_of(levels)};
  // One level as two axes, about as large as each other, the outer one first.
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::int64_t inner = 1;
    while (4 * inner * inner <= levels[l].second && levels[l].second % (2 * inner) == 0) inner *= 2;
    if (inner == 1) continue;
    auto cut = levels;
    cut[l].second /= inner;
    cut.insert(cut.begin() + static_cast<std::ptrdiff_t>(l) + 1,
               {levels[l].first + "_inner", inner});
    meshes.push_back(text_of(cut));
  }
  return meshes;
}

}  // namespace heddle
