// Functions and declarations of functions.
#include <algorithm>

#include "frontend/reader.h"
#include "heddle/value_names.h"
#include "ir/clone.h"

namespace heddle::frontend {

void Reader::claim_name(const std::string& name, std::size_t at) {
  if (!function_names_.insert(name).second)
    Cursor::fail_at(at, fmt::format("function @{} is defined twice", name));
}

void Reader::function_args(Function& f) {
  in_.expect('(', "before the arguments of a function");
  if (in_.take(')')) return;
  do {
    in_.skip();
    const std::size_t at = in_.at();
    f.arg_attrs.emplace_back();
    const bool only_types = f.is_private && f.arg_attrs.size() == f.inputs.size() + 1;
    if (only_types && in_.peek() != '%') {  // of a declaration
      f.inputs.push_back(type());
      optional_dict(f.arg_attrs.back());
      continue;
    }
    const std::string_view name = in_.value_name();
    in_.expect(':', "after an argument");
    const ValueId id = program_.add_arg(f.body, type());
    define(name, id, 1, at);
    optional_dict(f.arg_attrs.back());
    argument_sharding(id, f.arg_attrs.back(), at);
    argument_location(id);
  } while (in_.take(','));
  in_.expect(')', "after the arguments of a function");
  name_arguments(f, f.body);
}

// What callers see has names; those of private functions say where they came from.
void Reader::name_arguments(Function& f, RegionId body) {
  if (f.is_private) return;
  const std::vector<ValueId>& args = program_.region(body).args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const auto name = argument_names_.find(args[i]);
    if (name == argument_names_.end() || !argument_name(f, i).empty()) continue;
    set_attr(f.arg_attrs[i], kArgumentName, Attr{name->second});
    settle(f.arg_attrs[i], in_.at());
  }
}

void Reader::function_results(Function& f) {
  if (!in_.take_text("->")) return;
  in_.skip();
  const std::size_t at = in_.at();
  if (!in_.take('(')) {  // one result, without attributes
    f.results.push_back(type());
    f.result_attrs.emplace_back();
    return;
  }
  if (in_.take(')')) return;
  do {
    f.results.push_back(type());
    f.result_attrs.emplace_back();
    optional_dict(f.result_attrs.back());
  } while (in_.take(','));
  result_shardings(static_cast<std::uint32_t>(program_.functions.size()), f.result_attrs, at);
  in_.expect(')', "after the results of a function");
}

// What stands behind the head is a body, or nothing: then the function is defined elsewhere.
bool Reader::is_declaration(const Function& f) {
  if (in_.peek() == '{' && !f.inputs.empty())
    in_.fail("the arguments of a function with a body need names, as in %x: tensor<4xf32>");
  if (f.is_private && in_.peek() != '{' && program_.region(f.body).args.empty()) return true;
  in_.expect('{', "before the body of a function (without one it is private, its arguments types)");
  return false;
}

void Reader::function() {
  in_.skip();
  Function f;
  Location place = place_of(in_.at());
  if (in_.take_word("private"))
    f.is_private = true;
  else
    (void)in_.take_word("public");
  const std::size_t at = in_.at();
  f.name = std::string(in_.symbol());
  claim_name(f.name, at);
  f.body = program_.add_region();
  const std::size_t index = program_.functions.size();
  scoped([&] {
    function_args(f);
    function_results(f);
    if (in_.take_word("attributes")) {
      in_.expect('{', "after attributes");
      f.attrs = dict();
    }
    const bool declared = is_declaration(f);
    const RegionId body = f.body;
    if (declared) f.body = kNone;
    program_.functions.push_back(std::move(f));
    function_body_ = body;
    if (!declared) region_body(body);
  });
  optional_location(&place.user);
  program_.functions[index].loc = program_.add_location(std::move(place));
}

namespace {

void take_dicts(const Attr& list, std::vector<AttrDict>& out) {
  if (const auto* items = list.get<Attr::List>())
    for (const Attr& one : *items)
      if (const auto* s = one.get<Attr::Struct>()) out.push_back(s->fields);
}

}  // namespace

// <{function_type = (…) -> …, sym_name = "main"}>
void Reader::function_properties(Function& f, std::size_t at) {
  const Attr::Struct* type = nullptr;
  AttrDict given = dict();
  for (NamedAttr& a : given) {
    const auto* text = a.value.get<std::string>();
    if (a.name == "sym_name" && text != nullptr)
      f.name = *text;
    else if (a.name == "sym_visibility" && text != nullptr)
      f.is_private = *text == "private";
    else if (a.name == "function_type")
      type = a.value.get<Attr::Struct>();
    else if (a.name == "arg_attrs")
      take_dicts(a.value, f.arg_attrs);
    else if (a.name == "res_attrs")
      take_dicts(a.value, f.result_attrs);
    else
      f.attrs.push_back(std::move(a));
  }
  if (f.name.empty() || type == nullptr || type->kind != kFunctionType)
    Cursor::fail_at(at, "a function needs sym_name and function_type");
  auto types = [&](const Attr& list, std::vector<TypeId>& out) {
    for (const Attr& t : *list.get<Attr::List>()) {
      if (t.get<Type>() == nullptr)
        Cursor::fail_at(at, "a function takes and gives tensors, tuples and tokens");
      out.push_back(program_.intern(*t.get<Type>()));
    }
  };
  types(type->fields[0].value, f.inputs);
  types(type->fields[1].value, f.results);
}

// "func.func"() <{…}> ({ ^bb0(…): … }) : () -> (); an empty region makes it a declaration
void Reader::generic_function() {
  Function f;
  const std::size_t at = in_.at();
  Location place = place_of(at);
  in_.expect_text("()", "after func.func");
  in_.expect_text("<{", "before the properties of a function");
  function_properties(f, at);
  in_.expect('>', "after the properties of a function");
  claim_name(f.name, at);
  in_.expect('(', "before the body of a function");
  f.body = braced_region();
  in_.expect(')', "after the body of a function");
  optional_dict(f.attrs);
  in_.expect_text(":", "after a function");
  in_.expect_text("()", "as the type of a function");
  in_.expect_text("->", "as the type of a function");
  in_.expect_text("()", "as the type of a function");
  optional_location(&place.user);
  f.loc = program_.add_location(std::move(place));
  f.arg_attrs.resize(f.inputs.size());
  f.result_attrs.resize(f.results.size());
  const Region& body = program_.region(f.body);
  if (body.args.empty() && body.ops.empty()) {
    if (!f.is_private)
      Cursor::fail_at(at, fmt::format("@{} has no body and is not private", f.name));
    f.body = kNone;
  } else {
    const bool fits = std::ranges::equal(
        body.args, f.inputs, [&](ValueId v, TypeId t) { return program_.value(v).type == t; });
    if (!fits)
      Cursor::fail_at(at, fmt::format("function_type of @{} is not that of its body", f.name));
    f.inputs.clear();
    for (std::size_t i = 0; i < f.arg_attrs.size(); ++i)
      argument_sharding(body.args[i], f.arg_attrs[i], at);
    name_arguments(f, f.body);
  }
  result_shardings(static_cast<std::uint32_t>(program_.functions.size()), f.result_attrs, at);
  program_.functions.push_back(std::move(f));
}

}  // namespace heddle::frontend
