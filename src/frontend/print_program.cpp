// Modules, functions, regions, and ops in the generic form.
#include <algorithm>
#include <cctype>

#include "frontend/program_printer.h"
#include "heddle/notation.h"

namespace heddle::frontend {

std::string dict_after(const AttrDict& attrs) {
  return attrs.empty() ? "" : " {" + print_dict(attrs) + "}";
}

std::string symbol(std::string_view name) {
  const bool plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                              c == '.' || c == '$' || c == '-';
                     });
  return "@" + (plain ? std::string(name) : quote(name));
}

std::string ProgramPrinter::run() {
  out_ += "module";
  if (!p_.name.empty()) out_ += " " + symbol(p_.name);
  if (!p_.attrs.empty()) out_ += " attributes {" + print_dict(p_.attrs) + "}";
  out_ += " {\n";
  for (const MeshDecl& m : p_.meshes) mesh(m);
  for (const Function& f : p_.functions) function(f);
  out_ += "}\n";
  return std::move(out_);
}

void ProgramPrinter::mesh(const MeshDecl& m) {
  std::string axes;
  for (const MeshAxis& a : m.mesh.axes())
    axes += fmt::format("{}{}={}", axes.empty() ? "" : ", ", quote(a.name), a.size);
  out_ += fmt::format("  sdy.mesh {} = <[{}]", symbol(m.name), axes);
  if (!m.device_ids.empty())
    out_ += fmt::format(", device_ids=[{}]", fmt::join(m.device_ids, ", "));
  out_ += ">" + dict_after(m.attrs) + "\n";
}

// ---- layouts

Attr ProgramPrinter::layout_attr(const ValueLayout& layout, const Type& type) const {
  auto sharding = p_.sharding(layout, type);
  if (sharding) return Attr{*std::move(sharding)};
  return Attr{print_layout(layout.layout, p_.axes)};
}

AttrDict ProgramPrinter::with_layout(AttrDict attrs, LayoutId layout, const Type& type) const {
  if (layout == kNone) return attrs;
  Attr value = layout_attr(*p_.layout(layout), type);
  put_attr(attrs, value.get<Sharding>() == nullptr ? "heddle.layout" : "sdy.sharding",
           std::move(value));
  return attrs;
}

// One per result; where only some have a layout the others are open.
Attr::List ProgramPrinter::result_layouts(const Op& op) const {
  Attr::List list;
  std::string mesh;
  for (std::size_t i = 0; i < op.result_count && mesh.empty(); ++i)
    if (const ValueLayout* l = p_.layout_of(p_.result(op, i))) mesh = p_.meshes[l->mesh].name;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = p_.result(op, i);
    if (const ValueLayout* l = p_.layout_of(v)) {
      list.push_back(layout_attr(*l, p_.type_of(v)));
      continue;
    }
    Sharding open{mesh, std::vector<ShardingDim>(p_.type_of(v).rank()), {}, {}};
    for (ShardingDim& d : open.dims) d.open = true;
    list.push_back({std::move(open)});
  }
  return list;
}

AttrDict ProgramPrinter::attrs_of(const Op& op) const {
  AttrDict attrs = p_.attrs_of(op);
  bool any = false;
  for (std::size_t i = 0; i < op.result_count; ++i)
    any = any || p_.layout_of(p_.result(op, i)) != nullptr;
  const bool manual = op.def->form == Form::manual_computation;
  const auto wanted = p_.operand_layouts(op);
  if (manual && wanted.size() == op.operand_count) {
    Attr::List in;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      in.push_back(layout_attr(*p_.layout(wanted[i]), p_.type_of(p_.operands(op)[i])));
    put_attr(attrs, "in_shardings", Attr{std::move(in)});
  }
  if (!any && (!manual || op.result_count > 0)) return attrs;
  const bool constraint = op.def->form == Form::sharding_constraint;
  const Attr::List list = result_layouts(op);
  const bool shardings =
      std::ranges::all_of(list, [](const Attr& a) { return a.get<Sharding>() != nullptr; });
  const std::string_view name = !shardings   ? "heddle.layout"
                                : manual     ? "out_shardings"
                                : constraint ? "sharding"
                                             : "sdy.sharding";
  put_attr(attrs, name, shardings && constraint ? list.front() : Attr{list});
  return attrs;
}

// ---- functions

std::string ProgramPrinter::arguments(const Function& f) const {
  const std::size_t count = f.body == kNone ? f.inputs.size() : p_.region(f.body).args.size();
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    AttrDict attrs = i < f.arg_attrs.size() ? f.arg_attrs[i] : AttrDict{};
    if (i > 0) text += ", ";
    if (f.body == kNone) {
      text += p_.type(f.inputs[i]).str() + dict_after(attrs);
      continue;
    }
    const ValueId arg = p_.region(f.body).args[i];
    text += fmt::format(
        "{}: {}{}", names_[arg], p_.type_of(arg).str(),
        dict_after(with_layout(std::move(attrs), p_.value(arg).layout, p_.type_of(arg))));
  }
  return text;
}

// " -> (t {…}, t)"
std::string ProgramPrinter::results(const Function& f) const {
  if (f.results.empty()) return "";
  std::string text;
  bool bare = f.results.size() == 1 && p_.type(f.results[0]).kind != Type::Kind::tuple;
  for (std::size_t i = 0; i < f.results.size(); ++i) {
    const Type& type = p_.type(f.results[i]);
    const AttrDict attrs =
        with_layout(i < f.result_attrs.size() ? f.result_attrs[i] : AttrDict{},
                    i < f.result_layouts.size() ? f.result_layouts[i] : kNone, type);
    bare = bare && attrs.empty();
    text += (i == 0 ? "" : ", ") + type.str() + dict_after(attrs);
  }
  return bare ? " -> " + text : " -> (" + text + ")";
}

