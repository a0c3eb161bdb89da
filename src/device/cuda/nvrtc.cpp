#include "device/cuda/nvrtc.h"

#include <algorithm>
#include <semaphore>
#include <thread>

#include "device/cuda/libraries.h"

namespace heddle {

namespace {

// The few functions of NVRTC that are used; 0 is success.
struct Nvrtc {
  using Program = struct OpaqueProgram*;
  int (*version)(int*, int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*code_size)(Program, std::size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  const char* (*error)(int) = nullptr;
  std::string path;
};

Expected<const Nvrtc*> loaded_nvrtc() {
  return cuda::functions_of<Nvrtc>(cuda::CudaLibrary::nvrtc,
                                   [](FunctionLookup& find, Nvrtc& nvrtc) {
                                     find(nvrtc.version, "nvrtcVersion");
                                     find(nvrtc.create, "nvrtcCreateProgram");
                                     find(nvrtc.compile, "nvrtcCompileProgram");
                                     find(nvrtc.code_size, "nvrtcGetCUBINSize");
                                     find(nvrtc.code, "nvrtcGetCUBIN");
                                     find(nvrtc.log_size, "nvrtcGetProgramLogSize");
                                     find(nvrtc.log, "nvrtcGetProgramLog");
                                     find(nvrtc.destroy, "nvrtcDestroyProgram");
                                     find(nvrtc.error, "nvrtcGetErrorString");
                                   });
}

std::string log_of(const Nvrtc& nvrtc, Nvrtc::Program program) {
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) != 0 || size == 0) return "";
  std::string log(size, '\0');
  if (nvrtc.log(program, log.data()) != 0) return "";
  log.resize(size - 1);
  return log;
}

// The number before `unit` in a line, or 0.
int number_before(std::string_view line, std::string_view unit) {
  const auto end = line.find(unit);
  if (end == std::string_view::npos || end == 0) return 0;
  auto begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return begin == end ? 0 : std::stoi(std::string(line.substr(begin, end - begin)));
}

// What the assembler says of each function, line by line.
std::vector<CudaFunction> functions_of(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<CudaFunction> functions;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (const auto at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kEntry.size());
      functions.push_back({.name = std::string(rest.substr(0, rest.find('\'')))});
    }
    if (functions.empty()) continue;
    CudaFunction& last = functions.back();
    last.registers += number_before(line, " registers");
    last.shared_bytes += number_before(line, " bytes smem");
    last.spilled_bytes += number_before(line, " bytes spill stores");
  }
  return functions;
}

Expected<CudaObject> compile(const Nvrtc& nvrtc, Nvrtc::Program program, std::string_view arch) {
  constexpr int kUnknownOption = 5;
  const std::string target = fmt::format("--gpu-architecture={}", arch);
  // What NVRTC has in a cache of its own comes without the assembler's words on registers.
  const char* options[] = {target.c_str(),    "--std=c++17",      "--fmad=false",
                           "--prec-div=true", "--prec-sqrt=true", "--ptxas-options=-v",
                           "--no-cache"};
  constexpr int kCount = std::size(options);
  int failed = nvrtc.compile(program, kCount, options);
  if (failed == kUnknownOption) failed = nvrtc.compile(program, kCount - 1, options);
  if (failed != 0)
    return reason("NVRTC cannot compile it for {}: {}\n{}", arch, nvrtc.error(failed),
                  log_of(nvrtc, program));
  std::size_t size = 0;
  if (nvrtc.code_size(program, &size) != 0 || size == 0)
    return reason("NVRTC gave no machine code for {}", arch);
  CudaObject object;
  object.code.resize(size);
  if (nvrtc.code(program, object.code.data()) != 0)
    return reason("NVRTC gave no machine code for {}", arch);
  object.functions = functions_of(log_of(nvrtc, program));
  return object;
}

}  // namespace

Expected<std::string> find_nvrtc() {
  HEDDLE_TRY(const Nvrtc* loaded, loaded_nvrtc());
  int major = 0, minor = 0;
  loaded->version(&major, &minor);
  return fmt::format("{} (NVRTC {}.{})", loaded->path, major, minor);
}

namespace {

// As many at a time as there are cores for, less one that goes on with what is compiled.
std::counting_semaphore<>& free_cores() {
  static std::counting_semaphore<> cores(std::max<std::ptrdiff_t>(
      1, static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency()) - 1));
  return cores;
}

class Core {
 public:
  Core() { free_cores().acquire(); }
  ~Core() { free_cores().release(); }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
};

}  // namespace

Expected<CudaObject> compile_cuda(std::string_view source, std::string_view arch) {
  HEDDLE_TRY(const Nvrtc* loaded, loaded_nvrtc());
  const Core core;
  const std::string text(source);
  Nvrtc::Program program = nullptr;
  if (const int failed = loaded->create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr))
    return reason("NVRTC takes no program: {}", loaded->error(failed));
  auto code = compile(*loaded, program, arch);
  loaded->destroy(&program);
  return code;
}

}  // namespace heddle
