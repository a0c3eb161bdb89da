#include "schedule/steps/edit.h"

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "heddle/verify.h"

namespace heddle {

Edit::Edit(const Program& from, std::uint32_t mesh)
    : Copier(from), writer_(out_, from.meshes[mesh]) {}

Writer& Edit::writer(RegionId at, const Op& op) {
  writer_.at = at;
  writer_.loc = location(op.loc);
  return writer_;
}

ValueId Edit::position(RegionId at, const Op& op, const SplitAxes& axes) {
  auto [known, is_new] = positions_.try_emplace({at, axes}, kNone);
  if (is_new) {
    writer(at, op).write_position();
    known->second = writer_.position(axes);
  }
  return known->second;
}

void Edit::locate(RegionId at, const Op& op) {
  const LocId loc = location(op.loc);
  const std::vector<OpId>& ops = out_.region(at).ops;
  for (std::size_t i = ops.size(); i-- > 0 && out_.op(ops[i]).loc == 0;)
    out_.set_location(ops[i], loc);
}

RegionId Edit::copy_region(RegionId region) {
  const RegionId made = out_.add_region();
  for (ValueId v : from_.region(region).args) {
    const auto other = types_.find(v);
    values_[v] =
        out_.add_arg(made, out_.intern(other == types_.end() ? from_.type_of(v) : other->second));
  }
  const auto ordered = order_.find(region);
  for (OpId id : ordered == order_.end() ? from_.region(region).ops : ordered->second) {
    if (mistake_) break;
    const Op& op = from_.op(id);
    const auto write = instead_.find(id);
    if (write == instead_.end()) {
      copy_op(made, op);
      continue;
    }
    if (const Verdict written = write->second(made, op); !written) mistake_ = written.why();
    locate(made, op);
  }
  return made;
}

Expected<Rewritten> Edit::done() {
  Rewritten all;
  all.program = run();
  if (mistake_) return *mistake_;
  all.values = std::move(values_);
  // Arguments and results may lie in other parts now.
  for (Function& f : all.program.functions) {
    if (f.body == kNone) continue;
    const Op& end = all.program.op(all.program.region(f.body).ops.back());
    for (std::size_t i = 0; i < f.results.size(); ++i)
      f.results[i] = all.program.value(all.program.operands(end)[i]).type;
  }
  const Verdict sound = verify(all.program);
  HEDDLE_CHECK(sound, "a step of a schedule left: {}", sound.reason());
  return all;
}

std::vector<std::vector<OpId>> users_of(const Program& program) {
  std::vector<std::vector<OpId>> users(program.value_count());
  for (RegionId r = 0; r < program.region_count(); ++r)
    for (OpId id : program.region(r).ops) {
      const Op& op = program.op(id);
      const auto add = [&](ValueId v) {
        if (users[v].empty() || users[v].back() != id) users[v].push_back(id);
      };
      for (ValueId v : program.operands(op)) add(v);
      if (op.region_count > 0)
        for (ValueId v : captured_values(program, op)) add(v);
    }
  return users;
}

std::string value_text(const Program& program, ValueId v) {
  const Value& value = program.value(v);
  if (value.op == kNone) return fmt::format("argument {}", value.index);
  const Op& op = program.op(value.op);
  const std::string& user = program.location(op.loc).user;
  return fmt::format("{}{} : {}", op.def->short_name(), user.empty() ? "" : " of " + user,
                     program.type_of(v).str());
}

}  // namespace heddle
