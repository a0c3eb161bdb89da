// The pretty forms of ops, as their rows in the op table name them.
#include <algorithm>

#include "frontend/reader.h"

namespace heddle::frontend {

void Reader::pretty_op(Draft& op) {
  switch (op.def->form) {
    case Form::generic:
      Cursor::fail_at(op.at, fmt::format("{} is only written in quotes: \"{}\"(…)", op.def->name,
                                         op.def->name));
    case Form::operands:
    case Form::select:
    case Form::terminator:
      operand_list(op);
      if (op.def->name == "sdy.sharding_constraint")
        op.attrs.push_back({"sharding", Attr{sharding()}});
      // check.expect_close %a, %b, max_ulp_difference = 3 and the like
      while (in_.take(',')) {
        std::string key(in_.expect_name("a property"));
        in_.expect('=', "after a property");
        op.attrs.push_back({std::move(key), attribute()});
      }
      optional_dict(op.attrs);
      return trailing_types(op);
    case Form::words:
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
  for (bool first = op.operands.empty(); first || in_.take(','); first = false) {
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

// chlo.scan(%a) inits(%b) dimension=0 attributes {…} { … } : types
void Reader::scan_form(Draft& op) {
  in_.expect('(', "after chlo.scan");
  operand_list(op);
  in_.expect(')', "after the inputs of a scan");
  const auto inputs = static_cast<std::int64_t>(op.operands.size());
  in_.expect_text("inits", "in a scan");
  in_.expect('(', "after inits");
  operand_list(op);
  in_.expect(')', "after the initial values of a scan");
  in_.expect_text("dimension", "in a scan");
  in_.expect('=', "after dimension");
  op.attrs.push_back({"dimension", {Attr::Integer{in_.integer(), "i64"}}});
  op.attrs.push_back(
      {"operandSegmentSizes",
       {Attr::Integers{inputs, static_cast<std::int64_t>(op.operands.size()) - inputs}}});
  if (in_.take_word("attributes")) {
    in_.expect('{', "after attributes");
    for (NamedAttr& a : dict()) op.attrs.push_back(std::move(a));
  }
  op.regions.push_back(braced_region());
  in_.expect(':', "and a type after a scan");
  function_type(op);
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
    op.attrs.push_back({std::move(key), attribute()});
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

// reduce(%a init: %b), (%c init: %d) [applies op] across dimensions = [0] : types [reducer(…) {…}]
void Reader::reduce_form(Draft& op) {
  std::vector<ValueId> inits;
  do {
    in_.expect('(', "before an operand of a reduce");
    op.operands.push_back(operand());
    if (!in_.take_word("init")) in_.fail("expected 'init:' and the initial value");
    in_.expect(':', "after init");
    inits.push_back(operand());
    in_.expect(')', "after an initial value");
  } while (in_.take(','));
  const std::size_t inputs = op.operands.size();
  op.operands.insert(op.operands.end(), inits.begin(), inits.end());
  std::size_t applied = 0;
  if (in_.take_word("applies")) {
    in_.skip();
    applied = in_.at();
    (void)in_.expect_name("an operation");
  }
  in_.expect_text("across", "in a reduce");
  in_.expect_text("dimensions", "in a reduce");
  in_.expect('=', "after dimensions");
  op.attrs.push_back({"dimensions", {integer_list()}});
  optional_dict(op.attrs);
  in_.expect(':', "and a type after a reduce");
  function_type(op);
  if (applied != 0) {
    const std::size_t back = in_.at();
    in_.go(applied);
    applied_op(op, inputs);
    in_.go(back);
    return;
  }
  reducer_body(op, inputs);
}

// The region that a short "applies stablehlo.add" stands for.
void Reader::applied_op(Draft& op, std::size_t inputs) {
  const std::size_t at = in_.at();
  const OpDef& def = lookup(in_.expect_name("an operation"), at);
  if (inputs != 1 || def.operands.least != 2 || def.operands.most != 2 ||
      def.form != Form::operands)
    Cursor::fail_at(
        at, fmt::format("{} cannot be applied by a reduce of {} operands", def.name, inputs));
  const Type& element = program_.type_of(op.operands[1]);
  const TypeId type = program_.intern(element);
  const RegionId region = program_.add_region();
  const ValueId operands[2] = {program_.add_arg(region, type), program_.add_arg(region, type)};
  const LocId loc = location_at(at, "");
  const OpId id = program_.add_op(region, def, operands, std::vector<TypeId>{type}, {}, {}, loc);
  const ValueId result[1] = {program_.op(id).results};
  program_.add_op(region, *find_op("stablehlo.return"), result, {}, {}, {}, loc);
  op.regions.push_back(region);
}

// reducer(%l0: t, %r0: t) (%l1: t, %r1: t) { … }; the region takes all left sides, then all right
void Reader::reducer_body(Draft& op, std::size_t inputs) {
  if (!in_.take_word("reducer")) in_.fail("expected 'reducer'");
  struct Arg {
    std::string_view name;
    TypeId type;
    std::size_t at;
  };
  std::vector<Arg> left, right;
  while (in_.peek() == '(') {
    in_.advance();
    for (auto* side : {&left, &right}) {
      in_.skip();
      const std::size_t at = in_.at();
      std::string_view name = in_.value_name();
      in_.expect(':', "after an argument");
      side->push_back({name, type(), at});
      optional_location(nullptr);
      if (side == &left) in_.expect(',', "between the two arguments");
    }
    in_.expect(')', "after the two arguments");
  }
  if (left.size() != inputs)
    in_.fail(
        fmt::format("the reducer has {} pairs of arguments for {} operands", left.size(), inputs));
  in_.expect('{', "before the body of a reducer");
  const RegionId region = program_.add_region();
  scoped([&] {
    for (const auto* side : {&left, &right})
      for (const Arg& a : *side) define(a.name, program_.add_arg(region, a.type), 1, a.at);
    region_body(region);
  });
  op.regions.push_back(region);
}

// while(%iterArg = %init, …) : t, t cond { … } do { … }
void Reader::while_form(Draft& op) {
  struct Name {
    std::string_view name;
    std::size_t at;
  };
  std::vector<Name> names;
  in_.expect('(', "after while");
  if (!in_.take(')')) {
    do {
      in_.skip();
      names.push_back({in_.value_name(), in_.at()});
      in_.expect('=', "after an argument of a while");
      op.operands.push_back(operand());
    } while (in_.take(','));
    in_.expect(')', "after the arguments of a while");
  }
  if (in_.take(':')) {
    in_.skip();
    const std::size_t at = in_.at();
    op.results = type_list();
    check_operand_types(op, op.results, at);
  }
  if (in_.take_word("attributes")) {
    in_.expect('{', "after attributes");
    for (NamedAttr& a : dict()) op.attrs.push_back(std::move(a));
  }
  for (const char* part : {"cond", "do"}) {
    if (!in_.take_word(part)) in_.fail(fmt::format("expected '{}' and a region", part));
    in_.expect('{', fmt::format("after {}", part));
    const RegionId region = program_.add_region();
    scoped([&] {
      for (std::size_t i = 0; i < names.size(); ++i)
        define(names[i].name, program_.add_arg(region, op.results[i]), 1, names[i].at);
      region_body(region);
    });
    op.regions.push_back(region);
  }
}

// dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [0], precision = […],
// algorithm = <…> : types
void Reader::dot_general_form(Draft& op) {
  operand_list(op);
  Attr::Struct dims{"dot", {}};
  Attr::Integers lists[4];
  bool any = false;
  while (in_.take(',')) {
    std::string_view key =
        in_.expect_name("batching_dims, contracting_dims, precision or algorithm");
    in_.expect('=', "after a word");
    if (key == "batching_dims" || key == "contracting_dims") {
      const int base = key == "batching_dims" ? 0 : 2;
      lists[base] = integer_list();
      in_.expect('x', "between the dimensions of the two sides");
      lists[base + 1] = integer_list();
      any = true;
    } else if (key == "precision") {
      Attr::List words;
      in_.expect('[', "before precisions");
      if (!in_.take(']')) {
        do words.push_back({Attr::Enum{"precision", std::string(in_.expect_name("a precision"))}});
        while (in_.take(','));
        in_.expect(']', "after precisions");
      }
      op.attrs.push_back({"precision_config", {std::move(words)}});
    } else if (key == "algorithm") {
      op.attrs.push_back({"algorithm", struct_attribute("dot_algorithm")});
    } else {
      in_.fail(fmt::format("unknown word '{}' in a dot", key));
    }
  }
  if (any || op.def->name == "stablehlo.dot_general") {
    const char* names[4] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                            "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
    for (int i = 0; i < 4; ++i)
      if (!lists[i].empty()) dims.fields.push_back({names[i], {std::move(lists[i])}});
    op.attrs.push_back({"dot_dimension_numbers", {std::move(dims)}});
  }
  optional_dict(op.attrs);
  trailing_types(op);
}

// [b, 0, 1, f]: which dimension is what
void Reader::conv_side(AttrDict& fields, std::string_view side, std::string_view batch,
                       std::string_view feature) {
  Attr::Integers spatial;
  std::int64_t at = 0;
  std::int64_t first = -1;
  std::int64_t second = -1;
  const char batch_letter = side == "kernel" ? 'o' : 'b';
  const char feature_letter = side == "kernel" ? 'i' : 'f';
  in_.expect('[', "before dimension numbers");
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  if (!in_.take(']')) {
    do {
      if (in_.peek_integer()) {
        found.emplace_back(in_.integer(), at);
      } else if (in_.take('?')) {  // a dimension that takes no part
      } else {
        std::string_view letter = in_.expect_name("a letter or a number");
        if (letter.size() == 1 && letter[0] == batch_letter)
          first = at;
        else if (letter.size() == 1 && letter[0] == feature_letter)
          second = at;
        else
          in_.fail(fmt::format("expected {}, {} or a number", batch_letter, feature_letter));
      }
      ++at;
    } while (in_.take(','));
    in_.expect(']', "after dimension numbers");
  }
  spatial.resize(found.size(), -1);
  for (auto [index, position] : found) {
    if (index < 0 || index >= static_cast<std::int64_t>(found.size()) ||
        spatial[static_cast<std::size_t>(index)] != -1)
      in_.fail("the spatial dimensions are numbered 0, 1, … once each");
    spatial[static_cast<std::size_t>(index)] = position;
  }
  if (first < 0 || second < 0)
    in_.fail(fmt::format("both {} and {} must be there", batch_letter, feature_letter));
  fields.push_back({fmt::format("{}_{}", side, batch), {Attr::Integer{first, "i64"}}});
  fields.push_back({fmt::format("{}_{}", side, feature), {Attr::Integer{second, "i64"}}});
  fields.push_back({fmt::format("{}_spatial_dimensions", side), {std::move(spatial)}});
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
Attr Reader::conv_dimensions() {
  Attr::Struct dims{"conv", {}};
  conv_side(dims.fields, "input", "batch_dimension", "feature_dimension");
  in_.expect('x', "between the operands' dimension numbers");
  conv_side(dims.fields, "kernel", "output_feature_dimension", "input_feature_dimension");
  in_.expect_text("->", "before the result's dimension numbers");
  conv_side(dims.fields, "output", "batch_dimension", "feature_dimension");
  return Attr{std::move(dims)};
}

// stride = [2, 2], pad = [[0, 1], [0, 1]], …
void Reader::window_words(Draft& op) {
  in_.expect('{', "after window");
  if (in_.take('}')) return;
  do {
    std::string_view key = in_.expect_name("stride, pad, lhs_dilate, rhs_dilate or reverse");
    in_.expect('=', "after a word of a window");
    if (key == "pad") {
      std::vector<std::int64_t> flat;
      in_.expect('[', "before padding");
      if (!in_.take(']')) {
        do {
          Attr::Integers pair = integer_list();
          if (pair.size() != 2) in_.fail("padding comes in pairs");
          flat.insert(flat.end(), pair.begin(), pair.end());
        } while (in_.take(','));
        in_.expect(']', "after padding");
      }
      Array pads(Type::tensor(DType::i64, {static_cast<std::int64_t>(flat.size() / 2), 2}));
      std::copy(flat.begin(), flat.end(), pads.as_mutable<std::int64_t>().begin());
      op.attrs.push_back({"padding", {std::move(pads)}});
    } else if (key == "reverse") {
      Attr::Booleans flags;
      in_.expect('[', "before flags");
      if (!in_.take(']')) {
        do {
          if (in_.take_word("true"))
            flags.push_back(true);
          else if (in_.take_word("false"))
            flags.push_back(false);
          else
            flags.push_back(in_.integer() != 0);
        } while (in_.take(','));
        in_.expect(']', "after flags");
      }
      op.attrs.push_back({"window_reversal", {std::move(flags)}});
    } else if (key == "stride" || key == "lhs_dilate" || key == "rhs_dilate") {
      op.attrs.push_back({key == "stride"       ? "window_strides"
                          : key == "lhs_dilate" ? "lhs_dilation"
                                                : "rhs_dilation",
                          {integer_list()}});
    } else {
      in_.fail(fmt::format("unknown word '{}' in a window", key));
    }
  } while (in_.take(','));
  in_.expect('}', "after a window");
}

// convolution(%a, %b) dim_numbers = …, window = {…} {…} : types
void Reader::convolution_form(Draft& op) {
  in_.expect('(', "after convolution");
  operand_list(op);
  in_.expect(')', "after the operands of a convolution");
  in_.expect_text("dim_numbers", "in a convolution");
  in_.expect('=', "after dim_numbers");
  op.attrs.push_back({"dimension_numbers", conv_dimensions()});
  if (in_.take(',')) {
    in_.expect_text("window", "in a convolution");
    in_.expect('=', "after window");
    window_words(op);
  }
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

// sdy.manual_computation(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%b: t) { … } :
// types
void Reader::manual_computation_form(Draft& op) {
  in_.expect('(', "after sdy.manual_computation");
  operand_list(op);
  in_.expect(')', "after operands");
  for (const char* key : {"in_shardings", "out_shardings"}) {
    in_.expect_text(key, "in a manual computation");
    in_.expect('=', "after the word");
    op.attrs.push_back({key, sharding_list()});
  }
  in_.expect_text("manual_axes", "in a manual computation");
  in_.expect('=', "after manual_axes");
  Attr::List axes;
  for (const ShardingAxis& a : sharding_axes()) axes.push_back({a.name});
  op.attrs.push_back({"manual_axes", {std::move(axes)}});
  const RegionId region = program_.add_region();
  in_.expect('(', "before the arguments of the body");
  scoped([&] {
    region_args(region);
    in_.expect('{', "before the body");
    region_body(region);
  });
  op.regions.push_back(region);
  optional_dict(op.attrs);
  in_.expect(':', "and a type after a manual computation");
  function_type(op);
}

}  // namespace heddle::frontend
