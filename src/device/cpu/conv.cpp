// convolution by tiles: each worker lays out what the window sees, then multiplies.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cost/fitted.h"
#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "device/cpu/choose_library.h"
#include "device/cpu/conv_depthwise.h"
#include "device/cpu/conv_fill.h"
#include "device/cpu/gemm.h"
#include "device/cpu/places.h"
#include "heddle/op.h"

namespace heddle::cpu {

namespace {

std::vector<Depth> cut_depth(const ConvPlan& plan) {
  std::vector<Depth> cuts;
  if (plan.inputs >= cost::kTileDepth) {
    for (std::int64_t w = 0; w < plan.window_count; ++w)
      for (std::int64_t i = 0; i < plan.inputs; i += cost::kTileDepth)
        cuts.push_back({w, w + 1, i, std::min(plan.inputs, i + cost::kTileDepth)});
    return cuts;
  }
  std::int64_t windows =
      std::max<std::int64_t>(1, cost::kTileDepth / std::max<std::int64_t>(plan.inputs, 1));
  if (windows > plan.last_window) windows = windows / plan.last_window * plan.last_window;
  for (std::int64_t w = 0; w < plan.window_count; w += windows)
    cuts.push_back({w, std::min(plan.window_count, w + windows), 0, plan.inputs});
  return cuts;
}

template <typename T>
class Tiles {
 public:
  Tiles(const ConvPlan& plan, const T* input, const T* weights, T* result)
      : plan_(plan), fill_(plan), input_(input), weights_(weights), result_(result) {}

  // Rows first … last - 1 of a group. `seen` and `sums` are the worker's own.
  void run(std::int64_t group, std::int64_t first, std::int64_t last,
           const std::vector<Depth>& depths, T* seen, T* sums) const {
    if (plan_.by_features) return run_by_features(group, first, last, depths, seen);
    const T* input = input_ + group * plan_.in_group;
    const bool in_result = plan_.out_feature == 1 && plan_.row_step >= plan_.outputs;
    T* out = in_result ? result_ + group * plan_.out_group + first * plan_.row_step : sums;
    GemmShape shape{.m = last - first,
                    .n = plan_.outputs,
                    .ldb = plan_.outputs,
                    .ldc = in_result ? plan_.row_step : plan_.outputs};
    for (const Depth& depth : depths) {
      shape.k = depth.size();
      const T* a = seen;
      if (plan_.direct_step > 0) {
        a = input + first * plan_.direct_step + depth.input;
        shape.lda = plan_.direct_step;
      } else if (plan_.in_feature == 1) {
        fill_.by_rows(input, first, last, depth, seen);
        shape.lda = shape.k;
      } else {
        fill_.by_columns(input, first, last, depth, seen);
        shape.lda = shape.m;
        shape.transpose_a = true;
      }
      gemm(shape, a, weights(group, depth), out);
      shape.accumulate = true;
    }
    if (!in_result) scatter(group, first, last, sums);
  }

 private:
  const T* weights(std::int64_t group, const Depth& depth) const {
    return weights_ +
           (group * plan_.depth() + depth.window * plan_.inputs + depth.input) * plan_.outputs;
  }

  // Rows of one image; the product gives a line per feature, as the result has them.
  void run_by_features(std::int64_t group, std::int64_t first, std::int64_t last,
                       const std::vector<Depth>& depths, T* seen) const {
    const auto [image, place] = plan_.split(first);
    const T* input = input_ + group * plan_.in_group;
    T* out = result_ + group * plan_.out_group + image * plan_.out_batch + place;
    GemmShape shape{.m = plan_.outputs,
                    .n = last - first,
                    .lda = plan_.outputs,
                    .ldc = plan_.out_feature,
                    .transpose_a = true};
    for (const Depth& depth : depths) {
      shape.k = depth.size();
      const T* b = seen;
      if (plan_.direct_features) {
        b = input + image * plan_.in_batch + place + depth.input * plan_.in_feature;
        shape.ldb = plan_.in_feature;
      } else if (plan_.in_feature == 1) {
        fill_.by_rows(input, first, last, depth, seen);
        shape.ldb = shape.k;
        shape.transpose_b = true;
      } else {
        fill_.by_columns(input, first, last, depth, seen);
        shape.ldb = shape.n;
      }
      gemm(shape, weights(group, depth), b, out);
      shape.accumulate = true;
    }
  }

