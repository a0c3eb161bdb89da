// Instructions of AVX-512 that LLVM makes of nothing else, and what takes their place.
#pragma once

#include <span>

#include "kernel/emit_llvm_floats.h"

namespace heddle {

// Whether there are such instructions for these vectors; longer ones are taken in parts.
bool has_avx512(const Floats& f);
// Whether parts of 64 bytes are all there is.
bool has_whole_avx512(const Floats& f);

// An instruction on one or two vectors; `immediate` follows them in the call.
std::string avx512(const Floats& f, std::string_view name, std::vector<std::string> in,
                   std::string_view immediate = {});

// y, or where the condition holds its nearest whole number as the bits of a float.
std::string avx512_whole_where(const Floats& f, const std::string& condition, const std::string& y);

// Of each lane of whole vectors of f64 the element of a table that the index says.
std::string avx512_lookup(const Floats& f, std::span<const double, 8> table,
                          const std::string& index);

// Whether there are products of 52 bits for these vectors, and shifts of pairs of words.
bool has_word_products(const Floats& f);
// Of each lane the word of a table that the last 4 bits of the index say.
std::string avx512_word(const Floats& f, std::span<const std::uint64_t, 16> table,
                        const std::string& index);
// sum + the lower or higher 52 bits of the product of two numbers of 52 bits, whatever is above.
std::string add_low_product(const Floats& f, const std::string& sum, const std::string& a,
                            const std::string& b);
std::string add_high_product(const Floats& f, const std::string& sum, const std::string& a,
                             const std::string& b);
// The first word of two that are shifted to the left.
std::string shifted_words(const Floats& f, const std::string& high, const std::string& low,
                          const std::string& count);

// Whether x is subnormal; by its bits on other processors.
std::string is_subnormal(const Floats& f, const std::string& x);
// By an instruction of AVX-512.
std::string is_infinite_or_nan(const Floats& f, const std::string& x);

}  // namespace heddle
