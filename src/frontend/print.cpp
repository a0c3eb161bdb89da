// Writes a program as StableHLO text. The generic form is one grammar for all ops; the pretty form
// is used where the op's row has one.
#include "frontend/print.h"

#include <charconv>
#include <cmath>

#include "heddle/stablehlo.h"
#include "ir/scalar.h"

namespace heddle::frontend {

// ---- attributes

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 32 || u > 126) {
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

// A float that reads back as the same bits.
template <typename T>
std::string floating(T value) {
  const double wide = static_cast<double>(value);
  if (!std::isfinite(wide)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
    return fmt::format("0x{:0{}X}", bits, 2 * sizeof(T));
  }
  char buffer[64];
  if constexpr (std::is_same_v<T, float>) {
    auto [end, error] =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
    return std::string(buffer, end);
  } else {
    auto [end, error] =
        std::to_chars(buffer, buffer + sizeof buffer, wide, std::chars_format::scientific);
    return std::string(buffer, end);
  }
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
      out = fmt::format("({}, {})", floating(value.real()), floating(value.imag()));
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
  constexpr std::int64_t kMostListed = 64;
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

std::string print_dict(const AttrDict& dict) {
  std::string text;
  for (const NamedAttr& a : dict) {
    text += (text.empty() ? "" : ", ") + (is_plain_name(a.name) ? a.name : quote(a.name));
    if (a.value.get<Attr::Unit>() == nullptr) text += " = " + print_attr(a.value);
  }
  return text;
}

std::string print_attr(const Attr& attr) {
  struct Writer {
    std::string operator()(const Attr::Unit&) const { return "unit"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(const Attr::Integer& i) const {
      return fmt::format("{} : {}", i.value, i.type);
    }
    std::string operator()(const Attr::Float& f) const {
      return fmt::format("{} : {}", floating(f.value), f.type);
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
      return e.kind.empty() || e.kind == "type" ? e.word
                                                : fmt::format("#stablehlo<{} {}>", e.kind, e.word);
    }
    std::string operator()(const Attr::Struct& s) const {
      if (s.kind.empty()) return "{" + print_dict(s.fields) + "}";
      if (s.kind == "conv") return "#stablehlo.conv<" + print_conv(s) + ">";
      std::string text;
      for (const NamedAttr& f : s.fields) {
        text += (text.empty() ? "" : ", ") + (f.name == "value" ? "" : f.name + " = ");
        if (const auto* list = f.value.get<Attr::Integers>())
          text += list_of(*list);
        else if (const auto* i = f.value.get<Attr::Integer>(); i != nullptr && i->type == "i64")
          text += std::to_string(i->value);
        else
          text += print_attr(f.value);
      }
      return fmt::format("#stablehlo.{}<{}>", s.kind, text);
    }
    std::string operator()(const Attr::List& v) const {
      std::string text;
      for (const Attr& a : v) text += (text.empty() ? "" : ", ") + print_attr(a);
      return "[" + text + "]";
    }
    std::string operator()(const Sharding& s) const { return "#sdy.sharding" + print_sharding(s); }
  };
  return std::visit(Writer{}, attr.value);
}

}  // namespace heddle::frontend