  void scatter(std::int64_t group, std::int64_t first, std::int64_t last, const T* sums) const {
    T* out = result_ + group * plan_.out_group;
    for (std::int64_t row = first; row < last; ++row) {
      auto [image, place] = plan_.split(row);
      std::int64_t at = image * plan_.out_batch;
      for (std::size_t s = plan_.places.size(); s-- > 0; place /= plan_.places[s])
        at += place % plan_.places[s] * plan_.out_spatial[s];
      for (std::int64_t o = 0; o < plan_.outputs; ++o) out[at + o * plan_.out_feature] = *sums++;
    }
  }

  const ConvPlan& plan_;
  WindowFill<T> fill_;
  const T* input_;
  const T* weights_;
  T* result_;
};

class ConvCall final : public LibraryCall {
 public:
  ConvCall(ConvPlan plan, const Type& input, const Type& kernel, const Type& result, DType dtype)
      : plan_(std::move(plan)),
        input_(input),
        kernel_(kernel),
        result_(result),
        dtype_(dtype),
        depths_(cut_depth(plan_)) {
    std::int64_t deepest = 1;
    for (const Depth& d : depths_) deepest = std::max(deepest, d.size());
    const std::int64_t threads = ThreadPool::shared().threads();
    const double work = static_cast<double>(plan_.rows()) * static_cast<double>(plan_.outputs) *
                        static_cast<double>(plan_.depth()) * static_cast<double>(plan_.groups);
    alone_ = work < cost::kSharedConvolution || threads == 1;
    span_ = plan_.by_features ? plan_.place_count : plan_.rows();
    const std::int64_t parts = alone_ ? 1 : 4 * threads;
    const std::int64_t wanted = (plan_.rows() * plan_.groups + parts - 1) / parts;
    tile_rows_ = std::min({std::max(cost::kLeastTileRows, wanted),
                           std::max(cost::kLeastTileRows, cost::kTileElements / deepest),
                           cost::kMostTileRows, std::max<std::int64_t>(span_, 1)});
    if (tile_rows_ > cost::kRowsAtOnce)
      tile_rows_ = tile_rows_ / cost::kRowsAtOnce * cost::kRowsAtOnce;
    const std::int64_t size = byte_size(dtype);
    seen_bytes_ = rounded_up(tile_rows_ * deepest * size);
    tile_bytes_ = seen_bytes_ + rounded_up(tile_rows_ * plan_.outputs * size);
    weights_at_ = threads * tile_bytes_;
    const bool pack_weights = !plan_.weights_dense || kernel.dtype != dtype;
    input_at_ = weights_at_ + (pack_weights ? rounded_up(kernel.elements() * size) : 0);
    result_at_ = input_at_ + (input.dtype == dtype ? 0 : rounded_up(input.elements() * size));
    end_ = result_at_ + (result.dtype == dtype ? 0 : rounded_up(result.elements() * size));
  }

  std::string text() const override {
    return fmt::format("conv {}x{}x{} {}{}", plan_.rows(), plan_.outputs, plan_.depth(),
                       name(dtype_), plan_.groups > 1 ? fmt::format(" x{}", plan_.groups) : "");
  }
  std::int64_t workspace_bytes() const override { return end_; }

