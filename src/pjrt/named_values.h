// Lists of named values that the caller may keep pointers into.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "pjrt/c_api.h"

namespace heddle::pjrt {

class NamedValues {
 public:
  void add(std::string name, std::string value);
  void add(std::string name, std::int64_t value);
  void add(std::string name, float value);
  void add(std::string name, std::vector<std::int64_t> value);

  const NamedValue* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  NamedValue& next(std::string name, NamedValue::Kind kind, std::size_t size);

  std::deque<std::string> texts_;
  std::deque<std::vector<std::int64_t>> lists_;
  std::vector<NamedValue> values_;
};

}  // namespace heddle::pjrt
