// Figures that count where nobody has measured, or where a program must have the same choices on
// every machine.
#pragma once

namespace heddle::cost {

// Seconds of a message between ranks of one machine.
inline constexpr double kMessageSeconds = 5e-6;
// Additions, counted one by one, in the time of a fused product and sum.
inline constexpr double kAdditionsOfAProduct = 2;
// A product of a contraction beside a point of what reads and writes memory.
inline constexpr double kProductOfAPoint = 0.1;
// Products that a device computes while it reads or writes a byte.
inline constexpr double kProductsOfAByte = 64;
// Work below which a collective takes longer to begin: bytes, and products of contractions.
inline constexpr double kLeastBytesBesideAMove = 1 << 16;
inline constexpr double kLeastProductsBesideAMove = 1 << 18;

}  // namespace heddle::cost
