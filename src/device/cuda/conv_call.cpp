#include "device/cuda/conv_call.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "device/conv_form.h"
#include "device/cuda/blas.h"
#include "device/cuda/dnn_conv.h"
#include "device/cuda/dnn_library.h"
#include "heddle/builder.h"
#include "heddle/log.h"
#include "heddle/op.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kRoomAligned = 256;
constexpr std::int64_t kMostWindows = 1LL << 30;  // bytes of windows that are written out at a time

struct ConvTypes {
  Type input, kernel, result;

  ConvTypes(const Program& program, const Op& op)
      : input(program.type_of(program.operands(op)[0])),
        kernel(program.type_of(program.operands(op)[1])),
        result(program.type_of(program.result(op, 0))) {}

  ConvShapes shapes() const { return {input.shape, kernel.shape, result.shape}; }
  std::string text() const {
    const auto sizes = [](const Type& type) {
      return fmt::format("{}", fmt::join(type.shape, "x"));
    };
    return fmt::format("{} * {} {}", sizes(input), sizes(kernel), name(input.dtype));
  }
};

// One that is no identity, and where in the workspace what it makes lies.
struct Move {
  std::optional<RearrangeWork> work;
  std::int64_t at = 0, bytes = 0;
};

// Room in the workspace, piece after piece.
class Room {
 public:
  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = bytes_;
    bytes_ += (bytes + kRoomAligned - 1) / kRoomAligned * kRoomAligned;
    return at;
  }
  std::int64_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + kRoomAligned; }
  static Pointer start(Pointer workspace) {
    return (workspace + kRoomAligned - 1) / kRoomAligned * kRoomAligned;
  }

 private:
  std::int64_t bytes_ = 0;
};

// Much has a kernel of its own, which knows all sizes.
Expected<RearrangeWork> work_of(const Rearrangement& what, std::int64_t element_bytes,
                                const RearrangeLoader& load) {
  constexpr std::uint64_t kMany = 4 << 20;
  auto work = RearrangeWork::of(what, element_bytes);
  if (!work) return reason("it has too many dimensions");
  if (work->arguments.words >= kMany) {
    HEDDLE_TRY(work->own, load.function(RearrangeKernels::source_of(*work), "rearrange"));
  }
  return *work;
}

Expected<Move> planned(const Rearrangement& what, std::int64_t element_bytes,
                       const RearrangeLoader& load) {
  Move move;
  if (what.is_identity()) return move;
  HEDDLE_TRY(move.work, work_of(what, element_bytes, load));
  move.bytes = what.elements() * element_bytes;
  return move;
}

// ---- by cuDNN

class DnnCall final : public CudaCall {
 public:
  static Expected<std::unique_ptr<DnnCall>> make(Context& context, const Notebook& notebook,
                                                 const RearrangeLoader& load, const ConvForm& form,
                                                 const ConvTypes& types) {
    auto call = std::make_unique<DnnCall>();
    call->text_ = fmt::format("cudnn {} {}",
                              form.kind == ConvKind::forward         ? "convolution"
                              : form.kind == ConvKind::data_gradient ? "data gradient"
                                                                     : "weight gradient",
                              types.text());
    for (std::size_t i = 0; i < 3; ++i) {
      const Type& type = i == 0 ? types.input : i == 1 ? types.kernel : types.result;
      HEDDLE_TRY(call->moves_[i], planned(form.moves[i], byte_size(type.dtype), load));
      Move& move = call->moves_[i];
      if (!move.work) continue;
      HEDDLE_TRY(call->kernels_, load.kernels());
      call->moved_ += move.bytes;
      // The result is read from what the library has written.
      const std::int64_t made = i < 2 ? move.bytes : source_bytes(form.moves[i], type.dtype);
      move.at = call->room_.take(made);
    }
    if (form.last_move) {
      HEDDLE_TRY(call->last_, planned(*form.last_move, byte_size(types.result.dtype), load));
      call->last_.at = call->room_.take(source_bytes(*form.last_move, types.result.dtype));
    }
    HEDDLE_TRY(call->conv_,
               DnnConv::plan(context, notebook, form, {types.input.dtype, types.result.dtype}));
    call->library_at_ = call->room_.take(call->conv_->workspace_bytes());
    return call;
  }

