#include "heddle/deployment.h"

#include <fmt/format.h>

#include <numeric>

#include "base/text.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostThreads = 1024;

// Ranks without a mesh are replicas, as many as the module is for.
Verdict check_replicas(const Placement& placement, const Transport& ranks) {
  const std::int64_t replicas = placement.replicas, partitions = placement.partitions;
  if (ranks.size() == 1 || replicas == 1) return yes();
  if (replicas > 0 && partitions > 0 && ranks.size() == replicas * partitions) return yes();
  return reason(
      "the module is for {} of {} (mhlo.num_replicas, mhlo.num_partitions), and {} ranks were "
      "started: start as many as it is for",
      counted(static_cast<std::size_t>(replicas), "replica"),
      counted(static_cast<std::size_t>(partitions), "partition"), ranks.size());
}

}  // namespace

Expected<Deployment> Deployment::open(Executable executable, const DeployOptions& options) {
  Deployment d(executable.placement(), options.ranks);
  d.executable_ = std::make_shared<const Executable>(std::move(executable));
  const std::int64_t devices = d.placement_.devices();
  const std::string mesh = d.placement_.mesh_text();
  if (!d.placement_.on_mesh()) {
    if (options.ranks) HEDDLE_TRY_VOID(check_replicas(d.placement_, *options.ranks));
    return d;
  }
  if (options.ranks != nullptr) {
    if (options.ranks->size() != devices)
      return reason("mesh {} has {} devices, but {} ranks were started: start {}", mesh, devices,
                    options.ranks->size(), devices);
    d.device_ = {options.ranks->rank()};
    return d;
  }
  if (devices > kMostThreads)
    return reason(
        "{} devices are more than threads of one process can stand for, which is {}; heddle plan "
        "shows the program without running it",
        devices, kMostThreads);
  d.device_.resize(static_cast<std::size_t>(devices));
  std::iota(d.device_.begin(), d.device_.end(), 0);
  ThreadMeshOptions threads;
  threads.watchdog = options.watchdog;
  try {
    d.threads_ = std::make_unique<ThreadMesh>(static_cast<int>(devices), threads);
  } catch (const Error& error) {
    return Reason{error.what()};
  }
  return d;
}

Deployment Deployment::of(RunWhole run, Placement placement, Transport* ranks) {
  HEDDLE_CHECK(!placement.on_mesh());
  Deployment d(std::move(placement), ranks);
  d.run_whole_ = std::move(run);
  return d;
}

Expected<std::vector<Array>> Deployment::parts_of(const Array& whole, std::size_t argument) const {
  if (argument >= placement_.arguments.size())
    return reason("there is no argument {}: the program has {}", argument,
                  placement_.arguments.size());
  std::vector<Array> parts;
  for (const std::int64_t device : device_) {
    HEDDLE_TRY(Array part, placement_.arguments[argument].part_of(whole, device));
    parts.push_back(std::move(part));
  }
  return parts;
}

Expected<DeviceParts> Deployment::deal_out(const std::vector<Array>& arguments) const {
  if (arguments.size() != placement_.arguments.size())
    return reason("the program takes {}, and {} were given",
                  counted(placement_.arguments.size(), "argument"), arguments.size());
  DeviceParts parts(here());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    HEDDLE_TRY(std::vector<Array> of_one, parts_of(arguments[i], i));
    for (std::size_t d = 0; d < parts.size(); ++d) parts[d].push_back(std::move(of_one[d]));
  }
  return parts;
}

namespace {

// How arrays are run, and values.
struct OnArrays {
  static auto one(const Executable& executable, std::vector<Array> arguments,
                  const RunOptions& options) {
    return executable.run(std::move(arguments), options);
  }
  static auto all(ThreadMesh& threads, const std::vector<Executable>& executables,
                  DeviceParts arguments, const RunOptions& options) {
    return threads.run(executables, std::move(arguments), options);
  }
};
struct OnValues {
  static auto one(const Executable& executable, std::vector<DeviceValue> arguments,
                  const RunOptions& options) {
    return executable.run_values(std::move(arguments), options);
  }
  static auto all(ThreadMesh& threads, const std::vector<Executable>& executables,
                  DeviceValues arguments, const RunOptions& options) {
    return threads.run_values(executables, std::move(arguments), options);
  }
};

}  // namespace

