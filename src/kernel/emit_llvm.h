// A kernel as LLVM IR in text (LLVM 19), with explicit vectors. No LLVM is needed to write it.
//
// One function per phase:
//   void @phase<N>(ptr buffers, i64 first_block, i64 last_block, ptr scratch, i64 chunk)
// `buffers` holds an address per KernelBuffer, by number; those of reach `block` are not looked at:
// they lie in the scratch of the worker. All addresses are 64-byte aligned.
#pragma once

#include <set>
#include <string>

#include "heddle/kernel.h"

namespace heddle {

struct VectorTarget {
  enum class Family : std::uint8_t {
    generic,  // scalar functions of the C library
    x86,      // SLEEF's functions for AVX-512 and AVX2
    arm,      // SLEEF's functions for AdvSIMD
  };
  Family family = Family::generic;
  int vector_bytes = 16;
  // Floats may be regrouped and contracted; infinities and NaN keep their meaning.
  bool fast_math = false;
  // AVX-512 has products of 52 bits and shifts of pairs of words.
  bool word_products = false;
};

// Refuses what kernels cannot hold: complex numbers, floats below 16 bits and integers below 8.
Expected<std::string> emit_llvm(const Kernel& kernel, const VectorTarget& target);

// For texts of several kernels: the functions alone, as @<prefix>phase<N>, which become a part of
// whoever calls them; and what such a text has once.
Expected<std::string> emit_llvm_parts(const Kernel& kernel, std::string_view prefix,
                                      const VectorTarget& target,
                                      std::set<std::string>& declarations);
std::string llvm_text(std::string_view functions, const std::set<std::string>& declarations,
                      const VectorTarget& target);

}  // namespace heddle
