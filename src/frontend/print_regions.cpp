// The pretty forms of ops with regions.
#include <algorithm>

#include "frontend/program_printer.h"

namespace heddle::frontend {

namespace {

// Those that StableHLO writes as "applies": the order of their operands does not matter.
constexpr std::string_view kApplied[] = {
    "stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum",
    "stablehlo.and", "stablehlo.or",       "stablehlo.xor"};

AttrDict without(AttrDict attrs, std::initializer_list<std::string_view> spelled) {
  std::erase_if(attrs, [&](const NamedAttr& a) {
    return std::find(spelled.begin(), spelled.end(), a.name) != spelled.end();
  });
  return attrs;
}

// [<@mesh, …>, …]; nothing where it is something else.
std::optional<std::string> sharding_list(const AttrDict& attrs, std::string_view name,
                                         std::size_t count) {
  const Attr* a = find_attr(attrs, name);
  const auto* list = a == nullptr ? nullptr : a->get<Attr::List>();
  if (list == nullptr || list->size() != count) return std::nullopt;
  std::string text;
  for (const Attr& item : *list) {
    const auto* s = item.get<Sharding>();
    if (s == nullptr) return std::nullopt;
    text += (text.empty() ? "" : ", ") + print_sharding(*s);
  }
  return "[" + text + "]";
}

}  // namespace

const OpDef* ProgramPrinter::applied(const Op& op) const {
  const Region& body = p_.region(p_.regions(op)[0]);
  if (op.operand_count != 2 || body.args.size() != 2 || body.ops.size() != 2) return nullptr;
  const Op& first = p_.op(body.ops[0]);
  const Op& last = p_.op(body.ops[1]);
  const TypeId type = p_.value(p_.operands(op)[1]).type;
  const bool direct = std::ranges::equal(p_.operands(first), body.args) &&
                      first.result_count == 1 && last.def->name == "stablehlo.return" &&
                      last.operand_count == 1 && p_.operands(last)[0] == first.results &&
                      p_.attrs_of(first).empty() && p_.attrs_of(last).empty() &&
                      p_.layout_of(first.results) == nullptr && location(first.loc).empty() &&
                      location(last.loc).empty();
  if (!direct || p_.value(first.results).type != type ||
      std::ranges::any_of(body.args, [&](ValueId v) { return p_.value(v).type != type; }))
    return nullptr;
  return std::ranges::find(kApplied, first.def->name) == std::end(kApplied) ? nullptr : first.def;
}

bool ProgramPrinter::reduce_form(const Op& op, const AttrDict& attrs) {
  const Attr* dims = find_attr(attrs, "dimensions");
  const auto* list = dims == nullptr ? nullptr : dims->get<Attr::Integers>();
  const Region& body = p_.region(p_.regions(op)[0]);
  const std::size_t inputs = op.operand_count / 2;
  if (list == nullptr || op.operand_count % 2 != 0 || body.args.size() != op.operand_count)
    return false;
  out_ += op.def->name;
  for (std::size_t i = 0; i < inputs; ++i)
    out_ += fmt::format("{}({} init: {})", i == 0 ? "" : ", ", names_[p_.operands(op)[i]],
                        names_[p_.operands(op)[inputs + i]]);
  const OpDef* applies = applied(op);
  if (applies != nullptr) out_ += fmt::format(" applies {}", applies->name);
  out_ += fmt::format(" across dimensions = [{}]{} : {}", fmt::join(*list, ", "),
                      dict_after(without(attrs, {"dimensions"})), functional(op));
  if (applies == nullptr) reducer(op, body);
  return true;
}

// The region takes all left sides, then all right sides; the text pairs them.
void ProgramPrinter::reducer(const Op& op, const Region& body) {
  const std::size_t inputs = op.operand_count / 2;
  out_ += "\n";
  ++depth_;
  indent();
  --depth_;
  out_ += "reducer";
  for (std::size_t i = 0; i < inputs; ++i) {
    const ValueId left = body.args[i];
    const ValueId right = body.args[inputs + i];
    out_ += fmt::format("{}({}: {}, {}: {})", i == 0 ? "" : " ", names_[left],
                        p_.type_of(left).str(), names_[right], p_.type_of(right).str());
  }
  out_ += " {\n";
  block(body);
  indent();
  out_ += "}";
}

bool ProgramPrinter::while_form(const Op& op, const AttrDict& attrs) {
  const auto in = p_.operands(op);
  if (op.result_count != in.size()) return false;
  for (RegionId id : p_.regions(op)) {
    const Region& r = p_.region(id);
    if (r.args.size() != in.size()) return false;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (p_.value(r.args[i]).type != p_.value(in[i]).type ||
          p_.value(p_.result(op, i)).type != p_.value(in[i]).type)
        return false;
  }
  const Region& cond = p_.region(p_.regions(op)[0]);
  const Region& body = p_.region(p_.regions(op)[1]);
  std::string heads;
  for (std::size_t i = 0; i < in.size(); ++i) {
    // Both regions have the names of the first.
    heads += fmt::format("{}{} = {}", i == 0 ? "" : ", ", names_[cond.args[i]], names_[in[i]]);
  }
  out_ += fmt::format("{}({})", op.def->name, heads);
  if (!in.empty()) out_ += " : " + types(in);
  if (!attrs.empty()) out_ += " attributes {" + print_dict(attrs) + "}";
  out_ += "\n";
  indent();
  out_ += "cond {\n";
  block(cond);
  indent();
  out_ += "} do {\n";
  block(body);
  indent();
  out_ += "}";
  return true;
}

bool ProgramPrinter::scan_form(const Op& op, const AttrDict& attrs) {
  const Attr* dimension = find_attr(attrs, "dimension");
  const auto* d = dimension == nullptr ? nullptr : dimension->get<Attr::Integer>();
  const Attr* segments = find_attr(attrs, "operandSegmentSizes");
  const auto* sizes = segments == nullptr ? nullptr : segments->get<Attr::Integers>();
  if (d == nullptr || d->type != "i64" || sizes == nullptr || sizes->size() != 2 ||
      (*sizes)[0] < 0 || (*sizes)[1] < 0 ||
      (*sizes)[0] > static_cast<std::int64_t>(op.operand_count) ||
      (*sizes)[1] != static_cast<std::int64_t>(op.operand_count) - (*sizes)[0])
    return false;
  const auto inputs = static_cast<std::size_t>((*sizes)[0]);
  out_ += fmt::format("{}({}) inits({}) dimension={}", op.def->name,
                      names(p_.operands(op).subspan(0, inputs)),
                      names(p_.operands(op).subspan(inputs)), d->value);
  const AttrDict left = without(attrs, {"dimension", "operandSegmentSizes"});
  if (!left.empty()) out_ += " attributes {" + print_dict(left) + "}";
  out_ += " {\n";
  region(p_.regions(op)[0], true);
  indent();
  out_ += "} : " + functional(op);
  return true;
}

bool ProgramPrinter::manual_form(const Op& op, const AttrDict& attrs) {
  const auto in = sharding_list(attrs, "in_shardings", op.operand_count);
  const auto out = sharding_list(attrs, "out_shardings", op.result_count);
  const bool named = takes_attribute(*op.def, "name");
  std::string name, words;
  if (named) {
    const Attr* given = find_attr(attrs, "name");
    if (given == nullptr || given->get<std::string>() == nullptr) return false;
    name = "<" + quote(*given->get<std::string>()) + ">";
    if (find_attr(attrs, "in_shardings") != nullptr && !in) return false;
    if (find_attr(attrs, "out_shardings") != nullptr && !out) return false;
  } else {
    const Attr* manual = find_attr(attrs, "manual_axes");
    const auto* axes = manual == nullptr ? nullptr : manual->get<Attr::List>();
    if (!in || !out || axes == nullptr) return false;
    for (const Attr& a : *axes) {
      if (a.get<std::string>() == nullptr) return false;
      words += (words.empty() ? "" : ", ") + quote(*a.get<std::string>());
    }
    words = " manual_axes={" + words + "}";
  }
  if (out) words = " out_shardings=" + *out + words;
  if (in) words = " in_shardings=" + *in + words;
  const Region& body = p_.region(p_.regions(op)[0]);
  std::string args;
  for (ValueId v : body.args)
    args += fmt::format("{}{}: {}", args.empty() ? "" : ", ", names_[v], p_.type_of(v).str());
  out_ += fmt::format("{}{}({}){} ({}) {{\n", op.def->name, name, operands(op), words, args);
  block(body);
  indent();
  out_ += fmt::format(
      "}}{} : {}",
      dict_after(without(attrs, {"in_shardings", "out_shardings", named ? "name" : "manual_axes"})),
      functional(op));
  return true;
}

}  // namespace heddle::frontend
