#include "device/cuda/select_scatter.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/eval/reduce_window.h"

namespace heddle::cuda {

namespace {

using reduction::WindowAxis;

constexpr unsigned kScatterThreads = 256;

// How the chosen element is compared with the next, where it stays if that is true.
std::optional<std::string> comparison_of(const Program& program, RegionId region) {
  const Region& r = program.region(region);
  if (r.ops.size() != 2 || r.args.size() != 2) return {};
  const Op& op = program.op(r.ops[0]);
  const auto operands = program.operands(op);
  if (op.def->form != Form::compare || operands[0] != r.args[0] || operands[1] != r.args[1])
    return {};
  if (program.operands(program.op(r.ops[1]))[0] != program.result(op, 0)) return {};
  const auto word = [&](const char* name) -> std::string {
    const Attr* attr = program.attr(op, name);
    const auto* value = attr == nullptr ? nullptr : attr->get<Attr::Enum>();
    return value == nullptr ? "" : std::string(value->word.view());
  };
  if (word("compare_type") == "TOTALORDER") return {};
  const std::string direction = word("comparison_direction");
  if (direction == "GE") return ">=";
  if (direction == "GT") return ">";
  if (direction == "LE") return "<=";
  if (direction == "LT") return "<";
  return {};
}

bool adds(const Program& program, RegionId region) {
  const Region& r = program.region(region);
  if (r.ops.size() != 2 || r.args.size() != 2) return false;
  const Op& op = program.op(r.ops[0]);
  const auto operands = program.operands(op);
  const bool is_of_both = operands.size() == 2 && operands[0] != operands[1] &&
                          std::ranges::count(r.args, operands[0]) == 1 &&
                          std::ranges::count(r.args, operands[1]) == 1;
  return op.def->combines == ReduceOp::sum && is_of_both &&
         program.operands(program.op(r.ops[1]))[0] == program.result(op, 0);
}

// An element type as C++ has it, what sums are taken in, and both ways between them.
struct Words {
  std::string_view element, sum, load, store;
};

std::optional<Words> words_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Words{"float", "float", "return x;", "return x;"};
    case DType::f64:
      return Words{"double", "double", "return x;", "return x;"};
    case DType::f16:
      return Words{
          "unsigned short", "float",
          R"(float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y;)",
          R"(unsigned short y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y;)"};
    case DType::bf16:
      return Words{"unsigned short", "float", "return __uint_as_float((unsigned)x << 16);",
                   "unsigned b = __float_as_uint(x); if (x != x) return 0x7fc0; "
                   "return (unsigned short)((b + 0x7fff + ((b >> 16) & 1)) >> 16);"};
    default:
      return {};
  }
}

bool is_plain(const WindowAxis& axis) {
  return axis.window == 1 && axis.stride == 1 && axis.pad_low == 0 && axis.pad_high == 0;
}

class Writer {
 public:
  Writer(const Shape& operand, const Shape& source, const std::vector<WindowAxis>& axes, int lanes)
      : operand_(operand), source_(source), axes_(axes), lanes_(lanes) {}

  // From the place of an element to the places of the windows that it lies in. Neighbours that a
  // thread has together lie in windows at the same places.
  std::string body(std::string_view comparison) const {
    std::string text = "    Place rest = (Place)i;\n", from = "0LL", loops, ends;
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const int step = d + 1 == axes_.size() ? lanes_ : 1;
      text +=
          fmt::format("    const int x{0} = (int)(rest % (Place){1}) * {2}; rest /= (Place){1};\n",
                      d, operand_[d] / step, step);
    }
    std::int64_t stride = 1;
    for (std::size_t d = axes_.size(); d-- > 0; stride *= source_[d])
      from += fmt::format(" + p{} * {}LL", d, stride);
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const WindowAxis& a = axes_[d];
      if (is_plain(a)) {
        loops += fmt::format("    const int p{0} = x{0};\n", d);
        continue;
      }
      loops += fmt::format(
          "    const int high{0} = min({1}, (x{0} + {2}) / {3});\n"
          "    for (int p{0} = max(0, (x{0} + {2} - {4} + {3}) / {3}); p{0} <= high{0}; ++p{0}) "
          "{{\n",
          d, source_[d] - 1, a.pad_low, a.stride, a.window);
      ends += "    }\n";
    }
    return text + loops + window(comparison) +
           fmt::format(
               "    const Lanes gives = *(const Lanes*)(source + ({}));\n"
               "    for (int l = 0; l < kLanes; ++l) if (chosen[l] == here) sum[l] += "
               "load(gives.at[l]);\n",
               from) +
           ends;
  }

 private:
  // The element that the window at p0, p1, ... chooses.
  std::string window(std::string_view comparison) const {
    std::string text =
                    "    Place chosen[kLanes]; Sum most[kLanes]; bool any = false;\n"
                    "    for (int l = 0; l < kLanes; ++l) chosen[l] = (Place)-1;\n",
                at = "0LL", ends;
    std::int64_t stride = 1;
    for (std::size_t d = axes_.size(); d-- > 0; stride *= operand_[d])
      at += fmt::format(" + {}{} * {}LL", is_plain(axes_[d]) ? "x" : "y", d, stride);
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const WindowAxis& a = axes_[d];
      if (is_plain(a)) continue;
      text += fmt::format(
          "    for (int k{0} = 0; k{0} < {1}; ++k{0}) {{\n"
          "    const int y{0} = p{0} * {2} - {3} + k{0};\n"
          "    if (y{0} < 0 || y{0} >= {4}) continue;\n",
          d, a.window, a.stride, a.pad_low, operand_[d]);
      ends += "    }\n";
    }
    return text +
           fmt::format(
               "    const Place at = (Place)({});\n"
               "    const Lanes all = *(const Lanes*)(operand + at);\n"
               "    for (int l = 0; l < kLanes; ++l) {{\n"
               "    const Sum next = load(all.at[l]);\n"
               "    if (!any || !(most[l] {} next)) {{ chosen[l] = at; most[l] = next; }}\n"
               "    }}\n"
               "    any = true;\n",
               at, comparison) +
           ends;
  }

  const Shape &operand_, &source_;
  const std::vector<WindowAxis>& axes_;
  const int lanes_;
};

