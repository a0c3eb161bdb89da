// Modules, functions and ops as text.
#include <algorithm>

#include "frontend/print.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"

namespace heddle::frontend {

namespace {

class ProgramPrinter {
 public:
  ProgramPrinter(const Program& program, TextForm form, const OpComment& comment)
      : p_(program), form_(form), comment_(comment), names_(program.value_count()) {}

  std::string run() {
    out_ += "module";
    if (!p_.name.empty()) out_ += " @" + symbol(p_.name);
    if (!p_.attrs.empty()) out_ += " attributes {" + print_dict(p_.attrs) + "}";
    out_ += " {\n";
    for (const MeshDecl& m : p_.meshes) mesh(m);
    for (const Function& f : p_.functions) function(f);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  static std::string symbol(const std::string& name) {
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' ||
             c == '-';
    });
    return plain ? name : quote(name);
  }

  void indent() { out_.append(static_cast<std::size_t>(depth_) * 2, ' '); }

  void mesh(const MeshDecl& m) {
    std::string axes;
    for (const auto& [name, size] : m.axes)
      axes += fmt::format("{}{}={}", axes.empty() ? "" : ", ", quote(name), size);
    out_ += fmt::format("  sdy.mesh @{} = <[{}]", symbol(m.name), axes);
    if (!m.device_ids.empty())
      out_ += fmt::format(", device_ids=[{}]", fmt::join(m.device_ids, ", "));
    out_ += ">";
    if (!m.attrs.empty()) out_ += " {" + print_dict(m.attrs) + "}";
    out_ += "\n";
  }

  static std::string dict_after(const AttrDict& d) {
    return d.empty() ? "" : " {" + print_dict(d) + "}";
  }

  void function(const Function& f) {
    out_ += fmt::format("  func.func {} @{}(", f.is_private ? "private" : "public", symbol(f.name));
    next_ = 0;
    const Region& body = p_.region(f.body);
    for (std::size_t i = 0; i < body.args.size(); ++i) {
      names_[body.args[i]] = fmt::format("%arg{}", i);
      out_ += fmt::format("{}%arg{}: {}{}", i == 0 ? "" : ", ", i, p_.type_of(body.args[i]).str(),
                          i < f.arg_attrs.size() ? dict_after(f.arg_attrs[i]) : "");
    }
    args_ = body.args.size();
    out_ += ")";
    if (!f.results.empty()) {
      out_ += " -> (";
      for (std::size_t i = 0; i < f.results.size(); ++i)
        out_ += (i == 0 ? "" : ", ") + p_.type(f.results[i]).str() +
                (i < f.result_attrs.size() ? dict_after(f.result_attrs[i]) : "");
      out_ += ")";
    }
    if (!f.attrs.empty()) out_ += " attributes {" + print_dict(f.attrs) + "}";
    out_ += " {\n";
    depth_ = 2;
    for (OpId id : body.ops) op(p_.op(id));
    out_ += "  }\n";
  }

  std::string types(std::span<const ValueId> values) const {
    std::string text;
    for (ValueId v : values) text += (text.empty() ? "" : ", ") + p_.type_of(v).str();
    return text;
  }
  std::string result_type_list(const Op& op) const {
    std::string text;
    for (std::size_t i = 0; i < op.result_count; ++i)
      text += (i == 0 ? "" : ", ") + p_.type_of(p_.result(op, i)).str();
    return text;
  }
  // (t, t) -> t
  std::string functional(const Op& op) const {
    std::string results = result_type_list(op);
    if (op.result_count != 1 || p_.type_of(op.results).kind == Type::Kind::tuple)
      results = "(" + results + ")";
    return fmt::format("({}) -> {}", types(p_.operands(op)), results);
  }
  std::string operand_names(const Op& op) const {
    std::string text;
    for (ValueId v : p_.operands(op)) text += (text.empty() ? "" : ", ") + names_[v];
    return text;
  }

  void op(const Op& op) {
    statement(op);
    const std::string remark = comment_ ? comment_(op) : "";
    if (remark.empty()) return;
    indent();
    out_ += "// " + remark + "\n";
  }

  void statement(const Op& op) {
    indent();
    if (op.result_count > 0) {
      const std::string name = fmt::format("%{}", next_++);
      if (op.result_count == 1) {
        names_[op.results] = name;
        out_ += name + " = ";
      } else {
        for (std::size_t i = 0; i < op.result_count; ++i)
          names_[p_.result(op, i)] = fmt::format("{}#{}", name, i);
        out_ += fmt::format("{}:{} = ", name, op.result_count);
      }
    }
    const bool terminator = op.def->form == Form::terminator;
    if (terminator || (form_ == TextForm::pretty && pretty(op))) {
      if (terminator) {
        out_ += std::string(op.def->name);
        if (op.operand_count > 0) out_ += " " + operand_names(op) + " : " + types(p_.operands(op));
      }
      out_ += "\n";
      return;
    }
    generic(op);
  }

