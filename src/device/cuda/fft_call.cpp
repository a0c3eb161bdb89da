#include "device/cuda/fft_call.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#include "device/cuda/fft_library.h"
#include "heddle/op.h"
#include "ir/attr_access.h"

namespace heddle::cuda {

namespace {

constexpr unsigned kFftThreads = 256;
constexpr std::int64_t kMostFftBlocks = 4096;
constexpr std::int64_t kFftAligned = 256;

// A transform along the last dimensions of the grid, which is the larger side of it.
struct Transform {
  std::string kind;  // FFT, IFFT, RFFT, IRFFT
  DType real = DType::f32;
  std::array<std::int64_t, 3> sizes{1, 1, 1};  // of the grid, the last ones last
  std::size_t rank = 1;
  std::int64_t count = 1;  // of grids

  bool is_inverse() const { return kind == "IFFT" || kind == "IRFFT"; }
  std::int64_t points() const { return sizes[0] * sizes[1] * sizes[2]; }
  // Of both parts of a number.
  std::int64_t bytes() const { return count * points() * 2 * byte_size(real); }
  std::string text() const {
    std::string lengths;
    for (std::size_t d = 3 - rank; d < 3; ++d)
      lengths += fmt::format("{}{}", lengths.empty() ? "" : "x", sizes[d]);
    return fmt::format("cufft {} {} of {}{}", kind, lengths, name(real),
                       count > 1 ? fmt::format(" x{}", count) : "");
  }
};

std::optional<Transform> transform_of(const Program& program, const Op& op) {
  if (op.def->call != DeviceCall::fft) return {};
  const Type& operand = program.type_of(program.operands(op)[0]);
  const Type& result = program.type_of(program.result(op, 0));
  if (operand.elements() == 0 || result.elements() == 0) return {};
  Transform t;
  t.kind = word_or(program.attr(op, "fft_type"), "FFT");
  t.rank = integers_or(program.attr(op, "fft_length")).size();
  const Type& grid = t.kind == "IRFFT" ? result : operand;
  t.real = is_complex(grid.dtype) ? part_dtype(grid.dtype) : grid.dtype;
  if (t.rank < 1 || t.rank > 3) return {};
  for (std::size_t d = 0; d < t.rank; ++d)
    t.sizes[3 - t.rank + d] = grid.shape[grid.rank() - t.rank + d];
  t.count = grid.elements() / t.points();
  return t;
}

Verdict fft_checked(int status, std::string_view what) {
  return status == 0 ? yes() : reason("cuFFT cannot {}: error {}", what, status);
}

class TransformCall final : public CudaCall {
 public:
  TransformCall(const Fft& fft, Transform transform)
      : fft_(fft), transform_(std::move(transform)) {}
  ~TransformCall() override {
    if (is_made_) fft_.destroy(plan_);
  }
  TransformCall(const TransformCall&) = delete;
  TransformCall& operator=(const TransformCall&) = delete;

  Verdict prepare(Context& context, const FunctionLoader& load) {
    HEDDLE_TRY_VOID(context.enter());
    HEDDLE_TRY_VOID(fft_checked(fft_.create(&plan_), "plan a transform"));
    is_made_ = true;
    HEDDLE_TRY_VOID(fft_checked(fft_.allocate_itself(plan_, 0), "plan a transform"));
    std::array<long long, 3> sizes{};
    for (std::size_t d = 0; d < transform_.rank; ++d)
      sizes[d] = transform_.sizes[3 - transform_.rank + d];
    const bool from_real = transform_.kind == "RFFT", is_double = transform_.real == DType::f64;
    const int type = from_real ? (is_double ? Fft::kRealF64 : Fft::kRealF32)
                               : (is_double ? Fft::kComplexF64 : Fft::kComplexF32);
    HEDDLE_TRY_VOID(
        fft_checked(fft_.make(plan_, static_cast<int>(transform_.rank), sizes.data(), nullptr, 1, 0,
                              nullptr, 1, 0, type, transform_.count, &workspace_),
                    "plan a transform"));
    if (!transform_.is_inverse()) return yes();
    const std::string text = fft_text(transform_.real);
    if (transform_.kind == "IFFT") {
      HEDDLE_TRY(last_, load(text, "scaled"));
      return yes();
    }
    HEDDLE_TRY(first_, load(text, "written_out"));
    HEDDLE_TRY(last_, load(text, "real_parts"));
    return yes();
  }

  std::string text() const override { return transform_.text(); }

