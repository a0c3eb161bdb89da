#include "schedule/worth.h"

#include <algorithm>

#include "cost/piece.h"
#include "cost/usual_figures.h"
#include "heddle/index_rule.h"
#include "heddle/schedule.h"
#include "ir/rules/rule_builder.h"
#include "layout/move_cost.h"

namespace heddle {

namespace {

double bytes_of(const Program& program, std::span<const ValueId> values) {
  double bytes = 0;
  for (ValueId v : values)
    if (program.type_of(v).is_tensor()) bytes += static_cast<double>(program.type_of(v).bytes());
  return bytes;
}

double result_bytes(const Program& program, const Op& op) {
  double bytes = 0;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const Type& type = program.type_of(program.result(op, i));
    if (type.is_tensor()) bytes += static_cast<double>(type.bytes());
  }
  return bytes;
}

double steps_of(const Program& program, const Op& op) {
  double steps = 1;
  for (const Factor& factor : index_rule(program, op).factors)
    steps *= static_cast<double>(factor.size);
  return steps;
}

bool runs_regions(const Op& op) {
  return op.def->control == Control::loop || op.def->control == Control::branch ||
         op.def->control == Control::choice;
}

}  // namespace

Mesh mesh_of(const Program& program) {
  if (!program.meshes.empty()) return program.meshes[0].mesh;
  MeshAxis axis;
  axis.name = "ranks";
  axis.size = 2;
  axis.link = default_link(axis.name, Medium::network);
  return Mesh::make({axis}).value();
}

bool travels(const Program& program, const Op& op) {
  switch (op.def->collective) {
    case CollectiveKind::none:
    case CollectiveKind::send:
    case CollectiveKind::partition_id:
    case CollectiveKind::replica_id:
      return false;
    default:
      return op.region_count == 0 || known_reduction(program, program.regions(op)[0]).has_value();
  }
}

bool is_worth_overlapping(const Program& program, const Op& op) {
  if (runs_regions(op)) return true;
  if (op.def->cls == OpClass::contract)
    return steps_of(program, op) >= cost::kLeastProductsBesideAMove;
  const bool works = op.def->cls == OpClass::reduce || op.def->call != DeviceCall::none;
  return works && bytes_of(program, program.operands(op)) >= cost::kLeastBytesBesideAMove;
}

double op_seconds(const Program& program, const Op& op, const Mesh& mesh, double loop) {
  if (runs_regions(op)) return loop;
  cost::Piece piece;
  piece.bytes = bytes_of(program, program.operands(op)) + result_bytes(program, op);
  if (op.def->cls == OpClass::contract) piece.steps = steps_of(program, op);
  return cost::piece_seconds(op.def->cls, piece, mesh);
}

double collective_seconds(const Program& program, const Op& op, const Mesh& mesh) {
  Hop slowest{mesh.devices(), default_link("", Medium::network), Medium::network};
  for (const MeshAxis& axis : mesh.axes())
    if (axis.link.bandwidth < slowest.link.bandwidth) slowest.link = axis.link;
  return collective_seconds(op.def->collective, slowest, bytes_of(program, program.operands(op)));
}

}  // namespace heddle