  void generic(const Op& op) {
    out_ += fmt::format("\"{}\"({})", op.def->name, operand_names(op));
    const AttrDict& attrs = p_.attrs_of(op);
    if (!attrs.empty()) out_ += " <{" + print_dict(attrs) + "}>";
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
    out_ += " : " + functional(op) + "\n";
  }

  void region(RegionId id, bool with_args) {
    const Region& r = p_.region(id);
    if (with_args) {
      name_args(r);
      if (!r.args.empty()) {
        indent();
        out_ += "^bb0(";
        for (std::size_t i = 0; i < r.args.size(); ++i)
          out_ += fmt::format("{}{}: {}", i == 0 ? "" : ", ", names_[r.args[i]],
                              p_.type_of(r.args[i]).str());
        out_ += "):\n";
      }
    }
    ++depth_;
    for (OpId o : r.ops) op(p_.op(o));
    --depth_;
  }

  void name_args(const Region& r) {
    for (ValueId v : r.args) names_[v] = fmt::format("%arg{}", args_++);
  }

  // Attributes that a pretty form does not spell out.
  static std::string rest(const AttrDict& attrs, std::initializer_list<std::string_view> spelled) {
    AttrDict left;
    for (const NamedAttr& a : attrs)
      if (std::find(spelled.begin(), spelled.end(), a.name) == spelled.end()) left.push_back(a);
    return dict_after(left);
  }

  // Writes the pretty form of the op, or nothing where it has none for what it is.
  bool pretty(const Op& op) {
    const AttrDict& attrs = p_.attrs_of(op);
    const std::string name(op.def->name);
    auto integers = [&](std::string_view key) -> const Attr::Integers* {
      const Attr* a = find_attr(attrs, key);
      return a == nullptr ? nullptr : a->get<Attr::Integers>();
    };
    switch (op.def->form) {
      case Form::operands:
        if (name.rfind("stablehlo.", 0) != 0 && name.rfind("chlo.", 0) != 0) return false;
        out_ += name + (op.operand_count > 0 ? " " + operand_names(op) : "") + dict_after(attrs);
        out_ += " : " + (op.operand_count == 0 ? result_type_list(op) : functional(op));
        return true;
      case Form::select:
        out_ += name + " " + operand_names(op) + dict_after(attrs) + " : " + functional(op);
        return true;
      case Form::words:
        return words(op);
      case Form::constant: {
        const Attr* value = find_attr(attrs, "value");
        if (value == nullptr || value->get<Array>() == nullptr) return false;
        out_ += name + rest(attrs, {"value"}) + " " + print_dense(*value->get<Array>());
        return true;
      }
      case Form::compare: {
        const Attr* d = find_attr(attrs, "comparison_direction");
        const Attr* t = find_attr(attrs, "compare_type");
        if (d == nullptr || d->get<Attr::Enum>() == nullptr ||
            (t != nullptr && t->get<Attr::Enum>() == nullptr))
          return false;
        out_ +=
            fmt::format("{} {}, {}{}{} : {}", name, d->get<Attr::Enum>()->word, operand_names(op),
                        t == nullptr ? "" : ", " + t->get<Attr::Enum>()->word,
                        rest(attrs, {"comparison_direction", "compare_type"}), functional(op));
        return true;
      }
      case Form::slice: {
        const auto *s = integers("start_indices"), *l = integers("limit_indices"),
                   *t = integers("strides");
        if (s == nullptr || l == nullptr || t == nullptr || s->size() != l->size() ||
            s->size() != t->size())
          return false;
        std::string ranges;
        for (std::size_t i = 0; i < s->size(); ++i)
          ranges += fmt::format("{}{}:{}{}", i == 0 ? "" : ", ", (*s)[i], (*l)[i],
                                (*t)[i] == 1 ? "" : fmt::format(":{}", (*t)[i]));
        out_ +=
            fmt::format("{} {} [{}]{} : {}", name, operand_names(op), ranges,
                        rest(attrs, {"start_indices", "limit_indices", "strides"}), functional(op));
        return true;
      }
      case Form::while_loop:
        return while_loop(op);
      case Form::call: {
        const Attr* callee = find_attr(attrs, "callee");
        if (callee == nullptr || callee->get<Attr::Symbol>() == nullptr) return false;
        out_ += fmt::format("{} @{}({}){} : {}", name, symbol(callee->get<Attr::Symbol>()->name),
                            operand_names(op), rest(attrs, {"callee"}), functional(op));
        return true;
      }
      case Form::custom_call: {
        const Attr* target = find_attr(attrs, "call_target_name");
        if (target == nullptr || target->get<std::string>() == nullptr) return false;
        out_ += fmt::format("{} @{}({}){} : {}", name, symbol(*target->get<std::string>()),
                            operand_names(op), rest(attrs, {"call_target_name"}), functional(op));
        return true;
      }
      case Form::dot_general:
        return dot(op);
      default:
        return false;
    }
  }

