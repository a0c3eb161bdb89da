#include "schedule/steps/reorder.h"

#include <algorithm>
#include <set>

#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "ir/rules/rule_builder.h"
#include "schedule/steps/slice_writer.h"
#include "schedule/steps/write_collectives.h"

namespace heddle {

namespace {

using Users = std::vector<std::vector<OpId>>;

// The region that has the op, and its place there.
struct Place {
  RegionId region = kNone;
  std::size_t at = 0;
};

Place place_of(const Program& program, OpId id) {
  for (RegionId r = 0; r < program.region_count(); ++r) {
    const std::vector<OpId>& ops = program.region(r).ops;
    if (const auto found = std::ranges::find(ops, id); found != ops.end())
      return {r, static_cast<std::size_t>(found - ops.begin())};
  }
  return {};
}

// Whole groups send to whole groups, each device to that with its own place there.
bool keeps_groups(const Program& program, const Op& permute, const Meeting& meeting) {
  const auto pairs = source_target_pairs(program, permute);
  if (!pairs || exchange_grouping(program, permute) != GroupBy::partition) return false;
  const MeshDecl& mesh = program.meshes[meeting.mesh];
  const std::vector<std::int64_t> position = positions_of_devices(mesh);
  const auto named = [&](std::int64_t device) {
    return member_of(mesh.mesh, meeting.axes, position[static_cast<std::size_t>(device)]);
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sends;  // between groups
  for (const Ids& pair : *pairs) {
    const auto from = named(pair[0]), to = named(pair[1]);
    if (from.second != to.second) return false;
    ++sends[{from.first, to.first}];
  }
  return std::ranges::all_of(sends, [&](const auto& s) { return s.second == meeting.members; });
}

// Collectives move too where those that meet in them have the same slice.
Verdict check_meeting(const Program& program, const Op& op, const Meeting& meeting) {
  if (op.def->collective == CollectiveKind::permute) {
    if (keeps_groups(program, op, meeting)) return yes();
    return reason("collective_permute: it sends slices to devices that have others");
  }
  const auto other = meeting_of(program, op);
  if (!other) return reason("{}: {}", op.def->short_name(), other.reason());
  if (other->mesh != meeting.mesh) return reason("{}: it is on another mesh", op.def->short_name());
  for (const SplitDigit& d : other->axes)
    if (overlap(meeting.axes, d))
      return reason("{}: devices meet in it that have different slices ({})", op.def->short_name(),
                    over_text(program, *other));
  return yes();
}

class Sink {
 public:
  Sink(const Program& program, const Function& function, const SpmdFunction& placed,
       Gathered gathered, Users users)
      : program_(program),
        gathered_(std::move(gathered)),
        users_(std::move(users)),
        differs_(program, function, placed),
        edit_(program, gathered_.meeting.mesh),
        writer_(edit_, differs_, gathered_.meeting, users_) {
    writer_.have(gathered_.whole, gathered_.dim);
  }

  // Takes the op if it can be done on slices.
  Verdict take(OpId id) {
    const Op& op = program_.op(id);
    const std::span<const ValueId> operands = program_.operands(op);
    std::size_t first = 0;
    while (first < operands.size() && !writer_.has(operands[first])) ++first;
    if (first == operands.size())
      return reason("{} does not use what is gathered", value_text(program_, op.results));
    auto slices = slices_of_operand(program_, op, first, writer_.dim_of(operands[first]));
    if (!slices) return slices.why();
    if (op.def->cls == OpClass::communicate)
      HEDDLE_TRY_VOID(check_meeting(program_, op, gathered_.meeting));
    HEDDLE_TRY_VOID(writer_.check(op, *slices));
    if (!slices->partial)
      for (std::size_t i = 0; i < op.result_count; ++i)
        if (slices->results[i]) writer_.have(program_.result(op, i), *slices->results[i]);
    moved_.insert(id);
    plans_.emplace(id, *std::move(slices));
    return yes();
  }

  // Whether a sum of it is worth a meeting of its own: it must be less than what is gathered.
  bool pays(OpId id) const {
    const OpSlices& slices = plans_.at(id);
    const Type& sum = program_.type_of(program_.op(id).results);
    return !slices.partial || sum.bytes() < program_.type_of(gathered_.slice).bytes();
  }
  void give_back(OpId id) {
    moved_.erase(id);
    plans_.erase(id);
  }

  // What only the moved ops need, of what every device has as a whole, is done on slices too.
  void pull(const std::vector<OpId>& region) {
    const std::set<OpId> here(region.begin(), region.end());
    for (bool changes = true; changes;) {
      changes = false;
      for (const auto& [v, dim] : wanted()) {
        const OpId id = program_.value(v).op;
        if (!here.contains(id) || is_needed(v) || !can_pull(program_.op(id))) continue;
        auto slices = slices_of_result(program_, program_.op(id), 0, dim);
        if (!slices || slices->partial || !(slices->results[0] == dim)) continue;
        if (!writer_.check(program_.op(id), *slices)) continue;
        writer_.have(v, dim);
        moved_.insert(id);
        plans_.emplace(id, *std::move(slices));
        changes = true;
      }
    }
  }

  Expected<Rewritten> done() {
    edit_.replace(gathered_.op, [&](RegionId at, const Op& op) { return write_gather(at, op); });
    if (gathered_.crop != kNone)
      edit_.replace(gathered_.crop, [&](RegionId at, const Op& op) {
        if (is_needed(gathered_.whole)) edit_.copy(at, op);
        return yes();
      });
    for (OpId id : moved_)
      edit_.replace(id, [&, id](RegionId at, const Op& op) { return write(at, id, op); });
    HEDDLE_TRY(Rewritten all, edit_.done());
    for (const auto& [v, slice] : inside_) all.values.try_emplace(v, slice);
    all.made = std::move(made_);
    all.said = {fmt::format("{} ops on slices {}, {} gathered behind them", moved_.size(),
                            over_text(program_, gathered_.meeting), all.made.size())};
    for (std::string& line : sums_) all.said.push_back(std::move(line));
    return all;
  }

 private:
  // Values that are to be cut into slices, all in one way, and that no moved op needs as a whole.
  std::map<ValueId, SlicedDim> wanted() const {
    std::map<ValueId, SlicedDim> all;
    std::set<ValueId> differ;
    for (const auto& [id, slices] : plans_) {
      const auto operands = program_.operands(program_.op(id));
      if (program_.op(id).region_count > 0)
        for (ValueId v : captured_values(program_, program_.op(id))) differ.insert(v);
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (writer_.has(operands[i])) continue;
        if (!slices.operands[i]) {
          differ.insert(operands[i]);
          continue;
        }
        const auto [known, is_new] = all.emplace(operands[i], *slices.operands[i]);
        if (!is_new && !(known->second == *slices.operands[i])) differ.insert(operands[i]);
      }
    }
    for (ValueId v : differ) all.erase(v);
    return all;
  }
  static bool can_pull(const Op& op) {
    return op.result_count == 1 && op.def->cls != OpClass::communicate &&
           op.def->rearranges != Rearrange::constant;
  }

  // By something that stays where it is.
  bool is_needed(ValueId v) const {
    return std::ranges::any_of(users_[v], [&](OpId user) { return !moved_.contains(user); });
  }

  Verdict write_gather(RegionId at, const Op& op) {
    writer_.written(gathered_.whole, edit_.now(gathered_.slice));
    inside_[gathered_.whole] = inside_[op.results] = edit_.now(gathered_.slice);
    if (is_needed(gathered_.whole)) edit_.copy(at, op);
    return yes();
  }

  Verdict write(RegionId at, OpId id, const Op& op) {
    const OpSlices& slices = plans_.at(id);
    HEDDLE_TRY(const std::vector<ValueId> results, writer_.write(at, op, slices));
    const Op& like = program_.op(gathered_.op);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ValueId v = program_.result(op, i);
      if (slices.partial) {
        edit_.define(v, write_all_reduce(edit_, at, like, results[i], *slices.rule.combine.op));
        sums_.push_back(value_text(program_, v) + ": of each slice, then summed up");
        continue;
      }
      if (!slices.results[i]) {
        edit_.define(v, results[i]);
        continue;
      }
      writer_.written(v, results[i]);
      inside_[v] = results[i];
      if (!is_needed(v)) continue;
      const SlicedDim& dim = *slices.results[i];
      made_.push_back(
          write_all_gather(edit_, at, like, results[i], dim.dim, gathered_.meeting.members));
      edit_.define(v, edit_.writer(at, op).slice(made_.back(), dim.dim, 0, dim.size));
    }
    return yes();
  }