  std::string text() const override {
    return moved_ == 0 ? text_ : text_ + fmt::format(", {} bytes rearranged", moved_);
  }
  std::int64_t workspace_bytes() const override { return room_.bytes(); }
  void add_words(std::string_view words) { text_ += words; }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    return run_on(queue.stream(), {memory.operands[0].value, memory.operands[1].value},
                  memory.results[0].value, memory.workspace.value);
  }

  Verdict run_on(Handle stream, std::array<Pointer, 2> operands, Pointer result,
                 Pointer workspace) const {
    const Pointer room = Room::start(workspace);
    for (std::size_t i = 0; i < 2; ++i) {
      if (!moves_[i].work) continue;
      const Pointer made = room + static_cast<Pointer>(moves_[i].at);
      HEDDLE_TRY_VOID(kernels_->run(stream, *moves_[i].work, operands[i], made));
      operands[i] = made;
    }
    const Move& last = moves_[2];
    const Pointer written = last.work ? room + static_cast<Pointer>(last.at) : result;
    HEDDLE_TRY_VOID(
        conv_->run(stream, operands, written, room + static_cast<Pointer>(library_at_)));
    if (!last.work) return yes();
    if (!last_.work) return kernels_->run(stream, *last.work, written, result);
    const Pointer between = room + static_cast<Pointer>(last_.at);
    HEDDLE_TRY_VOID(kernels_->run(stream, *last.work, written, between));
    return kernels_->run(stream, *last_.work, between, result);
  }

 private:
  static std::int64_t source_bytes(const Rearrangement& what, DType dtype) {
    std::int64_t elements = 1;
    for (const auto& axis : what.axes) elements *= axis.size;
    return elements * byte_size(dtype);
  }

  std::string text_;
  std::array<Move, 3> moves_;
  Move last_;  // behind the third
  std::int64_t moved_ = 0, library_at_ = 0;
  Room room_;
  std::shared_ptr<const RearrangeKernels> kernels_;
  std::shared_ptr<const DnnConv> conv_;
};

// What cuDNN is to see in place of the channels: its fast ways for 16 bits want multiples of 4 or
// 8, and more than there are where they are few, as the three colours of an image. All are tried.
// (256 images of 224x224x3, 7x7 by twos, on an H200: 1.79 ms, 1.72 with 8 channels, 0.65 folded.)
std::vector<ConvChannels> channels_to_try(const ConvTypes& types, const ConvForm& form) {
  constexpr std::int64_t kFewChannels = 3, kToFold = 8;
  std::vector<ConvChannels> all{{}};
  if (byte_size(types.input.dtype) != 2 || form.groups != 1 || !form.channels_last) return all;
  const bool strides = std::ranges::any_of(form.stride, [](std::int64_t s) { return s > 1; });
  const bool dilates = std::ranges::any_of(form.dilation, [](std::int64_t d) { return d > 1; });
  if (form.channels < kToFold && strides && !dilates) {
    all.push_back({.multiple = 8, .folded = true});
    return all;
  }
  for (std::int64_t multiple : {4, 8})
    if (form.channels >= kFewChannels && form.channels % multiple != 0)
      all.push_back({.multiple = multiple});
  return all;
}

std::string key_of_channels(const Context& context, std::size_t ways, const ConvForm& form,
                            const ConvTypes& types) {
  return fmt::format("channels {} {} {} {} {} {} {} {} {} {} {}", ways, find_dnn().value(),
                     context.facts().name, types.text(), static_cast<int>(form.kind),
                     fmt::join(form.image, ","), fmt::join(form.window, ","),
                     fmt::join(form.places, ","), fmt::join(form.stride, ","),
                     fmt::join(form.dilation, ","), fmt::join(form.padding, ","));
}

