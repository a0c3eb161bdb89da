// scatter: updates go to places that index vectors name, combined by the region.
#include "ir/eval/index.h"
#include "ir/eval/scalar.h"
#include "ir/rules/index_dims.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// Operands are the inputs, the indices and the updates, as many as there are inputs.
std::size_t inputs_of(const Op& op) { return (op.operand_count - 1) / 2; }

// The same kind of number, at least as wide.
bool is_promotable(DType from, DType to) {
  bool same_kind = is_integer(from) == is_integer(to) && is_float(from) == is_float(to) &&
                   is_complex(from) == is_complex(to);
  return same_kind && bits(from) <= bits(to);
}

Verdict check_inputs_and_updates(const Program& program, const Op& op, std::size_t n) {
  const Type& input = operand_type(program, op, 0);
  const Type& update = operand_type(program, op, n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const Type& other = operand_type(program, op, i);
    HEDDLE_TRY_VOID(check_shape(op, "C1", input.shape, other));
    HEDDLE_TRY_VOID(check_shape(op, "C3", update.shape, operand_type(program, op, n + 1 + i)));
    HEDDLE_TRY_VOID(check_same_dtype(op, "C6", other, operand_type(program, op, n + 1 + i)));
  }
  return yes();
}

// C4: updates are as large as the indices say, with windows no larger than the inputs.
Verdict check_update_shape(const Op& op, const IndexDims& dims, const Type& input,
                           const Type& indices, const Type& update) {
  Index window;
  auto axes = window_axes(dims, input.rank());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    window.push_back(update.shape[static_cast<std::size_t>(dims.window[i])]);
    if (window[i] > input.shape[axes[i]])
      return broken(op, "C4", "a window of {} along dimension {} of {}", window[i], axes[i],
                    input.str());
  }
  HEDDLE_TRY(Shape expected, combined_shape(op, "C4", dims, indices.shape, window));
  return check_shape(op, "C4", expected, update);
}

// The results have the shapes of the inputs and the element types that the region works in.
Expected<ResultTypes> updated_types(const Program& program, const Op& op, std::size_t n) {
  const auto returned =
      program.operands(program.op(program.region(program.regions(op)[0]).ops.back()));
  std::vector<Type> scalars;
  ResultTypes types;
  for (std::size_t i = 0; i < n; ++i) {
    const Type& input = operand_type(program, op, i);
    const DType dtype = i < returned.size() ? program.type_of(returned[i]).dtype : input.dtype;
    scalars.push_back(Type::tensor(dtype, {}));
    types.add(typed(Type::tensor(dtype, input.shape), "C23", "C24"));
  }
  std::vector<Type> takes = scalars;
  takes.insert(takes.end(), scalars.begin(), scalars.end());
  HEDDLE_TRY_VOID(check_region(program, op, 0, "C23", takes, scalars));
  for (std::size_t i = 0; i < n; ++i)
    if (!is_promotable(operand_type(program, op, i).dtype, scalars[i].dtype))
      return broken(op, "C23", "{} cannot become {}", operand_type(program, op, i).str(),
                    name(scalars[i].dtype));
  return types;
}

// Where an update goes; false where that is outside of the inputs.
class Targets {
 public:
  Targets(const EvalContext& ctx, const IndexDims& dims, const Shape& input, std::size_t updates)
      : shape_(input),
        strides_(row_major_strides(input)),
        windows_(window_axes(dims, input.size())),
        batch_axes_(axes_except(updates, dims.window)),
        batch_(batch_axes_.size()),
        dims_(dims),
        starts_(ctx.operands[inputs_of(ctx.op)], dims, input.size()) {}

  bool find(const Index& update, std::int64_t& flat) {
    for (std::size_t i = 0; i < batch_.size(); ++i) batch_[i] = update[batch_axes_[i]];
    place_ = starts_.start(batch_);
    const Index& position = starts_.batch_position(batch_);
    for (std::size_t d = 0; d < place_.size(); ++d) place_[d] += position[d];
    for (std::size_t i = 0; i < windows_.size(); ++i)
      if (__builtin_add_overflow(place_[windows_[i]],
                                 update[static_cast<std::size_t>(dims_.window[i])],
                                 &place_[windows_[i]]))
        return false;
    for (std::size_t d = 0; d < place_.size(); ++d)
      if (place_[d] < 0 || place_[d] >= shape_[d]) return false;
    flat = flat_index(place_, strides_);
    return true;
  }

 private:
  Shape shape_;
  Index strides_;
  std::vector<std::size_t> windows_, batch_axes_;
  Index batch_, place_;
  const IndexDims& dims_;
  StartIndices starts_;
};

void store(Array& array, std::int64_t flat, const Array& scalar) {
  auto size = static_cast<std::size_t>(byte_size(array.dtype()));
  std::memcpy(array.mutable_bytes().data() + static_cast<std::size_t>(flat) * size,
              scalar.element(0).data(), size);
}

}  // namespace

Expected<ResultTypes> scatter_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  std::size_t n = inputs_of(op);
  if (op.operand_count != 2 * n + 1 || (results_given(op) && op.result_count != n))
    return broken(op, "C5", "{} operands and {} results are not as many inputs as updates",
                  op.operand_count, op.result_count);
  HEDDLE_TRY_VOID(check_inputs_and_updates(program, op, n));
  const Type& input = operand_type(program, op, 0);
  const Type& indices = operand_type(program, op, n);
  const Type& update = operand_type(program, op, n + 1);
  HEDDLE_TRY(IndexDims dims, scatter_dims(program, op));
  HEDDLE_TRY_VOID(check_scatter_dims(op, dims, input, indices, update.rank()));
  HEDDLE_TRY_VOID(check_update_shape(op, dims, input, indices, update));
  return updated_types(program, op, n);
}

// Updates are applied in row-major order of their own shape; those outside are left out.
Expected<std::vector<Array>> eval_scatter(EvalContext& ctx) {
  HEDDLE_TRY(IndexDims dims, scatter_dims(ctx.program, ctx.op));
  std::size_t n = inputs_of(ctx.op);
  std::vector<Array> results, updates;
  for (std::size_t i = 0; i < n; ++i) {
    results.push_back(converted(ctx.operands[i], ctx.result_type(i).dtype));
    updates.push_back(converted(ctx.operands[n + 1 + i], ctx.result_type(i).dtype));
  }
  const Shape& update_shape = updates[0].shape();
  Targets targets(ctx, dims, results[0].shape(), update_shape.size());
  std::int64_t update = -1, flat = 0;
  for (IndexWalk at(update_shape); at; ++at) {
    ++update;
    if (!targets.find(*at, flat)) continue;
    std::vector<Array> args;
    for (const Array& array : results) args.push_back(element_array(array, flat));
    for (const Array& array : updates) args.push_back(element_array(array, update));
    HEDDLE_TRY(std::vector<Array> values, ctx.run_region(ctx.region(0), std::move(args)));
    for (std::size_t i = 0; i < n; ++i) store(results[i], flat, values[i]);
  }
  return results;
}

}  // namespace heddle
