#include <unordered_set>

#include "compile.h"
#include "heddle/op.h"
#include "ir/call_graph.h"
#include "runtime/collective.h"

namespace heddle {

namespace {

class Search {
 public:
  explicit Search(const Program& program) : program_(program), calls_(program) {}

  std::string function(const Function& f) {
    if (f.body == kNone) return fmt::format("function @{} is only declared", f.name);
    if (!seen_.insert(&f).second) return "";
    return region(f.body);
  }

 private:
  std::string region(RegionId id) {
    for (ValueId v : program_.region(id).args)
      if (program_.type_of(v).kind == Type::Kind::tuple)
        return fmt::format("an argument is a {}", program_.type_of(v).str());
    for (OpId op : program_.region(id).ops)
      if (std::string why = of(program_.op(op)); !why.empty()) return why;
    return "";
  }

  std::string of(const Op& op) {
    const auto at = [&](std::string_view what) {
      return fmt::format("{} at {} {}", op.def->name, program_.where(op.loc), what);
    };
    if (op.def->cls == OpClass::communicate) {
      const auto known = runtime::collective_op(program_, op);
      return known ? "" : at("communicates: " + known.reason());
    }
    if (op.def->control == Control::processes || op.def->control == Control::manual)
      return at("runs several processes");
    if (!op.def->interpreted.empty()) return at(op.def->interpreted);
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (const Type& type = program_.type_of(program_.result(op, i));
          type.kind == Type::Kind::tuple)
        return at(fmt::format("gives a {}", type.str()));
    for (RegionId inner : program_.regions(op))
      if (std::string why = region(inner); !why.empty()) return why;
    const Function* callee = calls_.callee(op);
    return callee == nullptr ? "" : function(*callee);
  }

  const Program& program_;
  CallGraph calls_;
  std::unordered_set<const Function*> seen_;
};

}  // namespace

std::string why_interpreted(const Program& program, const std::string& entry) {
  return Search(program).function(*program.find_function(entry));
}

}  // namespace heddle
