#include "pjrt/client.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "base/cores.h"
#include "heddle/compile_options.h"
#include "heddle/hash.h"
#include "heddle/version.h"

namespace heddle::pjrt {

namespace {

constexpr int kMostDevices = 1024;

std::int64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? std::int64_t{pages} * size : 0;
}

// Changes with every build, so that nobody loads what another one has kept.
std::uint64_t build_id() {
  Dl_info info = {};
  struct stat file = {};
  if (dladdr(reinterpret_cast<const void*>(&build_id), &info) == 0 ||
      stat(info.dli_fname, &file) != 0)
    return 0;
  return hash_combine(static_cast<std::uint64_t>(file.st_mtim.tv_sec) * 1'000'000'007U +
                          static_cast<std::uint64_t>(file.st_mtim.tv_nsec),
                      static_cast<std::uint64_t>(file.st_size));
}

// A GPU, or a part of one.
void describe_gpu(DeviceHandle& device, int id, int count) {
  const Device& what = device.client->device;
  DeviceDescription& d = device.description;
  d.id = id;
  d.kind = what.model();
  d.text = fmt::format("HeddleDevice(id={}, {})", id, what.name());
  d.debug_text = count == 1 ? fmt::format("Heddle: {}, {}", what.name(), what.model())
                            : fmt::format("Heddle: device {} of {} on {}, {}", id, count,
                                          what.name(), what.model());
}

void describe(DeviceHandle& device, int id, int count, int cores) {
  DeviceDescription& d = device.description;
  d.id = id;
  d.kind = "cpu";
  d.text = fmt::format("HeddleDevice(id={})", id);
  d.debug_text = count == 1 ? fmt::format("Heddle: this machine, {} cores", cores)
                            : fmt::format("Heddle: device {} of {}, a thread", id, count);
  d.attributes.add("num_cores", std::int64_t{std::max(1, cores / count)});
}

void give_memories(DeviceHandle& device, std::vector<Memory*>& all) {
  for (std::size_t kind = 0; kind < kMemoryKinds.size(); ++kind) {
    Memory memory;
    memory.device = &device;
    memory.id =
        device.description.id * static_cast<int>(kMemoryKinds.size()) + static_cast<int>(kind);
    memory.kind = static_cast<int>(kind);
    memory.kind_name = kMemoryKinds[kind];
    memory.text = fmt::format("{} of {}", memory.kind_name, device.description.text);
    device.memories.push_back(std::move(memory));
    device.memory_list.push_back(&device.memories.back());
    all.push_back(&device.memories.back());
  }
}

}  // namespace

void MemoryUse::add(std::int64_t bytes) {
  const auto raise = [](std::atomic<std::int64_t>& most, std::int64_t now) {
    std::int64_t seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
  };
  raise(peak_, in_use_ += bytes);
  raise(largest_, bytes);
  ++allocations_;
}

bool Memory::in_host_memory() const { return kind != 0 || device->client->device.in_host_memory(); }

Client::Client(int count, Device& what) : device(what) {
  const int cores = usable_cores();
  const auto queues = std::make_shared<SpareQueues>(what);
  for (int id = 0; id < count; ++id) {
    DeviceHandle& device = devices.emplace_back();
    device.client = this;
    device.queues = queues;
    if (what.in_host_memory())
      describe(device, id, count, cores);
    else
      describe_gpu(device, id, count);
    device.memory_limit =
        (what.in_host_memory() ? physical_memory() : what.limits().memory_bytes) / count;
    device.self = {&device};
    device_list.push_back(&device);
    give_memories(device, memories);
    topology.descriptions.push_back(&device.description);
  }
}

std::shared_ptr<ThreadMesh> Client::threads(int count) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ThreadMesh>& mesh = threads_[count];
  if (!mesh) mesh = std::make_shared<ThreadMesh>(count);
  return mesh;
}

const std::string& platform_name() {
  static const std::string name = "cpu";
  return name;
}

const std::string& platform_version() {
  static const std::string text = fmt::format("Heddle {} ({:016x})", version(), build_id());
  return text;
}

Device& device_from_environment() {
  const char* text = std::getenv("HEDDLE_DEVICE");
  if (text == nullptr || *text == '\0') return default_device();
  const Expected<Device*> found = find_device(text);
  if (!found)
    throw Failure(Code::invalid_argument,
                  fmt::format("HEDDLE_DEVICE={}: {}", text, found.reason()));
  return **found;
}

int device_count_from_environment() {
  const char* text = std::getenv("HEDDLE_DEVICES");
  if (text == nullptr || *text == '\0') return 1;
  const std::string_view words = text;
  int count = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), count);
  if (error != std::errc() || end != words.data() + words.size() || count < 1 ||
      count > kMostDevices)
    throw Failure(Code::invalid_argument,
                  fmt::format("HEDDLE_DEVICES={}: expected a number from 1 to {}, of devices that "
                              "JAX is to see",
                              words, kMostDevices));
  return count;
}

}  // namespace heddle::pjrt
