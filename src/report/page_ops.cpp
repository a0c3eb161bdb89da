// The program of a page, layer by layer.
#include <algorithm>

#include "base/text.h"
#include "heddle/hash.h"
#include "heddle/op.h"
#include "report/fold.h"
#include "report/page_data.h"

namespace heddle::report {

namespace {

class OpsWriter {
 public:
  OpsWriter(const Decisions& decisions, const Choices& choices, Texts& texts, Pictures& pictures)
      : decisions_(decisions),
        program_(decisions.on.program),
        choices_(choices),
        texts_(texts),
        pictures_(pictures) {}

  Json region(RegionId id) {
    std::vector<OpId> ops;
    for (const OpId op : program_.region(id).ops)
      if (is_shown(op)) ops.push_back(op);
    std::vector<std::uint64_t> looks;
    for (const OpId op : ops) looks.push_back(look_of(op));
    return folds(fold_repeats(looks), ops);
  }

 private:
  // Constants and what returns values say nothing of a plan.
  bool is_shown(OpId id) const {
    const Op& op = program_.op(id);
    return op.result_count > 0 && op.def->parts != Parts::constant;
  }

  int lies(ValueId v) const { return v < decisions_.lies.size() ? decisions_.lies[v] : -1; }

  std::uint64_t look_of(OpId id) const {
    const Op& op = program_.op(id);
    std::uint64_t look = hash_combine(op.def->hash, op.region_count);
    for (const ValueId v : program_.operands(op)) look = hash_combine(look, program_.value(v).type);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = program_.result(op, i);
      look = hash_combine(hash_combine(look, program_.value(v).type),
                          static_cast<std::uint64_t>(lies(v)) + 1);
    }
    return look;
  }

  Json folds(const std::vector<Fold>& all, const std::vector<OpId>& ops) {
    Json list = Json::array();
    for (const Fold& fold : all) {
      Json one = {{"n", fold.times},
                  {"count", fold.count},
                  {"of", texts_(kinds_of(fold, ops))},
                  {"seconds", seconds_of(fold, ops)}};
      if (fold.times > 1) {
        one["inside"] = folds(fold.inside, ops);
      } else {
        one["ops"] = Json::array();
        for (std::size_t i = fold.first; i < fold.first + fold.count; ++i)
          if (written_ < kMostOps) one["ops"].push_back(op_json(ops[i]));
      }
      list.push_back(std::move(one));
    }
    return list;
  }

  // "12 dot_general, 9 add, 4 multiply, ..."
  std::string kinds_of(const Fold& fold, const std::vector<OpId>& ops) const {
    constexpr std::size_t kMostNamed = 4;
    std::map<std::string_view, std::pair<bool, int>> counts;  // contractions come first
    for (std::size_t i = fold.first; i < fold.first + fold.count; ++i) {
      const OpDef& def = *program_.op(ops[i]).def;
      auto& [contracts, count] = counts[def.short_name()];
      contracts = def.cls == OpClass::contract;
      ++count;
    }
    std::vector<std::pair<std::pair<bool, int>, std::string_view>> order;
    for (const auto& [name, count] : counts) order.emplace_back(count, name);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [](const auto& one) { return one.first; });
    std::string text;
    for (std::size_t i = 0; i < order.size() && i < kMostNamed; ++i)
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", order[i].first.second, order[i].second);
    return order.size() > kMostNamed ? text + ", ..." : text;
  }

  double seconds_of(const Fold& fold, const std::vector<OpId>& ops) const {
    double sum = 0;
    for (std::size_t i = fold.first; i < fold.first + fold.count * fold.times; ++i)
      sum += choices_.seconds_of(ops[i]);
    return sum;
  }

  Json op_json(OpId id) {
    ++written_;
    const Op& op = program_.op(id);
    Json row = {{"op", texts_(std::string(op.def->short_name()))},
                {"at", texts_(program_.where(op.loc))}};
    if (const std::string& user = program_.location(op.loc).user; !user.empty())
      row["by"] = texts_(user);
    const ValueId result = program_.result(op, 0);
    const Type& type = program_.type_of(result);
    row["type"] = texts_(type.str());
    if (const int split = lies(result); split >= 0) {
      row["lies"] = texts_(text_of(decisions_.split(split), decisions_.on.mesh.mesh));
      pictures_.add(type, split);
    }
    row["s"] = choices_.seconds_of(id);
    if (const double bring = decisions_.ops[id].bring_seconds(); bring > 0) row["bring"] = bring;
    if (const int choice = choices_.of_op(id); choice >= 0) row["why"] = choice;
    if (op.def->cls == OpClass::control)
      for (const RegionId inner : program_.regions(op)) {
        if (!row.contains("body")) row["body"] = Json::array();
        for (Json& fold : region(inner)) row["body"].push_back(std::move(fold));
      }
    return row;
  }

  // A page stays small enough to open.
  static constexpr std::size_t kMostOps = 20000;

  const Decisions& decisions_;
  const Program& program_;
  const Choices& choices_;
  Texts& texts_;
  Pictures& pictures_;
  std::size_t written_ = 0;
};

}  // namespace

Json ops_json(const Decisions& decisions, const Function& function, const Choices& choices,
              Texts& texts, Pictures& pictures) {
  return OpsWriter(decisions, choices, texts, pictures).region(function.body);
}

}  // namespace heddle::report
