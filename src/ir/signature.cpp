#include "heddle/signature.h"

#include <fmt/format.h>

#include "heddle/value_names.h"

namespace heddle {

namespace {

void add_leaves(const Type& type, std::vector<Type>& leaves) {
  if (type.kind != Type::Kind::tuple) leaves.push_back(type);
  for (const Type& part : type.parts) add_leaves(part, leaves);
}

}  // namespace

std::vector<Type> argument_types(const Program& program, const Function& function) {
  std::vector<Type> leaves;
  if (function.body != kNone)
    for (const ValueId arg : program.region(function.body).args)
      add_leaves(program.type_of(arg), leaves);
  return leaves;
}

std::vector<Type> result_types(const Program& program, const Function& function) {
  std::vector<Type> leaves;
  for (const TypeId type : function.results) add_leaves(program.type(type), leaves);
  return leaves;
}

std::string result_title(const Function& function, std::size_t index) {
  const std::string_view name = result_name(function, index);
  return name.empty() ? fmt::format("result {}", index) : std::string(name);
}

std::string entry_of(const Program& program, const std::string& asked) {
  if (!asked.empty()) return asked;
  if (program.find_function("main") != nullptr) return "main";
  std::string only;
  for (const Function& f : program.functions) {
    if (f.is_private || f.body == kNone) continue;
    if (!only.empty()) return "";
    only = f.name;
  }
  return only;
}

}  // namespace heddle
