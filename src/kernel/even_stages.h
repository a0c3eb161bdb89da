// Stages of one phase over rows of nearly the same length, made the same length.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// Where a stage writes rows with a few elements more than others of its phase go along, as rows of
// a matrix whose rows lie further apart, these go along the few more too: what they read there lies
// in the buffer, and what they sum up is what changes nothing. Loads that a guard kept within the
// shorter row are done everywhere, and chosen from. All stages then have the same points, in whole
// vectors.
void make_stages_even(Kernel& kernel);

}  // namespace heddle