// The fastest of calls that compute the same, some of which could not be made.
std::unique_ptr<CudaCall> fastest_of(Context& context, const Notebook& notebook,
                                     std::vector<std::unique_ptr<DnnCall>> calls,
                                     const std::string& key, const ConvTypes& types) {
  TrialMemory trial(context);
  Pointer x = 0, w = 0, y = 0, room = 0;
  const auto take_room = [&]() -> Verdict {
    std::int64_t most = 0;
    for (const auto& call : calls)
      if (call) most = std::max(most, call->workspace_bytes());
    HEDDLE_TRY(x, trial.take(types.input.bytes()));
    HEDDLE_TRY(w, trial.take(types.kernel.bytes()));
    HEDDLE_TRY(y, trial.take(types.result.bytes()));
    HEDDLE_TRY(room, trial.take(most));
    return yes();
  };
  const auto try_it = [&](std::size_t which, Handle stream) -> Verdict {
    if (!calls[which]) return reason("the library does not compute it so");
    if (room == 0) HEDDLE_TRY_VOID(take_room());
    return calls[which]->run_on(stream, {x, w}, y, room);
  };
  const std::size_t best = fastest(context, notebook, key, calls.size(), try_it);
  if (calls[best]) return std::move(calls[best]);
  return std::move(*std::ranges::find_if(calls, [](const auto& call) { return call != nullptr; }));
}

// A form with these channels in place of its own.
std::optional<ConvForm> form_with(const reduction::Conv& conv, const ConvTypes& types,
                                  const ConvForm& form, const ConvChannels& channels) {
  const auto others = conv_forms(conv, types.shapes(), channels);
  const auto same = std::ranges::find_if(others, [&](const ConvForm& other) {
    return other.kind == form.kind && other.channels_last == form.channels_last;
  });
  return same == others.end() ? std::nullopt : std::optional(*same);
}

// Its call; null where there is none.
std::unique_ptr<DnnCall> call_with(Context& context, const Notebook& notebook,
                                   const RearrangeLoader& load, const reduction::Conv& conv,
                                   const ConvTypes& types, const ConvForm& form,
                                   const ConvChannels& channels) {
  const auto same = form_with(conv, types, form, channels);
  if (!same) return nullptr;
  auto call = DnnCall::make(context, notebook, load, *same, types);
  if (!call) {
    log(kLogSteps, "{}: {}", types.text(), call.reason());
    return nullptr;
  }
  if (channels.multiple > 1)
    (*call)->add_words(
        fmt::format(" by {}{} channels", same->channels, channels.folded ? " folded" : ""));
  return *std::move(call);
}

// By the first form that the library has. Of several ways to have its channels only the noted one
// is planned.
std::unique_ptr<CudaCall> dnn_call(Context& context, const Notebook& notebook,
                                   const RearrangeLoader& load, const reduction::Conv& conv,
                                   const ConvTypes& types) {
  for (const ConvForm& form : conv_forms(conv, types.shapes())) {
    const auto with = [&](const ConvChannels& channels) {
      return call_with(context, notebook, load, conv, types, form, channels);
    };
    const std::vector<ConvChannels> ways = channels_to_try(types, form);
    if (ways.size() == 1) {
      if (auto call = with(ways[0])) return call;
      continue;
    }
    const std::string key = key_of_channels(context, ways.size(), form, types);
    if (const auto noted = noted_way(notebook, key, ways.size()))
      if (auto call = with(ways[*noted])) return call;
    std::vector<std::unique_ptr<DnnCall>> calls;
    for (const ConvChannels& channels : ways) calls.push_back(with(channels));
    if (std::ranges::any_of(calls, [](const auto& call) { return call != nullptr; }))
      return fastest_of(context, notebook, std::move(calls), key, types);
  }
  return nullptr;
}

// ---- as a product

// A program of the one product, of so many rows of each group.
Expected<Program> program_of(const ConvProduct& p, std::int64_t rows, const ConvTypes& types) {
  const auto shape = [&](bool flipped, std::int64_t first, std::int64_t second) {
    return flipped ? Shape{p.groups, second, first} : Shape{p.groups, first, second};
  };
  const DType from = types.input.dtype;
  Builder b;
  b.function("main",
             {Type::tensor(from, shape(p.transposed[0], rows, p.depth)),
              Type::tensor(from, shape(p.transposed[1], p.depth, p.columns))},
             [&](const Vars& in) -> Vars {
               const DotDims dims{{0}, {0}, {p.transposed[0] ? 1 : 2}, {p.transposed[1] ? 2 : 1}};
               return {b.dot(in[0], in[1], dims, types.result.dtype)};
             });
  return b.finish();
}

