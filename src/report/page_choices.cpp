#include <algorithm>

#include "heddle/op.h"
#include "layout/picture.h"
#include "report/page_data.h"

namespace heddle::report {

std::size_t Texts::operator()(const std::string& text) {
  const auto [it, is_new] = numbers_.try_emplace(text, numbers_.size());
  if (is_new) all_.push_back(text);
  return it->second;
}

void Pictures::add(const Type& type, int split) {
  constexpr std::size_t kMost = 200;
  constexpr std::int64_t kCells = 8;
  if (split < 0 || !type.is_tensor() || type.elements() == 0) return;
  const Split& lies = decisions_.split(split);
  if (lies.is_whole() || all_.size() == kMost) return;
  const Mesh& mesh = decisions_.on.mesh.mesh;
  const std::string sharding = text_of(lies, mesh), shape = type.str();
  const std::string key = fmt::format("{}.{}", texts_(shape), texts_(sharding));
  if (all_.contains(key)) return;
  const AxisRegistry& axes = decisions_.on.program.axes;
  const auto layout = layout_of(lies, mesh, axes.mem());
  if (!layout) return;
  const auto picture = draw(*layout, axes, {{}, kCells, kCells});
  if (!picture) return;
  all_[key] =
      picture_svg(*picture, shape + "  " + sharding, describe_layout(*layout, axes, *picture));
}

Choices::Choices(const Decisions& decisions, const PlanDetails* details)
    : decisions_(decisions), details_(details), by_op_(decisions.ops.size(), nullptr) {
  if (details != nullptr) return;
  for (OpId id = 0; id < decisions.ops.size(); ++id) {
    const Choice* choice = decisions.ops[id].choice.get();
    if (choice == nullptr || choice->rejected.empty()) continue;
    by_op_[id] = choice;
    const int next = static_cast<int>(numbers_.size());
    ++numbers_.try_emplace(choice, next, 0).first->second.second;
  }
}

int Choices::of_op(OpId op) const {
  if (details_ != nullptr) return op < details_->of_op.size() ? details_->of_op[op] : -1;
  return by_op_[op] == nullptr ? -1 : numbers_.at(by_op_[op]).first;
}

int Choices::of_argument(std::size_t argument) const {
  return details_ != nullptr && argument < details_->of_argument.size()
             ? details_->of_argument[argument]
             : -1;
}

double Choices::seconds_of(OpId op) const {
  if (details_ == nullptr) {
    const auto& choice = decisions_.ops[op].choice;
    return choice ? choice->price.compute : 0;
  }
  const int number = of_op(op);
  return number < 0 ? 0 : details_->choices[static_cast<std::size_t>(number)].seconds;
}

namespace {

// [what, takes, lies, more seconds, more bytes]
Json way_json(const PlanDetails::Way& way, Texts& texts) {
  return {texts(way.what), texts(way.takes), texts(way.lies), way.more_seconds, way.more_bytes};
}

Json of_plan(const PlanDetails::Chosen& chosen, Texts& texts) {
  Json others = Json::array();
  for (const PlanDetails::Way& way : chosen.others) others.push_back(way_json(way, texts));
  return {{"alike", chosen.alike},
          {"way", way_json(chosen.way, texts)},
          {"others", std::move(others)},
          {"more", chosen.not_listed}};
}

}  // namespace

PlanDetails::Chosen chosen_alone(const Choice& choice, const Decisions& decisions) {
  const Mesh& mesh = decisions.on.mesh.mesh;
  const auto all = [&](const std::vector<int>& splits) {
    std::string text;
    for (const int id : splits)
      text += (text.empty() ? "" : " ") + (id < 0 ? "-" : text_of(decisions.split(id), mesh));
    return text;
  };
  const auto split = [&](const auto& of) {
    return fmt::format("{} ({})", text_of(of.axes, mesh), name(of.way));
  };
  PlanDetails::Chosen chosen;
  chosen.way = {split(choice), all(choice.operands), all(choice.results)};
  for (const Choice::Rejected& other : choice.rejected)
    chosen.others.push_back({split(other), {}, {}, other.seconds - choice.price.total()});
  std::ranges::stable_sort(chosen.others, {}, &PlanDetails::Way::more_seconds);
  return chosen;
}

Json Choices::json(Texts& texts) const {
  Json all = Json::array();
  if (details_ != nullptr) {
    for (const PlanDetails::Chosen& chosen : details_->choices)
      all.push_back(of_plan(chosen, texts));
    return all;
  }
  std::vector<const Choice*> order(numbers_.size());
  for (const auto& [choice, number] : numbers_)
    order[static_cast<std::size_t>(number.first)] = choice;
  for (const Choice* choice : order) {
    PlanDetails::Chosen chosen = chosen_alone(*choice, decisions_);
    chosen.alike = numbers_.at(choice).second;
    all.push_back(of_plan(chosen, texts));
    all.back()["alone"] = true;
  }
  return all;
}

}  // namespace heddle::report
