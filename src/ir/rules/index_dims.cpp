#include "ir/rules/index_dims.h"

#include "ir/shape_rules.h"

namespace heddle {

namespace {

// How one of the two ops names the numbers, and the labels of its constraints.
struct Names {
  std::string_view window, collapsed, batching, indices_batching, map;
  std::string_view rank, vector_range, map_size, window_order, window_range, collapsed_unique,
      collapsed_sorted, collapsed_range, batching_sorted, batching_range, indices_unique,
      indices_range, indices_vector, batching_sizes, batching_dims, map_unique, map_range;
};

constexpr Names kGather = {"offset_dims",
                           "collapsed_slice_dims",
                           "operand_batching_dims",
                           "start_indices_batching_dims",
                           "start_index_map",
                           "C1",
                           "C2",
                           "C3",
                           "C4",
                           "C5",
                           "C6",
                           "C7",
                           "C8",
                           "C10",
                           "C11",
                           "C13",
                           "C14",
                           "C15",
                           "C16",
                           "C17",
                           "C18",
                           "C19"};
constexpr Names kScatter = {"update_window_dims",
                            "inserted_window_dims",
                            "input_batching_dims",
                            "scatter_indices_batching_dims",
                            "scatter_dims_to_operand_dims",
                            "C2",
                            "C22",
                            "C19",
                            "C7",
                            "C8",
                            "C9",
                            "C10",
                            "C11",
                            "C12",
                            "C13",
                            "C14",
                            "C15",
                            "C16",
                            "C17",
                            "C18",
                            "C20",
                            "C21"};

Expected<IndexDims> read_dims(const Program& program, const Op& op, std::string_view attribute,
                              const Names& names) {
  OpAttrs attrs{program, op};
  IndexDims dims;
  HEDDLE_TRY(dims.window, attrs.field_integers(attribute, names.window));
  HEDDLE_TRY(dims.collapsed, attrs.field_integers(attribute, names.collapsed));
  HEDDLE_TRY(dims.batching, attrs.field_integers(attribute, names.batching));
  HEDDLE_TRY(dims.indices_batching, attrs.field_integers(attribute, names.indices_batching));
  HEDDLE_TRY(dims.map, attrs.field_integers(attribute, names.map));
  HEDDLE_TRY(dims.vector, attrs.field_integer(attribute, "index_vector_dim", 0));
  return dims;
}

Index joined(Index a, const Index& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Verdict check_vectors(const Op& op, const IndexDims& dims, const Type& indices, const Names& n) {
  auto rank = static_cast<std::int64_t>(indices.rank());
  if (!is_integer(indices.dtype))
    return broken(op, "I2", "indices must be integers, got {}", indices.str());
  if (dims.vector < 0 || dims.vector > rank)
    return broken(op, n.vector_range, "index_vector_dim = {} is not in 0 … {}, the rank of {}",
                  dims.vector, rank, indices.str());
  std::int64_t length =
      dims.vector < rank ? indices.shape[static_cast<std::size_t>(dims.vector)] : 1;
  if (static_cast<std::int64_t>(dims.map.size()) != length)
    return broken(op, n.map_size, "{} = {} has {} values, but index vectors in {} have {}", n.map,
                  list_text(dims.map), dims.map.size(), indices.str(), length);
  return yes();
}

Verdict check_window(const Op& op, const IndexDims& dims, const Type& operand, std::size_t outside,
                     const Names& n) {
  if (operand.rank() != dims.window.size() + dims.collapsed.size() + dims.batching.size())
    return broken(op, n.rank, "{} has rank {}, but {}, {} and {} have {}, {} and {} values",
                  operand.str(), operand.rank(), n.window, n.collapsed, n.batching,
                  dims.window.size(), dims.collapsed.size(), dims.batching.size());
  HEDDLE_TRY_VOID(check_unique(op, n.window_order, n.window, dims.window));
  HEDDLE_TRY_VOID(check_sorted(op, n.window_order, n.window, dims.window));
  HEDDLE_TRY_VOID(check_axes(op, n.window_range, n.window, dims.window, outside));
  HEDDLE_TRY_VOID(check_unique(op, n.collapsed_unique,
                               fmt::format("{} with {}", n.collapsed, n.batching),
                               joined(dims.collapsed, dims.batching)));
  HEDDLE_TRY_VOID(check_sorted(op, n.collapsed_sorted, n.collapsed, dims.collapsed));
  return check_axes(op, n.collapsed_range, n.collapsed, dims.collapsed, operand.rank());
}

Verdict check_batching(const Op& op, const IndexDims& dims, const Type& operand,
                       const Type& indices, const Names& n) {
  HEDDLE_TRY_VOID(check_sorted(op, n.batching_sorted, n.batching, dims.batching));
  HEDDLE_TRY_VOID(check_axes(op, n.batching_range, n.batching, dims.batching, operand.rank()));
  HEDDLE_TRY_VOID(check_unique(op, n.indices_unique, n.indices_batching, dims.indices_batching));
  HEDDLE_TRY_VOID(
      check_axes(op, n.indices_range, n.indices_batching, dims.indices_batching, indices.rank()));
  HEDDLE_TRY_VOID(check_count(op, n.batching_sizes, n.indices_batching,
                              dims.indices_batching.size(), dims.batching.size()));
  for (std::size_t i = 0; i < dims.batching.size(); ++i) {
    std::int64_t a = dims.batching[i], b = dims.indices_batching[i];
    if (b == dims.vector)
      return broken(op, n.indices_vector, "{} = {} has index_vector_dim = {} in it",
                    n.indices_batching, list_text(dims.indices_batching), b);
    if (operand.shape[static_cast<std::size_t>(a)] != indices.shape[static_cast<std::size_t>(b)])
      return broken(op, n.batching_dims,
                    "batching sizes differ: dimension {} of {} and dimension {} of {}", a,
                    operand.str(), b, indices.str());
  }
  return yes();
}

Verdict check_dims(const Op& op, const IndexDims& dims, const Type& operand, const Type& indices,
                   std::size_t outside, const Names& n) {
  HEDDLE_TRY_VOID(check_vectors(op, dims, indices, n));
  HEDDLE_TRY_VOID(check_window(op, dims, operand, outside, n));
  HEDDLE_TRY_VOID(check_batching(op, dims, operand, indices, n));
  HEDDLE_TRY_VOID(check_unique(op, n.map_unique, fmt::format("{} with {}", n.map, n.batching),
                               joined(dims.map, dims.batching)));
  return check_axes(op, n.map_range, n.map, dims.map, operand.rank());
}

}  // namespace

Expected<IndexDims> gather_dims(const Program& program, const Op& op) {
  return read_dims(program, op, "dimension_numbers", kGather);
}

Expected<IndexDims> scatter_dims(const Program& program, const Op& op) {
  return read_dims(program, op, "scatter_dimension_numbers", kScatter);
}

Verdict check_gather_dims(const Op& op, const IndexDims& dims, const Type& operand,
                          const Type& indices, std::size_t outside) {
  return check_dims(op, dims, operand, indices, outside, kGather);
}

Verdict check_scatter_dims(const Op& op, const IndexDims& dims, const Type& operand,
                           const Type& indices, std::size_t outside) {
  return check_dims(op, dims, operand, indices, outside, kScatter);
}

std::vector<std::size_t> axes_except(std::size_t rank, std::span<const std::int64_t> left_out) {
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < rank; ++d)
    if (std::find(left_out.begin(), left_out.end(), static_cast<std::int64_t>(d)) == left_out.end())
      axes.push_back(d);
  return axes;
}

std::vector<std::size_t> window_axes(const IndexDims& dims, std::size_t operand_rank) {
  return axes_except(operand_rank, joined(dims.collapsed, dims.batching));
}

Expected<Shape> combined_shape(const Op& op, std::string_view label, const IndexDims& dims,
                               const Shape& indices, std::span<const std::int64_t> window_sizes) {
  Index vector{dims.vector};
  auto batch = axes_except(indices.size(), vector);
  Shape shape(batch.size() + dims.window.size(), -1);
  for (std::size_t i = 0; i < dims.window.size(); ++i) {
    auto d = static_cast<std::size_t>(dims.window[i]);
    if (d >= shape.size())
      return broken(op, label, "window dimension {} does not fit into {} dimensions", d,
                    shape.size());
    shape[d] = window_sizes[i];
  }
  auto others = axes_except(shape.size(), dims.window);
  for (std::size_t i = 0; i < others.size(); ++i) shape[others[i]] = indices[batch[i]];
  return shape;
}

StartIndices::StartIndices(const Array& indices, const IndexDims& dims, std::size_t operand_rank)
    : indices_(indices),
      dims_(dims),
      strides_(row_major_strides(indices.shape())),
      start_(operand_rank, 0),
      position_(operand_rank, 0) {}

const Index& StartIndices::start(std::span<const std::int64_t> batch) {
  auto vector = static_cast<std::size_t>(dims_.vector);
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < batch.size(); ++i)
    flat += batch[i] * strides_[i < vector ? i : i + 1];
  std::int64_t step = vector < strides_.size() ? strides_[vector] : 0;
  for (std::size_t i = 0; i < dims_.map.size(); ++i)
    start_[static_cast<std::size_t>(dims_.map[i])] =
        integer_at(indices_, flat + static_cast<std::int64_t>(i) * step);
  return start_;
}

const Index& StartIndices::batch_position(std::span<const std::int64_t> batch) {
  for (std::size_t i = 0; i < dims_.batching.size(); ++i) {
    std::int64_t d = dims_.indices_batching[i];
    position_[static_cast<std::size_t>(dims_.batching[i])] =
        batch[static_cast<std::size_t>(d < dims_.vector ? d : d - 1)];
  }
  return position_;
}

}  // namespace heddle
