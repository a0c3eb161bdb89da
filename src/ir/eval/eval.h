// What an op's reference evaluation sees.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "heddle/interpreter.h"
#include "heddle/op.h"

namespace heddle {

class ProcessGroup;

// One device of a run on several.
struct Process {
  ProcessGroup* group = nullptr;  // the others; null where there is one device
  std::int64_t replica = 0, partition = 0;
  // Inside sdy.manual_computation: the mesh that the partitions are the devices of, and its axes
  // over which values are written per device.
  const MeshDecl* mesh = nullptr;
  std::vector<std::string> manual_axes = {};
};

// What outlives one op. Evaluations that start other processes use it.
class Machine {
 public:
  virtual ~Machine() = default;
  // As run_region and call of the context, but by another process. The region still sees the values
  // around it.
  virtual Expected<std::vector<Array>> run_region_as(const Process& process, RegionId region,
                                                     std::vector<Array> arguments) = 0;
  virtual Expected<std::vector<Array>> call_as(const Process& process, const Function& function,
                                               std::vector<Array> arguments) = 0;
  // What interpreter.probe saw, by its id and in order.
  virtual std::map<std::string, std::vector<Array>, std::less<>>& probes() = 0;
  virtual void print(std::string_view text) = 0;
  // Whether the run is to end here.
  virtual bool is_stopped() const { return false; }
  // Answers calls into the program around; null where nobody does.
  virtual const HostCaller* host_caller() const { return nullptr; }
  // Runs the processes of interpreter.run_parallel; null where the interpreter itself does.
  virtual const ParallelRunner* parallel_runner() const { return nullptr; }
};

// A value of a tuple type comes and goes as the arrays of its parts, in order and flat.
struct EvalContext {
  const Program& program;
  const Op& op;
  std::span<const Array> operands;  // a token is an empty array
  // Runs a region on arguments and gives back what it returns.
  const std::function<Expected<std::vector<Array>>(RegionId, std::vector<Array>)>& run_region;
  // Runs a function of the program.
  const std::function<Expected<std::vector<Array>>(const Function&, std::vector<Array>)>& call;
  Process process = {};
  Machine* machine = nullptr;

  const Type& result_type(std::size_t i = 0) const {
    return program.type_of(program.result(op, i));
  }
  const Type& operand_type(std::size_t i) const { return program.type_of(program.operands(op)[i]); }
  const Attr* attr(std::string_view name) const { return program.attr(op, name); }
  RegionId region(std::size_t i) const { return program.regions(op)[i]; }
};

// How many arrays a value of the type comes as: 1, or the leaves of a tuple.
std::size_t leaf_count(const Type& type);

// The reason with the op, where it stands and what it came from:
// "f.mlir:3:5: [add] C1: … (from model.py:57)".
Reason located(const Program& program, const Op& op, std::string_view text);

}  // namespace heddle
