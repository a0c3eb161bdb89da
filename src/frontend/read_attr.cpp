// Types, attributes and locations.
#include <algorithm>
#include <charconv>

#include "frontend/reader.h"

namespace heddle::frontend {

Reader::Depth::Depth(Reader& r, int most) : reader(r) {
  if (++reader.depth_ > most) {
    --reader.depth_;
    reader.in_.fail(fmt::format("nested too deeply: {} levels at most", most));
  }
}

// ---- types

bool Reader::peek_type() {
  const char c = in_.peek();
  if (c == '!') return true;
  const std::size_t at = in_.at();
  std::string_view n = in_.name();
  const bool open = in_.raw() == '<';
  in_.go(at);
  return (open && (n == "tensor" || n == "tuple" || n == "vector" || n == "complex")) ||
         parse_dtype(n).ok() || n == "index" || n == "none";
}

TypeId Reader::type() {
  in_.skip();
  const std::size_t from = in_.at();
  // Most types are plain tensors that were seen before: look the text up.
  if (in_.text().substr(from, 7) == "tensor<") {
    std::size_t end = from + 7;
    int open = 1;
    while (end < in_.text().size() && open > 0) {
      const char c = in_.text()[end++];
      open += c == '<' ? 1 : c == '>' ? -1 : 0;
      if (c == '\n') break;
    }
    const std::string_view spelling = in_.text().substr(from, end - from);
    if (auto it = type_cache_.find(spelling); it != type_cache_.end()) {
      in_.go(end);
      return it->second;
    }
    const TypeId id = program_.intern(type_value());
    if (in_.at() == end) type_cache_.emplace(spelling, id);
    return id;
  }
  return program_.intern(type_value());
}

Type Reader::type_value() {
  Depth guard(*this);
  in_.skip();
  const std::size_t at = in_.at();
  if (in_.take('!')) {
    std::string_view n = in_.expect_name("the name of a type");
    if (n == "stablehlo.token") return Type::token();
    Type t;
    if (through_alias(in_.text().substr(at, in_.at() - at), [&] { t = type_value(); })) return t;
    Cursor::fail_at(at, fmt::format("unknown type '!{}'", n));
  }
  std::string_view n = in_.expect_name("a type");
  if (n == "tuple") {
    in_.expect('<', "after tuple");
    std::vector<Type> parts;
    if (!in_.take('>')) {
      do parts.push_back(type_value());
      while (in_.take(','));
      in_.expect('>', "after the types of a tuple");
    }
    return Type::tuple(std::move(parts));
  }
  if (n != "tensor")
    Cursor::fail_at(
        at, fmt::format("expected tensor<…>, tuple<…> or !stablehlo.token but found '{}'", n));
  in_.expect('<', "after tensor");
  std::size_t end = in_.at();
  int open = 1;
  while (end < in_.text().size() && open > 0) {
    const char c = in_.text()[end++];
    open += c == '<' ? 1 : c == '>' ? -1 : 0;
  }
  if (open > 0) Cursor::fail_at(at, "the type that starts here does not end");
  Type t = tensor_body(in_.text().substr(in_.at(), end - 1 - in_.at()), in_.at());
  in_.go(end);
  return t;
}

// 4x8xf32
Type Reader::tensor_body(std::string_view body, std::size_t at) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  Shape shape;
  std::int64_t elements = 1;
  while (!body.empty() && body.front() == ' ') body.remove_prefix(1);
  for (;;) {
    if (!body.empty() && body[0] == '?')
      Cursor::fail_at(
          at, "a dimension of unknown size (?): shapes must be static; refine the program first");
    if (body.empty() || body[0] < '0' || body[0] > '9') break;
    std::int64_t n = 0;
    auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), n);
    body.remove_prefix(static_cast<std::size_t>(end - body.data()));
    if (error != std::errc() || n > kMost ||
        (n > 0 && elements > kMost / std::max<std::int64_t>(n, 1)))
      Cursor::fail_at(at, "the tensor is too large: 2^48 elements at most");
    if (n > 0) elements *= n;
    if (body.empty() || body[0] != 'x')
      Cursor::fail_at(at, "expected 'x' and an element type after a dimension");
    body.remove_prefix(1);
    shape.push_back(n);
    if (shape.size() > 64) Cursor::fail_at(at, "more than 64 dimensions");
  }
  while (!body.empty() && body.back() == ' ') body.remove_suffix(1);
  if (body.substr(0, 6) == "!quant") Cursor::fail_at(at, "quantised types are not supported");
  if (body.find(',') != std::string_view::npos)
    Cursor::fail_at(at, "tensors with an encoding (such as bounds) are not supported");
  auto dtype = parse_dtype(body);
  if (!dtype) Cursor::fail_at(at, fmt::format("unknown element type '{}'", body.substr(0, 40)));
  return Type::tensor(*dtype, std::move(shape));
}

