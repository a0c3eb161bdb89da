// dense<…>: nested lists, splats, complex pairs, and raw bytes in hex.
#include <bit>
#include <charconv>

#include "frontend/reader.h"
#include "ir/eval/scalar.h"

namespace heddle::frontend {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 34;

constexpr std::uint64_t each_byte(std::uint64_t byte) { return byte * 0x0101010101010101; }

// Eight hex digits at once, the first in the lowest byte: four bytes, and marks what is no digit.
std::uint32_t eight_digits(std::uint64_t text, std::uint64_t& bad) {
  const std::uint64_t lower = text | each_byte(0x20);
  const std::uint64_t letters = lower >> 6 & each_byte(1);
  const std::uint64_t values = (lower & each_byte(0x0F)) + letters * 9;
  // A digit is below 16 and is what its value is written as; and | 0x20 has not made it one.
  bad |= values & each_byte(0xF0);
  const std::uint64_t ten_or_more = (values + each_byte(6)) >> 4 & each_byte(1);
  bad |= (each_byte('0') + values + ten_or_more * ('a' - '0' - 10)) ^ lower;
  bad |= ~(text | text >> 1) & each_byte(0x20);
  std::uint64_t packed = (values << 4 | values >> 8) & 0x00FF00FF00FF00FF;
  packed = (packed | packed >> 8) & 0x0000FFFF0000FFFF;
  return static_cast<std::uint32_t>(packed | packed >> 16);
}

std::vector<std::byte> hex_bytes(std::string_view digits, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  if (digits.size() % 2 != 0) Cursor::fail_at(at, "the hex text has an odd number of digits");
  std::vector<std::byte> bytes(digits.size() / 2);
  std::uint64_t bad = 0;
  auto four = [&](std::size_t at_byte, std::size_t count) {
    std::uint64_t text = each_byte('0');
    std::memcpy(&text, digits.data() + 2 * at_byte, 2 * count);
    const std::uint32_t value = eight_digits(text, bad);
    std::memcpy(bytes.data() + at_byte, &value, count);
  };
  const std::size_t whole = bytes.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) four(i, 4);
  if (whole < bytes.size()) four(whole, bytes.size() - whole);
  if (bad != 0) Cursor::fail_at(at, "the hex text has a character that is no hex digit");
  return bytes;
}

// Raw bytes: all elements, one element for all, or one bit per truth value.
Array from_hex(const Type& type, std::vector<std::byte> bytes, std::size_t at) {
  const auto n = static_cast<std::uint64_t>(type.elements());
  const auto size = static_cast<std::size_t>(byte_size(type.dtype));
  if (type.dtype == DType::i1 && bytes.size() == (n + 7) / 8 && n != 1 && bytes.size() != n) {
    std::vector<std::byte> spread(n);
    for (std::size_t i = 0; i < n; ++i) spread[i] = (bytes[i / 8] >> (i % 8)) & std::byte{1};
    return Array(type, std::move(spread));
  }
  settle_elements(type.dtype, bytes);
  if (bytes.size() == n * size) return Array(type, std::move(bytes));
  if (bytes.size() == size) return Array::splat(type, bytes);
  Cursor::fail_at(
      at, fmt::format("the hex text has {} bytes; {} needs {} (or {} for all elements alike)",
                      bytes.size(), type.str(), n * size, size));
}

class DenseReader {
 public:
  DenseReader(Cursor& in, const Type& type)
      : in_(in), type_(type), size_(static_cast<std::size_t>(byte_size(type.dtype))) {}

  Array read() {
    if (in_.peek() == '"') return hex();
    if (in_.peek() == '[') {
      if (type_.bytes() > kMostBytes)
        in_.fail(fmt::format("{} is too large for a list of elements", type_.str()));
      list(0);
      if (static_cast<std::int64_t>(bytes_.size()) != type_.bytes())
        in_.fail(fmt::format("the list has {} elements; {} needs {}", bytes_.size() / size_,
                             type_.str(), type_.elements()));
      return Array(type_, std::move(bytes_));
    }
    if (in_.peek() == '>') {
      if (type_.elements() != 0)
        in_.fail(fmt::format("{} has elements; none are given", type_.str()));
      return Array(type_);
    }
    element();
    return Array::splat(type_, bytes_);
  }