template <typename Run, typename Parts>
Expected<Parts> Deployment::run_as(Parts arguments, const RunOptions& options) {
  if (!placement_.stages().empty()) return run_stages<Run>(std::move(arguments), options);
  if (threads_) return Run::all(*threads_, {*executable_}, std::move(arguments), options);
  HEDDLE_CHECK(arguments.size() == 1);
  RunOptions own = options;
  own.transport = ranks_;
  if (!placement_.on_mesh() && ranks_ != nullptr && ranks_->size() > 1)
    own.replicas = placement_.replicas;
  HEDDLE_TRY(arguments[0], Run::one(*executable_, std::move(arguments[0]), own));
  return arguments;
}

Expected<DeviceParts> Deployment::run(DeviceParts arguments, const RunOptions& options) {
  if (!run_whole_) return run_as<OnArrays>(std::move(arguments), options);
  HEDDLE_CHECK(arguments.size() == 1);
  HEDDLE_TRY(std::vector<Array> results, run_whole_(std::move(arguments[0])));
  return DeviceParts{std::move(results)};
}

Expected<DeviceValues> Deployment::run_values(DeviceValues arguments, const RunOptions& options) {
  HEDDLE_CHECK(!run_whole_);
  return run_as<OnValues>(std::move(arguments), options);
}

// Programs of stages take and give only what lies there.
template <typename Run, typename Parts>
Expected<Parts> Deployment::run_stages(Parts arguments, const RunOptions& options) {
  using Values = typename Parts::value_type;
  RunOptions own = options;
  own.stages = placement_.stages();
  own.channels = placement_.channels;
  for (std::size_t d = 0; d < arguments.size(); ++d) {
    Values there;
    for (std::size_t i : placement_.on_device(placement_.arguments, device_[d]))
      there.push_back(std::move(arguments[d][i]));
    arguments[d] = std::move(there);
  }
  Parts given;
  if (threads_) {
    const std::vector<Executable> stages = executable_->stages();
    std::vector<Executable> by_device;
    for (std::int64_t device : device_)
      by_device.push_back(stages[static_cast<std::size_t>(placement_.stage_of(device))]);
    HEDDLE_TRY(given, Run::all(*threads_, by_device, std::move(arguments), own));
  } else {
    own.transport = ranks_;
    HEDDLE_TRY(Values results, Run::one(*executable_, std::move(arguments[0]), own));
    given.push_back(std::move(results));
  }
  Parts results(given.size(), Values(placement_.results.size()));
  for (std::size_t d = 0; d < given.size(); ++d) {
    std::size_t next = 0;
    for (std::size_t i : placement_.on_device(placement_.results, device_[d]))
      results[d][i] = std::move(given[d][next++]);
  }
  return results;
}

Expected<Array> Deployment::whole(const DeviceParts& results, std::size_t result) {
  const PlacedValue& placed = placement_.results[result];
  if (placement_.on_mesh() && ranks_ != nullptr) return placed.whole(results[0][result], *ranks_);
  std::vector<Array> parts;
  for (const std::vector<Array>& of_device : results) parts.push_back(of_device[result]);
  return placed.whole(parts);
}

Expected<std::vector<Array>> Deployment::whole(const DeviceParts& results) {
  std::vector<Array> wholes;
  for (std::size_t i = 0; i < placement_.results.size(); ++i) {
    HEDDLE_TRY(Array one, whole(results, i));
    wholes.push_back(std::move(one));
  }
  return wholes;
}

Expected<std::vector<Array>> Deployment::run_whole(const std::vector<Array>& arguments,
                                                   const RunOptions& options) {
  HEDDLE_TRY_VOID(placement_.has_wholes());
  HEDDLE_TRY(DeviceParts parts, deal_out(arguments));
  HEDDLE_TRY(const DeviceParts results, run(std::move(parts), options));
  return whole(results);
}

}  // namespace heddle
