// What the steps of a schedule call values, and what became of them.
#pragma once

#include <map>

#include "heddle/schedule_text.h"
#include "schedule/steps/edit.h"

namespace heddle {

// A value of the program, or an argument or a result of its function by number.
struct StepValue {
  enum class Kind : std::uint8_t { value, argument, result };
  Kind kind = Kind::value;
  ValueId value = kNone;  // kNone: it is gone
  std::size_t number = 0;
};

class ValueTable {
 public:
  ValueTable(const Program& program, const Function& function);

  // All that a word means: all_reduce.0, all_reduce.*, arg0-2, params['w'], a name of a step.
  Expected<std::vector<StepValue>> find(const std::string& word) const;
  void name(const std::string& name, std::vector<ValueId> values);
  // Lists of values that follow the program while they live.
  void follow(std::vector<StepValue>& list) { followed_.push_back(&list); }
  void unfollow() { followed_.clear(); }
  // What a step has made of the program.
  void update(const ValueMap& values);

 private:
  Expected<std::vector<StepValue>> numbered(const std::string& word) const;
  Expected<std::vector<StepValue>> places(const std::string& word) const;

  std::map<std::string, std::vector<ValueId>> kinds_;  // values of ops of the first program
  std::map<std::string, std::vector<ValueId>> named_;
  std::vector<std::string> arguments_, results_;  // as the program calls them
  std::vector<std::vector<StepValue>*> followed_;
};

}  // namespace heddle
