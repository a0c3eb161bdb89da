#include "place.h"

#include <chrono>

#include "device_memory.h"
#include "dump.h"
#include "heddle/sharding.h"
#include "heddle/stablehlo.h"
#include "program_commands.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A mesh for what lies on one device.
struct OneDevice {
  AxisRegistry axes = AxisRegistry::standard();
  Mesh mesh = make_mesh({{"device", 1}}, axes).value();
};

// Whole arrays from run to run.
class WholePlace : public Place {
 public:
  explicit WholePlace(std::vector<Type> arguments) : arguments_(std::move(arguments)) {}

  Type part_type(std::size_t argument) const override { return arguments_[argument]; }
  Array whole(const DeviceParts& results, std::size_t result) override {
    return results[0][result];
  }
  Layout layout(std::size_t argument) const override {
    return whole_layout(arguments_[argument], device_.axes).value();
  }
  CheckpointMesh mesh() const override { return {device_.mesh, device_.axes}; }

 private:
  std::vector<Type> arguments_;
  OneDevice device_;
};

class CompiledPlace final : public WholePlace {
 public:
  CompiledPlace(const Program& program, const Function& function, const ExecuteRequest& request,
                const InterpretOptions& options)
      : WholePlace(argument_types(program, function)),
        ranks_(request.ranks),
        replicas_(replicas_among(program, request.ranks)) {
    Dump dump(request.dump);
    CompileOptions compiling = compile_options(function.name, request);
    compiling.memory_limit = options.memory_limit;
    dump.watch(compiling);
    const auto begun = std::chrono::steady_clock::now();
    executable_ = std::make_unique<Executable>(compile(program, compiling).value());
    seconds_ = since(begun);
  }

  DeviceParts run(DeviceParts arguments, const RunOptions& options) override {
    RunOptions own = options;
    own.transport = ranks_;
    own.replicas = replicas_;
    return {executable_->run(std::move(arguments[0]), own).value()};
  }

  void describe(Execution& done) const override {
    done.compile_seconds = seconds_;
    done.steps = executable_->steps();
    done.peak_bytes = executable_->peak_bytes();
    done.interpreted_because = executable_->interpreted_because();
  }

 private:
  Transport* ranks_;
  std::int64_t replicas_;
  std::unique_ptr<Executable> executable_;
  double seconds_ = 0;
};

class InterpretedPlace final : public WholePlace {
 public:
  using Run = std::function<std::vector<Array>(std::vector<Array>)>;
  InterpretedPlace(std::vector<Type> arguments, Run run, std::string told)
      : WholePlace(std::move(arguments)), run_(std::move(run)), told_(std::move(told)) {}

  DeviceParts run(DeviceParts arguments, const RunOptions&) override {
    return {run_(std::move(arguments[0]))};
  }
  void describe(Execution& done) const override { done.interpreted_because = told_; }

 private:
  Run run_;
  std::string told_;
};

class MeshPlace final : public Place {
 public:
  MeshPlace(const Spmd& spmd, const SpmdFunction& function, const ExecuteRequest& request,
            const InterpretOptions& options)
      : spmd_(spmd),
        function_(function),
        devices_(spmd, function, request.ranks, request.watchdog),
        memory_limit_(options.memory_limit / devices_.mesh().mesh.devices()) {
    want_whole_results(function);
    Dump dump(devices_.is_first() ? request.dump : "");
    dump.write("whole", "mlir", request.dump.empty() ? "" : print_stablehlo(spmd.logical()));
    CompileOptions compiling = compile_options(function.name, request);
    dump.watch(compiling);
    const auto begun = std::chrono::steady_clock::now();
    executable_ = std::make_unique<Executable>(compile(spmd.program, compiling).value());
    seconds_ = since(begun);
    check_memory(options.memory_limit);
  }

  DeviceParts run(DeviceParts arguments, const RunOptions& options) override {
    return devices_.run(*executable_, std::move(arguments), options);
  }

  std::size_t devices_here() const override { return devices_.here(); }
  std::int64_t rank_of(std::size_t i) const override { return devices_.device(i); }
  std::vector<Array> parts_of(const Array& whole, std::size_t argument) const override {
    return devices_.parts_of(whole, argument);
  }
  Type part_type(std::size_t argument) const override {
    return local_type(function_.argument_types[argument], function_.arguments[argument]);
  }
  Array whole(const DeviceParts& results, std::size_t result) override {
    return devices_.whole_result(results, result);
  }

  Layout layout(std::size_t argument) const override {
    return layout_of(function_.arguments[argument], devices_.mesh().mesh, spmd_.program.axes.mem())
        .value();
  }
  CheckpointMesh mesh() const override { return devices_.for_checkpoints(); }
  Transport* savers() const override { return devices_.ranks(); }

  void describe(Execution& done) const override {
    done.compile_seconds = seconds_;
    done.steps = executable_->steps();
    done.peak_bytes = executable_->peak_bytes();
    done.interpreted_because = executable_->interpreted_because();
    done.argument_bytes = function_.argument_bytes;
    done.devices = devices_.mesh().mesh.devices();
    done.memory_limit = memory_limit_;
  }

 private:
  // Before anything runs.
  void check_memory(std::int64_t together) const {
    want_memory(device_memory(spmd_, function_, *executable_), memory_limit_,
                fmt::format("each may have {}, an equal part of {}",
                            format_bytes(static_cast<double>(memory_limit_)),
                            format_bytes(static_cast<double>(together))),
                spmd_, function_);
  }

  const Spmd& spmd_;
  const SpmdFunction& function_;
  MeshDevices devices_;
  std::int64_t memory_limit_;
  std::unique_ptr<Executable> executable_;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<Place> place_on_one_device(const Program& program, const Function& function,
                                           const ExecuteRequest& request,
                                           const InterpretOptions& options) {
  if (request.engine != "interpreter")
    return std::make_unique<CompiledPlace>(program, function, request, options);
  return std::make_unique<InterpretedPlace>(
      argument_types(program, function),
      [&program, &function, options](std::vector<Array> arguments) {
        return interpret(program, function, std::move(arguments), options).value();
      },
      request.explain ? interpreter_text(program, function) : "");
}

std::unique_ptr<Place> place_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                                     const ExecuteRequest& request,
                                     const InterpretOptions& options) {
  if (request.engine != "interpreter")
    return std::make_unique<MeshPlace>(spmd, function, request, options);
  return std::make_unique<InterpretedPlace>(
      function.argument_types,
      [&spmd, &function](const std::vector<Array>& arguments) {
        return interpret_on_mesh(spmd, function, arguments).value();
      },
      request.explain ? interpreter_text(spmd.program, *spmd.program.find_function(function.name))
                      : "");
}

}  // namespace heddle::cli
