// Attributes.
#include <algorithm>
#include <charconv>

#include "frontend/float_bits.h"
#include "frontend/reader.h"
#include "ir/eval/scalar.h"

namespace heddle::frontend {

// Dictionaries are sorted by name, as MLIR has them.
void Reader::settle(AttrDict& attrs, std::size_t at) {
  std::ranges::stable_sort(attrs, {}, &NamedAttr::name);
  const auto twice = std::ranges::adjacent_find(attrs, {}, &NamedAttr::name);
  if (twice != attrs.end())
    Cursor::fail_at(at, fmt::format("attribute {} is given twice", twice->name));
}

AttrDict Reader::dict() {
  Depth guard(*this, syntax_);
  const std::size_t at = in_.at();
  AttrDict out;
  if (in_.take('}')) return out;
  do {
    const std::string name =
        in_.peek() == '"' ? in_.quoted() : std::string(in_.expect_name("the name of an attribute"));
    Attr value{Attr::Unit{}};
    if (in_.take('=')) value = attribute();
    out.push_back({name, std::move(value)});
  } while (in_.take(','));
  in_.expect('}', "or ',' after an attribute");
  settle(out, at);
  return out;
}

void Reader::optional_dict(AttrDict& into) {
  if (!in_.take('{')) return;
  for (NamedAttr& a : dict()) into.push_back(std::move(a));
}

Attr Reader::attribute() {
  Depth guard(*this, syntax_);
  const char c = in_.peek();
  const std::size_t at = in_.at();
  if (c == '"') {
    Attr a{in_.quoted()};
    if (in_.take(':')) (void)type();
    return a;
  }
  if (c == '[') return list_attribute();
  if (c == '{') {
    in_.advance();
    return Attr{Attr::Struct{"", dict()}};
  }
  if (c == '@') {
    std::string name(in_.symbol());
    while (in_.take_text("::")) name += "::" + std::string(in_.symbol());
    return Attr{Attr::Symbol{std::move(name)}};
  }
  if (c == '#') return hash_attribute();
  if (c == '-' || c == '+' || (c >= '0' && c <= '9')) return number_attribute();
  if (c == '<') return Attr{sharding()};
  if (in_.take_word("true")) return Attr{true};
  if (in_.take_word("false")) return Attr{false};
  if (in_.take_word("unit")) return Attr{Attr::Unit{}};
  if (in_.take_text("dense<")) {
    in_.go(at);
    return dense_attribute();
  }
  if (in_.take_text("array<")) return array_attribute();
  if (c == '(' || peek_type()) return type_attribute();
  std::string_view word = in_.name();
  if (word.empty()) in_.fail("expected an attribute");
  refuse_resource(word, at);
  return Attr{Attr::Enum{"", verbatim(at)}};
}

namespace {

// A whole number of up to 64 bits. As in MLIR a number without a minus is the bits of its type, so
// that 255 : i8 is -1.
std::int64_t whole_number(std::string_view text, std::string_view type, std::size_t at) {
  const auto dtype = parse_dtype(type);
  const int width = dtype && is_integer(*dtype) ? bits(*dtype) : 64;
  const bool minus = text[0] == '-', is_unsigned = type.starts_with("ui");
  std::string_view digits = text.substr(minus || text[0] == '+' ? 1 : 0);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  const std::uint64_t most =
      minus ? std::uint64_t{!is_unsigned} << (width - 1) : ~std::uint64_t{0} >> (64 - width);
  if (error != std::errc() || end != digits.data() + digits.size() || value > most)
    Cursor::fail_at(at, fmt::format("{} does not fit {}", text.substr(0, 40), type));
  if (minus) return static_cast<std::int64_t>(~value + 1);
  const int unused = is_unsigned ? 0 : 64 - width;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

Attr integer_attribute(std::string_view text, const std::string& type, std::size_t at) {
  const std::int64_t value = whole_number(text, type, at);
  return Attr{Attr::Integer{value, type}};
}

}  // namespace

Attr Reader::number_attribute() {
  const std::size_t at = in_.at();
  const std::string_view text = in_.number();
  const bool integral = text.find_first_of(".eE") == std::string_view::npos ||
                        text.find("0x") != std::string_view::npos;
  std::string suffix;
  if (in_.take(':')) suffix = std::string(in_.expect_name("a type"));
  if (integral && (suffix.empty() || suffix[0] == 'i' || suffix[0] == 'u' || suffix[0] == 's'))
    return integer_attribute(text, suffix.empty() ? "i64" : suffix, at);
  auto dtype = suffix.empty() ? Expected<DType>(DType::f64) : parse_dtype(suffix);
  if (!dtype || !is_float(*dtype))
    Cursor::fail_at(at, fmt::format("'{}' is no type of a number", suffix));
  const std::size_t back = in_.at();
  in_.go(at);
  Attr value = float_attribute(*dtype);
  in_.go(back);
  return value;
}

// Written like an element of its type, and rounded to it.
Attr Reader::float_attribute(DType dtype) {
  const Array one = read_dense(in_, Type::tensor(dtype, {}));
  Attr::Float value{0, std::string(name(dtype))};
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (FloatScalar<T>) value.value = widened(one.as<T>()[0]);
  });
  return Attr{value};
}

