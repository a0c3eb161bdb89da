#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "heddle/op.h"
#include "heddle/value_names.h"
#include "heddle/why_report.h"
#include "report/layout_words.h"
#include "report/page_data.h"
#include "report/table.h"
#include "report/words.h"

namespace heddle {
namespace {

using report::exact_bytes;
using report::exact_seconds;
using report::Json;

// What somebody asks about.
struct Meant {
  std::optional<std::size_t> argument;
  OpId op = kNone;
  std::string about;
};

std::string about_value(const std::string& id, std::string_view name, const Type& type) {
  return fmt::format("{}{}{}  {}", id, name.empty() ? "" : "  ", name, type.str());
}

std::string about_op(const Program& program, OpId id) {
  const Op& op = program.op(id);
  return fmt::format("{} at {}  {}", op.def->short_name(), program.where(op.loc),
                     program.type_of(program.result(op, 0)).str());
}

// ":12:" of "f.mlir:12:10" for 12, f.mlir:12 and f.mlir:12:10.
bool is_at(std::string place, std::string said) {
  if (!said.empty() && said.find_first_not_of("0123456789") == said.npos) said = ":" + said;
  place += ":";
  said += ":";
  const std::size_t at = place.find(said);
  return said.find(':') != said.npos && at != place.npos &&
         (at == 0 || said[0] == ':' || place[at - 1] == '/');
}

class Finder {
 public:
  Finder(const Program& program, const Function& function, const Decisions& decisions)
      : program_(program), function_(function), decisions_(decisions) {}

  Expected<Meant> find(const std::string& what) {
    const std::vector<ValueId>& arguments = program_.region(function_.body).args;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string id = fmt::format("arg{}", i);
      const std::string_view name = argument_name(function_, i);
      if (what == id || what == name || what == "%" + id)
        return Meant{i, kNone, about_value(id, name, program_.type_of(arguments[i]))};
      names_.emplace_back(name.empty() ? id : name);
    }
    const Op& end = program_.op(program_.region(function_.body).ops.back());
    for (std::size_t i = 0; i < function_.results.size(); ++i) {
      const std::string id = fmt::format("result{}", i);
      const std::string_view name = result_name(function_, i);
      names_.emplace_back(name.empty() ? id : name);
      if (what != id && what != name) continue;
      const ValueId v = program_.operands(end)[i];
      const auto argument = std::ranges::find(arguments, v);
      if (argument != arguments.end())
        return find(fmt::format("arg{}", argument - arguments.begin()));
      return Meant{std::nullopt, program_.value(v).op, about_value(id, name, program_.type_of(v))};
    }
    return find_op(what);
  }

 private:
  Expected<Meant> find_op(const std::string& what) {
    for (OpId id = 0; id < decisions_.ops.size(); ++id) {
      const Op& op = program_.op(id);
      if (op.result_count > 0 && decisions_.ops[id].choice && is_at(program_.where(op.loc), what))
        return Meant{std::nullopt, id, about_op(program_, id)};
    }
    return reason(
        "why {}: no argument or result of @{} is called so, and no op stands on such a line; name "
        "one as arg0, result0 or f.mlir:12, or an axis as tp=4{}",
        what, function_.name, did_you_mean(what, names_));
  }

  const Program& program_;
  const Function& function_;
  const Decisions& decisions_;
  std::vector<std::string> names_;
};

std::string signed_text(const std::string& text, double value) {
  return value < 0 ? text : "+" + text;
}

Json way_json(const PlanDetails::Way& way) {
  return {{"split", way.what},
          {"takes", way.takes},
          {"lies", way.lies},
          {"more_seconds", way.more_seconds},
          {"more_bytes", way.more_bytes}};
}

}  // namespace

Expected<WhyReport> why_report(const Spmd& spmd, const std::string& function,
                               const std::string& what) {
  const Program& program = spmd.logical();
  const Function* const meant = program.find_function(function);
  const Decisions* const decisions = report::decisions_of(spmd, function);
  if (meant == nullptr || decisions == nullptr)
    return reason("why {}: @{} is on one device, where nothing is chosen: name a mesh", what,
                  function);
  HEDDLE_TRY(const Meant found, Finder(program, *meant, *decisions).find(what));
  WhyReport report{.about = found.about, .settable = found.op == kNone, .chosen = {}};
  const auto place = static_cast<std::size_t>(meant - program.functions.data());
  const auto& searched = spmd.decided->functions[place].found;
  if (searched && searched->details) {
    const PlanDetails& details = *searched->details;
    const int number = found.argument      ? details.of_argument[*found.argument]
                       : found.op == kNone ? -1
                                           : details.of_op[found.op];
    if (number < 0) return reason("why {}: there is nothing to choose for it", what);
    report.chosen = details.choices[static_cast<std::size_t>(number)];
    return report;
  }
  if (found.op == kNone)
    return reason(
        "why {}: what is said of values spreads from op to op, and nobody weighs where arguments "
        "lie; `plan` auto does",
        what);
  const auto& choice = decisions->ops[found.op].choice;
  if (!choice) return reason("why {}: there is nothing to choose for it", what);
  report.of_plan = false;
  report.chosen = report::chosen_alone(*choice, *decisions);
  return report;
}