 private:
  Array hex() {
    const std::size_t at = in_.at();
    std::string_view raw = in_.raw_quoted();
    if (raw.substr(0, 2) != "0x" && raw.substr(0, 2) != "0X")
      Cursor::fail_at(at, "expected \"0x…\" or elements");
    return from_hex(type_, hex_bytes(raw.substr(2), at), at);
  }

  void list(std::size_t depth) {
    in_.expect('[', "before elements");
    if (depth >= type_.rank()) in_.fail(fmt::format("too many brackets for {}", type_.str()));
    std::int64_t count = 0;
    if (!in_.take(']')) {
      do {
        if (depth + 1 < type_.rank())
          list(depth + 1);
        else
          element();
        ++count;
        if (static_cast<std::int64_t>(bytes_.size()) > type_.bytes())
          in_.fail(fmt::format("too many elements for {}", type_.str()));
      } while (in_.take(','));
      in_.expect(']', "after elements");
    }
    if (count != type_.shape[depth])
      in_.fail(fmt::format("dimension {} of {} has {} elements here", depth, type_.str(), count));
  }

  template <typename T>
  void push(const T& value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
  }

  void element() {
    dispatch(type_.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (ComplexScalar<T>) {
        using Part = typename T::value_type;
        in_.expect('(', "before a complex number");
        const Part re = number<Part>();
        in_.expect(',', "between the parts of a complex number");
        const Part im = number<Part>();
        in_.expect(')', "after a complex number");
        push(T(re, im));
      } else {
        push(number<T>());
      }
    });
  }

  template <typename T>
  T number() {
    if constexpr (BoolScalar<T>) {
      if (in_.take_word("true")) return T(true);
      if (in_.take_word("false")) return T(false);
      return T(parse<std::int64_t>(in_.number()) != 0);
    } else if constexpr (IntScalar<T>) {
      if (in_.take_word("true")) return T(1);
      if (in_.take_word("false")) return T(0);
      return parse<T>(in_.number());
    } else {
      return floating<T>(in_.number());
    }
  }

  template <typename T>
  T parse(std::string_view text) {
    const bool minus = text[0] == '-';
    std::string_view digits = text.substr(minus || text[0] == '+' ? 1 : 0);
    const bool hex = digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X";
    if (hex) digits.remove_prefix(2);
    std::uint64_t value = 0;
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size())
      in_.fail(fmt::format("'{}' is no whole number of {} bits", text, bits(type_.dtype)));
    const std::uint64_t most =
        std::numeric_limits<T>::is_signed && !hex
            ? static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + (minus ? 1 : 0)
            : static_cast<std::uint64_t>(std::numeric_limits<Unsigned<T>>::max());
    if (value > most || (minus && !std::numeric_limits<T>::is_signed && value != 0))
      in_.fail(fmt::format("{} does not fit {}", text, name(type_.dtype)));
    return static_cast<T>(minus ? ~value + 1 : value);
  }

  template <typename T>
  static constexpr int bits_of() {
    if constexpr (is_small_float_v<T>)
      return T::format.width() + (T::format.has_sign ? 1 : 0);
    else
      return 8 * sizeof(T);
  }

  template <typename T>
  T floating(std::string_view text) {
    if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {  // the bits of the number
      constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of<T>());
      std::uint64_t bits = 0;
      auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
      if (error != std::errc() || end != text.data() + text.size() || (bits & ~mask) != 0)
        in_.fail(fmt::format("'{}' does not fit {}", text, name(type_.dtype)));
      T value;
      std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
      return value;
    }
    if constexpr (std::is_floating_point_v<T>) {
      return decimal<T>(text);
    } else {
      return written<T>(decimal<double>(text));
    }
  }

  template <typename T>
  T decimal(std::string_view text) {
    T value{};
    if (text[0] == '+') text.remove_prefix(1);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return out_of_range<T>(text);
    if (error != std::errc() || end != text.data() + text.size())
      in_.fail(fmt::format("'{}' is no number", text));
    return value;
  }

  // Too large becomes infinity, too small zero, as rounding says.
  template <typename T>
  static T out_of_range(std::string_view text) {
    const double wide = std::strtod(std::string(text).c_str(), nullptr);
    return static_cast<T>(wide);
  }

  Cursor& in_;
  const Type& type_;
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Array read_dense(Cursor& in, const Type& type) { return DenseReader(in, type).read(); }

}  // namespace heddle::frontend