Attr Reader::list_attribute() {
  in_.expect('[', "before a list");
  Attr::List items;
  if (!in_.take(']')) {
    do items.push_back(in_.peek() == '<' ? Attr{sharding()} : attribute());
    while (in_.take(','));
    in_.expect(']', "or ',' in a list");
  }
  if (items.empty()) return Attr{std::move(items)};
  // A list of whole numbers is what array<i64: …> is.
  Attr::Integers numbers;
  for (const Attr& a : items) {
    const auto* i = a.get<Attr::Integer>();
    if (i == nullptr || i->type != "i64") return Attr{std::move(items)};
    numbers.push_back(i->value);
  }
  return Attr{std::move(numbers)};
}

Attr::Integers Reader::integer_list() {
  Attr::Integers out;
  in_.expect('[', "before a list of numbers");
  if (in_.take(']')) return out;
  do out.push_back(in_.integer());
  while (in_.take(','));
  in_.expect(']', "or ',' in a list of numbers");
  return out;
}

// array<i64: 1, 2>, after the <
Attr Reader::array_attribute() {
  in_.skip();
  const std::size_t at = in_.at();
  const std::string_view element = in_.expect_name("the type of an array's elements");
  const auto dtype = parse_dtype(element);
  if (!dtype || is_complex(*dtype))
    Cursor::fail_at(at, fmt::format("an array has whole numbers, floats or truth values: '{}' is "
                                    "no type of them",
                                    element));
  Attr::Integers numbers;
  Attr::Booleans truths;
  Attr::List floats;
  if (in_.take(':') && in_.peek() != '>') {
    do {
      if (is_float(*dtype))
        floats.push_back(float_attribute(*dtype));
      else if (*dtype == DType::i1)
        truths.push_back(truth_value());
      else
        numbers.push_back(in_.integer());
    } while (in_.take(','));
  }
  in_.expect('>', "after an array");
  if (*dtype == DType::i1) return Attr{std::move(truths)};
  if (!is_float(*dtype)) return Attr{std::move(numbers)};
  return Attr{Attr::Struct{
      std::string(kFloatArray),
      {{"element", {Attr::Enum{"type", std::string(element)}}}, {"values", {std::move(floats)}}}}};
}

bool Reader::truth_value() {
  if (in_.take_word("true")) return true;
  if (!in_.take_word("false")) in_.fail("expected true or false");
  return false;
}

namespace {

// How the generic form writes the axes of sdy's collectives.
bool is_axis_lists(std::string_view kind) {
  return kind == "sdy.axis_ref_list" || kind == "sdy.list_of_axis_ref_lists" ||
         kind == "sdy.all_to_all_param_list";
}

}  // namespace

Attr Reader::hash_attribute() {
  in_.skip();
  const std::size_t at = in_.at();
  in_.expect('#', "before an attribute");
  std::string_view n = in_.expect_name("the name of an attribute");
  const std::size_t dot = n.find('.');
  const std::string_view dialect = n.substr(0, dot);
  if (in_.raw() != '<') {
    Attr a;
    if (through_alias(in_.text().substr(at, in_.at() - at), [&] { a = attribute(); })) return a;
    if (dot == std::string_view::npos)
      Cursor::fail_at(at, fmt::format("unknown attribute '#{}'", n));
  }
  if (dot != std::string_view::npos && dot + 1 == n.size())
    Cursor::fail_at(at, fmt::format("'#{}' names no kind of attribute", n));
  // What a dialect means that Heddle does not know is its own business: it is kept as it stands.
  constexpr std::string_view kKnown[] = {"stablehlo", "chlo", "sdy"};
  if (std::ranges::find(kKnown, dialect) == std::end(kKnown) || n == "sdy.op_sharding_rule")
    return Attr{Attr::Enum{"", verbatim(at)}};
  // Kinds of other dialects than StableHLO keep their name: "chlo.ragged_dot".
  auto full = [&](std::string_view kind) {
    if (kind.find('.') != std::string_view::npos)
      Cursor::fail_at(at, fmt::format("'{}' is no kind of attribute of {}", kind, dialect));
    return dialect == "stablehlo" ? std::string(kind) : fmt::format("{}.{}", dialect, kind);
  };
  if (dot == std::string_view::npos) {  // #stablehlo<comparison_direction LT>
    in_.advance();
    std::string kind = full(in_.expect_name("a kind of attribute"));
    if (is_axis_lists(kind)) {
      Attr axes = moved_axes("");
      in_.expect('>', "after axes");
      return axes;
    }
    if (kind == "sdy.manual_axes") {
      Attr axes = axis_names();
      in_.expect('>', "after axes");
      return axes;
    }
    if (in_.peek() == '<') {
      Attr inner = struct_attribute(kind);
      in_.expect('>', "after an attribute");
      return inner;
    }
    std::string word(in_.expect_name("a word"));
    in_.expect('>', "after an attribute");
    return Attr{Attr::Enum{kind, word}};
  }
  const std::string_view kind = n.substr(dot + 1);
  if (is_axis_lists(n)) {
    in_.advance();
    Attr axes = moved_axes("");
    in_.expect('>', "after axes");
    return axes;
  }
  if (n == "sdy.sharding") return Attr{sharding()};
  if (n == "sdy.sharding_per_value") {
    in_.advance();
    Attr list = sharding_list();
    in_.expect('>', "after shardings");
    return list;
  }
  if (n == "stablehlo.conv") {
    in_.advance();
    Attr a = conv_dimensions();
    in_.expect('>', "after the dimension numbers");
    return a;
  }
  return struct_attribute(full(kind));
}

