// The pretty forms of ops, as their rows in the op table name them. Those with regions are in
// read_regions.cpp, products and convolutions in read_contract.cpp.
#include <algorithm>

#include "frontend/reader.h"

namespace heddle::frontend {

void Reader::pretty_op(Draft& op) {
  switch (op.def->form) {
    case Form::generic:
      Cursor::fail_at(op.at, fmt::format("{} is only written in quotes: \"{}\"(…)", op.def->name,
                                         op.def->name));
    case Form::sharding_constraint:
      return sharding_form(op);
    case Form::operands:
    case Form::functional:
    case Form::select:
    case Form::terminator:
      operand_list(op);
      // check.expect_close %a, %b, max_ulp_difference = 3 and the like
      while (in_.take(',')) {
        std::string key(in_.expect_name("a property"));
        in_.expect('=', "after a property");
        op.attrs.push_back({key, attribute()});
      }
      optional_dict(op.attrs);
      return trailing_types(op);
    case Form::words:
    case Form::words_same:
      return words_form(op);
    case Form::call_like:
      in_.expect('(', "after the operation");
      operand_list(op);
      while (in_.take(',')) {
        const FormWord* word = nullptr;
        std::string_view key = in_.expect_name("a property");
        for (const FormWord& w : op.def->words)
          if (w.word == key) word = &w;
        if (word == nullptr) in_.fail(fmt::format("'{}' is no property of {}", key, op.def->name));
        in_.expect('=', "after a property");
        word_value(op, *word);
      }
      in_.expect(')', "after operands");
      optional_dict(op.attrs);
      return trailing_types(op);
    case Form::constant:
      return constant_form(op);
    case Form::compare:
      return compare_form(op);
    case Form::slice:
      return slice_form(op);
    case Form::reduce:
      return reduce_form(op);
    case Form::while_loop:
      return while_form(op);
    case Form::dot_general:
      return dot_general_form(op);
    case Form::convolution:
      return convolution_form(op);
    case Form::custom_call:
      return custom_call_form(op);
    case Form::composite:
      return composite_form(op);
    case Form::manual_computation:
      return manual_computation_form(op);
    case Form::check_const:
      return check_const_form(op);
    case Form::scan:
      return scan_form(op);
    case Form::reduce_precision: {
      operand_list(op);
      in_.expect(',', "before the format");
      in_.expect_text("format", "of a reduce_precision");
      in_.expect('=', "after format");
      std::string_view spec = in_.expect_name("a format such as e8m10");
      const std::size_t m = spec.find('m');
      auto digits = [](std::string_view t) {
        return !t.empty() && t.size() < 6 &&
               t.find_first_not_of("0123456789") == std::string_view::npos;
      };
      if (spec[0] != 'e' || m == std::string_view::npos || !digits(spec.substr(1, m - 1)) ||
          !digits(spec.substr(m + 1)))
        in_.fail("expected a format such as e8m10");
      op.attrs.push_back({"exponent_bits",
                          {Attr::Integer{std::stoll(std::string(spec.substr(1, m - 1))), "i32"}}});
      op.attrs.push_back(
          {"mantissa_bits", {Attr::Integer{std::stoll(std::string(spec.substr(m + 1))), "i32"}}});
      optional_dict(op.attrs);
      return trailing_types(op);
    }
    case Form::get_tuple_element: {
      operand_list(op);
      in_.expect('[', "before the index of a tuple");
      op.attrs.push_back({"index", {Attr::Integer{in_.integer(), "i32"}}});
      in_.expect(']', "after the index of a tuple");
      optional_dict(op.attrs);
      return trailing_types(op);
    }
    case Form::call: {
      op.attrs.push_back({"callee", {Attr::Symbol{std::string(in_.symbol())}}});
      in_.expect('(', "before the arguments of a call");
      operand_list(op);
      in_.expect(')', "after the arguments of a call");
      optional_dict(op.attrs);
      in_.expect(':', "and a type after a call");
      return function_type(op);
    }
  }
}

// : (t, t) -> t   |   : t -> t   |   : t   |   : t, t
void Reader::trailing_types(Draft& op) {
  if (op.def->form == Form::terminator && op.operands.empty() && in_.peek() != ':') return;
  in_.expect(':', "and a type after the operation");
  in_.skip();
  const std::size_t at = in_.at();
  if (in_.peek() == '(') return function_type(op);
  std::vector<TypeId> types = type_list();
  if (in_.take_text("->")) {
    check_operand_types(op, types, at);
    op.results = result_types();
    return;
  }
  const std::size_t n = op.operands.size();
  if (op.def->form == Form::terminator) return check_operand_types(op, types, at);
  if (op.def->form == Form::select && types.size() == 2) {
    check_operand_types(op, {types[0], types[1], types[1]}, at);
    op.results = {types[1]};
    return;
  }
  if (op.def->results.most == 0) {  // a check: one type for all
    if (types.size() == 1) types.resize(n, types[0]);
    return check_operand_types(op, types, at);
  }
  if (n == 0) {
    op.results = std::move(types);
    return;
  }
  if (types.size() > 1) {  // as many results as operands
    check_operand_types(op, types, at);
    op.results = std::move(types);
    return;
  }
  const Type& t = program_.type(types[0]);
  op.results = {types[0]};
  // One type for everything, but for ops whose operands follow from the result's type.
  if (t.kind == Type::Kind::tuple && op.def->name == "stablehlo.tuple") {
    if (t.parts.size() != n)
      Cursor::fail_at(at, fmt::format("a tuple of {} parts from {} operands", t.parts.size(), n));
    for (std::size_t i = 0; i < n; ++i)
      if (!(program_.type_of(op.operands[i]) == t.parts[i]))
        Cursor::fail_at(at,
                        fmt::format("operand {} has another type than its part of the tuple", i));
    return;
  }
  if (op.def->name == "stablehlo.complex") {
    if (!t.is_tensor() || !is_complex(t.dtype))
      Cursor::fail_at(at, "[complex] gives a tensor of complex numbers");
    const TypeId part =
        program_.intern(Type::tensor(t.dtype == DType::c64 ? DType::f32 : DType::f64, t.shape));
    return check_operand_types(op, {part, part}, at);
  }
  check_operand_types(op, std::vector<TypeId>(n, types[0]), at);
}

void Reader::word_value(Draft& op, const FormWord& word) {
  switch (word.kind) {
    case FormWord::Kind::integer:
      op.attrs.push_back({std::string(word.attribute), {Attr::Integer{in_.integer(), "i64"}}});
      return;
    case FormWord::Kind::integers:
      op.attrs.push_back({std::string(word.attribute), {integer_list()}});
      return;
    case FormWord::Kind::text:
      op.attrs.push_back({std::string(word.attribute), {in_.quoted()}});
      return;
    case FormWord::Kind::boolean:
      if (in_.take_word("true"))
        op.attrs.push_back({std::string(word.attribute), {true}});
      else if (in_.take_word("false"))
        op.attrs.push_back({std::string(word.attribute), {false}});
      else
        in_.fail("expected true or false");
      return;
    case FormWord::Kind::real: {
      const Array one = read_dense(in_, Type::tensor(DType::f64, {}));
      op.attrs.push_back({std::string(word.attribute), {Attr::Float{one.as<double>()[0], "f64"}}});
      return;
    }
    case FormWord::Kind::word:
      op.attrs.push_back(
          {std::string(word.attribute),
           {Attr::Enum{std::string(word.enum_kind), std::string(in_.expect_name("a word"))}}});
      return;
  }
}

// op %a, %b, dims = [0, 1] : types. Test ops may leave words out; those of StableHLO stand all.
void Reader::words_form(Draft& op) {
  operand_list(op);
  const bool all = op.def->name.starts_with("stablehlo.");
  std::size_t seen = 0;
  const bool bare = op.def->name.starts_with("sdy.");  // no commas there
  for (bool first = op.operands.empty() || bare;
       first || in_.take(',') || (bare && in_.peek() != '{' && in_.peek() != ':'); first = false) {
    const std::string_view key = in_.expect_name(
        fmt::format("{} = ", op.def->words[std::min(seen, op.def->words.size() - 1)].word));
    const auto word = std::find_if(op.def->words.begin(), op.def->words.end(),
                                   [&](const FormWord& w) { return w.word == key; });
    if (word == op.def->words.end() || find_attr(op.attrs, word->attribute) != nullptr)
      in_.fail(fmt::format("'{}' cannot stand here in {}", key, op.def->name));
    in_.expect('=', fmt::format("after {}", key));
    word_value(op, *word);
    ++seen;
  }
  if (all && seen != op.def->words.size())
    for (const FormWord& w : op.def->words)
      if (find_attr(op.attrs, w.attribute) == nullptr)
        in_.fail(fmt::format("expected ', {} = …'", w.word));
  optional_dict(op.attrs);
  trailing_types(op);
}

void Reader::constant_form(Draft& op) {
  optional_dict(op.attrs);
  Array value = dense();
  op.results = {program_.intern(value.type())};
  op.attrs.push_back({"value", {std::move(value)}});
}

// check.expect_eq_const %0, dense<…> : t
void Reader::check_const_form(Draft& op) {
  op.operands.push_back(operand());
  in_.expect(',', "before the expected value");
  Attr value = attribute();
  const Array* array = value.get<Array>();
  if (array == nullptr) in_.fail("expected dense<…> : type");
  if (!(array->type() == program_.type_of(op.operands[0])))
    in_.fail(fmt::format("the value is {} and the constant {}",
                         program_.type_of(op.operands[0]).str(), array->type().str()));
  op.attrs.push_back({"value", std::move(value)});
  while (in_.take(',')) {
    std::string key(in_.expect_name("a property"));
    in_.expect('=', "after a property");
    op.attrs.push_back({key, attribute()});
  }
  optional_dict(op.attrs);
}

// compare LT, %a, %b, FLOAT : types
void Reader::compare_form(Draft& op) {
  op.attrs.push_back({"comparison_direction",
                      {Attr::Enum{"comparison_direction",
                                  std::string(in_.expect_name("EQ, NE, GE, GT, LE or LT"))}}});
  in_.expect(',', "after the direction");
  operand_list(op);
  if (in_.take(','))
    op.attrs.push_back(
        {"compare_type",
         {Attr::Enum{"comparison_type",
                     std::string(in_.expect_name("FLOAT, TOTALORDER, SIGNED or UNSIGNED"))}}});
  optional_dict(op.attrs);
  trailing_types(op);
}

// slice %a [0:4, 2:8:2] : types
void Reader::slice_form(Draft& op) {
  op.operands.push_back(operand());
  Attr::Integers start, limit, stride;
  in_.expect('[', "before the ranges of a slice");
  if (!in_.take(']')) {
    do {
      start.push_back(in_.integer());
      in_.expect(':', "between start and end of a slice");
      limit.push_back(in_.integer());
      stride.push_back(in_.take(':') ? in_.integer() : 1);
    } while (in_.take(','));
    in_.expect(']', "after the ranges of a slice");
  }
  op.attrs.push_back({"start_indices", {std::move(start)}});
  op.attrs.push_back({"limit_indices", {std::move(limit)}});
  op.attrs.push_back({"strides", {std::move(stride)}});
  optional_dict(op.attrs);
  trailing_types(op);
}

// custom_call @target(%a, %b) {…} : types
void Reader::custom_call_form(Draft& op) {
  op.attrs.push_back({"call_target_name", {std::string(in_.symbol())}});
  in_.expect('(', "before the operands of a custom call");
  operand_list(op);
  in_.expect(')', "after the operands of a custom call");
  optional_dict(op.attrs);
  in_.expect(':', "and a type after a custom call");
  function_type(op);
}

// composite "name" %a, %b {…} : types
void Reader::composite_form(Draft& op) {
  op.attrs.push_back({"name", {in_.quoted()}});
  operand_list(op);
  optional_dict(op.attrs);
  in_.expect(':', "and a type after a composite");
  function_type(op);
}

}  // namespace heddle::frontend
