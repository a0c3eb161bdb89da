#include "device/cuda/top_k.h"

#include "heddle/op.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kMostLargest = 64;  // each takes a look at the whole row
constexpr std::int64_t kLongRow = 2048;    // for a block instead of a warp
constexpr unsigned kTopThreads = 256, kTopWarps = kTopThreads / 32;

struct TopShape {
  std::int64_t width, kept, rows;
  bool is_long() const { return width > kLongRow; }
  std::int64_t blocks() const { return is_long() ? rows : (rows + kTopWarps - 1) / kTopWarps; }
};

TopShape shape_of(const Program& program, const Op& op) {
  const Type& rows = program.type_of(program.operands(op)[0]);
  const std::int64_t width = rows.shape.back();
  return {width, program.type_of(program.result(op, 0)).shape.back(), rows.elements() / width};
}

std::string_view word_of(std::int64_t bytes) {
  return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned";
}

// A number that is less the earlier an element comes: larger ones first, floats by their total
// order. Nothing for types that are seldom sorted.
std::optional<std::string> key_of_element(DType dtype) {
  const int bits = 8 * byte_size(dtype);
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  switch (dtype) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return fmt::format("x > {0}u ? x : {0}u - x", all >> 1);
    case DType::i32:
    case DType::i16:
    case DType::i8:
      return fmt::format("x ^ {}u", all >> 1);
    case DType::ui32:
    case DType::ui16:
    case DType::ui8:
      return fmt::format("x ^ {}u", all);
    default:
      return {};
  }
}

}  // namespace

std::optional<std::string> top_k_text(const Program& program, const Op& op) {
  if (op.def->call != DeviceCall::top_k) return {};
  const Type& rows = program.type_of(program.operands(op)[0]);
  const DType index = program.type_of(program.result(op, 1)).dtype;
  const auto key = key_of_element(rows.dtype);
  if (!key || byte_size(index) > 4 || program.type_of(program.result(op, 0)).elements() == 0)
    return {};
  const TopShape shape = shape_of(program, op);
  if (shape.kept > kMostLargest || shape.width >= (1LL << 31) || shape.blocks() >= (1LL << 31))
    return {};
  return fmt::format(
      R"(typedef {0} Word;
typedef {1} Index;
typedef unsigned long long Item;
__device__ unsigned key(unsigned x) {{ return {2}; }}
extern "C" __global__ void top_k(const Word* __restrict__ from, Word* values, Index* places) {{
  const bool is_long = {3};
  __shared__ Item shared[{4}];
  const int first = is_long ? threadIdx.x : threadIdx.x % 32, step = is_long ? {5} : 32;
  const long long row = is_long ? blockIdx.x : (long long)blockIdx.x * {4} + threadIdx.x / 32;
  if (row >= {6}LL) return;
  const Word* line = from + row * {7}LL;
  Item last = 0;
  for (int k = 0; k < {8}; ++k) {{
    Item best = ~0ull;
    for (int i = first; i < {7}; i += step) {{
      const Item item = (Item)key(line[i]) << 32 | (unsigned)i;
      if ((k == 0 || item > last) && item < best) best = item;
    }}
    for (int apart = 16; apart > 0; apart >>= 1)
      best = min(best, __shfl_xor_sync(~0u, best, apart));
    if (is_long) {{
      __syncthreads();
      if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
      __syncthreads();
      for (int w = 0; w < {4}; ++w) best = min(best, shared[w]);
    }}
    if (first == 0) {{
      values[row * {8} + k] = line[(unsigned)best];
      places[row * {8} + k] = (Index)(unsigned)best;
    }}
    last = best;
  }}
}}
)",
      word_of(byte_size(rows.dtype)), word_of(byte_size(index)), *key,
      shape.is_long() ? "true" : "false", kTopWarps, kTopThreads, shape.rows, shape.width,
      shape.kept);
}

std::unique_ptr<CudaCall> top_k_call(const FunctionLoader& load, const Program& program,
                                     const Op& op) {
  const auto text = top_k_text(program, op);
  if (!text) return nullptr;
  const auto function = load(*text, "top_k");
  if (!function) return nullptr;
  const TopShape shape = shape_of(program, op);
  return std::make_unique<TextCall>(
      *function, shape.blocks(), kTopThreads,
      fmt::format("top {} of {} rows of {}", shape.kept, shape.rows, shape.width));
}

}  // namespace heddle::cuda
