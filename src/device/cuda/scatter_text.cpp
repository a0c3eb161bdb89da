#include "device/cuda/scatter_text.h"

#include <algorithm>
#include <bit>

#include "device/cuda/region_text.h"
#include "heddle/op.h"
#include "kernel/emit_cuda.h"
#include "stitch/scatter.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kFewRuns = 32;  // that a thread does one after the other
constexpr std::int64_t kFewUpdates = 1024;

std::vector<std::int64_t> dense_steps(const Shape& shape) {
  std::vector<std::int64_t> steps(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}

// Windows that a plain kernel would have one thread do, since they may meet: those along no
// dimension of the input that data have no say in. (Elements of one window do not meet.)
std::int64_t runs_in_order(const ScatterDims& dims, const Shape& updates) {
  std::int64_t runs = 1;
  for (std::size_t d = 0; d < updates.size(); ++d) {
    const int input = dims.updates[d].input;
    const bool is_window = dims.updates[d].index < 0;
    if (!is_window && (input < 0 || dims.by_data[static_cast<std::size_t>(input)]))
      runs *= updates[d];
  }
  return runs;
}

}  // namespace

std::optional<ScatterText> ScatterText::of(const Program& program, const Op& op) {
  if (op.def->emission != Emission::scatter || op.result_count != 1) return {};
  const auto operands = program.operands(op);
  const Type& input = program.type_of(operands[0]);
  const Type& indices = program.type_of(operands[1]);
  const Type& updates = program.type_of(operands[2]);
  const ScatterDims dims = scatter_dimensions(program, op);
  const bool is_worth =
      updates.elements() > kFewUpdates && runs_in_order(dims, updates.shape) > kFewRuns;
  // Few places for many updates: blocks of a kernel have sums of their own.
  const bool is_dense =
      combines_in_any_order(program, op) && input.elements() <= updates.elements() / 64;
  if (!is_worth || is_dense || input.elements() >= UINT32_MAX || updates.elements() >= INT32_MAX)
    return {};
  auto region = ScalarRegion::of(program, program.regions(op)[0]);
  if (!region || !is_kernel_type(indices.dtype)) return {};
  ScatterText made(*std::move(region));
  made.input_ = input;
  made.index_ = indices.dtype;
  made.map_.assign(dims.numbers.map.begin(), dims.numbers.map.end());
  const auto index_steps = dense_steps(indices.shape);
  const auto vector = static_cast<std::size_t>(dims.numbers.vector);
  made.vector_step_ = vector < index_steps.size() ? index_steps[vector] : 0;
  for (std::size_t d = 0; d < updates.rank(); ++d) {
    const ScatterDims::Update& u = dims.updates[d];
    made.axes_.push_back({updates.shape[d],
                          u.index < 0 ? 0 : index_steps[static_cast<std::size_t>(u.index)],
                          u.input});
  }
  // The last dimension lies along the input's own, where data have no say: a run of columns.
  const ScatterDims::Update& last = dims.updates.back();
  if (last.index < 0 && last.input + 1 == static_cast<int>(input.rank()) && !dims.by_data.back()) {
    made.columns_ = updates.shape.back();
    made.axes_.pop_back();
  }
  made.runs_ = updates.elements() / made.columns_;
  return made;
}

std::int64_t ScatterText::key_blocks() const {
  return (runs_ + kScatteringThreads - 1) / kScatteringThreads;
}

int ScatterText::lanes() const {
  return static_cast<int>(std::bit_ceil(
      static_cast<std::uint64_t>(std::min<std::int64_t>(columns_, kScatteringThreads))));
}

std::int64_t ScatterText::combine_blocks() const {
  const std::int64_t places = kScatteringThreads / lanes();
  return (runs_ + places - 1) / places * ((columns_ + lanes() - 1) / lanes());
}

std::string ScatterText::text() const {
  return fmt::format("scatter {} runs of {} into {}", runs_, columns_, input_.str());
}

