// What the choice, the price and the writers of an op's part all ask.
#pragma once

#include "heddle/price.h"
#include "parallel/window.h"

namespace heddle {

// Axes along which the pieces of an op have partial results.
SplitAxes summed_axes(const IndexRule& rule, const FactorAxes& axes);

// Elements of a factor that one piece has; the last piece of an uneven split has fewer.
std::int64_t piece_size(const IndexRule& rule, const FactorAxes& axes, std::size_t factor);

// The rule with windows that fill their pieces: the last piece is as large as the others, and what
// it has beyond the end counts as zero.
IndexRule with_whole_windows(const IndexRule& rule, const FactorAxes& axes);

// The factor along which concatenate joins its operands, whose dimension has the same number; -1
// for all other ops.
int joined_factor(const Program& program, const Op& op);
// Which elements of an operand a piece of the joined dimension may take.
Window joined_window(const Program& program, const Op& op, const SplitAxes& axes,
                     std::size_t operand);

// A slice without steps, of one dimension alone.
bool cuts_only(const Program& program, const Op& op, std::size_t dim);

// Whether results are the operands as they are, one by one, and have nothing to do with each other.
bool gives_operands(const Op& op);

// The choice with these factors split, which are legal.
Choice splits_for(OnMesh& on, OpId id, const IndexRule& rule, FactorAxes axes);

// By what the choice is to be written.
PartWay way_of(const Program& program, const Op& op, const IndexRule& rule, const Choice& choice);

}  // namespace heddle
