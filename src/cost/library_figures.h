// How much faster oneDNN is on this machine than what is there without it, as `heddle calibrate`
// has measured it.
#pragma once

#include "heddle/error.h"

namespace heddle {

// 0: nobody has measured.
struct LibraryFigures {
  double products = 0;        // of f32
  double short_products = 0;  // of bf16
  double convolutions = 0;
};

// Those that were kept for this kind of machine.
LibraryFigures kept_library_figures();
// A reason where there is no cache directory, or no room in it.
Verdict keep_library_figures(const LibraryFigures& figures);

}  // namespace heddle
