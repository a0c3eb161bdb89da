// Types, also where they are attributes.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "frontend/reader.h"

namespace heddle::frontend {

Reader::Depth::Depth(Reader& reader, Nesting& nesting) : of(nesting) {
  if (of.depth >= of.most)
    reader.in_.fail(fmt::format("nested too deeply: {} levels{} at most", of.most, of.what));
  ++of.depth;
}

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
  Depth guard(*this, syntax_);
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
  if (body == "index")
    Cursor::fail_at(at,
                    "element type index stands only in attributes: values have a size, as in i64");
  auto dtype = parse_dtype(body);
  if (!dtype) Cursor::fail_at(at, fmt::format("unknown element type '{}'", body.substr(0, 40)));
  return Type::tensor(*dtype, std::move(shape));
}

// tensor<2xindex>, which only attributes have: its numbers are kept as i64.
bool Reader::take_index_tensor(Type& as) {
  in_.skip();
  const std::size_t from = in_.at();
  const std::size_t end = in_.text().find('>', from);
  if (in_.text().substr(from, 7) != "tensor<" || end == std::string_view::npos) return false;
  const std::string_view body = in_.text().substr(from + 7, end - from - 7);
  if (body != "index" && !body.ends_with("xindex")) return false;
  as = tensor_body(std::string(body.substr(0, body.size() - 5)) + "i64", from + 7);
  in_.go(end + 1);
  return true;
}

// ---- as attributes

namespace {

// Blanks count as one, but for those in quotes.
std::string on_one_line(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!quoted && blank) {
      if (out.back() != ' ') out += ' ';
      continue;
    }
    out += c;
    if (quoted && c == '\\' && i + 1 < text.size()) out += text[++i];
    if (c == '"') quoted = !quoted;
  }
  return out;
}

char closing(char open) {
  return open == '<' ? '>' : open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

}  // namespace

std::string Reader::verbatim(std::size_t from) {
  std::string open, out;  // what closes the brackets; the text so far, with aliases written out
  const auto copy_up_to_here = [&] {
    out += in_.text().substr(from, in_.at() - from);
    from = in_.at();
  };
  const std::size_t start = from;
  bool inside = in_.raw() == '<';
  while (inside && in_.at() < in_.text().size()) {
    const char c = in_.raw();
    if (c == '"') {
      (void)in_.raw_quoted();
      continue;
    }
    if (c == '#' || c == '!') {
      copy_up_to_here();
      if (take_alias(out)) from = in_.at();
      continue;
    }
    if (closing(c) != '\0') {
      open += closing(c);
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c != open.back()) in_.fail(fmt::format("expected '{}' here", open.back()));
      open.pop_back();
      inside = !open.empty();
    }
    in_.advance(c == '-' && in_.raw(1) == '>' ? 2 : 1);
  }
  if (inside) Cursor::fail_at(start, "what starts here does not end");
  copy_up_to_here();
  return on_one_line(out);
}

// #x or !x; says no, and goes on behind it, where it is no alias.
bool Reader::take_alias(std::string& out) {
  const std::size_t at = in_.at();
  const bool is_type = in_.raw() == '!';
  in_.advance();
  if (std::isalpha(static_cast<unsigned char>(in_.raw())) == 0) return false;
  (void)in_.name();
  Attr value;
  if (!through_alias(in_.text().substr(at, in_.at() - at),
                     [&] { value = is_type ? type_attribute() : attribute(); }))
    return false;
  out += print_attr(value);
  return true;
}

Attr Reader::type_attribute() {
  Depth guard(*this, syntax_);
  const char c = in_.peek();
  const std::size_t from = in_.at();
  if (c == '(') return function_type_attribute();
  if (c == '!') {
    in_.advance();
    const std::string_view name = in_.expect_name("the name of a type");
    Attr aliased;
    if (through_alias(in_.text().substr(from, in_.at() - from),
                      [&] { aliased = type_attribute(); }))
      return aliased;
    if (name != "stablehlo.token" && name.find('.') != std::string_view::npos)
      return Attr{Attr::Enum{"type", verbatim(from)}};
  }
  in_.go(from);
  if (Type index; take_index_tensor(index)) {
    in_.go(from);
    (void)in_.name();
    return Attr{Attr::Enum{"type", verbatim(from)}};
  }
  const std::string_view name = c == '!' ? "" : in_.expect_name("a type");
  if (c != '!' && name != "tensor" && name != "tuple")  // f32, complex<f32>, vector<4xf32>
    return Attr{Attr::Enum{"type", verbatim(from)}};
  in_.go(from);
  return Attr{type_value()};
}

// (t, t), or one type
Attr Reader::type_attributes() {
  Attr::List types;
  if (in_.peek() != '(') {
    types.push_back(type_attribute());
  } else {
    in_.advance();
    if (in_.take(')')) return Attr{std::move(types)};
    do types.push_back(type_attribute());
    while (in_.take(','));
    in_.expect(')', "or ',' after a type");
  }
  return Attr{std::move(types)};
}

Attr Reader::function_type_attribute() {
  Attr::Struct both{std::string(kFunctionType), {}};
  both.fields.push_back({"inputs", type_attributes()});
  in_.expect_text("->", "in a function type");
  both.fields.push_back({"results", type_attributes()});
  return Attr{std::move(both)};
}

}  // namespace heddle::frontend