void ProgramPrinter::function(const Function& f) {
  const bool declared = f.body == kNone;
  if (!declared) name_block(p_.region(f.body), 0, 0);
  out_ += fmt::format("  func.func {} {}({}){}", f.is_private || declared ? "private" : "public",
                      symbol(f.name), arguments(f), results(f));
  if (!f.attrs.empty()) out_ += " attributes {" + print_dict(f.attrs) + "}";
  if (!declared) {
    out_ += " {\n";
    depth_ = kBodyDepth;
    for (OpId id : p_.region(f.body).ops) op(p_.op(id));
    out_ += "  }";
  }
  out_ += location(f.loc) + "\n";
}

// A place in a file reads back as one; anything else is a name.
std::string ProgramPrinter::location(LocId id) const {
  const std::string& user = p_.location(id).user;
  if (!options_.locations || user.empty()) return "";
  const std::size_t colon = user.rfind(':');
  const std::string line = colon == std::string::npos ? "" : user.substr(colon + 1);
  const bool number = !line.empty() && line.size() < 10 && (line[0] != '0' || line.size() == 1) &&
                      line.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return fmt::format(" loc({})", quote(user));
  return fmt::format(" loc({}:{}:0)", quote(std::string_view(user).substr(0, colon)), line);
}

// ---- ops

std::string ProgramPrinter::types(std::span<const ValueId> values) const {
  std::string text;
  for (ValueId v : values) text += (text.empty() ? "" : ", ") + p_.type_of(v).str();
  return text;
}

std::string ProgramPrinter::result_types(const Op& op) const {
  std::string text;
  for (std::size_t i = 0; i < op.result_count; ++i)
    text += (i == 0 ? "" : ", ") + p_.type_of(p_.result(op, i)).str();
  return text;
}

std::string ProgramPrinter::functional(const Op& op) const {
  std::string results = result_types(op);
  if (op.result_count != 1) results = "(" + results + ")";
  return fmt::format("({}) -> {}", types(p_.operands(op)), results);
}

std::string ProgramPrinter::names(std::span<const ValueId> values) const {
  std::string text;
  for (ValueId v : values) text += (text.empty() ? "" : ", ") + names_[v];
  return text;
}

void ProgramPrinter::name_results(const Op& op, std::size_t number) {
  const std::string name = fmt::format("%{}", number);
  if (op.result_count == 1) names_[op.results] = name;
  for (std::size_t i = 0; i < op.result_count && op.result_count > 1; ++i)
    names_[p_.result(op, i)] = fmt::format("{}#{}", name, i);
}

void ProgramPrinter::name_block(const Region& region, std::size_t next_value,
                                std::size_t next_arg) {
  for (ValueId v : region.args) names_[v] = fmt::format("%arg{}", next_arg++);
  for (OpId id : region.ops)
    if (p_.op(id).result_count > 0) name_results(p_.op(id), next_value++);
  for (OpId id : region.ops)
    for (RegionId inner : p_.regions(p_.op(id))) name_block(p_.region(inner), next_value, next_arg);
}

void ProgramPrinter::op(const Op& op) {
  indent();
  if (op.result_count > 0) {
    const std::string& first = names_[op.results];
    out_ += op.result_count == 1
                ? first + " = "
                : fmt::format("{}:{} = ", first.substr(0, first.find('#')), op.result_count);
  }
  if (options_.form == TextForm::generic || !pretty(op)) generic(op);
  out_ += location(op.loc) + "\n";
  const std::string remark = options_.comment ? options_.comment(op) : "";
  if (remark.empty()) return;
  indent();
  out_ += "// " + remark + "\n";
}

void ProgramPrinter::generic(const Op& op) {
  out_ += fmt::format("\"{}\"({})", op.def->name, operands(op));
  // What belongs to the op are properties; what others hang on it has their name before a dot.
  AttrDict properties, others;
  for (NamedAttr& a : attrs_of(op))
    (takes_attribute(*op.def, a.name) ? properties : others).push_back(std::move(a));
  if (!properties.empty()) out_ += " <{" + print_dict(properties) + "}>";
  if (op.region_count > 0) {
    out_ += " (";
    for (std::size_t i = 0; i < op.region_count; ++i) {
      out_ += i == 0 ? "{\n" : ", {\n";
      region(p_.regions(op)[i], true);
      indent();
      out_ += "}";
    }
    out_ += ")";
  }
  out_ += dict_after(others) + " : " + functional(op);
}

void ProgramPrinter::region(RegionId id, bool with_args) {
  const Region& r = p_.region(id);
  if (with_args && !r.args.empty()) {
    indent();
    out_ += "^bb0(";
    for (std::size_t i = 0; i < r.args.size(); ++i)
      out_ += fmt::format("{}{}: {}", i == 0 ? "" : ", ", names_[r.args[i]],
                          p_.type_of(r.args[i]).str());
    out_ += "):\n";
  }
  block(r);
}

void ProgramPrinter::block(const Region& r) {
  ++depth_;
  for (OpId o : r.ops) op(p_.op(o));
  --depth_;
}

}  // namespace heddle::frontend

namespace heddle {

std::string print_stablehlo(const Program& program, const PrintOptions& options) {
  return frontend::ProgramPrinter(program, options).run();
}

std::string print_stablehlo(const Program& program, TextForm form) {
  return print_stablehlo(program, PrintOptions{.form = form});
}

}  // namespace heddle
