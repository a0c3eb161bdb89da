// Which forms of each value there are while a program is gone through: a value keeps every split in
// which it has been needed, so that one move serves all later users.
#pragma once

#include "heddle/decide.h"

namespace heddle {

class Forms {
 public:
  struct Form {
    int split;
    std::size_t scope;  // that it is there in
  };

  explicit Forms(OnMesh& on) : on_(on), forms_(on.program.value_count()), scopes_{{}} {}

  const std::vector<Form>& of(ValueId v) const { return forms_[v]; }
  void define(ValueId v, int split);
  // What takes it from where it is cheapest, and the forms that come up on the way. Empty where
  // the value is there.
  std::optional<Fetch> fetch(ValueId v, int split);
  // From the cheapest form; 0 where there is none. What is brought before a loop counts as a part
  // of each of its turns.
  double seconds_to(ValueId v, int split) const;
  double times() const { return scopes_.back().times; }  // that the region at hand is gone through
  std::int64_t bytes_to(ValueId v, int split) const;  // that a device gets on this way
  bool has(ValueId v, int split) const;
  // Whether it was defined in the region at hand, and not around it.
  bool is_from_here(ValueId v) const;

  // What is defined in a region is forgotten behind it.
  std::size_t enter(bool loop, double turns = 1);  // a mark for `leave`
  void leave(std::size_t mark);
  std::size_t mark() const { return trail_.size(); }
  void forget_since(std::size_t mark);
  // Forms of `kept` are forms of `v`, the one with this split first.
  void same_as(ValueId v, ValueId kept, int split);
  // Takes away copies that take no less than what they can be made of again.
  std::vector<std::pair<ValueId, int>> let_go();
  // This one is no form for anyone else.
  void withdraw(ValueId v, int split);

 private:
  bool is_open_zero(ValueId v, int split) const;
  const Form* cheapest(ValueId v, int split, double* seconds) const;
  std::size_t home_of(const Form& form) const;

  OnMesh& on_;
  std::vector<std::vector<Form>> forms_;  // by ValueId
  std::vector<ValueId> trail_;            // values that got forms, in order
  struct Scope {
    bool loop = false;
    double times = 1;
  };
  std::vector<Scope> scopes_;  // regions around, the function's first
};

}  // namespace heddle
