// What the machine has, and what Heddle can do with it.
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/probe/probe.h"
#include "base/text.h"
#include "comm/mpi/mpi_library.h"
#include "device/cpu/jit.h"
#include "device/cuda/blas.h"
#include "device/cuda/device.h"
#include "device/cuda/dnn_library.h"
#include "device/cuda/fft_library.h"
#include "heddle/compile_options.h"
#include "heddle/cost.h"
#include "heddle/machine_report.h"
#include "heddle/version.h"
#include "report/cuda_libraries.h"
#include "report/json.h"
#include "report/words.h"

namespace heddle {

using report::Json;

namespace {

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

// Its name, and what multiplies matrices and convolves there.
Expected<std::string> usable_gpu() {
  HEDDLE_TRY(const Device* device, find_device("cuda"));
  const auto blas = cuda::find_blas();
  const auto dnn = cuda::find_dnn();
  const auto fft = cuda::fft_library();
  return fmt::format("{}, {}, {}{}", static_cast<const CudaDevice*>(device)->facts().name,
                     blas ? "cuBLASLt" : "no cuBLASLt: products are kernels",
                     dnn    ? "cuDNN"
                     : blas ? "no cuDNN: convolutions are products"
                            : "no cuDNN: the host convolves",
                     fft ? "" : ", no cuFFT: the host transforms");
}

// Kept true by hand: what this version does, and what it needs.
std::vector<DoctorReport::Capability> capabilities(bool llvm, bool gpu, bool nvrtc, bool mpi) {
  const bool built_with_llvm = CpuJit().target().ok();
  const std::string modules = mpi_modules();
  const auto there = [](const char* what, bool found) {
    return fmt::format("{} ({})", what, found ? "found" : "none");
  };
  const Expected<std::string> gpu_works = usable_gpu();
  return {
      {true, "layouts and plans for moving data", "heddle layout --help"},
      {true, "reading StableHLO, running it", "heddle run --help"},
      {true, "running JAX programs as they are", "pip install .; docs/jax.md"},
      {true, "many devices of this machine", "heddle run --mesh, heddle launch --help"},
      {!modules.empty(), "many devices by MPI",
       modules.empty() ? "built without MPI; the system has " + there("MPI", mpi)
                       : "mpirun heddle run --mesh; " + modules},
      {true, "choosing layouts by itself", "heddle plan --plan auto, heddle plan --cluster"},
      {built_with_llvm, "compiling for CPU cores",
       built_with_llvm ? "LLVM 19"
                       : "built without LLVM; the system has " + there("LLVM 19", llvm)},
      {gpu_works.ok(), "running on a GPU",
       gpu_works ? fmt::format("heddle run --device cuda; {}", *gpu_works)
                 : fmt::format("{}, {}; {}", there("a GPU", gpu), there("NVRTC", nvrtc),
                               gpu_works.reason())},
  };
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

DoctorReport doctor() {
  const Finding gpus = probe_gpus(), cuda = probe_cuda_tools();
  const Finding llvm = probe_llvm(), mpi = probe_mpi();
  DoctorReport report;
  report.libraries = report::cuda_libraries();
  for (const Finding& f :
       {probe_cores(), probe_vectors(), probe_memory(), gpus, cuda, llvm, mpi, probe_python()})
    report.machine.push_back({f.name, f.found, f.text, print_json(f.data)});
  report.capabilities = capabilities(llvm.found, gpus.found, cuda.found, mpi.found);
  return report;
}

std::string DoctorReport::text(const Style& style) const {
  const auto columns = static_cast<std::size_t>(style.columns());
  std::string text = version_line() + "\n";
  text += style.bold(
              "programs run on the cores of this machine, as one device or as many, and on a CUDA "
              "GPU") +
          "\n\n";
  text += "this machine has\n";
  for (const Found& one : machine) {
    const std::string value = shortened(one.text, columns - 12);
    text += fmt::format("  {:<8}  {}\n", one.name, one.found ? value : style.dim(value));
  }
  text += "\nso Heddle can do here\n";
  for (const Capability& one : capabilities) {
    const std::string mark = fmt::format("{:<8}", one.works ? "yes" : "not yet");
    text += fmt::format("  {}  {:<34}  {}\n", one.works ? style.green(mark) : style.yellow(mark),
                        one.what, style.dim(report::wrapped(one.note, columns - 48, 48)));
  }
  text += report::libraries_text(libraries, style);
  return text;
}

std::string DoctorReport::json() const {
  Json report = {
      {"heddle", {{"version", version()}, {"compiler", compiler()}, {"build", build_kind()}}}};
  report["figures_of"] = machine_name();  // the name that calibrated figures are kept under
  for (const Found& one : machine)
    report["machine"][lower_case(one.name)] = {{"found", one.found},
                                               {"details", parse_json(one.details)}};
  for (const Capability& one : capabilities)
    report["capabilities"].push_back(
        {{"what", one.what}, {"works", one.works}, {"note", one.note}});
  for (const Library& one : libraries)
    report["libraries"].push_back({{"name", one.name},
                                   {"found", one.found},
                                   {"version", one.version},
                                   {"path", one.path},
                                   {"note", one.note}});
  return report::json_text(report);
}

}  // namespace heddle
