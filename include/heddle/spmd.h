// One program for every device of a mesh: ops on the parts that a device has, and the collectives
// between them. It depends on the device only through partition_id, so that its size and the time
// to make it do not grow with the mesh.
#pragma once

#include "heddle/parallel.h"
#include "heddle/plan.h"

namespace heddle {

struct SpmdOptions {
  std::string mesh;      // of the program; empty: the one that its shardings name, or the first
  std::string function;  // that seeds and what is carried are of; empty: seeds of all public ones
  std::vector<Seed> seeds;
  bool closed_boundary = false;
  // What the next run of the function takes from the last one, so that it stays where it lies.
  std::vector<Carried> carried;
  // The most that arguments and results may take together on one device; more is refused. Ops are
  // split further than it pays where their operands and results would take more.
  std::int64_t memory_limit = INT64_MAX;
};

// One collective of the program, or what stands for one.
struct Communication {
  MoveKind kind = MoveKind::all_gather;
  std::string over;        // axes: "dp, tp"
  std::int64_t bytes = 0;  // that one device receives
  double seconds = 0;
  OpId needed_by = kNone;  // of the logical program; kNone: the function's result
  std::string value;       // type and splits: "tensor<8x4xf32> [{"x"}, {}] -> [{}, {}]"
  int depth = 0;           // of loops around it
};

struct SpmdFunction {
  std::string name;
  std::uint32_t mesh = kNone;                      // into the program's meshes; kNone: one device
  std::vector<Type> argument_types, result_types;  // of the logical function
  std::vector<Split> arguments, results;
  // The meshes that these lie on: of equal axes, whose devices may come in another order.
  std::vector<std::uint32_t> argument_meshes, result_meshes;
  std::vector<Communication> communications;
  std::vector<Conflict> conflicts;
  std::int64_t argument_bytes = 0, result_bytes = 0;  // on one device
};

struct Spmd {
  Program program;  // per device
  Program logical;  // that it was made of: ops of communications and conflicts are its
  std::vector<SpmdFunction> functions;
  double propagate_seconds = 0, partition_seconds = 0;  // that it took to make
  const SpmdFunction* find(std::string_view name) const;
};

// `program` is verified, without calls of functions that have a body (inline_calls). Collectives
// stand where they are needed: `schedule` (schedule.h) brings them together.
Expected<Spmd> partition(const Program& program, const SpmdOptions& options = {});

// What one device has of a whole array, zeros beyond the end; and the whole from all parts.
Array part_of(const Array& whole, const Split& split, const MeshDecl& mesh, std::int64_t position);
Array whole_of(const std::vector<Array>& parts, const Type& type, const Split& split,
               const MeshDecl& mesh);  // parts by position

// Runs a function on all devices of its mesh in the interpreter, from whole arrays to whole arrays.
Expected<std::vector<Array>> interpret_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                                               const std::vector<Array>& arguments);

}  // namespace heddle