  const Program& program_;
  const Gathered gathered_;
  const Users users_;
  const Differs differs_;
  Edit edit_;
  SliceWriter writer_;
  std::set<OpId> moved_;
  std::map<OpId, OpSlices> plans_;
  std::unordered_map<ValueId, ValueId> inside_;  // slices of what is not gathered any more
  std::vector<ValueId> made_;
  std::vector<std::string> sums_;
};

const Function& function_of(const Program& program, const SpmdFunction& placed) {
  return *program.find_function(placed.name);
}

}  // namespace

Expected<Rewritten> reorder_under_gather(const Program& program, const SpmdFunction& placed,
                                         OpId all_gather, const std::vector<OpId>* ops) {
  Users users = users_of(program);
  HEDDLE_TRY(Gathered gathered, gathered_by(program, all_gather, users));
  if (gathered.meeting.mesh != placed.mesh) return reason("it is on another mesh");
  const Place place = place_of(program, all_gather);
  const std::vector<OpId>& region = program.region(place.region).ops;
  const OpId crop = gathered.crop;
  Sink sink(program, function_of(program, placed), placed, std::move(gathered), std::move(users));
  std::size_t count = 0;
  std::optional<Reason> first_no;
  for (std::size_t i = place.at + 1; i < region.size(); ++i) {
    const OpId id = region[i];
    if (id == crop) continue;
    if (ops != nullptr) {
      if (std::ranges::find(*ops, id) == ops->end()) continue;
      HEDDLE_TRY_VOID(sink.take(id));
      ++count;
      continue;
    }
    if (program.op(id).def->form == Form::terminator) continue;
    if (const Verdict taken = sink.take(id); !taken) {
      const bool uses = taken.reason().find("does not use what is gathered") == std::string::npos;
      if (uses && !first_no) first_no = taken.why();
      continue;
    }
    if (sink.pays(id))
      ++count;
    else
      sink.give_back(id);
  }
  if (ops != nullptr && count != ops->size())
    return reason("an op that is to move does not come behind the all_gather in the same region");
  if (count == 0)
    return first_no.value_or(reason("no op uses what is gathered: it only leaves the function"));
  sink.pull(region);
  return sink.done();
}

