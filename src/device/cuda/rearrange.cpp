#include "device/cuda/rearrange.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::cuda {

namespace {

constexpr unsigned kThreads = 256, kMostBlocks = 132 * 16;

// A dimension as the kernel has it.
struct Plain {
  std::int64_t size, stride, step;
  std::int32_t axis;
};

// Two neighbours whose elements follow one another are one.
std::vector<Plain> merged(const std::vector<Plain>& dims) {
  std::vector<Plain> all;
  for (const Plain& dim : dims) {
    if (dim.size == 1) continue;
    if (!all.empty() && all.back().axis < 0 && dim.axis < 0 &&
        all.back().stride == dim.stride * dim.size) {
      all.back().size *= dim.size;
      all.back().stride = dim.stride;
    } else {
      all.push_back(dim);
    }
  }
  return all;
}

// Elements to a word: as many as all places are multiples of, up to 16 bytes.
std::int64_t elements_of_word(const std::vector<Plain>& dims, const RearrangeWork::Arguments& a,
                              std::int64_t element_bytes) {
  if (dims.empty() || dims.back().axis >= 0 || dims.back().stride != 1) return 1;
  std::int64_t together = std::gcd(std::gcd(dims.back().size, a.start), 16 / element_bytes);
  for (std::size_t d = 0; d + 1 < dims.size(); ++d)
    if (dims[d].axis < 0) together = std::gcd(together, dims[d].stride);
  for (int x = 0; x < a.axes; ++x) together = std::gcd(together, a.apart[x]);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(together)));
}

// 2^(31 + s) over the size, rounded up, where 2^s is at least the size: off by so little that n /
// size comes out for all n of 31 bits.
void set_inverse(RearrangeWork::Arguments& a, std::size_t d) {
  const auto size = static_cast<std::uint64_t>(a.size[d]);
  if (size > (1ULL << 31)) return;
  const auto shift = static_cast<unsigned>(std::bit_width(size - 1));
  // A size of 1 would need a bit more: what is left of n is 0 in any case.
  if (size == 1) return;
  a.inverse[d] = static_cast<std::uint32_t>(((1ULL << (31 + shift)) + size - 1) / size);
  a.shift[d] = shift - 1;
}

}  // namespace

std::optional<RearrangeWork> RearrangeWork::of(const Rearrangement& what,
                                               std::int64_t element_bytes) {
  RearrangeWork work;
  Arguments& a = work.arguments;
  std::vector<std::int32_t> number(what.axes.size(), -1);
  for (std::size_t x = 0; x < what.axes.size(); ++x) {
    const auto& axis = what.axes[x];
    if (what.is_always_there(x)) {
      a.start += axis.offset * axis.stride;
      continue;
    }
    if (a.axes == kMostAxes) return {};
    number[x] = a.axes;
    a.limit[a.axes] = axis.size * axis.hole;
    a.offset[a.axes] = axis.offset;
    a.hole[a.axes] = axis.hole;
    a.apart[a.axes++] = axis.stride;
  }
  std::vector<Plain> dims;
  for (const auto& dim : what.dims)
    dims.push_back({dim.size, dim.step * what.axes[dim.axis].stride, dim.step, number[dim.axis]});
  dims = merged(dims);
  if (dims.empty()) dims.push_back({1, 1, 0, -1});
  if (dims.size() > kMostDims) return {};
  const std::int64_t together = elements_of_word(dims, a, element_bytes);
  work.word_bytes = static_cast<int>(together * element_bytes);
  a.start /= together;
  for (int x = 0; x < a.axes; ++x) a.apart[x] /= together;
  a.words = static_cast<std::uint64_t>(what.elements() / together);
  a.dims = static_cast<std::int32_t>(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const bool is_last = d + 1 == dims.size();
    a.size[d] = is_last ? dims[d].size / together : dims[d].size;
    a.stride[d] = is_last && together > 1 ? 1 : dims[d].stride / together;
    a.step[d] = dims[d].step;
    a.axis[d] = dims[d].axis;
    set_inverse(a, d);
  }
  constexpr std::int64_t kMost = (1LL << 31) - 1;
  std::int64_t source = 1;
  for (const auto& axis : what.axes) source = std::max(source, axis.size * axis.stride);
  const auto is_large = [](std::int64_t n) { return n > kMost; };
  work.is_wide = a.words > static_cast<std::uint64_t>(kMost) || is_large(source) ||
                 std::ranges::any_of(a.limit, is_large);
  return work;
}

