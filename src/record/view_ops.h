// Views as ops: reading the elements that a view shows, and a store in which they are others.
#pragma once

#include <optional>

#include "heddle/affine_view.h"
#include "heddle/builder.h"

namespace heddle::record {

// What the view shows of a store's value, in the view's shape.
Var read_box(Builder& builder, Var store, const AffineView& view, const BoxView& box);
// A store that is all of `value`, which has the view's shape: the box is whole.
Var write_whole(Builder& builder, Var value, const Type& type, const BoxView& box);
// The store with `value`, which has the view's shape, where the view shows it. The view repeats
// nothing.
Var write_box(Builder& builder, Var store, Var value, const BoxView& box);

// find_box, remembered: a loop asks for the same few views again and again. Holds until the next
// question.
const std::optional<BoxView>& box_of(const AffineView& view, const Shape& shape);
// meet, likewise.
const Meeting& meeting_of(const AffineView& a, const AffineView& b, const Shape& shape);

// Whether a view shows some element more than once.
bool repeats(const AffineView& view);

}  // namespace heddle::record
