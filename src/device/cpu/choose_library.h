// Which library computes what: the one that was faster when this machine was calibrated.
#pragma once

#include <cstdint>

#include "cost/library_figures.h"

namespace heddle::cpu {

// Products of f32, of shorter numbers, and convolutions.
enum class LibraryWork : std::uint8_t { product, short_product, convolution };

// Whether oneDNN is the one, where it is there.
bool prefers_onednn(LibraryWork work, const LibraryFigures& figures);
// On this machine, as it was when the process began.
bool prefers_onednn(LibraryWork work);

// Measures all three; zeros where oneDNN is not there.
LibraryFigures measure_libraries();

}  // namespace heddle::cpu
