// Writes a program as StableHLO text. The generic form is one grammar for all ops; the pretty form
// is used where the op's row has one.
#include "frontend/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "frontend/float_bits.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle::frontend {

// ---- attributes

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (u < 32 || u > 126 || c == '"') {
      out += fmt::format("\\{:02X}", u);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

namespace {

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '$')
      return false;
  return true;
}

std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out[2 * i] = digits[static_cast<unsigned>(bytes[i]) >> 4];
    out[2 * i + 1] = digits[static_cast<unsigned>(bytes[i]) & 15];
  }
  return out;
}

// ---- numbers

// Decimal digits without zeros at the end; the value is 0.d1d2d3… * 10^point.
struct Decimal {
  std::string digits;
  int point = 0;
};

// How many of the exact digits of the value MLIR looks at when it wants `precision` of them: it
// drops digits without rounding while the number has many more bits than it needs.
int digits_kept(double value, int point, int precision) {
  int exponent = 0;
  double odd = std::frexp(value, &exponent);  // value = odd * 2^exponent, with a whole odd number
  while (odd != std::floor(odd)) {
    odd *= 2;
    --exponent;
  }
  const int five = std::max(-exponent, 0);  // value = (odd * 5^five) / 10^five
  const auto bits = static_cast<int>(std::floor(std::log2(static_cast<long double>(odd)) +
                                                five * std::log2(5.0L))) +
                    1 + std::max(exponent, 0);
  const int wanted = (precision * 196 + 58) / 59;
  const int dropped = bits > wanted ? (bits - wanted) * 59 / 196 : 0;
  return point + five - dropped;
}

// At most `precision` digits, a half rounded up, exactly as MLIR does it.
Decimal decimal(double value, int precision) {
  char buffer[1100];  // no double has more exact digits
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 1080).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  Decimal d{std::string(1, text[0]), 0};
  d.digits += text.substr(2, e - 2);
  d.point = std::stoi(std::string(text.substr(e + 1))) + 1;
  const int kept = digits_kept(value, d.point, precision);
  const auto keep = static_cast<std::size_t>(std::min(kept, precision));
  const bool up = kept > precision && d.digits[keep] >= '5';
  d.digits.resize(keep);
  if (up) {
    std::size_t i = keep;
    while (i > 0 && d.digits[i - 1] == '9') --i;
    d.digits.resize(std::max<std::size_t>(i, 1));
    if (i > 0) {
      ++d.digits[i - 1];
    } else {
      d.digits[0] = '1';
      ++d.point;
    }
  }
  d.digits.erase(d.digits.find_last_not_of('0') + 1);
  return d;
}

// 1.500000e+00: six digits, which is what most constants need.
std::string six_digits(double value) {
  if (value == 0) return "0.000000e+00";

  Decimal d = decimal(value, 6);
  d.digits.resize(7, '0');
  const int exponent = d.point - 1;
  return fmt::format("{}.{}e{}{:02}", d.digits[0], d.digits.substr(1), exponent < 0 ? '-' : '+',
                     std::abs(exponent));
}

// As many digits as the type needs, without an exponent where few zeros do.
std::string all_digits(double value, int precision) {
  const Decimal d = decimal(value, precision);
  const auto n = static_cast<int>(d.digits.size());
  const int tail = d.point - n;  // the number is digits * 10^tail
  const bool scientific = tail >= 0 ? tail > 3 || n + tail > precision : d.point < -2;
  if (scientific)
    return fmt::format("{}.{}E{}{}", d.digits[0], n == 1 ? "0" : d.digits.substr(1),
                       d.point > 0 ? '+' : '-', std::abs(d.point - 1));
  if (tail >= 0) return d.digits + std::string(static_cast<std::size_t>(tail), '0');
  if (d.point > 0)
    return d.digits.substr(0, static_cast<std::size_t>(d.point)) + "." +
           d.digits.substr(static_cast<std::size_t>(d.point));
  return "0." + std::string(static_cast<std::size_t>(-d.point), '0') + d.digits;
}

template <typename T>
constexpr int significand_bits() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::digits;
  else
    return T::format.mantissa_bits + 1;
}

template <typename T>
T parsed(const std::string& text) {
  if constexpr (std::is_same_v<T, float>)
    return std::strtof(text.c_str(), nullptr);
  else if constexpr (std::is_same_v<T, double>)
    return std::strtod(text.c_str(), nullptr);
  else
    return written<T>(std::strtod(text.c_str(), nullptr));
}