// ---- attributes

// Dictionaries are sorted by name, as MLIR has them.
void Reader::settle(AttrDict& attrs, std::size_t at) {
  std::ranges::stable_sort(attrs, {}, &NamedAttr::name);
  const auto twice = std::ranges::adjacent_find(attrs, {}, &NamedAttr::name);
  if (twice != attrs.end())
    Cursor::fail_at(at, fmt::format("attribute {} is given twice", twice->name));
}

AttrDict Reader::dict() {
  Depth guard(*this);
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
  Depth guard(*this);
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
    return Attr{dense()};
  }
  if (in_.take_text("array<")) return array_attribute();
  if (c == '(' || peek_type()) {
    // A function type is kept as the list of its inputs and the list of its results.
    if (c == '(') {
      Attr::List both;
      for (int side = 0; side < 2; ++side) {
        Attr::List types;
        if (side == 1) in_.expect_text("->", "in a function type");
        for (TypeId t :
             side == 0 || in_.peek() == '(' ? result_types() : std::vector<TypeId>{type()})
          types.push_back({program_.type(t)});
        both.push_back({std::move(types)});
      }
      return Attr{std::move(both)};
    }
    if (c == '!' || in_.text().substr(at, 6) == "tensor" || in_.text().substr(at, 6) == "tuple<")
      return Attr{type_value()};
    return Attr{Attr::Enum{"type", std::string(in_.name())}};
  }
  std::string_view word = in_.name();
  if (word.empty()) in_.fail("expected an attribute");
  return Attr{Attr::Enum{"", std::string(word)}};
}

Attr Reader::number_attribute() {
  const std::size_t at = in_.at();
  std::string_view text = in_.number();
  const bool integral =
      text.find_first_of(".eE") == std::string_view::npos || text.substr(0, 2) == "0x";
  std::string suffix;
  if (in_.take(':')) suffix = std::string(in_.expect_name("a type"));
  if (integral && (suffix.empty() || suffix[0] == 'i' || suffix[0] == 'u' || suffix[0] == 's')) {
    in_.go(in_.at());
    Attr::Integer value;
    const bool hex = text.substr(0, 2) == "0x";
    auto [end, error] = std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(),
                                        value.value, hex ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size()) {
      std::uint64_t large = 0;
      auto [e2, again] = std::from_chars(text.data(), text.data() + text.size(), large);
      if (again != std::errc() || e2 != text.data() + text.size())
        Cursor::fail_at(at, "the number does not fit 64 bits");
      value.value = static_cast<std::int64_t>(large);
    }
    if (!suffix.empty()) value.type = suffix;
    return Attr{value};
  }
  // A float attribute is written like an element of its type.
  const std::size_t back = in_.at();
  auto dtype = suffix.empty() ? Expected<DType>(DType::f64) : parse_dtype(suffix);
  if (!dtype || !is_float(*dtype))
    Cursor::fail_at(at, fmt::format("'{}' is no type of a number", suffix));
  Cursor number(in_.text(), at);
  const Array one = read_dense(number, Type::tensor(*dtype, {}));
  Attr::Float value{0, std::string(suffix.empty() ? "f64" : suffix)};
  if (*dtype == DType::f64) {
    value.value = one.as<double>()[0];
  } else if (*dtype == DType::f32) {
    value.value = static_cast<double>(one.as<float>()[0]);
  } else {
    Cursor wide(in_.text(), at);
    value.value = read_dense(wide, Type::tensor(DType::f64, {})).as<double>()[0];
  }
  in_.go(back);
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
  std::string_view element = in_.expect_name("the type of an array's elements");
  Attr::Integers numbers;
  Attr::Booleans truths;
  const bool boolean = element == "i1";
  if (in_.take(':') && in_.peek() != '>') {
    do {
      if (boolean) {
        if (in_.take_word("true"))
          truths.push_back(true);
        else if (in_.take_word("false"))
          truths.push_back(false);
        else
          in_.fail("expected true or false");
      } else {
        numbers.push_back(in_.integer());
      }
    } while (in_.take(','));
  }
  in_.expect('>', "after an array");
  if (boolean) return Attr{std::move(truths)};
  return Attr{std::move(numbers)};
}

