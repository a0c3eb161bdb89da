// The pretty forms of ops, as StableHLO writes them. A form says no where the op has something that
// it cannot express; the op is then written in the generic form.
#include <algorithm>

#include "frontend/program_printer.h"

namespace heddle::frontend {

namespace {

// What another dialect wrote is kept as it stands, and no word of a pretty form.
bool is_word(const Attr::Enum& e) {
  return !e.word.empty() && std::ranges::all_of(e.word.view(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// Attributes that a form does not spell out.
std::string rest(const AttrDict& attrs, std::initializer_list<std::string_view> spelled) {
  AttrDict left;
  for (const NamedAttr& a : attrs)
    if (std::find(spelled.begin(), spelled.end(), a.name) == spelled.end()) left.push_back(a);
  return dict_after(left);
}

template <typename T>
const T* get(const AttrDict& attrs, std::string_view name) {
  const Attr* a = find_attr(attrs, name);
  return a == nullptr ? nullptr : a->get<T>();
}

std::string list_text(const Attr::Integers& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

// The value of a word such as dims = [0, 1]; nothing where the attribute is of another kind.
std::optional<std::string> word_text(const Attr& a, const FormWord& word) {
  switch (word.kind) {
    case FormWord::Kind::integers:
      if (const auto* list = a.get<Attr::Integers>()) return list_text(*list);
      break;
    case FormWord::Kind::integer:
      if (const auto* i = a.get<Attr::Integer>(); i != nullptr && i->type == "i64")
        return std::to_string(i->value);
      break;
    case FormWord::Kind::boolean:
      if (const auto* b = a.get<bool>()) return *b ? "true" : "false";
      break;
    case FormWord::Kind::word:
      if (const auto* e = a.get<Attr::Enum>(); e != nullptr && is_word(*e)) return e->word.str();
      break;
    case FormWord::Kind::text:
      if (const auto* s = a.get<std::string>()) return quote(*s);
      break;
    case FormWord::Kind::real:
      if (const auto* f = a.get<Attr::Float>(); f != nullptr && f->type == "f64")
        return print_float(f->value, "f64");
      break;
  }
  return std::nullopt;
}

// [DEFAULT, HIGH]
std::optional<std::string> precision_text(const Attr& a) {
  const auto* words = a.get<Attr::List>();
  if (words == nullptr) return std::nullopt;
  std::string text;
  for (const Attr& w : *words) {
    const auto* e = w.get<Attr::Enum>();
    if (e == nullptr || e->kind != "precision" || !is_word(*e)) return std::nullopt;
    text += (text.empty() ? "" : ", ") + e->word;
  }
  return "[" + text + "]";
}

}  // namespace

bool ProgramPrinter::pretty(const Op& op) {
  const AttrDict attrs = attrs_of(op);
  switch (op.def->form) {
    case Form::generic:
      return false;
    case Form::operands:
    case Form::functional:
    case Form::select:
      if (op.operand_count + op.result_count == 0) return false;
      operands_form(op, attrs);
      return true;
    case Form::words:
    case Form::words_same:
      return words_form(op, attrs);
    case Form::call_like:
      return call_like_form(op, attrs);
    case Form::constant:
      return constant_form(op, attrs);
    case Form::compare:
      return compare_form(op, attrs);
    case Form::slice:
      return slice_form(op, attrs);
    case Form::reduce:
      return reduce_form(op, attrs);
    case Form::while_loop:
      return while_form(op, attrs);
    case Form::dot_general:
      return dot_form(op, attrs);
    case Form::convolution:
      return convolution_form(op, attrs);
    case Form::custom_call:
      return custom_call_form(op, attrs);
    case Form::composite:
      return composite_form(op, attrs);
    case Form::reduce_precision:
      return reduce_precision_form(op, attrs);
    case Form::get_tuple_element:
      return tuple_element_form(op, attrs);
    case Form::call:
      return call_form(op, attrs);
    case Form::terminator:
      terminator(op, attrs);
      return true;
    case Form::check_const:
      return check_const_form(op, attrs);
    case Form::scan:
      return scan_form(op, attrs);
    case Form::sharding_constraint:
      return constraint_form(op, attrs);
    case Form::manual_computation:
      return manual_form(op, attrs);
  }
  return false;
}

// What stands behind the colon: one type where it says all.
std::string ProgramPrinter::short_types(const Op& op) const {
  const auto in = p_.operands(op);
  if (in.empty()) return result_types(op);
  auto alike = [&](std::span<const ValueId> values) {
    return std::all_of(values.begin(), values.end(),
                       [&](ValueId v) { return p_.value(v).type == p_.value(values[0]).type; });
  };
  if (op.result_count == 0) return alike(in) ? p_.type_of(in[0]).str() : types(in);
  const Type& result = p_.type_of(op.results);
  if (op.def->form == Form::select && in.size() == 3 && op.result_count == 1 &&
      alike(in.subspan(1)) && p_.type_of(in[1]) == result)
    return types(in.subspan(0, 2));
  if (op.def->name == "stablehlo.tuple" && result.kind == Type::Kind::tuple) return result.str();
  if (op.def->name == "stablehlo.complex" && alike(in) && result.is_tensor() &&
      result == Type::tensor(p_.type_of(in[0]).dtype == DType::f32 ? DType::c64 : DType::c128,
                             p_.type_of(in[0]).shape))
    return result.str();
  if (op.def->form == Form::functional || op.def->form == Form::words) return functional(op);
  if (op.def->name.starts_with("chlo.") && !op.def->name.starts_with("chlo.broadcast_"))
    return types(in) + " -> " +
           (op.result_count == 1 ? result_types(op) : "(" + result_types(op) + ")");
  if (op.result_count == 1 && alike(in) && p_.type_of(in[0]) == result) return result.str();
  if (op.result_count > 1 && op.result_count == in.size() && types(in) == result_types(op))
    return types(in);
  return functional(op);
}

void ProgramPrinter::operands_form(const Op& op, const AttrDict& attrs) {
  out_ += op.def->name;
  if (op.operand_count > 0) out_ += " " + operands(op);
  out_ += dict_after(attrs) + " : " + short_types(op);
}

bool ProgramPrinter::words_form(const Op& op, const AttrDict& attrs) {
  AttrDict left = attrs;
  std::string text;
  for (const FormWord& w : op.def->words) {
    const Attr* a = find_attr(attrs, w.attribute);
    if (a == nullptr) {
      if (op.def->name.starts_with("stablehlo.")) return false;
      continue;
    }
    const auto value = word_text(*a, w);
    if (!value) return false;
    const bool bare = op.def->name.starts_with("sdy.");
    const bool comma = !bare && (op.operand_count > 0 || !text.empty());
    text += fmt::format("{}{} = {}", comma ? ", " : " ", w.word, *value);
    std::erase_if(left, [&](const NamedAttr& n) { return n.name == w.attribute; });
  }
  out_ += op.def->name;
  if (op.operand_count > 0) out_ += " " + operands(op);
  out_ += text + dict_after(left) + " : " + short_types(op);
  return true;
}

bool ProgramPrinter::call_like_form(const Op& op, const AttrDict& attrs) {
  AttrDict left = attrs;
  std::string text;
  for (const FormWord& w : op.def->words) {
    const Attr* a = find_attr(attrs, w.attribute);
    const auto value = a == nullptr ? std::nullopt : word_text(*a, w);
    if (!value) return false;
    text += fmt::format(", {} = {}", w.word, *value);
    std::erase_if(left, [&](const NamedAttr& n) { return n.name == w.attribute; });
  }
  out_ += fmt::format("{}({}{}){} : {}", op.def->name, operands(op), text, dict_after(left),
                      short_types(op));
  return true;
}

bool ProgramPrinter::constant_form(const Op& op, const AttrDict& attrs) {
  const auto* value = get<Array>(attrs, "value");
  if (value == nullptr || !(value->type() == p_.type_of(op.results))) return false;
  out_ += fmt::format("{}{} {}", op.def->name, rest(attrs, {"value"}), print_dense(*value));
  return true;
}

bool ProgramPrinter::compare_form(const Op& op, const AttrDict& attrs) {
  const auto* direction = get<Attr::Enum>(attrs, "comparison_direction");
  const auto* type = get<Attr::Enum>(attrs, "compare_type");
  for (const auto* word : {direction, type})
    if (word != nullptr && !is_word(*word)) return false;
  if (direction == nullptr || (type == nullptr && find_attr(attrs, "compare_type") != nullptr))
    return false;
  out_ += fmt::format("{} {}, {}{}{} : {}", op.def->name, direction->word, operands(op),
                      type == nullptr ? "" : ", " + type->word,
                      rest(attrs, {"comparison_direction", "compare_type"}), functional(op));
  return true;
}

bool ProgramPrinter::slice_form(const Op& op, const AttrDict& attrs) {
  const auto* start = get<Attr::Integers>(attrs, "start_indices");
  const auto* limit = get<Attr::Integers>(attrs, "limit_indices");
  const auto* stride = get<Attr::Integers>(attrs, "strides");
  if (start == nullptr || limit == nullptr || stride == nullptr || start->size() != limit->size() ||
      start->size() != stride->size())
    return false;
  std::string ranges;
  for (std::size_t i = 0; i < start->size(); ++i)
    ranges += fmt::format("{}{}:{}{}", i == 0 ? "" : ", ", (*start)[i], (*limit)[i],
                          (*stride)[i] == 1 ? "" : fmt::format(":{}", (*stride)[i]));
  out_ += fmt::format("{} {} [{}]{} : {}", op.def->name, operands(op), ranges,
                      rest(attrs, {"start_indices", "limit_indices", "strides"}), functional(op));
  return true;
}

bool ProgramPrinter::dot_form(const Op& op, const AttrDict& attrs) {
  std::string text;
  const auto* dims = get<Attr::Struct>(attrs, "dot_dimension_numbers");
  if (dims == nullptr &&
      (op.def->name != "stablehlo.dot" || find_attr(attrs, "dot_dimension_numbers") != nullptr))
    return false;
  if (dims != nullptr) {
    if (dims->kind != "dot") return false;
    static constexpr std::string_view names[] = {
        "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions"};
    std::string lists[4];
    const auto* next = std::begin(names);  // the form has one order, and no empty lists
    for (const NamedAttr& f : dims->fields) {
      next = std::find(next, std::end(names), f.name);
      const auto* list = f.value.get<Attr::Integers>();
      if (next == std::end(names) || list == nullptr || list->empty()) return false;
      lists[next++ - std::begin(names)] = list_text(*list);
    }
    auto pair = [&](std::string_view word, int first) {
      return fmt::format(", {} = {} x {}", word, lists[first].empty() ? "[]" : lists[first],
                         lists[first + 1].empty() ? "[]" : lists[first + 1]);
    };
    if (!lists[0].empty() || !lists[1].empty()) text += pair("batching_dims", 0);
    text += pair("contracting_dims", 2);
  }
  if (const Attr* p = find_attr(attrs, "precision_config")) {
    const auto words = precision_text(*p);
    if (!words) return false;
    text += ", precision = " + *words;
  }
  if (const Attr* a = find_attr(attrs, "algorithm")) {
    const auto* s = a->get<Attr::Struct>();
    if (s == nullptr || s->kind != "dot_algorithm") return false;
    text += ", algorithm = <" + print_fields(*s) + ">";
  }
  out_ += fmt::format("{} {}{}{} : {}", op.def->name, operands(op), text,
                      rest(attrs, {"dot_dimension_numbers", "precision_config", "algorithm"}),
                      functional(op));
  return true;
}

bool ProgramPrinter::convolution_form(const Op& op, const AttrDict& attrs) {
  const auto* dims = get<Attr::Struct>(attrs, "dimension_numbers");
  if (dims == nullptr || dims->kind != "conv") return false;
  std::string window;
  auto word = [&](std::string_view name, const std::string& value) {
    window += fmt::format("{}{} = {}", window.empty() ? "" : ", ", name, value);
  };
  if (const Attr* a = find_attr(attrs, "window_strides")) {
    if (a->get<Attr::Integers>() == nullptr) return false;
    word("stride", list_text(*a->get<Attr::Integers>()));
  }
  if (const Attr* a = find_attr(attrs, "padding")) {
    const auto* pads = a->get<Array>();
    if (pads == nullptr || pads->dtype() != DType::i64 || pads->shape().size() != 2 ||
        pads->shape()[1] != 2 || pads->shape()[0] > 64)
      return false;
    std::string pairs;
    const auto values = pads->as<std::int64_t>();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      pairs += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", values[i], values[i + 1]);
    word("pad", "[" + pairs + "]");
  }
  for (const auto& [name, spelled] :
       {std::pair("lhs_dilation", "lhs_dilate"), std::pair("rhs_dilation", "rhs_dilate")})
    if (const Attr* a = find_attr(attrs, name)) {
      if (a->get<Attr::Integers>() == nullptr) return false;
      word(spelled, list_text(*a->get<Attr::Integers>()));
    }
  if (const Attr* a = find_attr(attrs, "window_reversal")) {
    const auto* flags = a->get<Attr::Booleans>();
    if (flags == nullptr) return false;
    std::string text;
    for (bool b : *flags) text += std::string(text.empty() ? "" : ", ") + (b ? "true" : "false");
    word("reverse", "[" + text + "]");
  }
  out_ += fmt::format("{}({}) dim_numbers = {}, window = {{{}}}{} : {}", op.def->name, operands(op),
                      print_conv(*dims), window,
                      rest(attrs, {"dimension_numbers", "window_strides", "padding", "lhs_dilation",
                                   "rhs_dilation", "window_reversal"}),
                      functional(op));
  return true;
}

std::string_view ProgramPrinter::func_name(const Op& op) const {
  return depth_ == kBodyDepth && op.def->name.starts_with("func.") ? op.def->short_name()
                                                                   : op.def->name;
}

bool ProgramPrinter::call_form(const Op& op, const AttrDict& attrs) {
  const auto* callee = get<Attr::Symbol>(attrs, "callee");
  if (callee == nullptr) return false;
  out_ += fmt::format("{} {}({}){} : {}", func_name(op), symbol(callee->name), operands(op),
                      rest(attrs, {"callee"}), functional(op));
  return true;
}

bool ProgramPrinter::custom_call_form(const Op& op, const AttrDict& attrs) {
  const auto* target = get<std::string>(attrs, "call_target_name");
  if (target == nullptr) return false;
  out_ += fmt::format("{} {}({}){} : {}", op.def->name, symbol(*target), operands(op),
                      rest(attrs, {"call_target_name"}), functional(op));
  return true;
}

bool ProgramPrinter::composite_form(const Op& op, const AttrDict& attrs) {
  const auto* name = get<std::string>(attrs, "name");
  if (name == nullptr) return false;
  out_ += fmt::format("{} {}{}{} : {}", op.def->name, quote(*name),
                      op.operand_count > 0 ? " " + operands(op) : "", rest(attrs, {"name"}),
                      functional(op));
  return true;
}

bool ProgramPrinter::reduce_precision_form(const Op& op, const AttrDict& attrs) {
  const auto* exponent = get<Attr::Integer>(attrs, "exponent_bits");
  const auto* mantissa = get<Attr::Integer>(attrs, "mantissa_bits");
  for (const auto* bits : {exponent, mantissa})
    if (bits == nullptr || bits->type != "i32" || bits->value < 0 || bits->value > 99999)
      return false;
  out_ += fmt::format("{} {}, format = e{}m{}{} : {}", op.def->name, operands(op), exponent->value,
                      mantissa->value, rest(attrs, {"exponent_bits", "mantissa_bits"}),
                      short_types(op));
  return true;
}

bool ProgramPrinter::tuple_element_form(const Op& op, const AttrDict& attrs) {
  const auto* index = get<Attr::Integer>(attrs, "index");
  if (index == nullptr || index->type != "i32") return false;
  out_ += fmt::format("{} {}[{}]{} : {}", op.def->name, operands(op), index->value,
                      rest(attrs, {"index"}), functional(op));
  return true;
}

bool ProgramPrinter::check_const_form(const Op& op, const AttrDict& attrs) {
  const auto* value = get<Array>(attrs, "value");
  if (value == nullptr || !(value->type() == p_.type_of(p_.operands(op)[0]))) return false;
  out_ += fmt::format("{} {}, {}{}", op.def->name, operands(op), print_dense(*value),
                      rest(attrs, {"value"}));
  return true;
}

void ProgramPrinter::terminator(const Op& op, const AttrDict& attrs) {
  out_ += func_name(op);
  if (op.operand_count > 0) out_ += " " + operands(op);
  out_ += dict_after(attrs);
  if (op.operand_count > 0) out_ += " : " + types(p_.operands(op));
}

namespace {

// [{"x"}, {}] or {"x"}, or [{"x"}: 0->1] for what goes from one dimension to another.
std::optional<std::string> moved_axes_text(const Attr& a) {
  auto axes = [](const Sharding& s) {
    if (s.dims.empty()) return print_axes(s.unreduced, false);
    std::string text;
    for (const ShardingDim& d : s.dims)
      text += (text.empty() ? "" : ", ") + print_axes(d.axes, d.open);
    return "[" + text + "]";
  };
  if (const auto* s = a.get<Sharding>()) return axes(*s);
  const auto* list = a.get<Attr::List>();
  if (list == nullptr) return std::nullopt;
  std::string text;
  for (const Attr& item : *list) {
    const auto* fields = item.get<Attr::Struct>();
    if (fields == nullptr) return std::nullopt;
    const auto* moved = get<Sharding>(fields->fields, "axes");
    const auto* from = get<Attr::Integer>(fields->fields, "source");
    const auto* to = get<Attr::Integer>(fields->fields, "target");
    if (moved == nullptr || from == nullptr || to == nullptr) return std::nullopt;
    text +=
        fmt::format("{}{}: {}->{}", text.empty() ? "" : ", ", axes(*moved), from->value, to->value);
  }
  return "[" + text + "]";
}

}  // namespace

bool ProgramPrinter::constraint_form(const Op& op, const AttrDict& attrs) {
  std::string before;
  bool moves = op.def->name == "sdy.collective_permute";
  for (const NamedAttr& a : attrs)
    if (takes_attribute(*op.def, a.name) && a.name != "sharding") {
      const auto text = moved_axes_text(a.value);
      if (!text) return false;
      before += *text + " ";
      moves = true;
    }
  const bool edge = op.def->name == "sdy.data_flow_edge";
  const auto* sharding = get<Sharding>(attrs, "sharding");
  if (sharding == nullptr && (!edge || find_attr(attrs, "sharding") != nullptr)) return false;
  AttrDict left = attrs;
  std::erase_if(left, [&](const NamedAttr& n) { return takes_attribute(*op.def, n.name); });
  const std::string_view word = edge ? " sharding=" : moves ? " out_sharding=" : " ";
  out_ += fmt::format("{} {}{}{}{} : {}", op.def->name, before, operands(op),
                      sharding == nullptr ? "" : std::string(word) + print_sharding(*sharding),
                      dict_after(left), short_types(op));
  return true;
}

}  // namespace heddle::frontend
