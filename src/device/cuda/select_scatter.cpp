#include "device/cuda/select_scatter.h"

#include <algorithm>
#include <functional>

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

// Places of elements and windows, and the number of an element in a window.
class Writer {
 public:
  Writer(const Shape& operand, const Shape& source, const std::vector<WindowAxis>& axes, int lanes)
      : operand_(operand), source_(source), axes_(axes), lanes_(lanes) {}

  // For the window at p0, p1, ...: the number of the element that it chooses.
  std::string choose(std::string_view comparison) const {
    std::string text = unfolded("p", source_), ends;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const WindowAxis& a = axes_[d];
      if (is_plain(a)) {
        text += fmt::format("    const int y{0} = p{0};\n", d);
        continue;
      }
      text += fmt::format(
          "    for (int k{0} = 0; k{0} < {1}; ++k{0}) {{\n"
          "    const int y{0} = p{0} * {2} - {3} + k{0};\n"
          "    if (y{0} < 0 || y{0} >= {4}) continue;\n",
          d, a.window, a.stride, a.pad_low, operand_[d]);
      ends += "    }\n";
    }
    return text +
           fmt::format(
               "    const Number number = (Number)({});\n"
               "    const Lanes all = *(const Lanes*)(operand + ({}));\n"
               "    for (int l = 0; l < kLanes; ++l) {{\n"
               "    const Sum next = load(all.at[l]);\n"
               "    if (!any || !(most[l] {} next)) {{ chosen.at[l] = number; most[l] = next; }}\n"
               "    }}\n"
               "    any = true;\n",
               number([](std::size_t d) { return fmt::format("k{}", d); }), folded("y", operand_),
               comparison) +
           ends;
  }

  // For the element at x0, x1, ...: what the windows give it that have chosen it, in their order.
  // Neighbours that a thread has together lie in windows at the same places.
  std::string give() const {
    std::string text = unfolded("x", operand_), ends;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const WindowAxis& a = axes_[d];
      if (is_plain(a)) {
        text += fmt::format("    const int p{0} = x{0};\n", d);
        continue;
      }
      text += fmt::format(
          "    const int high{0} = min({1}, (x{0} + {2}) / {3});\n"
          "    for (int p{0} = max(0, (x{0} + {2} - {4} + {3}) / {3}); p{0} <= high{0}; ++p{0}) "
          "{{\n",
          d, source_[d] - 1, a.pad_low, a.stride, a.window);
      ends += "    }\n";
    }
    const std::string own = number([&](std::size_t d) {
      return fmt::format("(x{0} + {1} - p{0} * {2})", d, axes_[d].pad_low, axes_[d].stride);
    });
    return text +
           fmt::format(
               "    const Number number = (Number)({});\n"
               "    const Place from = {};\n"
               "    const Numbers chosen = *(const Numbers*)(numbers + from);\n"
               "    const Lanes gives = *(const Lanes*)(source + from);\n"
               "    for (int l = 0; l < kLanes; ++l) if (chosen.at[l] == number) sum[l] += "
               "load(gives.at[l]);\n",
               own, folded("p", source_)) +
           ends;
  }

 private:
  // i as places along all axes.
  std::string unfolded(std::string_view name, const Shape& shape) const {
    std::string text = "    Place rest = (Place)i;\n";
    for (std::size_t d = axes_.size(); d-- > 0;) {
      const int step = d + 1 == axes_.size() ? lanes_ : 1;
      text += fmt::format(
          "    const int {0}{1} = (int)(rest % (Place){2}) * {3}; rest /= (Place){2};\n", name, d,
          shape[d] / step, step);
    }
    return text;
  }
  std::string folded(std::string_view name, const Shape& shape) const {
    std::string text = "(Place)0";
    std::int64_t stride = 1;
    for (std::size_t d = axes_.size(); d-- > 0; stride *= shape[d])
      text += fmt::format(" + (Place){}{} * {}", name, d, stride);
    return text;
  }
  std::string number(const std::function<std::string(std::size_t)>& along) const {
    std::string text = "0";
    std::int64_t stride = 1;
    for (std::size_t d = axes_.size(); d-- > 0; stride *= axes_[d].window)
      if (!is_plain(axes_[d])) text += fmt::format(" + {} * {}", along(d), stride);
    return text;
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

class SelectScatterCall final : public CudaCall {
 public:
  SelectScatterCall(SelectScatterTexts texts, Handle choose, Handle give, std::string text)
      : texts_(std::move(texts)), choose_(choose), give_(give), text_(std::move(text)) {}

  std::string text() const override { return text_; }
  std::int64_t workspace_bytes() const override { return texts_.number_bytes + kNumbersAligned; }

  Verdict run(CudaQueue& queue, const CallMemory& memory) const override {
    const Pointer numbers =
        (memory.workspace.value + kNumbersAligned - 1) / kNumbersAligned * kNumbersAligned;
    const Pointer operand = memory.operands[0].value, source = memory.operands[1].value;
    HEDDLE_TRY_VOID(launch_words(queue, choose_, blocks_for(texts_.windows), kScatterThreads,
                                 {operand, numbers}));
    return launch_words(queue, give_, blocks_for(texts_.elements), kScatterThreads,
                        {numbers, source, memory.operands[2].value, memory.results[0].value});
  }

 private:
  static constexpr std::int64_t kNumbersAligned = 256;
  static std::int64_t blocks_for(std::int64_t count) {
    constexpr std::int64_t kMostBlocks = 1 << 20;
    return std::min((count + kScatterThreads - 1) / kScatterThreads, kMostBlocks);
  }

  SelectScatterTexts texts_;
  Handle choose_, give_;
  std::string text_;
};

}  // namespace

