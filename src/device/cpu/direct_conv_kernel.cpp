// Gradients of convolutions' kernels by oneDNN.
#include <algorithm>
#include <cstring>

#include "device/cpu/direct_conv.h"
#include "device/cpu/element.h"

namespace heddle::cpu::direct {

namespace {

// The gradient of a kernel: channels of both operands are cut, and what is cut is copied.
class KernelConv final : public DirectConv {
 public:
  using DirectConv::DirectConv;

  bool prepare(const Shape& result) {
    slices_ = slice_channels(form_, workers_);
    parts_ = static_cast<std::int64_t>(slices_.size());
    auto first = source_of(form_.moves[0], x()), second = source_of(form_.moves[1], y());
    const auto strides = result_strides(form_.moves[2], result, form_.window.size());
    if (!first || !second || !strides) return false;
    x_source_ = *std::move(first);
    y_source_ = *std::move(second);
    strides_ = *strides;
    for (const ChannelSlice& slice : slices_)
      if (!add_kind(slice)) return false;
    if (slices_[0].channels < form_.channels) x_at_ = room(x().bytes());
    if (slices_[0].features < form_.features) y_at_ = room(y().bytes());
    std::int64_t made = 0, most = 0;
    for (const Kind& kind : kinds_) {
      made = std::max(made, kind.primitive.weights().bytes());
      most = std::max({most, kind.primitive.scratch_bytes(), kind.reorder.scratch_bytes()});
    }
    for (const Source* source : {&x_source_, &y_source_})
      if (source->copy) most = std::max(most, source->copy->primitive.scratch_bytes());
    made_step_ = rounded_up(made);
    made_at_ = room(made_step_ * workers_);
    add_scratch(most);
    return true;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* first = read(frame, 0, x_source_, x());
    const std::byte* second = read(frame, 1, y_source_, y());
    if (x_at_ >= 0) first = cut(frame, first, x(), true);
    if (y_at_ >= 0) second = cut(frame, second, y(), false);
    const auto one = [&](std::int64_t i, int worker) {
      run_slice(frame, static_cast<std::size_t>(i), first, second, worker);
    };
    if (parts_ == 1)
      one(0, 0);
    else
      frame.pool.parallel_for(parts_, one);
    return yes();
  }

 private:
  struct Kind {
    std::int64_t features, channels;
    Desc x, y, result;
    Primitive primitive, reorder;
  };

  bool add_kind(const ChannelSlice& slice) {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      if (kinds_[k].features == slice.features && kinds_[k].channels == slice.channels) {
        kind_of_.push_back(k);
        return true;
      }
    Images own_x = x(), own_y = y();
    own_x.channels = slice.channels;
    own_y.channels = slice.features;
    Dims dims = {slice.features, slice.channels};
    dims.insert(dims.end(), form_.window.begin(), form_.window.end());
    const auto dx = own_x.desc(), dy = own_y.desc(), any = Desc::any(types_.result, dims),
               result = Desc::strided(types_.result, dims, strides_);
    if (!dx || !dy || !any || !result) return false;
    const auto primitive = Primitive::weight_gradient({*dx, *any, *dy}, window());
    if (!primitive) return false;
    const auto reorder = Primitive::reorder(primitive->weights(), *result);
    if (!reorder) return false;
    kind_of_.push_back(kinds_.size());
    kinds_.push_back({slice.features, slice.channels, *dx, *dy, *result, *primitive, *reorder});
    return true;
  }

  // The channels of each slice dense by themselves, one slice after the other.
  const std::byte* cut(const CallFrame& frame, const std::byte* from, const Images& images,
                       bool is_x) const {
    std::byte* to = frame.workspace + (is_x ? x_at_ : y_at_);
    const std::int64_t size = byte_size(images.dtype),
                       rows = images.batch * product_of(images.places);
    const std::int64_t parts = std::min<std::int64_t>(rows, 4 * frame.pool.threads());
    frame.pool.parallel_for(parts, [&](std::int64_t part, int) {
      for (const ChannelSlice& slice : slices_) {
        if ((is_x ? slice.first_feature : slice.first_channel) > 0) continue;  // once each
        const std::int64_t first = is_x ? slice.first_channel : slice.first_feature;
        const std::int64_t count = is_x ? slice.channels : slice.features;
        for (std::int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row)
          std::memcpy(to + (first * rows + row * count) * size,
                      from + (row * images.channels + first) * size,
                      static_cast<std::size_t>(count * size));
      }
    });
    return to;
  }

  void run_slice(const CallFrame& frame, std::size_t i, const std::byte* first,
                 const std::byte* second, int worker) const {
    const ChannelSlice& slice = slices_[i];
    const Kind& kind = kinds_[kind_of_[i]];
    const std::int64_t size = byte_size(types_.operand);
    const std::int64_t images = form_.batch * product_of(form_.image) * slice.first_channel;
    const Memory a(kind.x, first + images * size);
    const Memory b(kind.y, second + rows() * slice.first_feature * size);
    const Memory made(kind.primitive.weights(), frame.workspace + made_at_ + worker * made_step_);
    kind.primitive.run(a, &b, made, scratch(frame, worker));
    const std::int64_t at = slice.first_feature * strides_[0] + slice.first_channel * strides_[1];
    const Memory result(kind.result, frame.results[0] + at * byte_size(types_.result));
    kind.reorder.run(made, nullptr, result, scratch(frame, worker));
  }

  std::vector<ChannelSlice> slices_;
  std::vector<std::size_t> kind_of_;  // by slice
  std::vector<Kind> kinds_;
  Source x_source_, y_source_;
  Dims strides_;
  std::int64_t x_at_ = -1, y_at_ = -1, made_at_ = 0, made_step_ = 0;
};

}  // namespace

std::unique_ptr<LibraryCall> kernel_conv_call(const ConvForm& form, ConvTypes types, int workers,
                                              const Shape& result) {
  auto call = std::make_unique<KernelConv>(form, types, workers);
  if (!call->prepare(result)) return nullptr;
  return call;
}

}  // namespace heddle::cpu::direct
