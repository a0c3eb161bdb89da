#include "stitch/had_again.h"

#include <algorithm>
#include <set>

#include "cost/rates.h"
#include "heddle/op.h"
#include "heddle/stitch.h"

namespace heddle {

namespace {

constexpr std::int64_t kSmallerTimes = 8;  // than the result is what counts as small

}  // namespace

HadAgain::HadAgain(const Program& program, const DeviceCalls* calls, const MachineFigures& machine,
                   const Stretches& stretches)
    : program_(program),
      calls_(calls),
      machine_(cost::of_two_workers(machine)),
      stretches_(stretches) {
  find_in_memory();
  find_used_elsewhere();
  for (OpId id = 0; id < program.op_count(); ++id) {
    if (!stretches.region.contains(id)) continue;
    const Op& op = program.op(id);
    if (op.result_count != 1 || in_memory_.contains(op.results)) continue;
    if (const Source source = source_of(op); source.value != kNone)
      sources_[id] = source;
    else if (used_elsewhere_.contains(op.results))
      in_memory_.insert(op.results);
  }
  note_uses();
}

bool HadAgain::is_worth(OpId maker, std::uint32_t stretch) const {
  const auto source = sources_.find(maker);
  if (source == sources_.end()) return false;
  const auto found = uses_.find({stretch, source->second.value});
  if (found == uses_.end()) return false;
  const Use& use = found->second;
  const Type& type = program_.type_of(source->second.value);
  const double saved = 2 * static_cast<double>(use.bytes) - static_cast<double>(type.bytes());
  const double work = use.seconds * static_cast<double>(type.elements()) / machine_.workers;
  return use.bytes >= type.bytes() && work <= saved / machine_.copy_rate;
}

// What calls read and write.
void HadAgain::find_in_memory() {
  for (const auto& [id, region] : stretches_.region) {
    const Op& op = program_.op(id);
    if (op.def->form == Form::constant || op.def->form == Form::terminator ||
        op.def->view != ViewKind::none || is_stitchable(program_, op, calls_))
      continue;
    for (ValueId v : program_.operands(op)) in_memory_.insert(v);
    for (std::size_t i = 0; i < op.result_count; ++i) in_memory_.insert(program_.result(op, i));
  }
}

void HadAgain::find_used_elsewhere() {
  for (const auto& [id, region] : stretches_.region)
    for (ValueId v : program_.operands(program_.op(id))) {
      const auto made = stretches_.region.find(program_.value(v).op);
      if (made != stretches_.region.end() && made->second == region &&
          stretches_.of[made->first] != stretches_.of[id])
        used_elsewhere_.insert(v);
    }
}

HadAgain::Source HadAgain::source_of(const Op& op) const {
  const bool is_heavy = op.def->cls == OpClass::heavy;
  if ((!is_heavy && op.def->cls != OpClass::light) || op.region_count > 0 || op.def->draws)
    return {};
  const Type& type = program_.type_of(op.results);
  if (!type.is_tensor()) return {};
  Source source;
  for (ValueId v : program_.operands(op)) {
    if (!program_.type_of(v).is_tensor()) return {};
    if (is_small(v, type.bytes())) continue;
    if (program_.type_of(v).shape != type.shape) return {};
    const Source from = source_of(v);
    if (from.value == kNone || (source.value != kNone && source.value != from.value)) return {};
    source = {from.value, std::max(source.seconds, from.seconds)};
  }
  if (source.value == kNone) return {};
  source.seconds += 1 / (is_heavy ? machine_.heavy_rate : machine_.light_rate);
  return source;
}

HadAgain::Source HadAgain::source_of(ValueId operand) const {
  const OpId maker = program_.value(operand).op;
  if (maker == kNone || in_memory_.contains(operand)) return {operand, 0};
  const auto found = sources_.find(maker);
  return found == sources_.end() ? Source{} : found->second;
}

// A constant, or repeated from a value that is much smaller, or so itself.
bool HadAgain::is_small(ValueId operand, std::int64_t bytes) const {
  const OpId maker = program_.value(operand).op;
  if (maker != kNone && program_.op(maker).def->parts == Parts::constant) return true;
  if (maker != kNone && program_.op(maker).def->rearranges == Rearrange::broadcast)
    operand = program_.operands(program_.op(maker))[0];
  return program_.type_of(operand).bytes() * kSmallerTimes <= bytes;
}

void HadAgain::note_uses() {
  std::set<std::pair<std::uint32_t, ValueId>> seen;
  for (const auto& [id, region] : stretches_.region) {
    const Op& op = program_.op(id);
    for (ValueId v : program_.operands(op)) {
      const auto found = sources_.find(program_.value(v).op);
      if (found == sources_.end() || stretches_.of[found->first] == stretches_.of[id]) continue;
      if (stretches_.region.at(found->first) != region) continue;
      if (!seen.emplace(stretches_.of[id], v).second) continue;
      Use& use = uses_[{stretches_.of[id], found->second.value}];
      use.bytes += program_.type_of(v).bytes();
      use.seconds = std::max(use.seconds, found->second.seconds);
    }
  }
}

}  // namespace heddle
