#include "pjrt/named_values.h"

namespace heddle::pjrt {

NamedValue& NamedValues::next(std::string name, NamedValue::Kind kind, std::size_t size) {
  texts_.push_back(std::move(name));
  NamedValue value = {};
  value.struct_size = sizeof(NamedValue);
  value.name = {texts_.back().data(), texts_.back().size()};
  value.kind = kind;
  value.value_size = size;
  return values_.emplace_back(value);
}

void NamedValues::add(std::string name, std::string value) {
  texts_.push_back(std::move(value));
  const std::string& kept = texts_.back();
  next(std::move(name), NamedValue::Kind::string, kept.size()).string = kept.data();
}

void NamedValues::add(std::string name, std::int64_t value) {
  next(std::move(name), NamedValue::Kind::int64, 1).int64 = value;
}

void NamedValues::add(std::string name, float value) {
  next(std::move(name), NamedValue::Kind::float32, 1).float32 = value;
}

void NamedValues::add(std::string name, std::vector<std::int64_t> value) {
  lists_.push_back(std::move(value));
  const std::vector<std::int64_t>& kept = lists_.back();
  next(std::move(name), NamedValue::Kind::int64_list, kept.size()).int64_list = kept.data();
}

}  // namespace heddle::pjrt
