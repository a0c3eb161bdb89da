#include "device/cpu/choose_library.h"

#include "device/cpu/calls.h"
#include "device/cpu/onednn.h"
#include "device/cpu/time_call.h"
#include "heddle/builder.h"
#include "stitch/product_plan.h"

namespace heddle::cpu {

namespace {

// How much faster oneDNN is taken to be where nobody has measured it: OpenBLAS takes products of
// f32 as fast on most processors, with nothing made before; short numbers and convolutions it does
// not know.
struct Figure {
  double LibraryFigures::* measured;
  double usual;
};
Figure figure_of(LibraryWork work) {
  switch (work) {
    case LibraryWork::product:
      return {&LibraryFigures::products, 0.9};
    case LibraryWork::short_product:
      return {&LibraryFigures::short_products, 2};
    case LibraryWork::convolution:
      break;
  }
  return {&LibraryFigures::convolutions, 2};
}

Program product(DType dtype) {
  Builder b;
  const Type matrix = Type::tensor(dtype, {512, 512});
  b.function("main", {matrix, matrix},
             [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; });
  return b.finish().value();
}

// A window of 3 x 3 over images of 28 x 28 with 64 channels.
Program convolution() {
  Builder b;
  const auto list = [](const std::vector<std::int64_t>& all) { return Attr{Attr::Integers(all)}; };
  const auto number = [](std::int64_t n) { return Attr{Attr::Integer{n, "i64"}}; };
  const Attr::Struct numbers{"conv",
                             {{"input_batch_dimension", number(0)},
                              {"input_feature_dimension", number(3)},
                              {"input_spatial_dimensions", list({1, 2})},
                              {"kernel_input_feature_dimension", number(2)},
                              {"kernel_output_feature_dimension", number(3)},
                              {"kernel_spatial_dimensions", list({0, 1})},
                              {"output_batch_dimension", number(0)},
                              {"output_feature_dimension", number(3)},
                              {"output_spatial_dimensions", list({1, 2})}}};
  const Type images = Type::tensor(DType::f32, {4, 28, 28, 64}),
             kernel = Type::tensor(DType::f32, {3, 3, 64, 64});
  Array padding(Type::tensor(DType::i64, {2, 2}));
  std::ranges::fill(padding.as_mutable<std::int64_t>(), 1);
  b.function("main", {images, kernel}, [&](const Vars& in) -> Vars {
    return {b.op("convolution", {in[0], in[1]}, images,
                 {{"dimension_numbers", Attr{numbers}},
                  {"padding", Attr{padding}},
                  {"feature_group_count", number(1)},
                  {"batch_group_count", number(1)}})};
  });
  return b.finish().value();
}

// A call with operands and room of its own.
class Trial {
 public:
  Trial(const Program& program, const Op& op, std::unique_ptr<heddle::LibraryCall> call)
      : call_(std::move(call)) {
    for (ValueId v : program.operands(op)) operands_.push_back(add(program.type_of(v)));
    results_.push_back(add(program.type_of(program.result(op, 0))));
    room_ =
        Block::raw(static_cast<std::size_t>(std::max<std::int64_t>(64, call_->workspace_bytes())));
  }

  double seconds() const {
    const CallFrame frame{operands_, results_, room_->data(), ThreadPool::shared()};
    return seconds_of([&] { static_cast<const LibraryCall&>(*call_).run(frame).value(); },
                      std::chrono::milliseconds(30));
  }

 private:
  std::byte* add(const Type& type) {
    arrays_.emplace_back(type);
    return arrays_.back().mutable_bytes().data();
  }

  std::unique_ptr<heddle::LibraryCall> call_;
  std::vector<Array> arrays_;
  std::vector<std::byte*> operands_, results_;
  std::shared_ptr<Block> room_;
};

// How much faster oneDNN is; 0 where it does not take it.
double measured(const Program& program, LibraryWork work) {
  const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
  const int workers = ThreadPool::shared().threads();
  const bool is_convolution = work == LibraryWork::convolution;
  auto with = is_convolution ? direct_conv_call(program, op, workers)
                             : direct_dot_call(program, op, dense_views(program, op), workers);
  auto without =
      is_convolution ? tiled_conv_call(program, op) : converted_dot_call(program, op, nullptr);
  if (!with || !without) return 0;
  const Trial by_onednn(program, op, std::move(with)), by_others(program, op, std::move(without));
  // By turns, since a machine may be busy for a while; the shorter time counts.
  double fast = by_onednn.seconds(), slow = by_others.seconds();
  for (int turn = 0; turn < 4; ++turn) {
    fast = std::min(fast, by_onednn.seconds());
    slow = std::min(slow, by_others.seconds());
  }
  return slow / fast;
}

}  // namespace

bool prefers_onednn(LibraryWork work, const LibraryFigures& figures) {
  const Figure figure = figure_of(work);
  const double faster = figures.*figure.measured;
  return (faster > 0 ? faster : figure.usual) > 1;
}

bool prefers_onednn(LibraryWork work) {
  static const LibraryFigures figures = kept_library_figures();
  return prefers_onednn(work, figures);
}

LibraryFigures measure_libraries() {
  if (!dnn::is_there()) return {};
  return {.products = measured(product(DType::f32), LibraryWork::product),
          .short_products = measured(product(DType::bf16), LibraryWork::short_product),
          .convolutions = measured(convolution(), LibraryWork::convolution)};
}

}  // namespace heddle::cpu
