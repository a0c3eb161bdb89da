// The index rules of the op table's rows, and how pieces of these ops differ from the op.
#pragma once

#include "ir/piece_edit.h"
#include "ir/rule_builder.h"

namespace heddle {

// Elementwise, and elements that change places.
IndexRule bitcast_index_rule(const Program& program, const Op& op);
IndexRule constant_index_rule(const Program& program, const Op& op);  // iota too
IndexRule reshape_index_rule(const Program& program, const Op& op);
IndexRule broadcast_index_rule(const Program& program, const Op& op);
IndexRule broadcast_in_dim_index_rule(const Program& program, const Op& op);
IndexRule transpose_index_rule(const Program& program, const Op& op);
IndexRule reverse_index_rule(const Program& program, const Op& op);
IndexRule concatenate_index_rule(const Program& program, const Op& op);
IndexRule pad_index_rule(const Program& program, const Op& op);
IndexRule slice_index_rule(const Program& program, const Op& op);
// Sizes come as data: the elements are known, but a piece has other data.
IndexRule dynamic_iota_index_rule(const Program& program, const Op& op);
IndexRule dynamic_reshape_index_rule(const Program& program, const Op& op);
IndexRule dynamic_broadcast_index_rule(const Program& program, const Op& op);
IndexRule real_dynamic_slice_index_rule(const Program& program, const Op& op);
IndexRule dimension_size_index_rule(const Program& program, const Op& op);
void edit_constant_piece(PieceEdit& edit);
void edit_iota_piece(PieceEdit& edit);
void edit_broadcast_piece(PieceEdit& edit);
void edit_pad_piece(PieceEdit& edit);
void edit_slice_piece(PieceEdit& edit);

// Reductions and products.
IndexRule reduce_index_rule(const Program& program, const Op& op);
IndexRule dot_general_index_rule(const Program& program, const Op& op);

// Loops and branches: what every op of their regions leaves apart can be split.
IndexRule control_index_rule(const Program& program, const Op& op);

}  // namespace heddle
