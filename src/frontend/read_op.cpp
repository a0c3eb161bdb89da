// Ops: their results, operands and types, and the generic form.
#include <algorithm>

#include "base/nearest.h"
#include "frontend/reader.h"

namespace heddle::frontend {

namespace {

// The op of that name in another dialect, as mhlo.add means stablehlo.add, or one that is spelt
// nearly so.
std::string meant(std::string_view name) {
  std::vector<std::string> known;
  for (const OpDef& def : op_table()) known.emplace_back(def.short_name());
  const std::vector<std::string> near = nearest(name.substr(name.rfind('.') + 1), known, 1);
  if (near.empty()) return "";
  const auto def = std::ranges::find(op_table(), near[0], &OpDef::short_name);
  return fmt::format("; did you mean `{}`?", def->name);
}

}  // namespace

Reader::Results Reader::result_names() {
  Results r;
  if (in_.peek() != '%') return r;
  do {
    in_.skip();
    const std::size_t at = in_.at();
    std::string_view name = in_.value_name();
    std::int64_t count = 1;
    if (in_.take(':')) {
      count = in_.integer();
      if (count < 1 || count > 1 << 20) in_.fail("a value stands for 1 to 1048576 results");
    }
    r.names.push_back({name, static_cast<std::uint32_t>(count), at});
    r.total += static_cast<std::uint32_t>(count);
  } while (in_.take(','));
  in_.expect('=', "after the names of results");
  return r;
}

const OpDef& Reader::lookup(std::string_view name, std::size_t at) {
  if (name == "call") name = "func.call";
  if (name == "return") name = "func.return";
  const OpDef* def = find_op(name);
  if (def == nullptr)
    Cursor::fail_at(at, fmt::format("unknown operation '{}'{}", name.substr(0, 80), meant(name)));
  return *def;
}

void Reader::op(RegionId region) {
  const Results results = result_names();
  in_.skip();
  Draft draft;
  draft.at = in_.at();
  draft.place = place_of(draft.at);
  if (in_.peek() == '"') {
    draft.def = &lookup(in_.raw_quoted(), draft.at);
    generic_op(draft);
  } else {
    draft.def = &lookup(in_.expect_name("an operation"), draft.at);
    pretty_op(draft);
  }
  finish(region, draft, results);
}

void Reader::finish(RegionId region, Draft& draft, const Results& results) {
  optional_location(&draft.place.user);
  if (!draft.def->operands.allows(draft.operands.size()))
    Cursor::fail_at(draft.at,
                    fmt::format("[{}] takes {} operands and has {}", draft.def->short_name(),
                                draft.def->operands.least == draft.def->operands.most
                                    ? std::to_string(draft.def->operands.least)
                                    : fmt::format("at least {}", draft.def->operands.least),
                                draft.operands.size()));
  if (!draft.def->results.allows(draft.results.size()))
    Cursor::fail_at(draft.at, fmt::format("[{}] cannot have {} results", draft.def->short_name(),
                                          draft.results.size()));
  if (!draft.def->regions.allows(draft.regions.size()))
    Cursor::fail_at(draft.at, fmt::format("[{}] cannot have {} regions", draft.def->short_name(),
                                          draft.regions.size()));
  if (results.total != draft.results.size() && results.total != 0)
    Cursor::fail_at(draft.at,
                    fmt::format("[{}] gives {} results and {} are named", draft.def->short_name(),
                                draft.results.size(), results.total));
  settle(draft.attrs, draft.at);
  // JAX ends the comparator of approx_max_k with it.
  if (region == function_body_ && draft.def->name == "stablehlo.return")
    draft.def = &lookup("func.return", draft.at);
  OpShardings shardings = take_shardings(draft);
  const OpId id =
      program_.add_op(region, *draft.def, draft.operands, draft.results, std::move(draft.attrs),
                      draft.regions, program_.add_location(std::move(draft.place)));
  keep_shardings(id, std::move(shardings), draft.at);
  ValueId next = program_.op(id).results;
  for (const Results::Name& n : results.names) {
    define(n.name, next, n.count, n.at);
    next += n.count;
  }
}

// From the place that was asked for last: ops come nearly in order.
Location Reader::place_of(std::size_t at) {
  const std::string_view text = in_.text();
  while (at < line_start_) {
    line_known_ = line_start_ - 1;
    const std::size_t before =
        line_start_ < 2 ? std::string_view::npos : text.rfind('\n', line_start_ - 2);
    line_start_ = before == std::string_view::npos ? 0 : before + 1;
    --line_;
  }
  while (line_known_ < at) {
    const std::size_t end = text.substr(0, at).find('\n', line_known_);
    line_known_ = std::min(end, at);
    if (end == std::string_view::npos) break;
    line_start_ = line_known_ = end + 1;
    ++line_;
  }
  return {line_, static_cast<std::uint32_t>(at - line_start_ + 1), ""};
}

void Reader::define(std::string_view name, ValueId first, std::uint32_t count, std::size_t at) {
  const Definition definition{first, count, scope_};
  auto [it, fresh] = values_.try_emplace(name, definition);
  if (fresh) {
    undo_.emplace_back(name, std::nullopt);
    return;
  }
  // A name may hide one from outside, but stands once in a region.
  if (it->second.scope == scope_) Cursor::fail_at(at, fmt::format("%{} is defined twice", name));
  undo_.emplace_back(name, it->second);
  it->second = definition;
}

ValueId Reader::operand() {
  in_.skip();
  const std::size_t at = in_.at();
  std::string_view name = in_.value_name();
  auto it = values_.find(name);
  if (it == values_.end()) Cursor::fail_at(at, fmt::format("%{} is not defined here", name));
  std::int64_t index = 0;
  if (in_.raw() == '#') {
    in_.advance();
    index = in_.integer();
  } else if (it->second.count > 1) {
    Cursor::fail_at(at, fmt::format("%{} stands for {} results; write %{}#0 and so on", name,
                                    it->second.count, name));
  }
  if (index < 0 || index >= it->second.count)
    Cursor::fail_at(at, fmt::format("%{} has {} results; #{} is not one of them", name,
                                    it->second.count, index));
  return it->second.first + static_cast<ValueId>(index);
}

void Reader::operand_list(Draft& draft) {
  if (in_.peek() != '%') return;
  for (;;) {
    draft.operands.push_back(operand());
    // A comma may also stand before words such as dims = [0].
    const std::size_t at = in_.at();
    if (!in_.take(',') || in_.peek() != '%') {
      in_.go(at);
      return;
    }
  }
}

namespace {

// Properties are the op's own; a name that the row does not have is a slip of the pen. Names with a
// dialect, and the sizes of operand groups, are for others.
void check_property(const OpDef& def, std::string_view name, std::size_t at) {
  if (takes_attribute(def, name) || name.find('.') != std::string_view::npos ||
      name == "operandSegmentSizes" || name == "resultSegmentSizes" ||
      (def.form == Form::sharding_constraint && name == "out_sharding"))
    return;
  const std::vector<std::string_view> known = attribute_names(def);
  Cursor::fail_at(at, known.empty() ? fmt::format("{} has no properties, got {}", def.name, name)
                                    : fmt::format("{} has no property {}; it has {}", def.name,
                                                  name, fmt::join(known, ", ")));
}

}  // namespace

void Reader::generic_op(Draft& draft) {
  in_.expect('(', "after the name of an operation");
  operand_list(draft);
  in_.expect(')', "after operands");
  if (in_.take('<')) {
    in_.expect('{', "after '<'");
    const std::size_t start = in_.at();
    for (NamedAttr& a : dict()) {
      check_property(*draft.def, a.name, start);
      draft.attrs.push_back(std::move(a));
    }
    in_.expect('>', "after properties");
  }
  if (in_.take('(')) {
    do draft.regions.push_back(braced_region());
    while (in_.take(','));
    in_.expect(')', "after regions");
  }
  optional_dict(draft.attrs);
  in_.expect(':', "and a type after an operation");
  function_type(draft);
}

std::vector<TypeId> Reader::type_list() {
  std::vector<TypeId> types;
  do types.push_back(type());
  while (in_.take(','));
  return types;
}

std::vector<TypeId> Reader::result_types() {
  if (!in_.take('(')) return {type()};
  if (in_.take(')')) return {};
  std::vector<TypeId> types = type_list();
  in_.expect(')', "after types");
  return types;
}

void Reader::check_operand_types(const Draft& draft, const std::vector<TypeId>& types,
                                 std::size_t at) {
  if (types.size() != draft.operands.size())
    Cursor::fail_at(at, fmt::format("[{}] has {} operands and {} types for them",
                                    draft.def->short_name(), draft.operands.size(), types.size()));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i] != program_.value(draft.operands[i]).type)
      Cursor::fail_at(
          at,
          fmt::format("[{}] operand {} is {} and is used as {}", draft.def->short_name(), i,
                      program_.type_of(draft.operands[i]).str(), program_.type(types[i]).str()));
}

void Reader::function_type(Draft& draft) {
  in_.skip();
  const std::size_t at = in_.at();
  if (in_.peek() != '(') in_.fail("expected (types) -> types");
  check_operand_types(draft, result_types(), at);
  in_.expect_text("->", "after the types of operands");
  draft.results = result_types();
}

}  // namespace heddle::frontend
