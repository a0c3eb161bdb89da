// What the page of a plan shows, as JSON for its script.
#pragma once

#include <map>

#include "heddle/plan_report.h"
#include "report/json.h"

namespace heddle::report {

// Texts by number, each written once.
class Texts {
 public:
  std::size_t operator()(const std::string& text);
  Json json() const { return all_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json all_ = Json::array();
};

// Pictures of how values lie, by type and sharding. At most a few hundred are drawn.
class Pictures {
 public:
  Pictures(const Decisions& decisions, Texts& texts) : decisions_(decisions), texts_(texts) {}
  void add(const Type& type, int split);
  Json json() const { return all_; }

 private:
  const Decisions& decisions_;
  Texts& texts_;
  Json all_ = Json::object();
};

// What was weighed for one op by itself.
PlanDetails::Chosen chosen_alone(const Choice& choice, const Decisions& decisions);

// What was chosen for ops and arguments, and what else that could be: of the whole plan where it
// was searched for, else op by op.
class Choices {
 public:
  Choices(const Decisions& decisions, const PlanDetails* details);
  int of_op(OpId op) const;  // -1: there is nothing to choose
  int of_argument(std::size_t argument) const;
  double seconds_of(OpId op) const;  // that it takes by itself
  Json json(Texts& texts) const;

 private:
  const Decisions& decisions_;
  const PlanDetails* details_;
  std::vector<const Choice*> by_op_;                              // where nobody searched
  std::map<const Choice*, std::pair<int, std::size_t>> numbers_;  // and how many ops have it
};

// The ops of a function in order, those that come again and again folded: a list of
// {"n": times, "of": what, "ops": [...]}.
Json ops_json(const Decisions& decisions, const Function& function, const Choices& choices,
              Texts& texts, Pictures& pictures);

}  // namespace heddle::report
