#include "heddle/array_library.h"

#include "heddle/array_ops.h"
#include "heddle/error.h"
#include "record/parameters.h"

namespace heddle {

const Attr::Integers& record::integers(const AttrDict& parameters, std::string_view name) {
  const Attr* attr = find_attr(parameters, name);
  const auto* numbers = attr == nullptr ? nullptr : attr->get<Attr::Integers>();
  if (numbers == nullptr)
    throw Error("the operation needs the parameter " + std::string(name) + ", whole numbers");
  return *numbers;
}

void ArrayLibrary::add(ArrayOperation operation) {
  if (operation.name.empty()) throw Error("an operation on arrays needs a name");
  if (operations_.contains(operation.name))
    throw Error("there is an operation on arrays of the name \"" + operation.name +
                "\" already; begin its name with that of your library");
  std::string name = operation.name;
  operations_.emplace(std::move(name), std::move(operation));
}

const ArrayOperation* ArrayLibrary::find(std::string_view name) const {
  const auto found = operations_.find(name);
  return found == operations_.end() ? nullptr : &found->second;
}

std::vector<std::string> ArrayLibrary::names() const {
  std::vector<std::string> names;
  names.reserve(operations_.size());
  for (const auto& [name, operation] : operations_) names.push_back(name);
  return names;
}

void add_dense_operations(ArrayLibrary& library) {
  for (const ElementwiseCall& call : elementwise_calls()) {
    library.add({"numpy." + std::string(call.name),
                 [&call](Builder& b, std::span<const Var> operands, const AttrDict&) -> Vars {
                   if (operands.size() != static_cast<std::size_t>(call.inputs))
                     throw Error("numpy." + std::string(call.name) + " takes " +
                                 std::to_string(call.inputs) + " operands");
                   for (const Var x : operands)
                     if (x.type() != operands[0].type())
                       throw Error("numpy." + std::string(call.name) +
                                   " takes operands of one type, not " + operands[0].type().str() +
                                   " and " + x.type().str());
                   if (!call.takes(operands[0].type().dtype))
                     throw Error("numpy." + std::string(call.name) + " is not there for " +
                                 operands[0].type().str());
                   return {call.write(b, operands)};
                 }});
  }
}

ArrayLibrary own_operations() {
  ArrayLibrary library;
  add_dense_operations(library);
  add_sort_operations(library);
  add_sparse_operations(library);
  return library;
}

}  // namespace heddle
