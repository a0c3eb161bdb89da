#include "heddle/value_names.h"

namespace heddle {
namespace {

std::string_view name_in(const std::vector<AttrDict>& attrs, std::size_t index,
                         std::string_view key) {
  const Attr* attr = index < attrs.size() ? find_attr(attrs[index], key) : nullptr;
  const auto* text = attr == nullptr ? nullptr : attr->get<std::string>();
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace

std::string_view argument_name(const Function& function, std::size_t index) {
  return name_in(function.arg_attrs, index, kArgumentName);
}

std::string_view result_name(const Function& function, std::size_t index) {
  return name_in(function.result_attrs, index, kResultName);
}

}  // namespace heddle
