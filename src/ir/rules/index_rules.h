// The index rules of the op table's rows, and how pieces of these ops differ from the op.
#pragma once

#include "ir/rules/piece_edit.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

// Elementwise, and elements that change places.
IndexRule imag_index_rule(const Program& program, const Op& op);
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
IndexRule dynamic_pad_index_rule(const Program& program, const Op& op);
IndexRule dimension_size_index_rule(const Program& program, const Op& op);
IndexRule set_dimension_size_index_rule(const Program& program, const Op& op);
void edit_constant_piece(PieceEdit& edit);
void edit_iota_piece(PieceEdit& edit);
void edit_broadcast_piece(PieceEdit& edit);
void edit_pad_piece(PieceEdit& edit);
void edit_slice_piece(PieceEdit& edit);

// Reductions and products.
IndexRule reduce_index_rule(const Program& program, const Op& op);
IndexRule dot_general_index_rule(const Program& program, const Op& op);
IndexRule dot_index_rule(const Program& program, const Op& op);
IndexRule einsum_index_rule(const Program& program, const Op& op);  // unary_einsum too

// What slides over its operand.
IndexRule reduce_window_index_rule(const Program& program, const Op& op);
IndexRule select_and_scatter_index_rule(const Program& program, const Op& op);
IndexRule convolution_index_rule(const Program& program, const Op& op);
IndexRule dynamic_conv_index_rule(const Program& program, const Op& op);
void edit_reduce_window_piece(PieceEdit& edit);
void edit_select_and_scatter_piece(PieceEdit& edit);
void edit_convolution_piece(PieceEdit& edit);  // dynamic_conv too

// Places that are data.
IndexRule dynamic_slice_index_rule(const Program& program, const Op& op);
IndexRule dynamic_update_slice_index_rule(const Program& program, const Op& op);
IndexRule gather_index_rule(const Program& program, const Op& op);
IndexRule dynamic_gather_index_rule(const Program& program, const Op& op);
IndexRule scatter_index_rule(const Program& program, const Op& op);
IndexRule sort_index_rule(const Program& program, const Op& op);
IndexRule torch_index_select_index_rule(const Program& program, const Op& op);
void edit_dynamic_slice_piece(PieceEdit& edit);
void edit_dynamic_update_slice_piece(PieceEdit& edit);
void edit_gather_piece(PieceEdit& edit);
void edit_scatter_piece(PieceEdit& edit);
void edit_torch_index_select_piece(PieceEdit& edit);

// Transforms, solvers, normalisation, random numbers.
IndexRule fft_index_rule(const Program& program, const Op& op);
IndexRule cholesky_index_rule(const Program& program, const Op& op);
IndexRule lapack_index_rule(const Program& program, const Op& op);
IndexRule triangular_solve_index_rule(const Program& program, const Op& op);
IndexRule batch_norm_inference_index_rule(const Program& program, const Op& op);
IndexRule batch_norm_training_index_rule(const Program& program, const Op& op);
IndexRule batch_norm_grad_index_rule(const Program& program, const Op& op);
IndexRule rng_index_rule(const Program& program, const Op& op);
IndexRule rng_bit_generator_index_rule(const Program& program, const Op& op);
void edit_random_piece(PieceEdit& edit);

// Between devices.
IndexRule all_gather_index_rule(const Program& program, const Op& op);
IndexRule reduce_scatter_index_rule(const Program& program, const Op& op);
IndexRule all_to_all_index_rule(const Program& program, const Op& op);

// The client dialect.
IndexRule chlo_broadcast_index_rule(const Program& program, const Op& op);
IndexRule top_k_index_rule(const Program& program, const Op& op);
IndexRule ragged_dot_index_rule(const Program& program, const Op& op);

// Loops and branches: what every op of their regions leaves apart can be split.
IndexRule control_index_rule(const Program& program, const Op& op);

}  // namespace heddle