namespace {

constexpr const char* kWords[] = {"unsigned char", "unsigned short", "unsigned", "uint2", "uint4"};

std::string common_text() {
  return fmt::format(R"(
struct Arguments {{
  unsigned long long words;
  long long start;
  int dims, axes;
  long long size[{0}], stride[{0}], step[{0}];
  int axis[{0}];
  unsigned inverse[{0}], shift[{0}];
  long long limit[{1}], offset[{1}], hole[{1}], apart[{1}];
}};

__device__ unsigned quotient(unsigned n, unsigned, unsigned inverse, unsigned shift) {{
  return __umulhi(n, inverse) >> shift;
}}
__device__ unsigned long long quotient(unsigned long long n, unsigned long long size, unsigned,
                                       unsigned) {{
  return n / size;
}}

template <typename Word, typename Index, typename Place>
__device__ void rearrange(const Word* from, Word* to, const Arguments& a) {{
  const Index all = (Index)a.words, stride = (Index)gridDim.x * blockDim.x;
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += stride) {{
    Index rest = i;
    Place at = (Place)a.start;
    Place index[{1}];
    for (int x = 0; x < {1}; ++x) index[x] = (Place)a.offset[x];
#pragma unroll
    for (int d = a.dims - 1; d >= 0; --d) {{
      const Index size = (Index)a.size[d];
      const Index next = size == 1 ? rest : quotient(rest, size, a.inverse[d], a.shift[d]);
      const Place here = (Place)(rest - next * size);
      rest = next;
      if (a.axis[d] < 0) at += here * (Place)a.stride[d];
      for (int x = 0; x < {1}; ++x)
        if (a.axis[d] == x) index[x] += here * (Place)a.step[d];
    }}
    bool there = true;
    for (int x = 0; x < {1}; ++x) {{
      if (x >= a.axes) break;
      there = there && index[x] >= 0 && index[x] < (Place)a.limit[x];
      Place place = index[x];
      if (a.hole[x] > 1) {{
        place = (Place)((unsigned)index[x] / (unsigned)a.hole[x]);
        there = there && place * (Place)a.hole[x] == index[x];
      }}
      at += place * (Place)a.apart[x];
    }}
    Word word = {{}};
    if (there) word = from[at];
    to[i] = word;
  }}
}}
)",
                     RearrangeWork::kMostDims, RearrangeWork::kMostAxes);
}

std::string_view index_types(bool is_wide) {
  return is_wide ? "unsigned long long, long long" : "unsigned, int";
}

}  // namespace

std::string RearrangeKernels::source() {
  std::string text = common_text();
  for (int width = 0; width < 5; ++width)
    for (int wide = 0; wide < 2; ++wide)
      text += fmt::format(
          "extern \"C\" __global__ void rearrange_{0}_{1}(const {2}* from, {2}* to, const "
          "Arguments "
          "a) {{ rearrange<{2}, {3}>(from, to, a); }}\n",
          width, wide, kWords[width], index_types(wide == 1));
  return text;
}

std::string RearrangeKernels::source_of(const RearrangeWork& work) {
  const RearrangeWork::Arguments& a = work.arguments;
  const auto list = [](const auto& numbers) {
    return fmt::format("{{{}}}", fmt::join(numbers, ", "));
  };
  const int width = std::countr_zero(static_cast<unsigned>(work.word_bytes));
  return common_text() + fmt::format(R"(
extern "C" __global__ void rearrange(const {0}* from, {0}* to) {{
  constexpr Arguments a = {{{2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}}};
  rearrange<{0}, {1}>(from, to, a);
}}
)",
                                     kWords[width], index_types(work.is_wide), a.words, a.start,
                                     a.dims, a.axes, list(a.size), list(a.stride), list(a.step),
                                     list(a.axis), list(a.inverse), list(a.shift), list(a.limit),
                                     list(a.offset), list(a.hole), list(a.apart));
}

Expected<std::shared_ptr<const RearrangeKernels>> RearrangeKernels::load(
    const std::shared_ptr<Context>& context, const std::string& object) {
  const Driver& driver = context->driver();
  HEDDLE_TRY_VOID(context->enter());
  auto made = std::make_shared<RearrangeKernels>();
  made->context_ = context;
  HEDDLE_TRY_VOID(driver.checked(driver.load(&made->module_, object.data()), "load the code"));
  for (int width = 0; width < 5; ++width)
    for (int wide = 0; wide < 2; ++wide)
      HEDDLE_TRY_VOID(
          driver.checked(driver.function(&made->functions_[width][wide], made->module_,
                                         fmt::format("rearrange_{}_{}", width, wide).c_str()),
                         "find the code"));
  return std::shared_ptr<const RearrangeKernels>(std::move(made));
}

Verdict RearrangeKernels::run(Handle stream, const RearrangeWork& work, Pointer from,
                              Pointer to) const {
  const std::uint64_t words = work.arguments.words;
  if (words == 0) return yes();
  const int width = std::countr_zero(static_cast<unsigned>(work.word_bytes));
  const auto blocks = static_cast<unsigned>(
      std::min<std::uint64_t>((words + kThreads - 1) / kThreads, kMostBlocks));
  auto arguments = work.arguments;
  void* all[] = {&from, &to, &arguments};  // a function of its own takes the first two
  const Handle function = work.own != nullptr ? work.own : functions_[width][work.is_wide ? 1 : 0];
  return context_->driver().checked(
      context_->driver().launch(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, all, nullptr),
      "launch a kernel");
}

}  // namespace heddle::cuda
