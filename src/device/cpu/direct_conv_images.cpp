// Convolutions and the gradients of their inputs by oneDNN.
#include <algorithm>
#include <cstring>

#include "device/cpu/direct_conv.h"
#include "device/cpu/element.h"

namespace heddle::cpu::direct {

namespace {

// A forward convolution, or the gradient of its input.
class ImagesConv final : public DirectConv {
 public:
  using DirectConv::DirectConv;

  bool prepare(const Shape& result) {
    slices_ = slice_conv(form_, workers_ == 1 ? 1 : 2 * workers_);
    parts_ = static_cast<std::int64_t>(slices_.size());
    for (const ConvSlice& slice : slices_)
      if (!add_kind(slice)) return false;
    auto source = source_of(form_.moves[0], from());
    if (!source || !set_weights()) return false;
    source_ = *std::move(source);
    if (!form_.moves[2].is_identity()) {
      const auto strides = result_strides(form_.moves[2], result, form_.image.size());
      if (strides) result_ = Copy::make(to(), *strides, 0, false);
      if (!result_) return false;
      result_at_ = room(to().bytes());
    }
    std::int64_t most = reorder_->scratch_bytes();
    for (const Kind& kind : kinds_) most = std::max(most, kind.primitive.scratch_bytes());
    if (source_.copy) most = std::max(most, source_.copy->primitive.scratch_bytes());
    if (result_) most = std::max(most, result_->primitive.scratch_bytes());
    add_scratch(most);
    return true;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* in = read(frame, 0, source_, from());
    const std::byte* plain = frame.operands[1];
    if (packed_) {
      pack(plain + form_.moves[1].start() * byte_size(types_.operand), types_.operand,
           packed_walk(), frame.workspace + packed_at_, types_.operand, frame.pool);
      plain = frame.workspace + packed_at_;
    } else {
      plain += form_.moves[1].start() * byte_size(types_.operand);
    }
    const Memory given(*given_, plain);
    const Memory weights(kinds_[0].primitive.weights(), frame.workspace + weights_at_);
    reorder_->run(given, nullptr, weights, scratch(frame, 0));
    std::byte* out = result_ ? frame.workspace + result_at_ : frame.results[0];
    const auto one = [&](std::int64_t i, int worker) {
      run_slice(slices_[static_cast<std::size_t>(i)], kind_of_[static_cast<std::size_t>(i)], in,
                weights, out, scratch(frame, worker));
    };
    if (parts_ == 1)
      one(0, 0);
    else
      frame.pool.parallel_for(parts_, one);
    if (result_) write(frame, out);
    return yes();
  }

 private:
  // Slices that are alike.
  struct Kind {
    ConvSlice slice;
    Desc in, out;
    Primitive primitive;
  };

  Images from() const { return form_.kind == ConvKind::forward ? x() : y(); }
  Images to() const {
    Images made = form_.kind == ConvKind::forward ? y() : x();
    made.dtype = types_.result;
    return made;
  }

  bool add_kind(const ConvSlice& slice) {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      if (kinds_[k].slice.is_like(slice)) {
        kind_of_.push_back(k);
        return true;
      }
    Dims dims = {form_.features, form_.channels};
    dims.insert(dims.end(), form_.window.begin(), form_.window.end());
    const auto in = from().of(slice.images, slice.rows_read).desc();
    const auto out = to().of(slice.images, slice.rows).desc();
    // All read the weights as the first wants them.
    const auto weights =
        kinds_.empty() ? Desc::any(types_.operand, dims) : kinds_[0].primitive.weights();
    if (!in || !out || !weights) return false;
    dnn::Window own = window();
    own.padding[0] = slice.padding;
    own.padding_behind[0] = slice.padding_behind;
    const auto primitive = form_.kind == ConvKind::forward
                               ? Primitive::forward({*in, *weights, *out}, own)
                               : Primitive::data_gradient({*out, *weights, *in}, own);
    if (!primitive) return false;
    kind_of_.push_back(kinds_.size());
    kinds_.push_back({slice, *in, *out, *primitive});
    return true;
  }

  std::vector<Stride> packed_walk() const {
    const Rearrangement& move = form_.moves[1];
    std::vector<Stride> walk;
    for (const Rearrangement::Dim& dim : move.dims)
      walk.push_back({dim.size, dim.step * move.axes[dim.axis].stride});
    return walk;
  }

  // The kernel as it is given, which may be turned over first, and how it becomes what is wanted.
  bool set_weights() {
    const Rearrangement& move = form_.moves[1];
    if (!move.is_view()) return false;
    Dims strides = move.strides();
    packed_ = std::ranges::any_of(strides, [](std::int64_t s) { return s < 0; });
    if (packed_) {
      std::int64_t step = 1;
      for (std::size_t d = strides.size(); d-- > 0; step *= move.dims[d].size) strides[d] = step;
      packed_at_ = room(step * byte_size(types_.operand));
    }
    Dims dims = {form_.features, form_.channels};
    dims.insert(dims.end(), form_.window.begin(), form_.window.end());
    // The gradient of the input has groups in front, of which there is one.
    const std::size_t skipped = form_.kind == ConvKind::forward ? 0 : 1;
    given_ = Desc::strided(types_.operand, dims, in_order(strides, skipped, form_.window.size()));
    if (!given_) return false;
    reorder_ = Primitive::reorder(*given_, kinds_[0].primitive.weights());
    if (!reorder_) return false;
    weights_at_ = room(kinds_[0].primitive.weights().bytes());
    return true;
  }

  void run_slice(const ConvSlice& slice, std::size_t k, const std::byte* in, const Memory& weights,
                 std::byte* out, std::byte* scratch) const {
    const Kind& kind = kinds_[k];
    const Images a = from(), b = to();
    const std::int64_t read = slice.first_image * a.image() + slice.first_read * a.row();
    const std::int64_t written = slice.first_image * b.image() + slice.first_row * b.row();
    const Memory first(kind.in, in + read * byte_size(a.dtype));
    const Memory result(kind.out, out + written * byte_size(b.dtype));
    kind.primitive.run(first, &weights, result, scratch);
  }

  void write(const CallFrame& frame, const std::byte* made) const {
    const Images images = to();
    const std::int64_t size = byte_size(images.dtype);
    frame.pool.parallel_for(images.batch, [&](std::int64_t i, int worker) {
      const Memory dense(result_->dense, made + i * images.image() * size);
      const Memory apart(result_->apart, frame.results[0] + i * result_->image_step * size);
      result_->primitive.run(dense, nullptr, apart, scratch(frame, worker));
    });
  }

  std::vector<ConvSlice> slices_;
  std::vector<std::size_t> kind_of_;  // by slice
  std::vector<Kind> kinds_;
  Source source_;
  std::optional<Desc> given_;
  std::optional<Primitive> reorder_;
  std::optional<Copy> result_;
  bool packed_ = false;
  std::int64_t packed_at_ = 0, weights_at_ = 0, result_at_ = 0;
};

}  // namespace

std::unique_ptr<LibraryCall> images_conv_call(const ConvForm& form, ConvTypes types, int workers,
                                              const Shape& result) {
  auto call = std::make_unique<ImagesConv>(form, types, workers);
  if (!call->prepare(result)) return nullptr;
  return call;
}

}  // namespace heddle::cpu::direct