// A float that reads back as the same bits.
template <typename T>
std::string floating(T value) {
  const auto wide = static_cast<double>(value);
  auto same = [&](const std::string& text) {
    const T again = parsed<T>(text);
    return std::memcmp(static_cast<const void*>(&again), static_cast<const void*>(&value),
                       sizeof(T)) == 0;
  };
  if (std::isfinite(wide)) {
    const std::string sign = std::signbit(wide) ? "-" : "";
    if (std::string text = sign + six_digits(std::fabs(wide)); same(text)) return text;
    constexpr int precision = 2 + significand_bits<T>() * 59 / 196;
    if (std::string text = sign + all_digits(std::fabs(wide), precision);
        text.find('.') != std::string::npos && same(text))
      return text;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  return fmt::format("0x{:0{}X}", bits, 2 * sizeof(T));
}

std::string element_text(DType dtype, std::span<const std::byte> bytes) {
  std::string out;
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T value;
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(T));
    if constexpr (BoolScalar<T>)
      out = bool(value) ? "true" : "false";
    else if constexpr (IntScalar<T>)
      out = std::to_string(value);
    else if constexpr (ComplexScalar<T>)
      out = fmt::format("({},{})", floating(value.real()), floating(value.imag()));
    else
      out = floating(value);
  });
  return out;
}

void nested(const Array& a, std::size_t dim, std::int64_t& flat, std::string& out) {
  if (dim == a.shape().size()) {
    out += element_text(a.dtype(), a.element(flat++));
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < a.shape()[dim]; ++i) {
    if (i > 0) out += ", ";
    nested(a, dim + 1, flat, out);
  }
  out += ']';
}

}  // namespace

std::string print_dense(const Array& a) {
  std::string body;
  constexpr std::int64_t kMostListed = 100;
  if (a.elements() == 0) {
    body = "";
  } else if (a.is_splat() || a.elements() == 1) {
    body = element_text(a.dtype(), a.element(0));
  } else if (a.elements() <= kMostListed) {
    std::int64_t flat = 0;
    nested(a, 0, flat, body);
  } else {
    body = "\"0x" + hex_of(a.bytes()) + "\"";
  }
  return fmt::format("dense<{}> : {}", body, a.type().str());
}

std::string print_float(double value, std::string_view type) {
  std::string out;
  dispatch(parse_dtype(type).value(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!BoolScalar<T> && !IntScalar<T> && !ComplexScalar<T>)
      out = floating(narrowed<T>(value));
  });
  return out;
}

std::string print_axes(const std::vector<ShardingAxis>& axes, bool open) {
  std::string text;
  for (const ShardingAxis& a : axes)
    text += (text.empty() ? "" : ", ") + quote(a.name) +
            (a.size == 0 ? "" : fmt::format(":({}){}", a.pre_size, a.size));
  if (open) text += text.empty() ? "?" : ", ?";
  return "{" + text + "}";
}

std::string print_sharding(const Sharding& s) {
  std::string dims;
  for (const ShardingDim& d : s.dims)
    dims += (dims.empty() ? "" : ", ") + print_axes(d.axes, d.open) +
            (d.priority < 0 ? "" : fmt::format("p{}", d.priority));
  std::string text = fmt::format("<@{}, [{}]", s.mesh, dims);
  if (!s.replicated.empty()) text += ", replicated=" + print_axes(s.replicated, false);
  if (!s.unreduced.empty()) text += ", unreduced=" + print_axes(s.unreduced, false);
  return text + ">";
}

namespace {

std::string conv_side(const Attr::Struct& s, std::string_view side) {
  const bool kernel = side == "kernel";
  auto number = [&](std::string_view what) {
    const Attr* a = find_attr(s.fields, fmt::format("{}_{}", side, what));
    const auto* i = a == nullptr ? nullptr : a->get<Attr::Integer>();
    return i == nullptr ? std::int64_t{-1} : i->value;
  };
  std::vector<std::string> places;
  auto put = [&](std::int64_t at, std::string text) {
    if (at < 0 || at > 64) return;
    if (places.size() <= static_cast<std::size_t>(at))
      places.resize(static_cast<std::size_t>(at) + 1, "?");
    places[static_cast<std::size_t>(at)] = std::move(text);
  };
  put(number(kernel ? "output_feature_dimension" : "batch_dimension"), kernel ? "o" : "b");
  put(number(kernel ? "input_feature_dimension" : "feature_dimension"), kernel ? "i" : "f");
  if (const Attr* a = find_attr(s.fields, fmt::format("{}_spatial_dimensions", side)))
    if (const auto* list = a->get<Attr::Integers>())
      for (std::size_t i = 0; i < list->size(); ++i) put((*list)[i], std::to_string(i));
  return fmt::format("[{}]", fmt::join(places, ", "));
}

}  // namespace

std::string print_conv(const Attr::Struct& s) {
  return conv_side(s, "input") + "x" + conv_side(s, "kernel") + "->" + conv_side(s, "output");
}

void put_attr(AttrDict& attrs, std::string_view name, Attr value) {
  const auto at = std::ranges::find_if(attrs, [&](const NamedAttr& a) { return a.name > name; });
  attrs.insert(at, {std::string(name), std::move(value)});
}

std::string print_fields(const Attr::Struct& s) {
  std::string text;
  for (const NamedAttr& f : s.fields) {
    text += (text.empty() ? "" : ", ") + (f.name == "value" ? "" : f.name.str() + " = ");
    if (const auto* list = f.value.get<Attr::Integers>())
      text += list_of(*list);
    else if (const auto* i = f.value.get<Attr::Integer>(); i != nullptr && i->type == "i64")
      text += std::to_string(i->value);
    else
      text += print_attr(f.value);
  }
  return text;
}

