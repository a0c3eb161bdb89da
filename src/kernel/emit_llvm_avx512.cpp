#include "kernel/emit_llvm_avx512.h"

namespace heddle {

namespace {

int most_lanes(const Floats& f) { return f.wide ? 8 : 16; }

// Lanes of a vector of `scalar` that one instruction takes.
std::string part_of(const Floats& f, std::string_view scalar, const std::string& x, int first,
                    int each) {
  return f.w.part(scalar, f.lanes, x, first, each);
}

// What `make` gives for the lanes from `first` on, side by side.
template <typename Make>
std::string joined(const Floats& f, std::string_view scalar, int each, const Make& make) {
  std::vector<std::string> parts;
  for (int first = 0; first < f.lanes; first += each) parts.push_back(make(first));
  return f.w.joined(std::move(parts), scalar, each, f.lanes);
}

// Classes of numbers, as the instruction has them.
constexpr int kSubnormal = 0x20, kInfiniteOrNan = 0x99;

std::string of_class(const Floats& f, const std::string& x, int classes) {
  const int each = std::min(f.lanes, most_lanes(f));
  return joined(f, "i1", each, [&](int first) {
    return f.w.call(LlvmWriter::vector_of("i1", each),
                    fmt::format("llvm.x86.avx512.fpclass.p{}.{}", f.wide ? "d" : "s",
                                (f.wide ? 64 : 32) * each),
                    fmt::format("{} {}, i32 {}", LlvmWriter::vector_of(f.scalar, each),
                                part_of(f, f.scalar, x, first, each), classes));
  });
}

std::string add_product(const Floats& f, std::string_view half, const std::string& sum,
                        const std::string& a, const std::string& b) {
  return joined(f, f.whole, 8, [&](int first) {
    return f.w.call(
        "<8 x i64>", fmt::format("llvm.x86.avx512.vpmadd52{}.uq.512", half),
        fmt::format("<8 x i64> {}, <8 x i64> {}, <8 x i64> {}", part_of(f, f.whole, sum, first, 8),
                    part_of(f, f.whole, a, first, 8), part_of(f, f.whole, b, first, 8)));
  });
}

}  // namespace

bool has_avx512(const Floats& f) {
  const int most = most_lanes(f);
  return f.w.target.family == VectorTarget::Family::x86 && f.w.target.vector_bytes == 64 &&
         f.lanes > 0 && (f.lanes == most / 4 || f.lanes == most / 2 || f.lanes % most == 0);
}

bool has_whole_avx512(const Floats& f) { return has_avx512(f) && f.lanes % most_lanes(f) == 0; }

std::string avx512(const Floats& f, std::string_view name, std::vector<std::string> in,
                   std::string_view immediate) {
  const int most = most_lanes(f), each = std::min(f.lanes, most);
  const std::string type = LlvmWriter::vector_of(f.scalar, each);
  return joined(f, f.scalar, each, [&](int first) {
    std::string arguments;
    for (const std::string& x : in)
      arguments += fmt::format("{} {}, ", type, part_of(f, f.scalar, x, first, each));
    arguments += fmt::format("{}{} zeroinitializer, {} -1{}", immediate, type,
                             each == 16 ? "i16" : "i8", each == most ? ", i32 4" : "");
    return f.w.call(type,
                    fmt::format("llvm.x86.avx512.mask.{}.p{}.{}", name, f.wide ? "d" : "s",
                                (f.wide ? 64 : 32) * each),
                    arguments);
  });
}

std::string avx512_whole_where(const Floats& f, const std::string& condition,
                               const std::string& y) {
  const int each = most_lanes(f);
  const std::string floats = LlvmWriter::vector_of(f.scalar, each);
  const std::string bits = LlvmWriter::vector_of(f.whole, each);
  const std::string_view mask_type = f.wide ? "i8" : "i16";
  return joined(f, f.scalar, each, [&](int first) {
    const std::string part = part_of(f, f.scalar, y, first, each);
    const std::string mask = f.w.set("bitcast <{} x i1> {} to {}", each,
                                     part_of(f, "i1", condition, first, each), mask_type);
    const std::string otherwise = f.w.set("bitcast {} {} to {}", floats, part, bits);
    const std::string whole = f.w.call(
        bits, fmt::format("llvm.x86.avx512.mask.cvt{}.512", f.wide ? "pd2qq" : "ps2dq"),
        fmt::format("{} {}, {} {}, {} {}, i32 4", floats, part, bits, otherwise, mask_type, mask));
    return f.w.set("bitcast {} {} to {}", bits, whole, floats);
  });
}

std::string avx512_lookup(const Floats& f, std::span<const double, 8> table,
                          const std::string& index) {
  std::vector<std::string> elements;
  for (double x : table)
    elements.push_back(fmt::format("double 0x{:016X}", std::bit_cast<std::uint64_t>(x)));
  return joined(f, f.scalar, 8, [&](int first) {
    return f.w.call("<8 x double>", "llvm.x86.avx512.permvar.df.512",
                    fmt::format("<8 x double> <{}>, <8 x i64> {}", fmt::join(elements, ", "),
                                part_of(f, f.whole, index, first, 8)));
  });
}

bool has_word_products(const Floats& f) {
  return f.wide && f.w.target.word_products && has_whole_avx512(f);
}

std::string avx512_word(const Floats& f, std::span<const std::uint64_t, 16> table,
                        const std::string& index) {
  const auto half = [&](std::size_t first) {
    std::vector<std::string> words;
    for (std::uint64_t word : table.subspan(first, 8)) words.push_back(fmt::format("i64 {}", word));
    return fmt::format("<8 x i64> <{}>", fmt::join(words, ", "));
  };
  return joined(f, f.whole, 8, [&](int first) {
    return f.w.call("<8 x i64>", "llvm.x86.avx512.vpermi2var.q.512",
                    fmt::format("{}, <8 x i64> {}, {}", half(0),
                                part_of(f, f.whole, index, first, 8), half(8)));
  });
}

std::string add_low_product(const Floats& f, const std::string& sum, const std::string& a,
                            const std::string& b) {
  return add_product(f, "l", sum, a, b);
}

std::string add_high_product(const Floats& f, const std::string& sum, const std::string& a,
                             const std::string& b) {
  return add_product(f, "h", sum, a, b);
}

std::string shifted_words(const Floats& f, const std::string& high, const std::string& low,
                          const std::string& count) {
  return f.w.call(f.integers, "llvm.fshl." + LlvmWriter::suffix(f.whole, f.lanes),
                  fmt::format("{0} {1}, {0} {2}, {0} {3}", f.integers, high, low, count));
}

std::string is_subnormal(const Floats& f, const std::string& x) {
  if (has_avx512(f)) return of_class(f, x, kSubnormal);
  const std::int64_t normal = f.bits_of_number(f.of_width(0x1p-126, 0x1p-1022));
  return f.compare("ult", f.bits("sub", f.magnitude(x), f.integer(1)), f.integer(normal - 1));
}

std::string is_infinite_or_nan(const Floats& f, const std::string& x) {
  return of_class(f, x, kInfiniteOrNan);
}

}  // namespace heddle
