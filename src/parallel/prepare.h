// Rewrites that make more of a program splittable.
#pragma once

#include "heddle/program.h"

namespace heddle {

// Updates of a part that lies at a place known beforehand, as x.at[1:-1].set(y) gives them, become
// a pad and a choice by place: what is next to a part's edge then comes from neighbours.
// Tuples that are only put together and taken apart are gone.
Expected<Program> with_known_places(const Program& program);

// Equal parts that a value is cut into, or put together of, get a dimension of their own; but for
// rows of arguments and results where these lie on stages of their own.
Expected<Program> with_even_parts(const Program& program, bool rows_lie_on_stages = false);

// Pooling backwards of what was padded with the least value pads by itself, so that parts of it
// have their edges where those of the image lie.
Expected<Program> with_padding_pools(const Program& program);
// The other way round, when devices have their parts: padding may be selected behind a number that
// is none, so that results are those of the program that came in.
Expected<Program> with_pads_apart(Program program);

// What a loop makes of values that it does not change, and no larger than these, comes before it.
Expected<Program> with_invariants_outside(const Program& program);

// Equal reshapes, transposes and slices of one value are one.
Expected<Program> with_shared_moves(const Program& program);

// Values without elements, as slices of nothing are, become constants, and are not put together
// with others.
Expected<Program> without_empty_values(const Program& program);

}  // namespace heddle