  std::int64_t workspace_bytes() const override {
    return static_cast<std::int64_t>(workspace_) + grid_bytes() + 2 * kFftAligned;
  }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    const auto aligned = [](Pointer at) {
      return (at + kFftAligned - 1) / kFftAligned * kFftAligned;
    };
    const Pointer from = memory.operands[0].value, to = memory.results[0].value;
    const Pointer grid = aligned(memory.workspace.value);
    const Pointer room = aligned(grid + static_cast<Pointer>(grid_bytes()));
    const Transform& t = transform_;
    const double scale = 1.0 / static_cast<double>(t.points());
    const std::int64_t numbers = t.count * t.points();
    if (t.kind != "IRFFT") {
      HEDDLE_TRY_VOID(transform(queue, from, to, room));
      return t.kind == "IFFT" ? launch(queue, last_, {to, to}, 2 * numbers, scale) : yes();
    }
    std::vector<Pointer> words{from, grid, static_cast<Pointer>(numbers)};
    for (std::int64_t size : t.sizes) words.push_back(static_cast<Pointer>(size));
    HEDDLE_TRY_VOID(launch_words(queue, first_, blocks(numbers), kFftThreads, std::move(words)));
    HEDDLE_TRY_VOID(transform(queue, grid, grid, room));
    return launch(queue, last_, {grid, to}, numbers, scale);
  }

 private:
  std::int64_t grid_bytes() const { return transform_.kind == "IRFFT" ? transform_.bytes() : 0; }

  static std::int64_t blocks(std::int64_t numbers) {
    return std::min(kMostFftBlocks, (numbers + kFftThreads - 1) / kFftThreads);
  }

  static Verdict launch(CudaQueue& queue, Handle function, std::vector<Pointer> words,
                        std::int64_t numbers, double scale) {
    words.push_back(static_cast<Pointer>(numbers));
    words.push_back(std::bit_cast<Pointer>(scale));
    return launch_words(queue, function, blocks(numbers), kFftThreads, std::move(words));
  }

  // Where a plan works is part of it, and runs at the same time share it.
  Verdict transform(CudaQueue& queue, Pointer from, Pointer to, Pointer room) const {
    const std::lock_guard lock(mutex_);
    HEDDLE_TRY_VOID(fft_checked(fft_.set_stream(plan_, queue.stream()), "transform"));
    HEDDLE_TRY_VOID(fft_checked(fft_.set_workspace(plan_, room), "transform"));
    const bool is_double = transform_.real == DType::f64;
    const int direction = transform_.is_inverse() ? Fft::kInverse : Fft::kForward;
    if (transform_.kind == "RFFT")
      return fft_checked((is_double ? fft_.real_f64 : fft_.real_f32)(plan_, from, to), "transform");
    return fft_checked(
        (is_double ? fft_.complex_f64 : fft_.complex_f32)(plan_, from, to, direction), "transform");
  }

  const Fft& fft_;
  const Transform transform_;
  Fft::Plan plan_ = 0;
  bool is_made_ = false;
  std::size_t workspace_ = 0;
  Handle first_ = nullptr, last_ = nullptr;
  mutable std::mutex mutex_;
};

}  // namespace

bool is_transform(const Program& program, const Op& op) {
  return transform_of(program, op).has_value();
}

std::string fft_text(DType real) {
  return fmt::format(
      R"(typedef {} Real;
struct alignas(2 * sizeof(Real)) Point {{ Real real, imaginary; }};
#define EACH(i, count) \
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; \
       i += (long long)gridDim.x * blockDim.x)

extern "C" __global__ void scaled(const Real* from, Real* to, long long count, double by) {{
  EACH(i, count) to[i] = from[i] * (Real)by;
}}

extern "C" __global__ void real_parts(const Point* from, Real* to, long long count, double by) {{
  EACH(i, count) to[i] = from[i].real * (Real)by;
}}

// The far half of a line mirrors the near one of the opposite line.
extern "C" __global__ void written_out(const Point* from, Point* to, long long count,
                                       long long n0, long long n1, long long n2) {{
  const long long held = n2 / 2 + 1;
  EACH(i, count) {{
    const long long k2 = i % n2, k1 = i / n2 % n1, k0 = i / n2 / n1 % n0, grid = i / n2 / n1 / n0;
    const bool is_far = k2 >= held;
    const long long l0 = is_far ? (n0 - k0) % n0 : k0, l1 = is_far ? (n1 - k1) % n1 : k1;
    Point x = from[((grid * n0 + l0) * n1 + l1) * held + (is_far ? n2 - k2 : k2)];
    if (is_far) x.imaginary = -x.imaginary;
    to[i] = x;
  }}
}}
)",
      real == DType::f64 ? "double" : "float");
}

std::unique_ptr<CudaCall> fft_call(Context& context, const FunctionLoader& load,
                                   const Program& program, const Op& op) {
  auto transform = transform_of(program, op);
  const auto fft = transform ? fft_library() : Expected<const Fft*>(reason("none"));
  if (!transform || !fft) return nullptr;
  auto call = std::make_unique<TransformCall>(**fft, *std::move(transform));
  if (!call->prepare(context, load)) return nullptr;
  return call;
}

}  // namespace heddle::cuda
