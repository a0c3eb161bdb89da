#include "schedule/steps/dead.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

namespace {

// Who has other results of an effect than its values stays.
bool may_go(const Op& op) {
  return op.def->cls != OpClass::opaque && op.def->cls != OpClass::control &&
         op.def->collective != CollectiveKind::send &&
         op.def->collective != CollectiveKind::receive;
}

}  // namespace

Expected<Rewritten> remove_dead(const Program& program, std::uint32_t mesh, OpId first) {
  std::vector<std::vector<OpId>> users = users_of(program);
  const auto unused = [&](const Op& op) {
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (!users[program.result(op, i)].empty()) return false;
    return true;
  };
  const Op& named = program.op(first);
  for (std::size_t i = 0; i < named.result_count; ++i)
    if (const auto& who = users[program.result(named, i)]; !who.empty()) {
      const Op& user = program.op(who[0]);
      if (user.def->form == Form::terminator) return reason("it is a result of the function");
      return reason("{} needs it", value_text(program, user.results));
    }
  if (!may_go(named)) return reason("{} has an effect", named.def->short_name());
  Edit edit(program, mesh);
  std::vector<OpId> gone = {first};
  for (std::size_t k = 0; k < gone.size(); ++k) {
    edit.leave_out(gone[k]);
    for (ValueId v : program.operands(program.op(gone[k]))) {
      std::erase(users[v], gone[k]);
      const OpId maker = program.value(v).op;
      if (maker != kNone && unused(program.op(maker)) && may_go(program.op(maker)) &&
          std::ranges::find(gone, maker) == gone.end())
        gone.push_back(maker);
    }
  }
  HEDDLE_TRY(Rewritten all, edit.done());
  all.said = {fmt::format("{} ops less", gone.size())};
  return all;
}

}  // namespace heddle
