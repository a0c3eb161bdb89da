#include "device/cpu/library.h"

#include "device/cpu/calls.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

using Make = std::unique_ptr<LibraryCall> (*)(const Program&, const Op&);

Make maker_of(DeviceCall call) {
  switch (call) {
    case DeviceCall::top_k:
      return top_k_call;
    case DeviceCall::convolution:
      return conv_call;
    case DeviceCall::slice_update:
      return slice_update_call;
    case DeviceCall::fft:
      return fft_call;
    case DeviceCall::scatter:
      return scatter_call;
    case DeviceCall::select_and_scatter:
      return select_scatter_call;
    case DeviceCall::sort:
      return sort_call;
    case DeviceCall::product:  // made with its views
    case DeviceCall::product_then:
    case DeviceCall::none:
      break;
  }
  return nullptr;
}

}  // namespace

bool has_library_call(const OpDef& def) { return def.call != DeviceCall::none; }

std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                          const ProductViews* views) {
  if (op.def->call == DeviceCall::product) return dot_call(program, op, views);
  const Make make = maker_of(op.def->call);
  return make == nullptr ? lapack_call(program, op) : make(program, op);
}

}  // namespace heddle::cpu