std::string print_dict(const AttrDict& dict) {
  std::string text;
  for (const NamedAttr& a : dict) {
    text += (text.empty() ? "" : ", ") + (is_plain_name(a.name) ? a.name : quote(a.name));
    if (a.value.get<Attr::Unit>() == nullptr) text += " = " + print_attr(a.value);
  }
  return text;
}

namespace {

// (i32, i32) -> i32
std::string print_function_type(const Attr::Struct& s) {
  auto types = [](const Attr& list) {
    std::string text;
    for (const Attr& t : *list.get<Attr::List>())
      text += (text.empty() ? "" : ", ") + print_attr(t);
    return text;
  };
  const Attr::List& results = *s.fields[1].value.get<Attr::List>();
  // A function as the only result stands in parentheses, as several results do.
  const bool bare = results.size() == 1 && results[0].get<Attr::Struct>() == nullptr;
  const std::string given = types(s.fields[1].value);
  return fmt::format("({}) -> {}", types(s.fields[0].value), bare ? given : "(" + given + ")");
}

std::string print_float_array(const Attr::Struct& s) {
  std::string text = print_attr(s.fields[0].value);
  std::string_view comma = ": ";
  for (const Attr& a : *s.fields[1].value.get<Attr::List>()) {
    const auto* number = a.get<Attr::Float>();
    text += fmt::format("{}{}", comma, print_float(number->value, number->type));
    comma = ", ";
  }
  return "array<" + text + ">";
}

std::string print_index_elements(const Attr::Struct& s) {
  std::string text = print_dense(*s.fields[0].value.get<Array>());
  constexpr std::string_view kElement = "i64>";
  return text.substr(0, text.size() - kElement.size()) + "index>";
}

}  // namespace

std::string print_attr(const Attr& attr) {
  struct Writer {
    std::string operator()(const Attr::Unit&) const { return "unit"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(const Attr::Integer& i) const {
      return i.type == "ui64" ? fmt::format("{} : ui64", static_cast<std::uint64_t>(i.value))
                              : fmt::format("{} : {}", i.value, i.type);
    }
    std::string operator()(const Attr::Float& f) const {
      const std::string number = print_float(f.value, f.type);
      const bool bits = number.starts_with("0x");  // alone they would be a whole number
      return f.type == "f64" && !bits ? number : fmt::format("{} : {}", number, f.type);
    }
    std::string operator()(const std::string& s) const { return quote(s); }
    std::string operator()(const Type& t) const { return t.str(); }
    std::string operator()(const Attr::Integers& v) const {
      return v.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(v, ", "));
    }
    std::string operator()(const Attr::Booleans& v) const {
      std::string text;
      for (bool b : v) text += std::string(text.empty() ? "" : ", ") + (b ? "true" : "false");
      return text.empty() ? "array<i1>" : "array<i1: " + text + ">";
    }
    std::string operator()(const Array& a) const { return print_dense(a); }
    std::string operator()(const Attr::Symbol& s) const {
      return "@" + (is_plain_name(s.name) ? s.name : quote(s.name));
    }
    std::string operator()(const Attr::Enum& e) const {
      if (e.kind.empty() || e.kind == "type") return e.word.str();
      const std::string_view kind = e.kind;
      const std::size_t dot = kind.find('.');
      if (dot == kind.npos) return fmt::format("#stablehlo<{} {}>", kind, e.word);
      return fmt::format("#{}<{} {}>", kind.substr(0, dot), kind.substr(dot + 1), e.word);
    }
    std::string operator()(const Attr::Struct& s) const {
      if (s.kind.empty()) return "{" + print_dict(s.fields) + "}";
      if (s.kind == kFunctionType) return print_function_type(s);
      if (s.kind == kFloatArray) return print_float_array(s);
      if (s.kind == kIndexElements) return print_index_elements(s);
      if (s.kind == "conv") return "#stablehlo.conv<" + print_conv(s) + ">";
      return fmt::format("#{}{}<{}>",
                         s.kind.view().find('.') == std::string::npos ? "stablehlo." : "", s.kind,
                         print_fields(s));
    }
    std::string operator()(const Attr::List& v) const {
      std::string text;
      const bool shardings = !v.empty() && std::ranges::all_of(v, [](const Attr& a) {
        return a.get<Sharding>() != nullptr;
      });
      for (const Attr& a : v)
        text += (text.empty() ? "" : ", ") +
                (shardings ? print_sharding(*a.get<Sharding>()) : print_attr(a));
      return (shardings ? "#sdy.sharding_per_value<[" : "[") + text + (shardings ? "]>" : "]");
    }
    std::string operator()(const Sharding& s) const { return "#sdy.sharding" + print_sharding(s); }
  };
  return std::visit(Writer{}, attr.value);
}

}  // namespace heddle::frontend