Expected<std::unique_ptr<CudaCall>> product_of(Context& context, const Notebook& notebook,
                                               const ConvProduct& p, std::int64_t rows,
                                               const ConvTypes& types) {
  HEDDLE_TRY(const Program program, program_of(p, rows, types));
  const Region& body = program.region(program.functions[0].body);
  auto call = product_call(context, notebook, program, program.op(body.ops[0]), nullptr);
  if (!call) return reason("cuBLASLt does not compute it");
  return call;
}

class ConvProductCall final : public CudaCall {
 public:
  static Expected<std::unique_ptr<CudaCall>> make(Context& context, const Notebook& notebook,
                                                  const RearrangeLoader& load,
                                                  const ConvProduct& product,
                                                  const ConvTypes& types) {
    auto call = std::make_unique<ConvProductCall>();
    call->text_ = fmt::format("convolution {} as a product", types.text());
    const std::int64_t bytes = byte_size(types.input.dtype), made = byte_size(types.result.dtype);
    HEDDLE_TRY(Move last, planned(product.moves[2], made, load));
    call->set_parts(product, bytes, made, last.work.has_value());
    for (std::size_t i = 0; i < 2; ++i) {
      Rearrangement what = product.moves[i];
      if (i == 0 && call->parts_ > 1) what.dims[1].size = call->part_images_;
      HEDDLE_TRY(call->moves_[i], planned(what, bytes, load));
      if (call->moves_[i].work) call->moves_[i].at = call->room_.take(call->moves_[i].bytes);
    }
    if (last.work)
      last.at = call->room_.take(product.groups * product.rows * product.columns * made);
    call->moves_[2] = last;
    for (const Move& move : call->moves_) call->moved_ += move.work ? move.bytes : 0;
    if (call->moved_ > 0) {
      HEDDLE_TRY(call->kernels_, load.kernels());
    }
    const std::int64_t rows = product.rows / product.images * call->part_images_;
    HEDDLE_TRY(call->product_, product_of(context, notebook, product, rows, types));
    const std::int64_t rest = product.images % call->part_images_;
    if (rest > 0) {
      HEDDLE_TRY(call->rest_, product_of(context, notebook, product,
                                         product.rows / product.images * rest, types));
      Rearrangement what = product.moves[0];
      what.dims[1].size = rest;
      HEDDLE_TRY(call->rest_windows_, work_of(what, bytes, load));
    }
    call->library_at_ = call->room_.take(std::max(
        call->product_->workspace_bytes(), call->rest_ ? call->rest_->workspace_bytes() : 0));
    return std::unique_ptr<CudaCall>(std::move(call));
  }

