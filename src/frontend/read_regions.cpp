// The pretty forms of ops with regions.
#include "frontend/reader.h"

namespace heddle::frontend {

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
  const LocId loc = program_.add_location(place_of(at));
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

// sdy.manual_computation(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%b: t) { … } :
// types; sdy.named_computation<"name">(%a), whose shardings may be left out, has no axes.
void Reader::manual_computation_form(Draft& op) {
  const bool named = takes_attribute(*op.def, "name");
  if (named) {
    in_.expect('<', "before the name of a computation");
    op.attrs.push_back({"name", Attr{in_.quoted()}});
    in_.expect('>', "after the name of a computation");
  }
  in_.expect('(', fmt::format("after {}", op.def->name));
  operand_list(op);
  in_.expect(')', "after operands");
  for (const char* key : {"in_shardings", "out_shardings"}) {
    if (named && !in_.take_word(key)) continue;
    if (!named) in_.expect_text(key, "in a manual computation");
    in_.expect('=', "after the word");
    op.attrs.push_back({key, sharding_list()});
  }
  if (!named) {
    in_.expect_text("manual_axes", "in a manual computation");
    in_.expect('=', "after manual_axes");
    op.attrs.push_back({"manual_axes", axis_names()});
  }
  const RegionId region = program_.add_region();
  in_.expect('(', "before the arguments of the body");
  scoped([&] {
    region_args(region);
    in_.expect('{', "before the body");
    region_body(region);
  });
  op.regions.push_back(region);
  optional_dict(op.attrs);
  in_.expect(':', "and a type after a computation");
  function_type(op);
}

}  // namespace heddle::frontend