  StepWork work() const override {
    const double rows = static_cast<double>(plan_.rows() * plan_.groups);
    const auto depth = static_cast<double>(plan_.depth());
    const auto outputs = static_cast<double>(plan_.outputs);
    StepWork all;
    if (!alone_) ++all.launches;
    KernelWork& work = alone_ ? all.alone : all.shared;
    if (plan_.depthwise) {
      work.light += 2 * rows * depth;
      work.runs += static_cast<double>(plan_.rows()) * depth;
      return all;
    }
    work.runs += runs_to_fill();
    if (plan_.direct_step == 0 && !plan_.direct_features) work.light += 2 * rows * depth;
    if (input_.dtype != dtype_) work += packed_work({{input_.elements(), 1}}, true);
    if (input_at_ > weights_at_) work += packed_work(plan_.weights, kernel_.dtype != dtype_);
    if (result_.dtype != dtype_) work += packed_work({{result_.elements(), 1}}, true);
    const double tiles = std::max(1.0, std::ceil(rows / static_cast<double>(tile_rows_)));
    const auto deep = static_cast<double>(depths_.size());
    all.products.push_back({rows / tiles, outputs, depth / deep, tiles * deep,
                            static_cast<double>(byte_size(dtype_)) / 4, alone_ ? 1 : tiles});
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::byte* input = frame.operands[0];
    const std::byte* weights = frame.operands[1];
    if (input_.dtype != dtype_) {
      pack(input, input_.dtype, {{input_.elements(), 1}}, frame.workspace + input_at_, dtype_,
           frame.pool);
      input = frame.workspace + input_at_;
    }
    weights += plan_.weights_start * byte_size(kernel_.dtype);
    if (input_at_ > weights_at_) {
      pack(weights, kernel_.dtype, plan_.weights, frame.workspace + weights_at_, dtype_,
           frame.pool);
      weights = frame.workspace + weights_at_;
    }
    std::byte* result = result_.dtype == dtype_ ? frame.results[0] : frame.workspace + result_at_;
    std::byte* start = result + plan_.out_start * byte_size(dtype_);
    if (plan_.depthwise)
      run_rows(frame, input, weights, start);
    else
      with_product_type(dtype_, [&](auto tag) {
        using T = decltype(tag);
        run_tiles<T>(frame, input, weights, start);
      });
    if (result_.dtype != dtype_)
      pack(result, dtype_, {{result_.elements(), 1}}, frame.results[0], result_.dtype, frame.pool);
    return yes();
  }

 private:
  // Copies of what lies side by side, over all rows: lines of the window, or elements of it where
  // lines are broken; with features apart, lines of places for every element and feature.
  double runs_to_fill() const {
    if (plan_.direct_step > 0 || plan_.direct_features) return 0;
    const double rows = static_cast<double>(plan_.rows() * plan_.groups);
    const bool broken = plan_.last_window > 1 && !plan_.in_spatial.empty() &&
                        plan_.in_spatial.back() != plan_.inputs;
    if (plan_.in_feature == 1)
      return rows * static_cast<double>(broken ? plan_.window_count : plan_.outer_window);
    const double line = plan_.batch_inside ? static_cast<double>(plan_.batch)
                                           : static_cast<double>(plan_.last_place);
    // One copy, where a line of a window has one and what is beside it.
    constexpr double kOne = 0.5;
    return kOne * rows / std::max(1.0, line) * static_cast<double>(plan_.depth());
  }

  void run_rows(const CallFrame& frame, const std::byte* input, const std::byte* weights,
                std::byte* result) const {
    const std::int64_t rows = plan_.rows();
    const std::int64_t parts =
        alone_ ? 1 : std::min<std::int64_t>(rows, std::int64_t{4} * frame.pool.threads());
    frame.pool.parallel_for(parts, [&](std::int64_t part, int) {
      run_depthwise(plan_, dtype_, input, weights, result, rows * part / parts,
                    rows * (part + 1) / parts);
    });
  }

  template <typename T>
  void run_tiles(const CallFrame& frame, const std::byte* input, const std::byte* weights,
                 std::byte* result) const {
    const Tiles<T> tiles(plan_, reinterpret_cast<const T*>(input),
                         reinterpret_cast<const T*>(weights), reinterpret_cast<T*>(result));
    const std::int64_t per_span = (span_ + tile_rows_ - 1) / tile_rows_;
    const std::int64_t per_group = per_span * (plan_.rows() / span_);
    const auto one = [&](std::int64_t i, int worker) {
      const std::int64_t span = i % per_group / per_span * span_;
      const std::int64_t first = i % per_span * tile_rows_;
      std::byte* own = frame.workspace + worker * tile_bytes_;
      tiles.run(i / per_group, span + first, span + std::min(span_, first + tile_rows_), depths_,
                reinterpret_cast<T*>(own), reinterpret_cast<T*>(own + seen_bytes_));
    };
    const std::int64_t count = plan_.groups * per_group;
    if (!alone_) return frame.pool.parallel_for(count, one);
    for (std::int64_t i = 0; i < count; ++i) one(i, 0);
  }

