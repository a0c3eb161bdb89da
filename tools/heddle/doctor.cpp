// heddle doctor: what the machine has, and what Heddle can do with it.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "base/probe/probe.h"
#include "comm/mpi/mpi_library.h"
#include "commands.h"
#include "device/cpu/jit.h"
#include "heddle/version.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Capability {
  bool works;
  std::string what;
  std::string note;
};

// "Open MPI, MPICH": those that this build has modules for.
std::string mpi_modules() {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"heddle_mpi_openmpi", "Open MPI"}, {"heddle_mpi_mpich", "MPICH"}};
  std::vector<std::string> names;
  for (const std::filesystem::path file : comm::mpi_module_paths()) {
    std::string name = file.filename();
    for (const auto& [stem, words] : kKnown)
      if (file.stem() == stem) name = words;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Kept true by hand: what this version does, and what a part still to be built will need.
std::vector<Capability> capabilities(bool llvm, bool gpu, bool nvrtc, bool mpi) {
  const bool built_with_llvm = CpuJit().target().ok();
  const std::string modules = mpi_modules();
  const auto there = [](const char* what, bool found) {
    return fmt::format("{} ({})", what, found ? "found" : "none");
  };
  const auto needs = [&](const char* what, bool found) {
    return "not built yet; needs " + there(what, found);
  };
  return {
      {true, "layouts and plans for moving data", "heddle layout --help"},
      {true, "reading StableHLO, running it", "heddle run --help"},
      {false, "reading JAX functions directly", "not built yet"},
      {true, "many devices of this machine", "heddle run --mesh, heddle launch --help"},
      {!modules.empty(), "many devices by MPI",
       modules.empty() ? "built without MPI; the system has " + there("MPI", mpi)
                       : "mpirun heddle run --mesh; " + modules},
      {false, "choosing layouts by itself", "not built yet; what is given is propagated"},
      {built_with_llvm, "compiling for CPU cores",
       built_with_llvm ? "LLVM 19"
                       : "built without LLVM; the system has " + there("LLVM 19", llvm)},
      {false, "running on GPUs", needs("a GPU", gpu) + ", " + there("NVRTC", nvrtc)},
  };
}

void write_text(const std::vector<Finding>& findings, const std::vector<Capability>& can,
                const Style& style) {
  const auto columns = static_cast<std::size_t>(style.columns());
  std::string text = version_line() + "\n";
  text += style.bold(
              "programs run on the cores of this machine, as one device or as many; GPUs are not "
              "there yet") +
          "\n\n";
  text += "this machine has\n";
  for (const Finding& finding : findings) {
    const std::string value = shortened(finding.text, columns - 12);
    text += fmt::format("  {:<8}  {}\n", finding.name, finding.found ? value : style.dim(value));
  }
  text += "\nso Heddle can do here\n";
  for (const Capability& capability : can) {
    const std::string mark = fmt::format("{:<8}", capability.works ? "yes" : "not yet");
    text +=
        fmt::format("  {}  {:<34}  {}\n", capability.works ? style.green(mark) : style.yellow(mark),
                    capability.what, style.dim(shortened(capability.note, columns - 48)));
  }
  write_stdout(text);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void write_report(const std::vector<Finding>& findings, const std::vector<Capability>& can) {
  Json report = {
      {"heddle", {{"version", version()}, {"compiler", compiler()}, {"build", build_kind()}}}};
  for (const Finding& finding : findings) {
    report["machine"][lower_case(finding.name)] = {{"found", finding.found},
                                                   {"details", finding.data}};
  }
  for (const Capability& capability : can) {
    report["capabilities"].push_back(
        {{"what", capability.what}, {"works", capability.works}, {"note", capability.note}});
  }
  write_json(report);
}

void doctor(const ReportOptions& options) {
  const Finding gpus = probe_gpus();
  const Finding cuda = probe_cuda_tools();
  const Finding llvm = probe_llvm();
  const Finding mpi = probe_mpi();
  const std::vector<Finding> findings = {
      probe_cores(), probe_vectors(), probe_memory(), gpus, cuda, llvm, mpi, probe_python()};
  const auto can = capabilities(llvm.found, gpus.found, cuda.found, mpi.found);
  if (options.json) {
    write_report(findings, can);
  } else {
    write_text(findings, can, Style::of_stdout(options.plain));
  }
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto* const command =
      app.add_subcommand("doctor", "What this machine has and what Heddle can do with it");
  const auto options = std::make_shared<ReportOptions>();
  add_report_options(*command, *options);
  command->callback([options] { doctor(*options); });
}

}  // namespace heddle::cli