  bool words(const Op& op) {
    const AttrDict& attrs = p_.attrs_of(op);
    AttrDict left = attrs;
    std::string text;
    for (const FormWord& w : op.def->words) {
      const Attr* a = find_attr(attrs, w.attribute);
      if (a == nullptr) return false;
      std::string value;
      if (const auto* list = a->get<Attr::Integers>();
          list != nullptr && w.kind == FormWord::Kind::integers)
        value = fmt::format("[{}]", fmt::join(*list, ", "));
      else if (const auto* i = a->get<Attr::Integer>();
               i != nullptr && w.kind == FormWord::Kind::integer && i->type == "i64")
        value = std::to_string(i->value);
      else if (const auto* b = a->get<bool>(); b != nullptr && w.kind == FormWord::Kind::boolean)
        value = *b ? "true" : "false";
      else if (const auto* e = a->get<Attr::Enum>(); e != nullptr && w.kind == FormWord::Kind::word)
        value = e->word;
      else if (const auto* s = a->get<std::string>();
               s != nullptr && w.kind == FormWord::Kind::text)
        value = quote(*s);
      else
        return false;
      text += fmt::format("{}{} = {}", op.operand_count > 0 || !text.empty() ? ", " : " ", w.word,
                          value);
      std::erase_if(left, [&](const NamedAttr& n) { return n.name == w.attribute; });
    }
    out_ += std::string(op.def->name) + (op.operand_count > 0 ? " " + operand_names(op) : "") +
            text + dict_after(left) + " : " +
            (op.operand_count == 0 ? result_type_list(op) : functional(op));
    return true;
  }

  bool while_loop(const Op& op) {
    if (op.operand_count != op.result_count || op.region_count != 2) return false;
    const Region& cond = p_.region(p_.regions(op)[0]);
    const Region& body = p_.region(p_.regions(op)[1]);
    if (cond.args.size() != op.operand_count || body.args.size() != op.operand_count) return false;
    std::string heads;
    for (std::size_t i = 0; i < op.operand_count; ++i) {
      const std::string arg = fmt::format("%arg{}", args_++);
      names_[cond.args[i]] = names_[body.args[i]] = arg;
      heads += fmt::format("{}{} = {}", i == 0 ? "" : ", ", arg, names_[p_.operands(op)[i]]);
    }
    out_ += fmt::format("stablehlo.while({})", heads);
    if (op.operand_count > 0) out_ += " : " + types(p_.operands(op));
    const AttrDict& attrs = p_.attrs_of(op);
    if (!attrs.empty()) out_ += " attributes {" + print_dict(attrs) + "}";
    out_ += "\n";
    indent();
    out_ += "cond {\n";
    region(p_.regions(op)[0], false);
    indent();
    out_ += "} do {\n";
    region(p_.regions(op)[1], false);
    indent();
    out_ += "}";
    return true;
  }

  bool dot(const Op& op) {
    const AttrDict& attrs = p_.attrs_of(op);
    const Attr* a = find_attr(attrs, "dot_dimension_numbers");
    const auto* dims = a == nullptr ? nullptr : a->get<Attr::Struct>();
    if (dims == nullptr || find_attr(attrs, "algorithm") != nullptr) return false;
    auto list = [&](std::string_view key) {
      const Attr* l = find_attr(dims->fields, key);
      const auto* v = l == nullptr ? nullptr : l->get<Attr::Integers>();
      return fmt::format("[{}]", v == nullptr ? "" : fmt::format("{}", fmt::join(*v, ", ")));
    };
    std::string text;
    if (find_attr(dims->fields, "lhs_batching_dimensions") != nullptr)
      text += fmt::format(", batching_dims = {} x {}", list("lhs_batching_dimensions"),
                          list("rhs_batching_dimensions"));
    text += fmt::format(", contracting_dims = {} x {}", list("lhs_contracting_dimensions"),
                        list("rhs_contracting_dimensions"));
    if (const Attr* p = find_attr(attrs, "precision_config")) {
      const auto* words = p->get<Attr::List>();
      if (words == nullptr) return false;
      std::string inner;
      for (const Attr& w : *words) {
        if (w.get<Attr::Enum>() == nullptr) return false;
        inner += (inner.empty() ? "" : ", ") + w.get<Attr::Enum>()->word;
      }
      text += ", precision = [" + inner + "]";
    }
    out_ += fmt::format("{} {}{}{} : {}", op.def->name, operand_names(op), text,
                        rest(attrs, {"dot_dimension_numbers", "precision_config"}), functional(op));
    return true;
  }

  const Program& p_;
  TextForm form_;
  const OpComment& comment_;
  std::vector<std::string> names_;
  std::string out_;
  int depth_ = 0;
  std::size_t next_ = 0;
  std::size_t args_ = 0;
};

}  // namespace
}  // namespace heddle::frontend

namespace heddle {

std::string print_stablehlo(const Program& program, TextForm form, const OpComment& comment) {
  return frontend::ProgramPrinter(program, form, comment).run();
}

}  // namespace heddle
