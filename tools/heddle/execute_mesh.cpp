// Running a function on the devices of a mesh: threads of this process, or the interpreter's.
#include <chrono>

#include "device/cpu/calibrate.h"
#include "execute.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"
#include "heddle/thread_mesh.h"
#include "mesh_request.h"

namespace heddle::cli {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Devices count as the mesh numbers them, which need not be by position.
std::int64_t device_of(const MeshDecl& mesh, std::int64_t position) {
  return mesh.device_ids.empty() ? position : mesh.device_ids[static_cast<std::size_t>(position)];
}

std::vector<std::vector<Array>> dealt_out(const SpmdFunction& function, const MeshDecl& mesh,
                                          const std::vector<Array>& arguments) {
  std::vector<std::vector<Array>> parts(static_cast<std::size_t>(mesh.mesh.devices()));
  for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p)
    for (std::size_t i = 0; i < arguments.size(); ++i)
      parts[static_cast<std::size_t>(device_of(mesh, p))].push_back(
          part_of(arguments[i], function.arguments[i], mesh, p));
  return parts;
}

std::vector<Array> put_together(const SpmdFunction& function, const MeshDecl& mesh,
                                const std::vector<std::vector<Array>>& parts) {
  std::vector<Array> whole;
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    if (!function.results[i].pending.empty())
      throw Error(fmt::format("result {} is unreduced, so that there is no whole of it", i));
    std::vector<Array> by_position;
    for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p)
      by_position.push_back(parts[static_cast<std::size_t>(device_of(mesh, p))][i]);
    whole.push_back(whole_of(by_position, function.result_types[i], function.results[i], mesh));
  }
  return whole;
}

}  // namespace

Execution execute_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                          const std::vector<Array>& arguments, const ExecuteRequest& request,
                          const InterpretOptions& options) {
  constexpr std::int64_t kMostDevices = 1024;
  const MeshDecl& mesh = spmd.program.meshes[function.mesh];
  if (mesh.mesh.devices() > kMostDevices)
    throw Error(
        fmt::format("{} devices are more than threads of one process can stand for, which "
                    "is {}; heddle plan shows the program without running it",
                    mesh.mesh.devices(), kMostDevices));
  Execution done;
  if (request.engine == "interpreter") {
    for (int i = 0; i < request.repeat; ++i) {
      const auto start = std::chrono::steady_clock::now();
      done.results = interpret_on_mesh(spmd, function, arguments).value();
      done.seconds.push_back(since(start));
    }
    return done;
  }
  CompileOptions compiling;
  compiling.entry = function.name;
  compiling.stitch.fuse = request.fuse;
  compiling.stitch.machine = host_figures();
  compiling.machine_code = request.engine != "kernels";
  compiling.memory_limit = options.memory_limit / mesh.mesh.devices();
  const auto begun = std::chrono::steady_clock::now();
  const Executable executable = compile(spmd.program, compiling).value();
  done.compile_seconds = since(begun);
  ThreadMesh devices(static_cast<int>(mesh.mesh.devices()));
  RunOptions run{.trace = options.trace, .print = options.print};
  const auto parts = dealt_out(function, mesh, arguments);
  std::vector<std::vector<Array>> results;
  for (int i = 0; i < request.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    results = devices.run(executable, parts, run).value();
    done.seconds.push_back(since(start));
    run.trace = nullptr;
  }
  if (request.time_steps) {
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)devices.run(executable, parts, run).value();
  }
  done.results = put_together(function, mesh, results);
  done.steps = executable.steps();
  done.peak_bytes = executable.peak_bytes();
  done.interpreted_because = executable.interpreted_because();
  return done;
}

}  // namespace heddle::cli
