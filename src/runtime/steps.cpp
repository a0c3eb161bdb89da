#include "heddle/steps.h"

#include "heddle/saving.h"

namespace heddle {

Steps::Steps(Deployment& deployment, std::vector<Carried> carried)
    : deployment_(deployment),
      carried_(std::move(carried)),
      given_(deployment.here(), std::vector<Array>(deployment.placement().arguments.size())) {}

Verdict Steps::set(std::size_t argument, const Array& whole) {
  HEDDLE_TRY(std::vector<Array> parts, deployment_.parts_of(whole, argument));
  for (std::size_t d = 0; d < given_.size(); ++d) given_[d][argument] = std::move(parts[d]);
  return yes();
}

Verdict Steps::restore(std::size_t argument, const Checkpoint& checkpoint) {
  if (argument >= deployment_.placement().arguments.size())
    return reason("there is no argument {}: the program has {}", argument,
                  deployment_.placement().arguments.size());
  const PlacedValue& placed = deployment_.placement().arguments[argument];
  HEDDLE_TRY(const Layout layout, placed.layout());
  HEDDLE_TRY(const CheckpointMesh mesh, deployment_.placement().for_checkpoints());
  for (std::size_t d = 0; d < given_.size(); ++d) {
    const auto number = placed.number_on_mesh(deployment_.device(d));
    if (!number) continue;
    HEDDLE_TRY(const Array flat, checkpoint.read(value_name(argument), layout, mesh, *number));
    HEDDLE_TRY(given_[d][argument],
               placed.only_rows(flat.reinterpreted(placed.part_type()), deployment_.device(d)));
  }
  return yes();
}

Verdict Steps::begin(const std::vector<Array>& arguments) {
  HEDDLE_TRY(given_, deployment_.deal_out(arguments));
  results_.clear();
  return yes();
}

// Nobody else holds what is carried, so that it may be overwritten.
DeviceParts Steps::next_arguments() {
  DeviceParts next = given_;
  for (const Carried& c : carried_)
    for (std::size_t d = 0; d < next.size(); ++d) {
      if (results_.empty())
        given_[d][c.argument] = Array();
      else
        next[d][c.argument] = std::move(results_[d][c.result]);
    }
  return next;
}

Verdict Steps::can_be_carried() const {
  const std::size_t arguments = deployment_.placement().arguments.size();
  const std::size_t results = deployment_.placement().results.size();
  for (const Carried& c : carried_)
    if (c.argument >= arguments || c.result >= results)
      return reason(
          "result {} is to become argument {}: the program has {} results and {} arguments",
          c.result, c.argument, results, arguments);
  return yes();
}

Verdict Steps::take(const RunOptions& options) {
  HEDDLE_TRY_VOID(can_be_carried());
  HEDDLE_TRY(results_, deployment_.run(next_arguments(), options));
  return yes();
}

Verdict Steps::can_be_saved() const {
  HEDDLE_TRY_VOID(can_be_carried());
  for (const Carried& c : carried_) {
    const PlacedValue& placed = deployment_.placement().arguments[c.argument];
    if (placed.type().elements() == 0 || placed.split().pending.empty()) continue;
    return reason(
        "{} has a sum pending over the mesh, which no checkpoint holds: lay it out without that",
        placed.name());
  }
  return yes();
}

Verdict Steps::save(const std::string& folder, std::int64_t step) const {
  HEDDLE_TRY_VOID(can_be_carried());
  HEDDLE_TRY(const CheckpointMesh mesh, deployment_.placement().for_checkpoints());
  std::vector<CheckpointValue> values;
  for (const Carried& c : carried_) {
    const PlacedValue& placed = deployment_.placement().arguments[c.argument];
    if (placed.type().elements() == 0) continue;
    HEDDLE_TRY(Layout layout, placed.layout());
    CheckpointValue value{value_name(c.argument), placed.type(), std::move(layout),
                          std::vector<Array>(static_cast<std::size_t>(mesh.rank_count()))};
    value.on = placed.stage_devices();
    HEDDLE_TRY(value.rows, placed.rows_by_stage(mesh.mesh, mesh.axes.mem()));
    for (std::size_t d = 0; d < results_.size(); ++d)
      value.parts[static_cast<std::size_t>(deployment_.device(d))] = results_[d][c.result];
    values.push_back(std::move(value));
  }
  return save_checkpoint(folder, values, mesh, deployment_.ranks_with_parts(), step);
}

}  // namespace heddle
