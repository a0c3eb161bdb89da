#include "plan_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "heddle/op.h"

namespace heddle::cli {
namespace {

std::string microseconds(double seconds) { return fmt::format("{:.3g} us", seconds * 1e6); }

std::string splits_text(const Decisions& decisions, const std::vector<int>& ids) {
  std::string text;
  for (int id : ids) {
    const std::string one = text_of(decisions.split(id), decisions.on.mesh.mesh);
    text += (text.empty() ? "" : " ") + one;
  }
  return text;
}

// The op that it was first made for, how many are alike, and what else there was.
std::string choice_text(const Decisions& decisions, OpId first, std::size_t alike,
                        const Choice& choice) {
  const Program& program = decisions.on.program;
  const Mesh& mesh = decisions.on.mesh.mesh;
  const Op& op = program.op(first);
  std::string text =
      fmt::format("{} at {}{}: {} -> {}\n    split {} ({}): {}\n", op.def->short_name(),
                  program.where(op.loc), alike > 1 ? fmt::format(" and {} alike", alike - 1) : "",
                  splits_text(decisions, choice.operands), splits_text(decisions, choice.results),
                  text_of(choice.axes, mesh), name(choice.way), microseconds(choice.price.total()));
  std::vector<Choice::Rejected> others = choice.rejected;
  std::ranges::stable_sort(others, {}, &Choice::Rejected::seconds);
  for (const Choice::Rejected& other : others)
    text += fmt::format("    rather than {} ({}): {}\n", text_of(other.axes, mesh), name(other.way),
                        microseconds(other.seconds));
  return text;
}

}  // namespace

const Decisions* decisions_of(const Spmd& spmd, const SpmdFunction& function) {
  const std::vector<Function>& all = spmd.logical().functions;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == function.name) return spmd.decided->functions[i].decisions.get();
  return nullptr;
}

std::string decisions_text(const Spmd& spmd, const SpmdFunction& function) {
  const Decisions* decisions = decisions_of(spmd, function);
  if (decisions == nullptr) return "";
  std::unordered_map<const Choice*, std::size_t> count;
  for (const Decision& d : decisions->ops)
    if (d.choice) ++count[d.choice.get()];
  std::string text;
  for (OpId id = 0; id < decisions->ops.size(); ++id) {
    const Choice* choice = decisions->ops[id].choice.get();
    const auto known = count.find(choice);
    // Where nothing else was possible there is nothing to say.
    if (choice == nullptr || choice->rejected.empty() || known == count.end()) continue;
    text += choice_text(*decisions, id, known->second, *choice);
    count.erase(known);
  }
  return text;
}

}  // namespace heddle::cli
