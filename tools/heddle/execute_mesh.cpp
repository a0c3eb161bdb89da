// Running a function on the devices of a mesh: threads of this process, ranks, or the
// interpreter's.
#include <chrono>

#include "place.h"

namespace heddle::cli {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

DeviceParts dealt_out(const Place& place, const std::vector<Array>& arguments) {
  DeviceParts parts(place.devices_here());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::vector<Array> of_one = place.parts_of(arguments[i], i);
    for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(of_one[d]));
  }
  return parts;
}

// Bytes of their own, so that a run may overwrite them.
DeviceParts owned(DeviceParts parts) {
  for (std::vector<Array>& of_device : parts)
    for (Array& part : of_device) (void)part.mutable_bytes();
  return parts;
}

}  // namespace

Execution execute_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                          const std::vector<Array>& arguments, const ExecuteRequest& asked,
                          const InterpretOptions& options) {
  ExecuteRequest request = asked;
  request.donated.assign(arguments.size(), asked.donate);
  const std::unique_ptr<Place> place = place_on_mesh(spmd, function, request, options);
  const DeviceParts parts = dealt_out(*place, arguments);
  Execution done;
  RunOptions run;
  run.trace = options.trace;
  run.print = options.print;
  DeviceParts results;
  for (int i = 0; i < request.repeat; ++i) {
    DeviceParts given = request.donate ? owned(parts) : parts;
    const auto start = std::chrono::steady_clock::now();
    results = place->run(std::move(given), run);
    done.seconds.push_back(since(start));
    run.trace = nullptr;  // the first run says it all
  }
  if (request.time_steps && request.engine != "interpreter") {
    run.times = &done.times;
    run.print = [](std::string_view) {};
    (void)place->run(request.donate ? owned(parts) : parts, run);
  }
  for (std::size_t i = 0; i < function.results.size(); ++i)
    done.results.push_back(place->whole(results, i));
  place->describe(done);
  done.explained = request.explain;
  return done;
}

}  // namespace heddle::cli