// <name = value, …>; a value without a name is kept under "value".
Attr Reader::struct_attribute(const std::string& kind) {
  Depth guard(*this, syntax_);
  const std::size_t from = in_.at();
  Attr::Struct out{kind, {}};
  in_.expect('<', "after the name of an attribute");
  if (in_.take('>')) return Attr{std::move(out)};
  do {
    const std::size_t at = in_.at();
    std::string_view n = in_.name();
    if (!n.empty() && in_.take('=')) {
      out.fields.push_back({std::string(n), field_value()});
      continue;
    }
    in_.go(at);
    out.fields.push_back({"value", field_value()});
  } while (in_.take(','));
  in_.expect('>', "or ',' in an attribute");
  if (out.kind.empty()) settle(out.fields, from);  // what has no name is a dictionary
  return Attr{std::move(out)};
}

Attr Reader::field_value() {
  if (in_.peek() == '<') {
    const std::size_t at = in_.at();
    in_.advance();
    const bool mesh = in_.peek() == '@' || in_.take_word("mesh");
    in_.go(at);
    return mesh ? Attr{sharding()} : struct_attribute("");
  }
  Attr value = attribute();
  const auto* numbers = value.get<Attr::Integers>();
  return numbers != nullptr && numbers->empty() ? Attr{Attr::List{}} : value;  // both print as []
}

// ---- constants

// dense_resource<name> has its elements elsewhere.
void Reader::refuse_resource(std::string_view word, std::size_t at) {
  if (word == "dense_resource")
    Cursor::fail_at(at,
                    "dense_resource<…> has its elements outside the program, in a section of "
                    "resources, which is not read: write the program with dense<…>");
}

Array Reader::dense() {
  in_.skip();
  const std::size_t at = in_.at();
  Attr value = dense_attribute();
  if (auto* array = std::get_if<Array>(&value.value)) return std::move(*array);
  Cursor::fail_at(at,
                  "element type index stands only in attributes: values have a size, as in i64");
}

Attr Reader::dense_attribute() {
  in_.skip();
  refuse_resource(in_.text().substr(in_.at(), 14), in_.at());
  in_.expect_text("dense<", "before elements");
  // The type stands behind the elements: find it first.
  const std::size_t from = in_.at();
  std::size_t end = from;
  for (;;) {
    end = in_.text().find_first_of(">\"", end);
    if (end == std::string_view::npos) in_.fail("the constant that starts here does not end");
    if (in_.text()[end] == '>') break;
    end = in_.text().find('"', end + 1);
    if (end == std::string_view::npos) in_.fail("the quoted text that starts here does not end");
    ++end;
  }
  in_.go(end + 1);
  in_.expect(':', "and a type after dense<…>");
  const std::size_t type_at = in_.at();
  Type t;
  const bool index = take_index_tensor(t);
  if (!index) t = type_value();
  if (!t.is_tensor()) Cursor::fail_at(type_at, "a constant is a tensor");
  const std::size_t back = in_.at();
  in_.go(from);
  Array a = read_dense(in_, t);
  in_.expect('>', "after the elements");
  in_.go(back);
  if (!index) return Attr{std::move(a)};
  return Attr{Attr::Struct{std::string(kIndexElements), {{"value", {std::move(a)}}}}};
}

}  // namespace heddle::frontend