  ConvPlan plan_;
  Type input_, kernel_, result_;
  DType dtype_;
  std::vector<Depth> depths_;
  bool alone_ = false;     // too little to wake others for
  std::int64_t span_ = 1;  // rows that tiles do not cross
  std::int64_t tile_rows_ = 1, seen_bytes_ = 0, tile_bytes_ = 0;
  std::int64_t weights_at_ = 0, input_at_ = 0, result_at_ = 0, end_ = 0;
};

// A convolution over an input with holes, as one for each class of places that meets the same
// elements of the window.
class SplitConvCall final : public LibraryCall {
 public:
  SplitConvCall(std::vector<ConvCall> parts, std::string text, std::int64_t zeros)
      : parts_(std::move(parts)), text_(std::move(text)), zeros_(zeros) {}

  std::string text() const override { return text_; }
  StepWork work() const override {
    StepWork all;
    for (const ConvCall& part : parts_) {
      const StepWork one = part.work();
      all.alone += one.alone;
      all.shared += one.shared;
      all.launches += one.launches;
      all.products.insert(all.products.end(), one.products.begin(), one.products.end());
    }
    return all;
  }
  std::int64_t workspace_bytes() const override {
    std::int64_t most = 0;
    for (const ConvCall& part : parts_) most = std::max(most, part.workspace_bytes());
    return most;
  }
  Verdict run(const CallFrame& frame) const override {
    if (zeros_ > 0) std::memset(frame.results[0], 0, static_cast<std::size_t>(zeros_));
    for (const ConvCall& part : parts_) HEDDLE_TRY_VOID(part.run(frame));
    return yes();
  }

 private:
  std::vector<ConvCall> parts_;
  std::string text_;
  std::int64_t zeros_;  // bytes of the result, where some places meet holes only
};

// One class per dimension, in all ways.
std::vector<std::vector<ConvClass>> all_classes(const reduction::Conv& conv, const Shape& result,
                                                bool may_split) {
  std::vector<std::vector<ConvClass>> all = {{}};
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    const std::int64_t places = result[static_cast<std::size_t>(conv.dims.output_spatial[s])];
    std::vector<ConvClass> along = {{.places = places, .taps = conv.axes[s].window}};
    if (may_split && conv.axes[s].base_dilation > 1) along = classes_of(conv.axes[s], places);
    std::vector<std::vector<ConvClass>> more;
    for (const auto& before : all)
      for (const ConvClass& own : along) {
        more.push_back(before);
        more.back().push_back(own);
      }
    all = std::move(more);
  }
  return all;
}

}  // namespace

std::unique_ptr<LibraryCall> conv_call(const Program& program, const Op& op) {
  if (prefers_onednn(LibraryWork::convolution))
    if (auto call = direct_conv_call(program, op, ThreadPool::shared().threads())) return call;
  return tiled_conv_call(program, op);
}

std::unique_ptr<LibraryCall> tiled_conv_call(const Program& program, const Op& op) {
  const Type& input = program.type_of(program.operands(op)[0]);
  const Type& kernel = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  const auto dtype = product_dtype(input.dtype, kernel.dtype, result.dtype);
  if (!dtype || op.operand_count != 2) return nullptr;
  if (input.elements() == 0 || kernel.elements() == 0 || result.elements() == 0) return nullptr;
  const bool is_float = *dtype == DType::f32 || *dtype == DType::f64;
  const bool same = input.dtype == *dtype && kernel.dtype == *dtype && result.dtype == *dtype;
  const reduction::Conv conv = reduction::conv_of(program, op);
  const auto call = [&](const std::vector<ConvClass>& classes) {
    return ConvCall(plan_conv(conv, input.shape, kernel.shape, result.shape, is_float, classes),
                    input, kernel, result, *dtype);
  };
  const auto whole = all_classes(conv, result.shape, false);
  const auto split = all_classes(conv, result.shape, same && is_float);
  if (split.size() == 1) return std::make_unique<ConvCall>(call(whole[0]));
  std::vector<ConvCall> parts;
  std::int64_t zeros = 0;
  for (const auto& classes : split) {
    if (std::ranges::any_of(classes, [](const ConvClass& c) { return c.taps == 0; }))
      zeros = result.bytes();
    else
      parts.push_back(call(classes));
  }
  std::string text = call(whole[0]).text() + fmt::format(", {} parts", parts.size());
  return std::make_unique<SplitConvCall>(std::move(parts), std::move(text), zeros);
}

}  // namespace heddle::cpu