  std::string text() const override {
    return moved_ == 0 ? text_ : text_ + fmt::format(", {} bytes rearranged", moved_ * parts_);
  }
  std::int64_t workspace_bytes() const override { return room_.bytes(); }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    const Pointer room = Room::start(memory.workspace.value);
    const auto at = [&](const Move& move) { return room + static_cast<Pointer>(move.at); };
    Pointer kernel = memory.operands[1].value;
    if (moves_[1].work) {
      HEDDLE_TRY_VOID(kernels_->run(queue.stream(), *moves_[1].work, kernel, at(moves_[1])));
      kernel = at(moves_[1]);
    }
    const Pointer result = moves_[2].work ? at(moves_[2]) : memory.results[0].value;
    for (std::int64_t part = 0; part < parts_; ++part) {
      const bool is_rest = rest_ && part + 1 == parts_;
      Pointer windows = memory.operands[0].value + static_cast<Pointer>(part * part_input_);
      if (moves_[0].work) {
        const RearrangeWork& work = is_rest ? *rest_windows_ : *moves_[0].work;
        HEDDLE_TRY_VOID(kernels_->run(queue.stream(), work, windows, at(moves_[0])));
        windows = at(moves_[0]);
      }
      const DeviceAddress operands[] = {{windows}, {kernel}};
      const DeviceAddress results[] = {{result + static_cast<Pointer>(part * part_result_)}};
      HEDDLE_TRY_VOID(
          (is_rest ? rest_ : product_)
              ->run(queue, {operands, results, {room + static_cast<Pointer>(library_at_)}}));
    }
    return moves_[2].work
               ? kernels_->run(queue.stream(), *moves_[2].work, result, memory.results[0].value)
               : yes();
  }

 private:
  // Windows of all images at a time, or of some where they would take too much.
  void set_parts(const ConvProduct& p, std::int64_t bytes, std::int64_t made, bool moves_result) {
    part_images_ = p.images;
    const std::int64_t all = p.moves[0].elements() * bytes;
    if (p.moves[0].is_identity() || p.groups > 1 || moves_result || all <= kMostWindows) return;
    part_images_ = std::max<std::int64_t>(1, kMostWindows / (all / p.images));
    parts_ = (p.images + part_images_ - 1) / part_images_;
    part_input_ = part_images_ * p.image_step * bytes;
    part_result_ = part_images_ * (p.rows / p.images) * p.columns * made;
  }

  std::string text_;
  std::array<Move, 3> moves_;
  std::optional<RearrangeWork> rest_windows_;
  std::int64_t moved_ = 0, library_at_ = 0;
  std::int64_t parts_ = 1, part_images_ = 1, part_input_ = 0, part_result_ = 0;
  Room room_;
  std::shared_ptr<const RearrangeKernels> kernels_;
  std::unique_ptr<CudaCall> product_, rest_;
};

}  // namespace

bool is_convolution(const Program& program, const Op& op) {
  if (op.def->call != DeviceCall::convolution || op.operand_count != 2) return false;
  const ConvTypes types(program, op);
  const DType from = types.input.dtype, to = types.result.dtype;
  if (from != types.kernel.dtype || types.input.elements() == 0 || types.kernel.elements() == 0 ||
      types.result.elements() == 0)
    return false;
  if (from == DType::f32 || from == DType::f64) return to == from;
  return (from == DType::f16 || from == DType::bf16) && (to == from || to == DType::f32);
}

void plan_convolutions_ahead(Context& context, const Notebook& notebook, const Program& program) {
  open_dnn(context);
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    if (!is_convolution(program, op)) continue;
    const ConvTypes types(program, op);
    const reduction::Conv conv = reduction::conv_of(program, op);
    const ConvProduct product = conv_product(conv, types.shapes());
    if (product.moves[0].is_identity() && product.moves[1].is_identity()) continue;
    // Others than the first form are for where the library has not that.
    const std::vector<ConvForm> forms = conv_forms(conv, types.shapes());
    if (forms.empty() || !dnn_library()) continue;
    const std::vector<ConvChannels> ways = channels_to_try(types, forms[0]);
    const std::string key = key_of_channels(context, ways.size(), forms[0], types);
    const auto noted = ways.size() > 1 ? noted_way(notebook, key, ways.size()) : std::nullopt;
    if (const auto form = form_with(conv, types, forms[0], ways[noted.value_or(0)]))
      DnnConv::plan_ahead(context, notebook, *form, {types.input.dtype, types.result.dtype});
  }
}

std::unique_ptr<CudaCall> conv_call(Context& context, const Notebook& notebook,
                                    const RearrangeLoader& load, const Program& program,
                                    const Op& op) {
  if (!is_convolution(program, op)) return nullptr;
  const ConvTypes types(program, op);
  const reduction::Conv conv = reduction::conv_of(program, op);
  const ConvProduct product = conv_product(conv, types.shapes());
  const auto as_product = [&] {
    return ConvProductCall::make(context, notebook, load, product, types);
  };
  const bool is_plain = product.moves[0].is_identity() && product.moves[1].is_identity();
  if (is_plain)
    if (auto call = as_product()) return *std::move(call);
  if (may_use_dnn() && dnn_library())
    if (auto call = dnn_call(context, notebook, load, conv, types)) return call;
  auto call = as_product();
  if (call) return *std::move(call);
  log(kLogSteps, "{}: {}", types.text(), call.reason());
  return nullptr;
}

}  // namespace heddle::cuda
