// Cores, vector units and memory, as far as this process may use them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/cores.h"
#include "base/probe/probe.h"
#include "base/probe/usable_memory.h"
#include "base/text.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The value of the first "key : value" line of /proc/cpuinfo or /proc/meminfo.
std::string field(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == line.npos ? "" : line.substr(start);
  }
  return "";
}

std::optional<double> parse_number(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

// Our control group's folder and those above it. Version 2, else version 1 for `controller`.
std::vector<fs::path> control_groups(std::string_view controller) {
  std::vector<fs::path> result;
  std::istringstream lines(read_text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string list = "," + line.substr(first + 1, second - first - 1) + ",";
    fs::path root = "/sys/fs/cgroup";
    if (list.find(fmt::format(",{},", controller)) != list.npos) {
      root /= controller;
    } else if (list != ",,") {
      continue;
    }
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    while (!group.empty()) {
      result.push_back(root / group);
      group = group.parent_path();
    }
    result.push_back(root);
  }
  return result;
}

// The lowest limit of all our control groups; 0 where there is none.
double lowest(double a, double b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

double core_quota() {
  double quota = 0;
  for (const fs::path& group : control_groups("cpu")) {
    quota = lowest(quota, parse_cpu_max(read_text(group / "cpu.max")));
    quota = lowest(quota, parse_cpu_max(read_text(group / "cpu.cfs_quota_us") + " " +
                                        read_text(group / "cpu.cfs_period_us")));
  }
  return quota;
}

double memory_limit(double total) {
  double limit = 0;
  for (const fs::path& group : control_groups("memory")) {
    for (const char* file : {"memory.max", "memory.limit_in_bytes"}) {
      limit = lowest(limit, parse_number(read_text(group / file)).value_or(0));
    }
  }
  return limit < total ? limit : 0;  // version 1 writes a huge number for "none"
}

std::uint64_t whole(double bytes) { return static_cast<std::uint64_t>(bytes); }

double kilobytes(const std::string& meminfo, std::string_view key) {
  return parse_number(field(meminfo, key)).value_or(0) * 1024;
}

}  // namespace

double parse_cpu_max(const std::string& text) {
  std::istringstream stream(text);
  double quota = 0;
  double period = 0;
  if (!(stream >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

Finding probe_cores() {
  const int online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const int affinity = usable_cores();
  const double quota = core_quota();
  int usable = affinity;
  std::string why;
  if (usable < online) why = " by affinity";
  if (quota > 0 && quota < usable) {
    usable = std::max(1, static_cast<int>(quota));
    why = fmt::format(" by a quota of {:.3g}", quota);
  }
  const std::string cpuinfo = read_text("/proc/cpuinfo");
  const std::string model = field(cpuinfo, "model name");
  Finding finding{"cores", true, fmt::format("{} usable", usable), {}};
  if (usable < online) finding.text += fmt::format(" of {}{}", online, why);
  if (!model.empty()) finding.text += "   " + model;
  finding.data = {{"usable", usable}, {"online", online}, {"affinity", affinity}, {"model", model}};
  finding.data["quota"] = quota > 0 ? Json(quota) : nullptr;
  return finding;
}

Finding probe_vectors() {
  struct Unit {
    const char* flag;
    const char* shown;
  };
  constexpr std::array kUnits = {Unit{"avx512f", "AVX-512"},
                                 Unit{"avx512_bf16", "AVX-512 bf16"},
                                 Unit{"avx512_fp16", "AVX-512 fp16"},
                                 Unit{"amx_bf16", "AMX bf16"},
                                 Unit{"avx2", "AVX2"},
                                 Unit{"fma", "FMA"},
                                 Unit{"sve", "SVE"},
                                 Unit{"asimd", "NEON"}};
  const std::string cpuinfo = read_text("/proc/cpuinfo");
  const std::string flags = " " + field(cpuinfo, "flags") + " " + field(cpuinfo, "Features") + " ";
  Finding finding{"vectors", false, "", {{"units", Json::array()}}};
  for (const Unit& unit : kUnits) {
    if (flags.find(fmt::format(" {} ", unit.flag)) == flags.npos) continue;
    finding.text += (finding.found ? ", " : "") + std::string(unit.shown);
    finding.data["units"].push_back(unit.flag);
    finding.found = true;
  }
  if (!finding.found) finding.text = "none known to Heddle";
  return finding;
}

std::int64_t usable_memory() {
  const double total = kilobytes(read_text("/proc/meminfo"), "MemTotal");
  return static_cast<std::int64_t>(lowest(total, memory_limit(total)));
}

Finding probe_memory() {
  const std::string meminfo = read_text("/proc/meminfo");
  const double total = kilobytes(meminfo, "MemTotal");
  const double available = kilobytes(meminfo, "MemAvailable");
  if (total == 0) return {"memory", false, "unknown: /proc/meminfo cannot be read", nullptr};
  const double limit = memory_limit(total);
  Finding finding{"memory", true, "", {{"total", whole(total)}, {"available", whole(available)}}};
  finding.text = fmt::format("{}, {} available", format_bytes(total), format_bytes(available));
  if (limit > 0) finding.text += fmt::format(", limited to {}", format_bytes(limit));
  finding.data["limit"] = limit > 0 ? Json(whole(limit)) : nullptr;
  return finding;
}

}  // namespace heddle
