// Running a function on the devices of a mesh: threads of this process, ranks, or the
// interpreter's.
#include <chrono>
#include <numeric>

#include "device/cpu/calibrate.h"
#include "execute.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"
#include "heddle/thread_mesh.h"
#include "heddle/transport.h"
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

std::vector<std::vector<Array>> dealt_out(const SpmdFunction& function,
                                          const std::vector<MeshDecl>& meshes,
                                          const std::vector<Array>& arguments) {
  const std::int64_t devices = meshes[function.mesh].mesh.devices();
  std::vector<std::vector<Array>> parts(static_cast<std::size_t>(devices));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const MeshDecl& mesh = meshes[function.argument_meshes[i]];
    for (std::int64_t p = 0; p < devices; ++p)
      parts[static_cast<std::size_t>(device_of(mesh, p))].push_back(
          part_of(arguments[i], function.arguments[i], mesh, p));
  }
  return parts;
}

std::vector<Array> put_together(const SpmdFunction& function, const std::vector<MeshDecl>& meshes,
                                const std::vector<std::vector<Array>>& parts) {
  std::vector<Array> whole;
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    if (!function.results[i].pending.empty())
      throw Error(fmt::format("result {} is unreduced, so that there is no whole of it", i));
    const MeshDecl& mesh = meshes[function.result_meshes[i]];
    std::vector<Array> by_position;
    for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p)
      by_position.push_back(parts[static_cast<std::size_t>(device_of(mesh, p))][i]);
    whole.push_back(whole_of(by_position, function.result_types[i], function.results[i], mesh));
  }
  return whole;
}

// All devices of a run, or the one that this process is; either gives the parts of all.
class Devices {
 public:
  Devices(const MeshDecl& mesh, Transport* ranks) : ranks_(ranks) {
    if (ranks == nullptr) {
      threads_ = std::make_unique<ThreadMesh>(static_cast<int>(mesh.mesh.devices()));
      return;
    }
    if (ranks->size() != mesh.mesh.devices())
      throw Error(fmt::format("mesh {} has {} devices, but {} ranks were started: start {}",
                              mesh.mesh.str(), mesh.mesh.devices(), ranks->size(),
                              mesh.mesh.devices()));
  }

  // One run; what comes back is this process's.
  std::vector<std::vector<Array>> run(const Executable& executable,
                                      const std::vector<std::vector<Array>>& parts,
                                      RunOptions options) {
    if (threads_) return threads_->run(executable, parts, options).value();
    options.transport = ranks_;
    return {executable.run(parts[static_cast<std::size_t>(ranks_->rank())], options).value()};
  }

  // The results of all devices.
  std::vector<std::vector<Array>> gathered(std::vector<std::vector<Array>> mine) {
    if (threads_) return mine;
    const auto ranks = static_cast<std::size_t>(ranks_->size());
    std::vector<int> everyone(ranks);
    std::iota(everyone.begin(), everyone.end(), 0);
    const GroupId group = ranks_->group(everyone).value();
    std::vector<std::vector<Array>> all(ranks);
    for (const Array& part : mine[0]) {
      const auto bytes = part.bytes();
      std::vector<std::byte> parts(bytes.size() * ranks);
      Collective c{.kind = CollectiveKind::all_gather, .group = group};
      c.in = bytes.data();
      c.out = parts.data();
      c.in_pieces = c.out_pieces = {1, static_cast<std::int64_t>(bytes.size())};
      c.what = "sharing results";
      if (!bytes.empty()) (void)run_collective(*ranks_, c).value();
      for (std::size_t r = 0; r < ranks; ++r)
        all[r].emplace_back(
            part.type(), std::span<const std::byte>(parts).subspan(r * bytes.size(), bytes.size()));
    }
    return all;
  }

 private:
  Transport* ranks_;
  std::unique_ptr<ThreadMesh> threads_;
};

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
  Devices devices(mesh, request.ranks);
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  const auto parts = dealt_out(function, spmd.program.meshes, arguments);
  std::vector<std::vector<Array>> results;
  for (int i = 0; i < request.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    results = devices.run(executable, parts, run);
    done.seconds.push_back(since(start));
    run.trace = nullptr;
  }
  if (request.time_steps) {
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)devices.run(executable, parts, run);
  }
  done.results = put_together(function, spmd.program.meshes, devices.gathered(std::move(results)));
  done.steps = executable.steps();
  done.peak_bytes = executable.peak_bytes();
  done.interpreted_because = executable.interpreted_because();
  return done;
}

}  // namespace heddle::cli
