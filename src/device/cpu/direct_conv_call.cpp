// Convolutions by oneDNN: each worker has slices of its own, which the library computes on that
// worker's thread. What does not lie channel by channel is copied before and after.
#include "device/cpu/direct_conv.h"
#include "heddle/op.h"

namespace heddle::cpu {

std::unique_ptr<LibraryCall> direct_conv_call(const Program& program, const Op& op, int workers) {
  const Type& input = program.type_of(program.operands(op)[0]);
  const Type& kernel = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  if (op.operand_count != 2 || input.dtype != kernel.dtype || !is_float(input.dtype) ||
      (result.dtype != input.dtype && result.dtype != DType::f32) || !dnn::has_type(input.dtype))
    return nullptr;
  const reduction::Conv conv = reduction::conv_of(program, op);
  if (conv.feature_groups != 1 || conv.batch_groups != 1) return nullptr;
  if (input.elements() == 0 || kernel.elements() == 0 || result.elements() == 0) return nullptr;
  const direct::ConvTypes types{input.dtype, result.dtype};
  for (const ConvForm& form :
       conv_forms(conv, {input.shape, kernel.shape, result.shape}, {}, ConvPadding::uneven)) {
    if (!form.channels_last) continue;
    auto call = form.kind == ConvKind::weight_gradient
                    ? direct::kernel_conv_call(form, types, workers, result.shape)
                    : direct::images_conv_call(form, types, workers, result.shape);
    if (call) return call;
  }
  return nullptr;
}

}  // namespace heddle::cpu
