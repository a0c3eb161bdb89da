#include "device/cuda/rearrange.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace heddle::cuda {

namespace {

constexpr unsigned kThreads = 256, kMostBlocks = 132 * 16;

// The least and the most that the index of an axis comes to.
std::pair<std::int64_t, std::int64_t> range_of(const Rearrangement& what, std::size_t axis) {
  std::int64_t low = what.axes[axis].offset, high = low;
  for (const auto& dim : what.dims)
    if (dim.axis == axis) (dim.step < 0 ? low : high) += (dim.size - 1) * dim.step;
  return {low, high};
}

bool is_always_there(const Rearrangement& what, std::size_t axis) {
  const auto [low, high] = range_of(what, axis);
  return what.axes[axis].hole == 1 && low >= 0 && high < what.axes[axis].size;
}

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

}  // namespace

std::int64_t Rearrangement::elements() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.size;
  return count;
}

bool Rearrangement::is_identity() const {
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (!is_always_there(*this, a)) return false;
  std::int64_t dense = 1, source = 1, start = 0;
  for (const Axis& axis : axes) start += axis.offset * axis.stride, source *= axis.size;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d].size > 1 && dims[d].step * axes[dims[d].axis].stride != dense) return false;
    dense *= dims[d].size;
  }
  return start == 0 && dense == source;
}

std::int64_t Rearrangement::source_of(std::int64_t element) const {
  std::vector<std::int64_t> index;
  for (const Axis& axis : axes) index.push_back(axis.offset);
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[dims[d].axis] += element % dims[d].size * dims[d].step;
    element /= dims[d].size;
  }
  std::int64_t at = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Axis& axis = axes[a];
    if (index[a] < 0 || index[a] % axis.hole != 0 || index[a] / axis.hole >= axis.size) return -1;
    at += index[a] / axis.hole * axis.stride;
  }
  return at;
}

std::optional<RearrangeWork> RearrangeWork::of(const Rearrangement& what,
                                               std::int64_t element_bytes) {
  RearrangeWork work;
  Arguments& a = work.arguments;
  std::vector<std::int32_t> number(what.axes.size(), -1);
  for (std::size_t x = 0; x < what.axes.size(); ++x) {
    const auto& axis = what.axes[x];
    if (is_always_there(what, x)) {
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
  }
  return work;
}

std::string RearrangeKernels::source() {
  std::string text = fmt::format(R"(
struct Arguments {{
  unsigned long long words;
  long long start;
  int dims, axes;
  long long size[{0}], stride[{0}], step[{0}];
  int axis[{0}];
  long long limit[{1}], offset[{1}], hole[{1}], apart[{1}];
}};

template <typename Word, typename Index>
__device__ void rearrange(const Word* from, Word* to, const Arguments& a) {{
  const Index all = (Index)a.words, stride = (Index)gridDim.x * blockDim.x;
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += stride) {{
    Index rest = i;
    long long at = a.start;
    long long index[{1}];
    for (int x = 0; x < {1}; ++x) index[x] = a.offset[x];
    for (int d = a.dims - 1; d >= 0; --d) {{
      const Index size = (Index)a.size[d];
      const Index next = rest / size;
      const long long here = (long long)(rest - next * size);
      rest = next;
      if (a.axis[d] < 0) at += here * a.stride[d];
      for (int x = 0; x < {1}; ++x)
        if (a.axis[d] == x) index[x] += here * a.step[d];
    }}
    bool there = true;
    for (int x = 0; x < {1}; ++x) {{
      if (x >= a.axes) break;
      there = there && index[x] >= 0 && index[x] < a.limit[x];
      long long place = index[x];
      if (a.hole[x] > 1) {{
        place = (long long)((unsigned)index[x] / (unsigned)a.hole[x]);
        there = there && place * a.hole[x] == index[x];
      }}
      at += place * a.apart[x];
    }}
    Word word = {{}};
    if (there) word = from[at];
    to[i] = word;
  }}
}}
)",
                                 RearrangeWork::kMostDims, RearrangeWork::kMostAxes);
  constexpr const char* kWords[] = {"unsigned char", "unsigned short", "unsigned", "uint2",
                                    "uint4"};
  for (int width = 0; width < 5; ++width)
    for (int wide = 0; wide < 2; ++wide)
      text += fmt::format(
          "extern \"C\" __global__ void rearrange_{}_{}(const {}* from, {}* to, const Arguments a) "
          "{{ rearrange<{}, {}>(from, to, a); }}\n",
          width, wide, kWords[width], kWords[width], kWords[width],
          wide == 0 ? "unsigned" : "unsigned long long");
  return text;
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
  const bool is_many = words >= (1ULL << 31);
  const auto blocks = static_cast<unsigned>(
      std::min<std::uint64_t>((words + kThreads - 1) / kThreads, kMostBlocks));
  auto arguments = work.arguments;
  void* all[] = {&from, &to, &arguments};
  return context_->driver().checked(
      context_->driver().launch(functions_[width][is_many ? 1 : 0], blocks, 1, 1, kThreads, 1, 1, 0,
                                stream, all, nullptr),
      "launch a kernel");
}

}  // namespace heddle::cuda