Attr Reader::hash_attribute() {
  in_.skip();
  const std::size_t at = in_.at();
  in_.expect('#', "before an attribute");
  std::string_view n = in_.expect_name("the name of an attribute");
  if (in_.raw() != '<') {
    Attr a;
    if (through_alias(in_.text().substr(at, in_.at() - at), [&] { a = attribute(); })) return a;
    Cursor::fail_at(at, fmt::format("unknown attribute '#{}'", n));
  }
  const std::size_t dot = n.find('.');
  // Kinds of other dialects than StableHLO keep their name: "chlo.ragged_dot".
  const std::string_view dialect = n.substr(0, dot);
  auto full = [&](std::string_view kind) {
    return dialect == "stablehlo" ? std::string(kind) : fmt::format("{}.{}", dialect, kind);
  };
  if (dot == std::string_view::npos) {  // #stablehlo<comparison_direction LT>
    in_.advance();
    std::string kind = full(in_.expect_name("a kind of attribute"));
    if (kind == "sdy.manual_axes") {
      Attr axes = axis_names();
      in_.expect('>', "after axes");
      return axes;
    }
    if (in_.peek() == '<') {
      Attr inner = struct_attribute(std::move(kind));
      in_.expect('>', "after an attribute");
      return inner;
    }
    std::string word(in_.expect_name("a word"));
    in_.expect('>', "after an attribute");
    return Attr{Attr::Enum{std::move(kind), std::move(word)}};
  }
  const std::string_view kind = n.substr(dot + 1);
  if (kind.empty()) Cursor::fail_at(at, fmt::format("'#{}' names no kind of attribute", n));
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
Attr Reader::struct_attribute(std::string kind) {
  Depth guard(*this);
  const std::size_t from = in_.at();
  Attr::Struct out{std::move(kind), {}};
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
    const bool mesh = in_.peek() == '@';
    in_.go(at);
    return mesh ? Attr{sharding()} : struct_attribute("");
  }
  return attribute();
}

// ---- constants

Array Reader::dense() {
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
  const Type t = type_value();
  if (!t.is_tensor()) Cursor::fail_at(type_at, "a constant is a tensor");
  const std::size_t back = in_.at();
  in_.go(from);
  Array a = read_dense(in_, t);
  in_.expect('>', "after the elements");
  in_.go(back);
  return a;
}

// ---- locations

void Reader::optional_location(std::string* user) {
  if (!in_.take_text("loc(")) return;
  std::string found = location_body();
  in_.expect(')', "after a location");
  if (user != nullptr) *user = std::move(found);
}

// The first file:line in it, in the order in which they are written.
std::string Reader::location_body() {
  Depth guard(*this, 1000);  // a level per frame of the user's call stack
  if (in_.take_word("unknown")) return "";
  if (in_.take_word("callsite")) {
    in_.expect('(', "after callsite");
    std::string callee = location_body();
    if (!in_.take_word("at")) in_.fail("expected 'at' in callsite(…)");
    std::string caller = location_body();
    in_.expect(')', "after callsite");
    return callee.empty() ? caller : callee;
  }
  if (in_.take_word("fused")) {
    if (in_.take('<')) {
      (void)attribute();
      in_.expect('>', "after fused<…");
    }
    std::string first;
    in_.expect('[', "after fused");
    do {
      std::string next = location_body();
      if (first.empty()) first = std::move(next);
    } while (in_.take(','));
    in_.expect(']', "after the locations");
    return first;
  }
  if (in_.peek() == '#') {
    const std::size_t at = in_.at();
    in_.advance();
    (void)in_.expect_name("the name of a location");
    std::string_view alias = in_.text().substr(at, in_.at() - at);
    if (auto known = location_cache_.find(alias); known != location_cache_.end())
      return known->second;
    std::string found;
    const bool known = through_alias(alias, [&] {
      in_.expect_text("loc(", "in the alias of a location");
      found = location_body();
    });
    if (!known) Cursor::fail_at(at, fmt::format("unknown location '{}'", alias));
    location_cache_.emplace(alias, found);
    return found;
  }
  std::string text = in_.quoted();
  if (in_.take(':')) {
    std::string out = fmt::format("{}:{}", text, in_.integer());
    if (in_.take(':')) (void)in_.integer();
    if (in_.take_word("to")) {
      while (in_.take(':')) (void)in_.integer();
    }
    return out;
  }
  if (in_.take('(')) {
    std::string inner = location_body();
    in_.expect(')', "after a location");
    return inner.empty() ? text : inner;
  }
  return text;
}

}  // namespace heddle::frontend
