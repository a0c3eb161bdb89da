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

// What every rank has of a value, by rank.
std::vector<Array> from_all(Transport& ranks, const Array& mine) {
  const std::int64_t bytes = mine.type().bytes();
  std::vector<std::byte> all(static_cast<std::size_t>(bytes * ranks.size()));
  std::vector<int> everyone;
  for (int r = 0; r < ranks.size(); ++r) everyone.push_back(r);
  Collective gather;
  gather.kind = CollectiveKind::all_gather;
  gather.group = ranks.group(everyone).value();
  gather.in = mine.bytes().data();
  gather.out = all.data();
  gather.in_pieces = gather.out_pieces = {1, bytes};
  gather.what = "the results of all ranks";
  if (bytes > 0) (void)run_collective(ranks, gather).value();
  std::vector<Array> parts;
  for (std::int64_t r = 0; r < ranks.size(); ++r)
    parts.emplace_back(mine.type(),
                       std::span<const std::byte>(all).subspan(static_cast<std::size_t>(r * bytes),
                                                               static_cast<std::size_t>(bytes)));
  return parts;
}

// This process is one of the devices; all get all results.
std::vector<std::vector<Array>> run_as_rank(Transport& ranks, const Executable& executable,
                                            const std::vector<std::vector<Array>>& parts,
                                            RunOptions run, int repeat, Execution& done) {
  if (ranks.size() != static_cast<int>(parts.size()))
    throw Error(fmt::format("the mesh has {} devices, but {} ranks run: start as many",
                            parts.size(), ranks.size()));
  run.transport = &ranks;
  std::vector<Array> mine;
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    mine = executable.run(parts[static_cast<std::size_t>(ranks.rank())], run).value();
    done.seconds.push_back(since(start));
  }
  std::vector<std::vector<Array>> all(parts.size());
  for (const Array& value : mine) {
    const std::vector<Array> from = from_all(ranks, value);
    for (std::size_t r = 0; r < all.size(); ++r) all[r].push_back(from[r]);
  }
  return all;
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
  compiling.memory_limit =
      request.ranks != nullptr ? options.memory_limit : options.memory_limit / mesh.mesh.devices();
  const auto begun = std::chrono::steady_clock::now();
  const Executable executable = compile(spmd.program, compiling).value();
  done.compile_seconds = since(begun);
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  const auto parts = dealt_out(function, mesh, arguments);
  std::vector<std::vector<Array>> results;
  done.steps = executable.steps();
  done.peak_bytes = executable.peak_bytes();
  done.interpreted_because = executable.interpreted_because();
  if (request.ranks != nullptr) {
    results = run_as_rank(*request.ranks, executable, parts, run, request.repeat, done);
    done.results = put_together(function, mesh, results);
    return done;
  }
  ThreadMesh devices(static_cast<int>(mesh.mesh.devices()));
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
  return done;
}

}  // namespace heddle::cli
