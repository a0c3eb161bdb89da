// Which factors of an op are split: candidates from the splits of its values, the cheapest wins.
#pragma once

#include "parallel/forms.h"

namespace heddle {

class Chooser {
 public:
  // `uses` says how often each value is an operand, `meetings` how many moves one after the other
  // it has waited for.
  Chooser(OnMesh& on, const Propagation& layouts, const Forms& forms, const std::vector<int>& uses,
          const std::vector<int>& meetings);

  // Equal ops with equal splits are decided once. Inside of a manual computation devices may meet
  // in an op.
  std::shared_ptr<const Choice> choose(OpId id, bool inside_manual);

  int resting(ValueId v);  // where propagation wants it
  // The split that a value has: an operand as it lies first, a result as propagation wants it.
  const Split* split_for(const Op& op, std::size_t value);

 private:
  // What becomes of lines that are split.
  enum class Lines : std::uint8_t { split, gathered, dealt_out };
  struct Known {
    OpId op;
    std::vector<int> about;
    std::shared_ptr<const Choice> choice;
  };

  Choice as_given(OpId id, const IndexRule& rule, const ChosenFactors& given);
  Choice chosen(OpId id, const IndexRule& rule, bool inside_manual);
  std::vector<std::vector<std::size_t>> orders(const Op& op);
  std::vector<Lines> ways_along_lines(OpId id, const IndexRule& rule);
  void free_lines(OpId id, const IndexRule& rule, Lines lines, FactorAxes& axes);
  Choice candidate(OpId id, const IndexRule& rule, const std::vector<std::size_t>& order,
                   Lines lines);
  bool is_late(const Op& op) const;  // nothing waits for its results
  int sum_beside(const Op& op) const;
  double saved_together(const Op& op, const Choice& choice);
  std::optional<Choice> rows_candidate(OpId id, const IndexRule& rule);
  void pass_pending(const Op& op, const IndexRule& rule, Choice& choice);
  bool adds_to_open_sum(const Op& op) const;
  bool others_come_later(const Op& op, const std::vector<std::size_t>& together) const;
  void price(const Op& op, const IndexRule& rule, Choice& choice);

  OnMesh& on_;
  const Program& program_;
  const Propagation& layouts_;
  const Forms& forms_;
  const std::vector<int>& uses_;
  const std::vector<int>& meetings_;
  std::vector<OpId> last_user_;  // by value: the only one where it is used once
  std::unordered_multimap<std::uint64_t, Known> choices_;
};

}  // namespace heddle