// Neighbours along the last axis that a thread has together, in one access.
int lanes_of(const Shape& operand, const std::vector<WindowAxis>& axes, int bytes) {
  constexpr int kAccess = 16;
  if (axes.empty() || !is_plain(axes.back())) return 1;
  int lanes = kAccess / bytes;
  while (operand.back() % lanes != 0) lanes /= 2;
  return lanes;
}

}  // namespace

std::optional<std::string> select_scatter_text(const Program& program, const Op& op) {
  if (op.def->call != DeviceCall::select_and_scatter) return {};
  const Type& operand = program.type_of(program.operands(op)[0]);
  const Type& source = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  if (operand.elements() == 0 || source.elements() == 0 || source.dtype != operand.dtype ||
      result.dtype != operand.dtype)
    return {};
  const auto comparison = comparison_of(program, program.regions(op)[0]);
  const auto words = words_of(operand.dtype);
  if (!comparison || !words || !adds(program, program.regions(op)[1])) return {};
  const std::vector<WindowAxis> axes = reduction::window_of(program, op);
  for (const WindowAxis& axis : axes)
    if (axis.base_dilation != 1 || axis.window_dilation != 1 || axis.pad_low < 0) return {};
  const int lanes = lanes_of(operand.shape, axes, byte_size(operand.dtype));
  return fmt::format(
      R"(typedef {0} Element;
typedef {1} Sum;
typedef {6} Place;
const int kLanes = {7};
struct __align__({8}) Lanes {{ Element at[kLanes]; }};
__device__ Sum load(Element x) {{ {2} }}
__device__ Element store(Sum x) {{ {3} }}
extern "C" __global__ void select_scatter(const Element* __restrict__ operand,
                                          const Element* __restrict__ source,
                                          const Element* first, Element* result) {{
  const long long count = {4}LL, step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{
    const Place here = (Place)i * kLanes;
    Sum sum[kLanes];
    for (int l = 0; l < kLanes; ++l) sum[l] = load(*first);
{5}    Lanes out;
    for (int l = 0; l < kLanes; ++l) out.at[l] = store(sum[l]);
    *(Lanes*)(result + here) = out;
  }}
}}
)",
      words->element, words->sum, words->load, words->store, operand.elements() / lanes,
      Writer(operand.shape, source.shape, axes, lanes).body(*comparison),
      operand.elements() < (1LL << 31) ? "unsigned" : "unsigned long long", lanes,
      lanes * byte_size(operand.dtype));
}

std::unique_ptr<CudaCall> select_scatter_call(const FunctionLoader& load, const Program& program,
                                              const Op& op) {
  const auto text = select_scatter_text(program, op);
  if (!text) return nullptr;
  const auto function = load(*text, "select_scatter");
  if (!function) return nullptr;
  const Type& operand = program.type_of(program.operands(op)[0]);
  const int lanes =
      lanes_of(operand.shape, reduction::window_of(program, op), byte_size(operand.dtype));
  const std::int64_t blocks = (operand.elements() / lanes + kScatterThreads - 1) / kScatterThreads;
  return std::make_unique<TextCall>(*function, std::min<std::int64_t>(blocks, 1 << 20),
                                    kScatterThreads, "select and scatter into " + operand.str());
}

}  // namespace heddle::cuda
