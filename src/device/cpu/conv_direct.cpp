// Convolutions by oneDNN: each worker has slices of its own, which the library computes on that
// worker's thread. What does not lie channel by channel is copied before and after.
#include <algorithm>
#include <cstring>

#include "device/cpu/calls.h"
#include "device/cpu/conv_slices.h"
#include "device/cpu/element.h"
#include "device/cpu/onednn.h"
#include "device/cpu/places.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

using dnn::Desc;
using dnn::Dims;
using dnn::Memory;
using dnn::Primitive;

std::int64_t product_of(const Dims& sizes) {
  std::int64_t all = 1;
  for (std::int64_t size : sizes) all *= size;
  return all;
}

// Batch, channels, places; dense with the channels last.
struct Images {
  DType dtype;
  std::int64_t batch, channels;
  Dims places;

  Dims dims() const {
    Dims all = {batch, channels};
    all.insert(all.end(), places.begin(), places.end());
    return all;
  }
  Dims strides() const {
    Dims all(places.size() + 2, 1);
    std::int64_t step = channels;
    for (std::size_t s = places.size(); s-- > 0; step *= places[s]) all[2 + s] = step;
    all[0] = step;
    return all;
  }
  std::optional<Desc> desc() const { return Desc::strided(dtype, dims(), strides()); }
  std::int64_t row() const { return product_of(places) / places[0] * channels; }
  std::int64_t image() const { return product_of(places) * channels; }
  std::int64_t bytes() const { return batch * image() * byte_size(dtype); }
  Images of(std::int64_t images, std::int64_t rows) const {
    Images part = *this;
    part.batch = images;
    part.places[0] = rows;
    return part;
  }
};

// Strides of first, second and places, from those of first, places and second; places that a
// form has more than the program are of one element.
Dims in_order(const Dims& strides, std::size_t skipped, std::size_t places) {
  Dims all = {strides[skipped], strides.back()};
  const std::size_t there = strides.size() - skipped - 2;
  all.insert(all.end(), places - there, strides[skipped]);
  all.insert(all.end(), strides.begin() + static_cast<std::ptrdiff_t>(skipped) + 1,
             strides.end() - 1);
  return all;
}

// Images that lie otherwise, and the copy of one of them from there or to there.
struct Copy {
  std::int64_t start = 0, image_step = 0;
  Desc dense, apart;
  Primitive primitive;

  static std::optional<Copy> make(const Images& images, const Dims& strides, std::int64_t start,
                                  bool to_dense) {
    const Images one = images.of(1, images.places[0]);
    const auto dense = one.desc(), apart = Desc::strided(one.dtype, one.dims(), strides);
    if (!dense || !apart) return {};
    const auto primitive =
        to_dense ? Primitive::reorder(*apart, *dense) : Primitive::reorder(*dense, *apart);
    if (!primitive) return {};
    return Copy{start, strides[0], *dense, *apart, *primitive};
  }
};

// What of the result's elements lies where, in the order of `in_order`; nothing where it is not all
// that was made.
std::optional<Dims> result_strides(const Rearrangement& move, const Shape& result,
                                   std::size_t places) {
  const std::vector<std::int64_t> steps = steps_of(result);
  Dims strides(places + 2, result.empty() ? 1 : steps[0] * result[0]);
  const std::size_t missing = places + 2 - move.axes.size();
  for (std::size_t d = 0; d < move.dims.size(); ++d) {
    const Rearrangement::Dim& dim = move.dims[d];
    if (dim.step != 1 || dim.size != move.axes[dim.axis].size || move.axes[dim.axis].offset != 0)
      return {};
    strides[dim.axis < 2 ? dim.axis : dim.axis + missing] = steps[d];
  }
  return strides;
}

struct ConvTypes {
  DType operand, result;
};

// What all three kinds have in common.
class DirectConv : public LibraryCall {
 public:
  DirectConv(ConvForm form, ConvTypes types, int workers)
      : form_(std::move(form)), types_(types), workers_(workers) {}

