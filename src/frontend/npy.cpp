#include "heddle/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "frontend/array_file.h"
#include "frontend/array_places.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Code {
  DType dtype;
  std::string_view code;  // without the byte order
};
constexpr Code kCodes[] = {{DType::i1, "b1"},   {DType::i8, "i1"},   {DType::i16, "i2"},
                           {DType::i32, "i4"},  {DType::i64, "i8"},  {DType::ui8, "u1"},
                           {DType::ui16, "u2"}, {DType::ui32, "u4"}, {DType::ui64, "u8"},
                           {DType::f16, "f2"},  {DType::f32, "f4"},  {DType::f64, "f8"},
                           {DType::c64, "c8"},  {DType::c128, "c16"}};

struct Header {
  DType dtype = DType::f32;
  bool swapped = false, fortran = false;
  Shape shape;
};

// Reads the header: a Python dictionary of a string, a truth value and a tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Expected<Header> parse() {
    Header header;
    if (!take('{')) return bad("'{'");
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return bad("'key': value");
      HEDDLE_TRY_VOID(entry(*key, header));
      if (!take(',') && peek() != '}') return bad("',' or '}'");
    }
    if (peek() != '\0') return bad("the end of the header");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (std::find(seen_.begin(), seen_.end(), key) == seen_.end())
        return reason("the header has no '{}'", key);
    return header;
  }

 private:
  Verdict entry(std::string_view key, Header& header) {
    seen_.push_back(key);
    if (key == "descr") return descr(header);
    if (key == "fortran_order") {
      header.fortran = word("True");
      return header.fortran || word("False") ? yes() : bad("True or False");
    }
    if (key == "shape") return shape(header);
    return reason("the header has an unknown key '{}'", key.substr(0, 40));
  }

  Verdict descr(Header& header) {
    const auto text = string();
    if (!text) return reason("the elements are records; only plain numbers can be read");
    const std::string_view code = text->substr(std::min<std::size_t>(1, text->size()));
    const char order = text->empty() ? '?' : text->front();
    for (const Code& c : kCodes)
      if (c.code == code && std::string_view("<>=|").find(order) != std::string_view::npos) {
        header.dtype = c.dtype;
        header.swapped = order == '>';
        return yes();
      }
    return reason("elements of kind '{}' cannot be read{}", text->substr(0, 40),
                  code.starts_with('V') ? "; safetensors files can hold bf16 and f8" : "");
  }

  Verdict shape(Header& header) {
    if (!take('(')) return bad("'('");
    while (!take(')')) {
      peek();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc()) return bad("a size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header.shape.push_back(size);
      if (!take(',') && peek() != ')') return bad("',' or ')'");
    }
    return yes();
  }

  // The next character that is no space; 0 at the end.
  char peek() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    peek();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string_view> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  Reason bad(std::string_view expected) const {
    return reason("the header is damaged: expected {} before \"{}\"", expected,
                  rest_.substr(0, 20));
  }

  std::string_view rest_;
  std::vector<std::string_view> seen_;
};