std::string ScatterText::keys() const {
  std::string text =
      fmt::format(R"cuda({}
extern "C" __global__ void scatter_keys(const {}* __restrict__ indices, ui32* keys) {{
  const i64 run = (i64)blockIdx.x * {} + threadIdx.x;
  if (run >= {}ll) return;
  i64 rest = run, index = 0;
)cuda",
                  cuda_prelude(), cuda_memory_type(index_), kScatteringThreads, runs_);
  for (std::size_t d = 0; d < input_.rank(); ++d) text += fmt::format("  i64 at{} = 0;\n", d);
  for (std::size_t d = axes_.size(); d-- > 0;) {
    text +=
        fmt::format("  {{\n    const i64 i = rest % {0}ll;\n    rest /= {0}ll;\n", axes_[d].size);
    if (axes_[d].index_step != 0)
      text += fmt::format("    index += i * {}ll;\n", axes_[d].index_step);
    if (axes_[d].input >= 0) text += fmt::format("    at{} += i;\n", axes_[d].input);
    text += "  }\n";
  }
  // Far outside stays outside, whatever is added.
  for (std::size_t k = 0; k < map_.size(); ++k)
    text += fmt::format(
        "  at{0} += h_maximum(h_minimum(h_convert<i64>(indices[index + {1}ll]), (i64)1 << 60), "
        "-((i64)1 << 60));\n",
        map_[k], static_cast<std::int64_t>(k) * vector_step_);
  const auto steps = dense_steps(input_.shape);
  std::string inside = "true", place = "0";
  for (std::size_t d = 0; d < input_.rank(); ++d) {
    inside += fmt::format(" && at{0} >= 0 && at{0} < {1}ll", d, input_.shape[d]);
    place += fmt::format(" + at{} * {}ll", d, steps[d]);
  }
  return text + fmt::format("  keys[run] = {} ? (ui32)({}) : ~0u;\n}}\n", inside, place);
}

std::string ScatterText::combine() const {
  const DType type = input_.dtype;
  std::string text = fmt::format("{}{}__device__ {} combined({} r0, {} r1) {{\n", cuda_prelude(),
                                 ordered_text(), cuda_type(type), cuda_type(type), cuda_type(type));
  for (const ScalarRegion::Step& step : region_.steps()) text += step_text(region_, step);
  text += fmt::format("  return {};\n}}\n", operand_text(region_, region_.results()[0], type));
  const char* truth = type == DType::i1 ? " != 0" : "";
  return text + fmt::format(R"cuda(
extern "C" __global__ void scatter_combine(const ui64* __restrict__ items, const {0}* __restrict__ updates, {0}* out) {{
  const int lanes = {1}, chunks = {2};
  const i64 first = (i64)(blockIdx.x / chunks) * ({3} / lanes) + threadIdx.x / lanes;
  const i64 column = (i64)(blockIdx.x % chunks) * lanes + threadIdx.x % lanes;
  if (first >= {4}ll || column >= {5}ll) return;
  const ui32 place = (ui32)(items[first] >> 32);
  if (place == ~0u || (first > 0 && (ui32)(items[first - 1] >> 32) == place)) return;
  {6} sum = out[place + column]{7};
  for (i64 i = first; i < {4}ll; i += 4) {{
    ui64 item[4];
    {6} update[4];
    int count = 0;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {{
      item[k] = i + k < {4}ll ? items[i + k] : ~0ull;
      const bool is_here = (ui32)(item[k] >> 32) == place;
      if (is_here) count = k + 1;
      if (is_here) update[k] = updates[(i64)(ui32)item[k] * {5}ll + column]{7};
    }}
    #pragma unroll
    for (int k = 0; k < 4; ++k)
      if (k < count) sum = combined(sum, update[k]);
    if (count < 4) break;
  }}
  out[place + column] = sum;
}}
)cuda",
                            cuda_memory_type(type), lanes(), (columns_ + lanes() - 1) / lanes(),
                            kScatteringThreads, runs_, columns_, cuda_type(type), truth);
}

}  // namespace heddle::cuda
