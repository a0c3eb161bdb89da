// Quotients of f32 in the text of a GPU: which can be had for less than a division.
#pragma once

#include <optional>
#include <vector>

#include "heddle/kernel.h"

namespace heddle {

// Of a constant that is a power of two, so that a product with it gives the bits of a division.
std::optional<std::uint64_t> exact_inverse(const Node& node);
// 1 / (1 + exp(x)), in f32: what the logistic function is, and as accurate.
bool is_logistic(const Stage& stage, const Node& node);
// By node: whether f32 numbers are divided by it, and not in one of these ways.
std::vector<bool> divisors(const Stage& stage);
// By node: whether all that is made of it has at most 11 of its digits.
std::vector<bool> narrowed_numbers(const Stage& stage);
// By node: whether it is the power in a logistic function that only products need which are
// narrowed so; a power that is good to five digits will do.
std::vector<bool> near_powers(const Stage& stage);

}  // namespace heddle