std::string WhyReport::text(const Style& style) const {
  std::string text = style.bold(about) + (of_part ? ", as each micro-batch has it" : "") + "\n";
  const auto split = [](const PlanDetails::Way& way) {
    return way.what.empty()   ? way.lies
           : way.lies.empty() ? way.what
                              : fmt::format("{}, giving {}", way.what, way.lies);
  };
  text +=
      fmt::format("is {}{}\n", split(chosen.way),
                  chosen.alike > 1 ? fmt::format(", chosen once for {} alike", chosen.alike) : "");
  if (chosen.others.empty()) return text + "there is no other way\n";
  text += of_plan ? "why not (what is next to it follows; the best plan with it takes no more)\n"
                  : "why not (for this op alone, with its operands as they lie)\n";
  report::Table table({{}, {.right = true}, {.right = true}}, 2);
  for (const PlanDetails::Way& way : chosen.others)
    table.add({split(way), signed_text(exact_seconds(way.more_seconds), way.more_seconds),
               way.more_bytes == 0
                   ? ""
                   : signed_text(exact_bytes(way.more_bytes), static_cast<double>(way.more_bytes)) +
                         " at the peak"});
  text += table.text();
  if (chosen.not_listed > 0) text += fmt::format("  and {} dearer ones\n", chosen.not_listed);
  if (settable && of_plan) text += "--fix NAME=SHARDING has the rest searched around it\n";
  return text;
}

std::string WhyReport::json() const {
  Json json = {{"about", about},
               {"of", of_plan ? "plan" : "op"},
               {"micro_batch", of_part},
               {"alike", chosen.alike},
               {"chosen", way_json(chosen.way)},
               {"others", Json::array()},
               {"not_listed", chosen.not_listed}};
  for (const PlanDetails::Way& way : chosen.others) json["others"].push_back(way_json(way));
  return report::json_text(json);
}

// ---- other meshes

Expected<std::string> other_mesh(const std::string& text, const std::string& said) {
  AxisRegistry axes = AxisRegistry::standard(), others = AxisRegistry::standard();
  HEDDLE_TRY(const Mesh mesh, Mesh::parse(text, axes));
  const auto other = Mesh::parse(said, others);
  if (!other) return reason("why {}: {}", said, other.reason());
  if (other->axes().size() > 1) return said;
  const MeshAxis& wanted = other->axes()[0];
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  for (const MeshAxis& axis : mesh.axes()) sizes.emplace_back(axis.name, axis.size);
  const auto changed = std::ranges::find(sizes, wanted.name, [](const auto& s) { return s.first; });
  if (changed == sizes.end())
    return reason("why {}: the mesh {} has no axis {}", said, text, wanted.name);
  const std::int64_t rest = mesh.devices() / changed->second, all = mesh.devices();
  changed->second = wanted.size;
  if (rest * wanted.size == all) return reason("why {}: that is how it is: {}", said, text);
  // The outermost other axis that comes out even.
  for (auto& [name, size] : sizes) {
    if (name == wanted.name || all % (rest / size * wanted.size) != 0) continue;
    size = all / (rest / size * wanted.size);
    std::string out;
    for (const auto& [axis, count] : sizes)
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", axis, count);
    return out;
  }
  return reason("why {}: {} devices do not come out even so: name all axes, as in dp=4,tp=2", said,
                all);
}

std::string OtherMesh::text(const Style& style) const {
  const std::string head = style.bold(fmt::format("why not {}?", question)) + "  ";
  if (!other_seconds)
    return fmt::format("{}on {} there is no plan: {}\n", head, other_mesh, why_not);
  // Sums in another order differ by less.
  constexpr double kSame = 1e-9;
  double more = *other_seconds - seconds;
  if (std::abs(more) <= kSame * seconds) more = 0;
  std::string text = head;
  if (other_bytes > limit)
    text += fmt::format("it needs {} of a device, which has {}; ", exact_bytes(other_bytes),
                        exact_bytes(limit));
  text += fmt::format("a step takes {} on {}, {} on {}: {}", exact_seconds(*other_seconds),
                      other_mesh, exact_seconds(seconds), mesh,
                      more > 0   ? exact_seconds(more) + " more"
                      : more < 0 ? exact_seconds(-more) + " less"
                                 : "the same");
  return text + fmt::format("\n  memory of a device at the peak: {} instead of {}\n",
                            exact_bytes(other_bytes), exact_bytes(bytes));
}

std::string OtherMesh::json() const {
  Json json = {{"question", question}, {"mesh", mesh},        {"seconds", seconds},
               {"bytes", bytes},       {"other", other_mesh}, {"other_seconds", nullptr}};
  if (other_seconds) {
    json["other_seconds"] = *other_seconds;
    json["other_bytes"] = other_bytes;
  } else {
    json["why_not"] = why_not;
  }
  return report::json_text(json);
}

}  // namespace heddle