// Reverses the bytes of every number; complex ones are two.
void swap_bytes(Array& array) {
  const auto bytes = array.mutable_bytes();
  const int parts = is_complex(array.dtype()) ? 2 : 1;
  const auto size = static_cast<std::size_t>(byte_size(array.dtype()) / parts);
  for (std::size_t at = 0; at < bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// The first index runs fastest in `columns`; the last one in the result.
Array from_fortran_order(const Array& columns) {
  Array rows(columns.type());
  const Shape& shape = rows.shape();
  const auto size = static_cast<std::size_t>(byte_size(rows.dtype()));
  const auto source = columns.bytes();
  const auto target = rows.mutable_bytes();
  for (std::int64_t flat = 0; flat < rows.elements(); ++flat) {
    std::int64_t rest = flat, from = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      std::int64_t stride = 1;
      for (std::size_t k = 0; k < d; ++k) stride *= shape[k];
      from += rest % shape[d] * stride;
      rest /= shape[d];
    }
    std::memcpy(target.data() + static_cast<std::size_t>(flat) * size,
                source.data() + static_cast<std::size_t>(from) * size, size);
  }
  return rows;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// What an element is written as where the format has none of its type: every bf16 and f8 value is
// an f32 value too.
DType written_as(DType dtype) {
  if (!is_integer(dtype)) return DType::f32;
  return dtype == DType::i2 || dtype == DType::i4 ? DType::i8 : DType::ui8;
}

const Code* code_of(DType dtype) {
  const auto* found = std::ranges::find(kCodes, dtype, &Code::dtype);
  return found == std::end(kCodes) ? nullptr : found;
}

// The header, and how many bytes stand before the elements. `content` has at least those.
Expected<std::pair<Header, std::size_t>> read_header(std::string_view content) {
  if (!content.starts_with(kMagic)) return reason("this is no .npy file: it does not begin so");
  if (content.size() < 10) return reason("the file ends inside its header");
  const int version = static_cast<unsigned char>(content[6]);
  if (version < 1 || version > 3) return reason("version {} of .npy cannot be read", version);
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t start = 8 + width;
  if (content.size() < start) return reason("the file ends inside its header");
  const std::size_t length = little_endian(content.substr(8, width));
  if (length > content.size() - start)
    return reason("the header should have {} bytes, but the file has only {} more", length,
                  content.size() - start);
  HEDDLE_TRY(Header header, HeaderParser(content.substr(start, length)).parse());
  return std::pair(std::move(header), start + length);
}

}  // namespace

Expected<frontend::ArrayPlace> frontend::place_in_npy(std::string_view start, std::size_t bytes) {
  HEDDLE_TRY(const auto found, read_header(start));
  const auto& [header, offset] = found;
  HEDDLE_TRY(Type type, sized_type(header.dtype, header.shape, bytes - offset));
  const bool plain = !header.swapped && (!header.fortran || type.rank() < 2);
  return ArrayPlace{.name = "", .type = std::move(type), .offset = offset, .plain = plain};
}

Expected<Array> parse_npy(std::string_view content) {
  HEDDLE_TRY(const auto found, read_header(content));
  const auto& [header, offset] = found;
  const std::string_view data = content.substr(offset);
  HEDDLE_TRY(Type type, frontend::sized_type(header.dtype, header.shape, data.size()));
  Array array = frontend::array_of(std::move(type), data);
  if (header.swapped) swap_bytes(array);
  return header.fortran && array.elements() > 0 ? from_fortran_order(array) : array;
}

Expected<Array> narrowed_npy(const Array& array, const Type& type) {
  if (!type.is_tensor() || code_of(type.dtype) != nullptr || array.shape() != type.shape ||
      array.dtype() != written_as(type.dtype))
    return array;
  Array narrow = converted(array, type.dtype);
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const double was = to_double(array, i), is = to_double(narrow, i);
    if (was != is && !(std::isnan(was) && std::isnan(is)))
      return reason(
          "element {} is {}, which is no number of {}: round it before, or write a .safetensors "
          "file",
          i, was, name(type.dtype));
  }
  return narrow;
}

std::string format_npy(const Array& array) {
  const Code* code = code_of(array.dtype());
  if (code == nullptr) return format_npy(converted(array, written_as(array.dtype())));
  std::string shape;
  for (const std::int64_t size : array.shape()) shape += fmt::format("{}, ", size);
  if (array.shape().size() > 1) shape.resize(shape.size() - 2);  // only (3,) keeps its comma
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                  byte_size(array.dtype()) == 1 ? '|' : '<', code->code,
                  array.shape().size() == 1 ? shape.substr(0, shape.size() - 1) : shape);
  // Data begins at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string content(kMagic);
  content += '\x01';
  content += '\0';
  content += static_cast<char>(header.size() & 0xff);
  content += static_cast<char>(header.size() >> 8);
  content += header;
  const auto bytes = array.bytes();
  content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return content;
}

Expected<Array> read_npy(const std::filesystem::path& file) {
  HEDDLE_TRY(const std::string content, frontend::read_bytes(file));
  auto array = parse_npy(content);
  if (!array) return reason("{}: {}", file.string(), array.reason());
  return array;
}

Verdict write_npy(const std::filesystem::path& file, const Array& array) {
  return write_file(file, format_npy(array));
}

}  // namespace heddle
