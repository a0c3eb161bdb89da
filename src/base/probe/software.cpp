// LLVM, MPI and Python.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string>

#include "base/library.h"
#include "base/probe/probe.h"
#include "base/subprocess.h"

namespace heddle {
namespace {

constexpr std::chrono::seconds kToolLimit{5};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string ask_llvm() {
  const Library library = {"libLLVM-19.so", "libLLVM.so.19.1", "libLLVM-19.so.1",
                           "/usr/lib/llvm-19/lib/libLLVM.so"};
  auto* const version = library.function<void(unsigned*, unsigned*, unsigned*)>("LLVMGetVersion");
  if (version == nullptr) return "";
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

// The version an MPI library gives itself; it may be asked before MPI_Init.
std::string ask_mpi(const Library& library) {
  auto* const version = library.function<int(char*, int*)>("MPI_Get_library_version");
  if (version == nullptr) return "";
  std::array<char, 16384> text{};  // the longest that any MPI asks for is 8192
  int length = 0;
  if (version(text.data(), &length) != 0) return "";
  std::string line = first_line(text.data());
  // MPICH writes "MPICH Version:      4.0.2".
  constexpr std::string_view kWord = " Version:";
  if (const std::size_t at = line.find(kWord); at != line.npos)
    line = line.substr(0, at) + " " + version_after(line, std::string(kWord));
  return line.substr(0, line.find(','));
}

std::string ask_openmpi() { return ask_mpi({"libmpi.so.40", "libmpi.so"}); }
std::string ask_mpich() { return ask_mpi({"libmpich.so.12", "libmpi.so.12"}); }

// Prints its version and those of the packages Heddle knows of, as JSON, without importing them.
constexpr const char* kAskPython = R"(
import json, sys
from importlib import metadata
def version(name):
    try:
        return metadata.version(name)
    except Exception:
        return None
found = {name: version(name) for name in ("numpy", "jax", "torch")}
print(json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "packages": found}))
)";

}  // namespace

std::string version_after(const std::string& text, const std::string& word) {
  const std::size_t place = text.find(word);
  if (place == text.npos) return "";
  std::size_t start = place + word.size();
  while (start < text.size() && std::isdigit(static_cast<unsigned char>(text[start])) == 0) ++start;
  const std::size_t end = text.find_first_not_of("0123456789.", start);
  return text.substr(start, end == text.npos ? end : end - start);
}

Finding probe_llvm() {
  const CommandOutcome library = run_isolated(ask_llvm, kToolLimit);
  const CommandOutcome config = run_command({"llvm-config-19", "--version"}, kToolLimit);
  const std::string version = library.finished ? library.output : "";
  Finding finding{"LLVM", !version.empty(), "", nullptr};
  finding.data = {{"library", version.empty() ? Json(nullptr) : Json(version)},
                  {"headers", config.finished ? Json(first_line(config.output)) : Json(nullptr)}};
  finding.text = version.empty()
                     ? "none: libLLVM of version 19 is not there"
                     : fmt::format("{}, {} headers", version, config.finished ? "with" : "without");
  return finding;
}

Finding probe_mpi() {
  const CommandOutcome launcher = run_command({"mpirun", "--version"}, kToolLimit);
  std::vector<std::string> versions;  // one process must not load both
  for (const auto& ask : {ask_openmpi, ask_mpich}) {
    const CommandOutcome library = run_isolated(ask, kToolLimit);
    if (library.finished && !library.output.empty() &&
        std::ranges::find(versions, library.output) == versions.end())
      versions.push_back(library.output);
  }
  Finding finding{"MPI", !versions.empty(), "", nullptr};
  finding.data = {
      {"libraries", versions},
      {"mpirun", launcher.finished ? Json(first_line(launcher.output)) : Json(nullptr)}};
  finding.text = versions.empty() ? "none: no libmpi"
                                  : fmt::format("{}, {} mpirun", fmt::join(versions, ", "),
                                                launcher.finished ? "with" : "without");
  return finding;
}

Finding probe_python() {
  const CommandOutcome outcome = run_command({"python3", "-c", kAskPython}, kToolLimit);
  const Json answer = parse_json(outcome.output);
  if (!outcome.finished || !answer.is_object() || !answer.contains("version")) {
    const std::string why = outcome.finished ? "gave no sensible answer" : outcome.problem;
    return {"Python", false, "none: python3 " + why, nullptr};
  }
  Finding finding{"Python", true, answer["version"].get<std::string>(), answer};
  for (const auto& [name, version] : answer["packages"].items()) {
    finding.text += fmt::format(", {} {}", version.is_null() ? "no" : name,
                                version.is_null() ? name : version.get<std::string>());
  }
  return finding;
}

}  // namespace heddle
