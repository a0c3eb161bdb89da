// NVIDIA GPUs through the driver, and the compilers for them. All of it is loaded here, at run
// time.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "base/library.h"
#include "base/probe/probe.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace heddle {
namespace {

constexpr std::chrono::seconds kDriverLimit{10};  // a cold driver takes seconds to start

// Numbers of the driver's attributes.
constexpr int kMultiprocessors = 16;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

struct Driver {
  Library library{"libcuda.so.1"};
  int (*init)(unsigned) = library.function<int(unsigned)>("cuInit");
  int (*version)(int*) = library.function<int(int*)>("cuDriverGetVersion");
  int (*count)(int*) = library.function<int(int*)>("cuDeviceGetCount");
  int (*device)(int*, int) = library.function<int(int*, int)>("cuDeviceGet");
  int (*name)(char*, int, int) = library.function<int(char*, int, int)>("cuDeviceGetName");
  int (*memory)(std::size_t*,
                int) = library.function<int(std::size_t*, int)>("cuDeviceTotalMem_v2");
  int (*attribute)(int*, int, int) = library.function<int(int*, int, int)>("cuDeviceGetAttribute");
  int (*error_name)(int, const char**) = library.function<int(int, const char**)>("cuGetErrorName");

  bool complete() const {
    return init != nullptr && version != nullptr && count != nullptr && device != nullptr &&
           name != nullptr && memory != nullptr && attribute != nullptr;
  }
  std::string error(int code) const {
    const char* text = nullptr;
    if (error_name != nullptr && error_name(code, &text) == 0 && text != nullptr) return text;
    return fmt::format("error {}", code);
  }
};

Json describe_device(const Driver& driver, int ordinal) {
  int device = 0;
  std::array<char, 256> name{};
  std::size_t memory = 0;
  int major = 0;
  int minor = 0;
  int processors = 0;
  if (driver.device(&device, ordinal) != 0) return nullptr;
  driver.name(name.data(), static_cast<int>(name.size()) - 1, device);
  driver.memory(&memory, device);
  driver.attribute(&major, kCapabilityMajor, device);
  driver.attribute(&minor, kCapabilityMinor, device);
  driver.attribute(&processors, kMultiprocessors, device);
  return {{"name", name.data()},
          {"memory", memory},
          {"capability", fmt::format("{}.{}", major, minor)},
          {"multiprocessors", processors}};
}

// {"problem": ...} or {"driver": ..., "devices": [...]}.
Json ask_driver() {
  const Driver driver;
  if (!driver.library) return {{"problem", "no NVIDIA driver (libcuda.so.1)"}};
  if (!driver.complete()) return {{"problem", "libcuda.so.1 lacks functions; it may be a stub"}};
  if (const int code = driver.init(0); code != 0) {
    return {{"problem", "the driver does not start: " + driver.error(code)}};
  }
  int version = 0;
  int count = 0;
  driver.version(&version);
  driver.count(&count);
  Json answer = {{"driver", fmt::format("{}.{}", version / 1000, version % 1000 / 10)},
                 {"devices", Json::array()}};
  for (int i = 0; i < count; ++i) answer["devices"].push_back(describe_device(driver, i));
  return answer;
}

Json ask_nvrtc() {
  const Library library = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                           "/usr/local/cuda/lib64/libnvrtc.so"};
  auto* const version = library.function<int(int*, int*)>("nvrtcVersion");
  int major = 0;
  int minor = 0;
  if (version == nullptr || version(&major, &minor) != 0) return nullptr;
  return fmt::format("{}.{}", major, minor);
}

// Runs a question to a library apart from us; null where no answer came.
Json isolated(Json (*question)(), std::string* problem = nullptr) {
  const CommandOutcome outcome =
      run_isolated([question] { return print_json(question()); }, kDriverLimit);
  if (problem != nullptr) *problem = outcome.problem;
  Json answer = parse_json(outcome.output);
  return !outcome.finished || answer.is_discarded() ? Json(nullptr) : answer;
}

// "8 x NVIDIA H200, 150.8 GB, capability 9.0", equal ones together.
std::string device_list(const Json& devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size();) {
    std::size_t end = i;
    while (end < devices.size() && devices[end] == devices[i]) ++end;
    const Json& device = devices[i];
    if (!text.empty()) text += "; ";
    if (end - i > 1) text += fmt::format("{} x ", end - i);
    if (device.is_null()) {
      text += "a device that does not answer";
    } else {
      text += fmt::format("{}, {}{}, capability {}", device["name"].get<std::string>(),
                          format_bytes(device["memory"].get<double>()), end - i > 1 ? " each" : "",
                          device["capability"].get<std::string>());
    }
    i = end;
  }
  return text;
}

}  // namespace

Finding probe_gpus() {
  std::string problem;
  const Json answer = isolated(ask_driver, &problem);
  if (answer.is_null()) return {"GPUs", false, "none: the driver " + problem, nullptr};
  if (answer.contains("problem")) {
    return {"GPUs", false, "none: " + answer["problem"].get<std::string>(), answer};
  }
  if (answer["devices"].empty()) return {"GPUs", false, "none: the driver sees no device", answer};
  return {"GPUs", true, device_list(answer["devices"]), answer};
}

Finding probe_cuda_tools() {
  Json nvcc = nullptr;
  for (const char* program : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const CommandOutcome outcome = run_command({program, "--version"}, kDriverLimit);
    if (!outcome.finished) continue;
    nvcc = version_after(outcome.output, "release ");
    break;
  }
  const Json nvrtc = isolated(ask_nvrtc);
  Finding finding{"CUDA", !nvrtc.is_null(), "", {{"nvrtc", nvrtc}, {"nvcc", nvcc}}};
  const auto show = [](const Json& version) {
    return version.is_null() ? std::string("none") : version.get<std::string>();
  };
  finding.text = nvrtc.is_null() && nvcc.is_null()
                     ? "none: neither NVRTC nor nvcc"
                     : fmt::format("NVRTC {}, nvcc {}", show(nvrtc), show(nvcc));
  return finding;
}

}  // namespace heddle
