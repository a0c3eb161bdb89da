// Executables: what a program was compiled to, and what JAX asks of it.
#pragma once

#include "heddle/executable.h"
#include "heddle/thread_mesh.h"
#include "pjrt/client.h"
#include "pjrt/compile_request.h"

namespace heddle::pjrt {

// What one argument or result of a device is.
struct Boundary {
  Type type;
  std::string sharding = {};  // OpSharding
  std::string layout = {};    // as the user asked for it, "{0,1}"; empty: row-major
  int memory_kind = 0;        // into kMemoryKinds
  bool donated = false;       // an argument that a run may take
  bool token = false;         // keeps runs in order, as ours are anyhow
};

// Does not change after it was made; shared by all handles.
struct Compiled {
  Compiled(Executable made) : executable(std::move(made)) {}

  Executable executable;
  std::string name, text, options;
  CompileRequest request;
  std::vector<Boundary> arguments, results;
  std::string fingerprint;
  bool quick = false;  // runs in so little time that handing it to another thread would take longer
  bool calls_host = false;                   // Python functions that come with every run
  std::shared_ptr<ThreadMesh> threads = {};  // where there are several devices

  // As the entries hand them out.
  std::vector<ElementType> result_elements = {};
  std::vector<std::int64_t> result_dims = {};
  std::vector<std::size_t> result_ranks = {};
  struct Texts {
    std::vector<const char*> data;
    std::vector<std::size_t> sizes;
  };
  Texts argument_kinds = {}, result_kinds = {}, argument_shardings = {}, result_shardings = {};
  NamedValues cost = {};
};

using CompiledRef = std::shared_ptr<const Compiled>;

struct ExecutableInfo {
  CompiledRef compiled;
  std::deque<std::vector<LayoutHandle*>> layout_lists = {};  // handed out
  std::string program = {};                                  // once it was asked for
};

struct LoadedExecutable {
  Client* client = nullptr;
  CompiledRef compiled = {};
  std::vector<DeviceHandle*> devices = {};
  std::vector<LogicalId> ids = {};
  std::atomic<bool> deleted = false;
};

LoadedExecutable* compile_program(Client& client, std::string text, std::string options);
// Bytes from which the same build makes the executable again.
std::string serialize(const Compiled& compiled);
LoadedExecutable* deserialize(Client& client, std::string_view bytes, std::string options);
// The device assignment of an executable, in protobuf's coding.
std::string device_assignment(const LoadedExecutable& executable);

void execute(ExecuteArgs& args);

}  // namespace heddle::pjrt