namespace {

// The operand that the op is linear in and that is still to be summed.
Expected<std::size_t> summed_operand(const Program& program, const Op& op, const Differs& differs,
                                     const Meeting& meeting) {
  std::vector<std::size_t> local;
  for (std::size_t i = 0; i < op.operand_count; ++i)
    if (!differs.is_same(program.operands(op)[i], meeting.axes)) local.push_back(i);
  if (local.size() != 1)
    return reason("{}: {} of its operands differ from device to device, and one alone may",
                  op.def->short_name(), local.size());
  const bool linear = op.def->linear == LinearIn::each ||
                      (local[0] == 0 && (op.def->linear == LinearIn::first ||
                                         op.def->linear == LinearIn::first_of_reals));
  const bool divides = op.def->scalar == ScalarOp::divide;
  if ((!linear && !(divides && local[0] == 0)) || op.region_count > 0)
    return reason("{}: it is not linear, so that a sum of results is none of the sum",
                  op.def->short_name());
  const Type& type = program.type_of(program.operands(op)[local[0]]);
  if (type.dtype != program.type_of(op.results).dtype || !is_float(type.dtype))
    return reason("{}: it would round what is summed", op.def->short_name());
  return local[0];
}

}  // namespace

Expected<Rewritten> reorder_past_scatter(const Program& program, const SpmdFunction& placed,
                                         OpId reduce_scatter, OpId id) {
  const Op& scatter = program.op(reduce_scatter);
  const Op& op = program.op(id);
  const auto dim = scattered_dim(program, scatter);
  if (!dim || scatter.operand_count != 1)
    return reason("{} is no reduce_scatter of one value", scatter.def->short_name());
  const auto kind = known_reduction(program, program.regions(scatter)[0]);
  if (kind != ReduceOp::sum) return reason("its devices do not add up");
  HEDDLE_TRY(const Meeting meeting, meeting_of(program, scatter));
  const Users users = users_of(program);
  const ValueId v = program.operands(scatter)[0];
  if (program.value(v).op != id || op.result_count != 1 || users[v].size() != 1)
    return reason("{} does not go to the reduce_scatter alone", value_text(program, op.results));
  const Differs differs(program, function_of(program, placed), placed);
  HEDDLE_TRY(const std::size_t summed, summed_operand(program, op, differs, meeting));
  const std::int64_t size = program.type_of(v).shape[*dim];
  HEDDLE_TRY(const OpSlices slices,
             slices_of_result(program, op, 0, {*dim, size, size / meeting.members}));
  if (!slices.operands[summed] || slices.partial)
    return reason("{}: slices of its result need all of {}", op.def->short_name(),
                  value_text(program, program.operands(op)[summed]));
  Edit edit(program, meeting.mesh);
  SliceWriter writer(edit, differs, meeting, users);
  HEDDLE_TRY_VOID(writer.check(op, slices, static_cast<int>(summed)));
  std::vector<ValueId> made;
  edit.leave_out(id);
  edit.replace(reduce_scatter, [&](RegionId at, const Op& whole) -> Verdict {
    const ValueId x = edit.now(program.operands(op)[summed]);
    made = {
        write_reduce_scatter(edit, at, whole, x, slices.operands[summed]->dim, meeting.members)};
    HEDDLE_TRY(const std::vector<ValueId> results,
               writer.write(at, op, slices, static_cast<int>(summed), made[0]));
    made.push_back(results[0]);
    edit.define(whole.results, results[0]);
    return yes();
  });
  HEDDLE_TRY(Rewritten all, edit.done());
  all.made = std::move(made);
  all.said = {
      fmt::format("{} behind the sum {}", op.def->short_name(), over_text(program, meeting))};
  return all;
}

}  // namespace heddle