std::optional<SelectScatterTexts> select_scatter_texts(const Program& program, const Op& op) {
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
  std::int64_t window = 1;
  for (const WindowAxis& axis : axes) {
    if (axis.base_dilation != 1 || axis.window_dilation != 1 || axis.pad_low < 0) return {};
    window *= axis.window;
  }
  const int lanes = lanes_of(operand.shape, axes, byte_size(operand.dtype));
  // The greatest number stands for none: such a window lies in padding alone.
  const bool is_small = window < 0xff;
  const int number_bytes = is_small ? 1 : 4;
  const Writer writer(operand.shape, source.shape, axes, lanes);
  const bool is_short = operand.elements() < (1LL << 31) && source.elements() < (1LL << 31);
  const std::string head = fmt::format(
      R"(typedef {0} Element;
typedef {1} Sum;
typedef {4} Place;
typedef {5} Number;
const int kLanes = {6};
struct __align__({7}) Lanes {{ Element at[kLanes]; }};
struct __align__({8}) Numbers {{ Number at[kLanes]; }};
__device__ Sum load(Element x) {{ {2} }}
__device__ Element store(Sum x) {{ {3} }}
)",
      words->element, words->sum, words->load, words->store,
      is_short ? "unsigned" : "unsigned long long", is_small ? "unsigned char" : "unsigned", lanes,
      lanes * byte_size(operand.dtype), lanes * number_bytes);
  constexpr std::string_view kEach =
      "  const long long step = (long long)gridDim.x * blockDim.x;\n"
      "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < ";
  SelectScatterTexts texts{.windows = source.elements() / lanes,
                           .elements = operand.elements() / lanes,
                           .number_bytes = source.elements() * number_bytes};
  texts.choose =
      head + fmt::format(
                 R"(extern "C" __global__ void choose(const Element* __restrict__ operand,
                                  Number* numbers) {{
{0}{1}LL; i += step) {{
    Numbers chosen; Sum most[kLanes]; bool any = false;
    for (int l = 0; l < kLanes; ++l) chosen.at[l] = (Number)-1;
{2}    *(Numbers*)(numbers + (Place)i * kLanes) = chosen;
  }}
}}
)",
                 kEach, texts.windows, writer.choose(*comparison));
  texts.give = head + fmt::format(
                          R"(extern "C" __global__ void give(const Number* __restrict__ numbers,
                                const Element* __restrict__ source,
                                const Element* first, Element* result) {{
{0}{1}LL; i += step) {{
    Sum sum[kLanes];
    for (int l = 0; l < kLanes; ++l) sum[l] = load(*first);
{2}    Lanes out;
    for (int l = 0; l < kLanes; ++l) out.at[l] = store(sum[l]);
    *(Lanes*)(result + (Place)i * kLanes) = out;
  }}
}}
)",
                          kEach, texts.elements, writer.give());
  return texts;
}

std::unique_ptr<CudaCall> select_scatter_call(const FunctionLoader& load, const Program& program,
                                              const Op& op) {
  auto texts = select_scatter_texts(program, op);
  if (!texts) return nullptr;
  const auto choose = load(texts->choose, "choose"), give = load(texts->give, "give");
  if (!choose || !give) return nullptr;
  const Type& operand = program.type_of(program.operands(op)[0]);
  return std::make_unique<SelectScatterCall>(*std::move(texts), *choose, *give,
                                             "select and scatter into " + operand.str());
}

}  // namespace heddle::cuda