  std::string text() const override {
    static constexpr const char* kKinds[] = {"conv", "conv gradient", "conv kernel gradient"};
    return fmt::format("{} {}x{}x{} {}, onednn", kKinds[static_cast<int>(form_.kind)], rows(),
                       form_.features, depth(), name(types_.operand));
  }
  std::int64_t workspace_bytes() const override { return end_; }

  StepWork work() const override {
    StepWork all;
    if (parts_ > 1) ++all.launches;
    const auto parts = static_cast<double>(parts_);
    const auto rows_of_part = static_cast<double>(rows()) / parts;
    all.products.push_back({rows_of_part, static_cast<double>(form_.features),
                            static_cast<double>(depth()), parts,
                            static_cast<double>(byte_size(types_.operand)) / 4, parts});
    return all;
  }

 protected:
  std::int64_t rows() const { return form_.batch * product_of(form_.places); }
  std::int64_t depth() const { return form_.channels * product_of(form_.window); }
  dnn::Window window() const {
    return {form_.stride, form_.dilation, form_.padding, form_.padding_behind};
  }
  Images x() const { return {types_.operand, form_.batch, form_.channels, form_.image}; }
  Images y() const { return {types_.operand, form_.batch, form_.features, form_.places}; }

  // Room in the workspace.
  std::int64_t room(std::int64_t bytes) {
    const std::int64_t at = end_;
    end_ += rounded_up(bytes);
    return at;
  }
  void add_scratch(std::int64_t bytes) {
    scratch_step_ = rounded_up(bytes);
    scratch_at_ = room(scratch_step_ * workers_);
  }
  std::byte* scratch(const CallFrame& frame, int worker) const {
    return frame.workspace + scratch_at_ + worker * scratch_step_;
  }

  // A copy of an operand's images, where they are not dense already; false where none can be made.
  struct Source {
    std::optional<Copy> copy = {};
    std::int64_t at = 0;
  };
  std::optional<Source> source_of(const Rearrangement& move, const Images& images) {
    if (!move.is_view()) return {};
    if (move.is_identity()) return Source{};
    const Dims strides = in_order(move.strides(), 0, images.places.size());
    if (std::ranges::any_of(strides, [](std::int64_t s) { return s <= 0; })) return {};
    auto copy = Copy::make(images, strides, move.start(), true);
    if (!copy) return {};
    return Source{std::move(copy), room(images.bytes())};
  }

  // The images, dense.
  const std::byte* read(const CallFrame& frame, std::size_t operand, const Source& source,
                        const Images& images) const {
    const std::byte* from = frame.operands[operand];
    if (!source.copy) return from;
    const Copy& copy = *source.copy;
    const std::int64_t size = byte_size(images.dtype);
    std::byte* to = frame.workspace + source.at;
    frame.pool.parallel_for(images.batch, [&](std::int64_t i, int worker) {
      const Memory apart(copy.apart, from + (copy.start + i * copy.image_step) * size);
      const Memory dense(copy.dense, to + i * images.image() * size);
      copy.primitive.run(apart, nullptr, dense, scratch(frame, worker));
    });
    return to;
  }

  ConvForm form_;
  ConvTypes types_;
  std::int64_t workers_;
  std::int64_t parts_ = 1, end_ = 0;
  std::int64_t scratch_at_ = 0, scratch_step_ = 0;
};

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
      if (!strides || !(result_ = Copy::make(to(), *strides, 0, false))) return false;
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

template <typename Call>
std::unique_ptr<LibraryCall> prepared(const ConvForm& form, ConvTypes types, int workers,
                                      const Shape& result) {
  auto call = std::make_unique<Call>(form, types, workers);
  if (!call->prepare(result)) return nullptr;
  return call;
}

}  // namespace

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
  const ConvTypes types{input.dtype, result.dtype};
  for (const ConvForm& form :
       conv_forms(conv, {input.shape, kernel.shape, result.shape}, {}, ConvPadding::uneven)) {
    if (!form.channels_last) continue;
    auto call = form.kind == ConvKind::weight_gradient
                    ? prepared<KernelConv>(form, types, workers, result.shape)
                    : prepared<ImagesConv>(form, types, workers, result.shape);
    if (call) return call;
  }
  return nullptr;
}

}  // namespace heddle::cpu
