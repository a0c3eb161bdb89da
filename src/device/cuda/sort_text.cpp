#include "device/cuda/sort_text.h"

#include <algorithm>
#include <bit>

#include "device/cuda/region_text.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "kernel/emit_cuda.h"

namespace heddle::cuda {

namespace {

// As Comparator::keys_of has it. Constants of the text come before it: kLength, kInner, kTile,
// kPadded, kThreads.
constexpr std::string_view kOrder = R"cuda(
__device__ i64 first_of(i64 line) { return line / kInner * kLength * kInner + line % kInner; }
)cuda";

// A network that sorts all lines of a tile at once; exchanges within a warp's elements need no
// barrier.
constexpr std::string_view kNetwork = R"cuda(
  for (int k = 2; k <= kPadded; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      for (int t = threadIdx.x; t < kTile / 2; t += kThreads) {
        const int low = (t & ~(j - 1)) << 1 | (t & (j - 1)), high = low + j;
        const bool up = (low & (kPadded - 1) & k) == 0;
        const Item a = tile[low], b = tile[high];
        if (precedes(b, a, low) == up) {
          tile[low] = b;
          tile[high] = a;
        }
      }
      if (j > 32 || (j == 1 && k > 32)) __syncthreads();
      else __syncwarp();
    }
  __syncthreads();
)cuda";

// How many of the first `diagonal` elements of two sorted stretches come from the first one.
constexpr std::string_view kSplit = R"cuda(
__device__ i64 split(const Item* a, i64 a_count, const Item* b, i64 b_count, i64 diagonal) {
  i64 low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if (less(a[middle], b[diagonal - 1 - middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}
)cuda";

constexpr std::string_view kMerge = R"cuda(
extern "C" __global__ void __launch_bounds__(kThreads) sort_merge(const Item* from, Item* to, i64 width) {
  __shared__ Item tile[kTile];
  __shared__ i64 ends[2];
  const i64 line = blockIdx.x / kTiles, begin = blockIdx.x % kTiles * kTile;
  const i64 base = begin / (2 * width) * (2 * width);
  const i64 a_count = min(width, kLength - base), b_count = min(width, kLength - base - a_count);
  const Item* a = from + line * kLength + base;
  const Item* b = a + a_count;
  const i64 first = begin - base, last = min(first + kTile, a_count + b_count);
  if (threadIdx.x < 2) ends[threadIdx.x] = split(a, a_count, b, b_count, threadIdx.x == 0 ? first : last);
  __syncthreads();
  a += ends[0];
  b += first - ends[0];
  const int count = (int)(last - first), of_a = (int)(ends[1] - ends[0]), of_b = count - of_a;
  for (int i = threadIdx.x; i < count; i += kThreads) tile[i] = i < of_a ? a[i] : b[i - of_a];
  __syncthreads();
  const int mine = min((int)threadIdx.x * kEach, count);
  int in_a = (int)split(tile, of_a, tile + of_a, of_b, mine), in_b = mine - in_a;
  Item merged[kEach];
  for (int i = 0; i < kEach; ++i) {
    if (mine + i >= count) break;
    const bool takes_a = in_b >= of_b || (in_a < of_a && less(tile[in_a], tile[of_a + in_b]));
    merged[i] = takes_a ? tile[in_a++] : tile[of_a + in_b++];
  }
  __syncthreads();
  for (int i = 0; i < kEach; ++i)
    if (mine + i < count) tile[mine + i] = merged[i];
  __syncthreads();
  Item* out = to + line * kLength + begin;
  for (int i = threadIdx.x; i < count; i += kThreads) out[i] = tile[i];
}
)cuda";

// Whether every comparison of floats gives NaN a place.
bool is_total(const ScalarRegion& region, const std::optional<Comparator::Key>& key) {
  if (key) return key->total || !is_float(key->dtype);
  return std::ranges::none_of(region.steps(), [](const ScalarRegion::Step& step) {
    return step.to == DType::i1 && is_float(step.from) && !step.is_total();
  });
}

}  // namespace

std::optional<SortText> SortText::of(const Program& program, const Op& op) {
  if (op.def->call != DeviceCall::sort) return {};
  const Type& first = program.type_of(program.operands(op)[0]);
  if (first.elements() == 0 || first.rank() == 0) return {};
  auto comparator = Comparator::of(program, op);
  if (!comparator || !is_total(comparator->region(), comparator->key())) return {};
  SortText made(std::move(comparator));
  std::int64_t dimension = integer_or(program.attr(op, "dimension"), -1);
  if (dimension < 0) dimension += static_cast<std::int64_t>(first.rank());
  made.length_ = first.shape[static_cast<std::size_t>(dimension)];
  for (std::size_t d = 0; d < first.shape.size(); ++d) {
    if (static_cast<std::int64_t>(d) < dimension) made.outer_ *= first.shape[d];
    if (static_cast<std::int64_t>(d) > dimension) made.inner_ *= first.shape[d];
  }
  for (ValueId v : program.operands(op)) made.types_.push_back(program.type_of(v).dtype);
  const auto& key = made.comparator_->key();
  if (key) made.kind_ = byte_size(key->dtype) <= 4 ? Items::packed : Items::wide;
  constexpr std::int64_t kMost = INT64_C(1) << 31;
  if (made.length_ >= kMost || made.blocks() >= kMost) return {};
  // Merging counts on an order without contradictions, which a network does without.
  if (!key && made.is_long()) return {};
  return made;
}

SortText SortText::of_keys(std::int64_t length) {
  SortText made({});
  made.length_ = length;
  made.types_ = {DType::ui32};
  made.kind_ = Items::packed;
  return made;
}

int SortText::padded() const {
  if (gives_items()) return kSortTile;
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(length_, 2, kSortTile))));
}

std::int64_t SortText::blocks() const {
  if (gives_items()) return lines() * ((length_ + kSortTile - 1) / kSortTile);
  const std::int64_t together = kSortTile / padded();
  return (lines() + together - 1) / together;
}

std::int64_t SortText::item_bytes() const {
  return kind_ == Items::packed ? 8 : kind_ == Items::wide ? 16 : 4;
}

// ---- what is compared

std::string SortText::key() const {
  if (!comparator_) return "__device__ ui64 key_of(ui32 x) { return x; }\n";
  const Comparator::Key& key = *comparator_->key();
  const DType type = types_[key.operand];
  const ScalarRegion& region = comparator_->region();
  std::string text = fmt::format("__device__ ui64 key_of({} x) {{\n  const {} r{} = x{};\n",
                                 cuda_memory_type(type), cuda_type(type), 2 * key.operand,
                                 type == DType::i1 ? " != 0" : "");
  for (std::size_t i : key.steps) text += step_text(region, region.steps()[i]);
  const int bits = 8 * byte_size(key.dtype);
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  text += fmt::format("  const ui64 key = ordered({});\n", operand_text(region, key.at, key.dtype));
  return text + fmt::format("  return {};\n}}\n",
                            key.descending ? fmt::format("~key & {:#x}ull", all) : "key");
}

std::string SortText::comparison() const {
  const ScalarRegion& region = comparator_->region();
  std::string text = "struct Columns {\n";
  for (std::size_t k = 0; k < types_.size(); ++k)
    text += fmt::format("  const {}* at{};\n", cuda_memory_type(types_[k]), k);
  text += "};\n__device__ bool comes_before(const Columns& c, i64 a, i64 b) {\n";
  for (std::size_t k = 0; k < types_.size(); ++k)
    for (std::size_t side = 0; side < 2; ++side)
      text += fmt::format("  const {} r{} = c.at{}[{}]{};\n", cuda_type(types_[k]), 2 * k + side, k,
                          side == 0 ? "a" : "b", types_[k] == DType::i1 ? " != 0" : "");
  for (const ScalarRegion::Step& s : region.steps()) text += step_text(region, s);
  return text +
         fmt::format("  return {};\n}}\n", operand_text(region, region.results()[0], DType::i1));
}

// ---- text

std::string SortText::begin() const {
  return fmt::format(
      "{}\nconstexpr i64 kLength = {}, kInner = {}, kLines = {}, kTiles = {};\n"
      "constexpr int kTile = {}, kPadded = {}, kThreads = {}, kEach = kTile / kThreads;\n{}",
      cuda_prelude(), length_, inner_, lines(), (length_ + kSortTile - 1) / kSortTile, kSortTile,
      padded(), kSortThreads, fmt::format("{}{}", ordered_text(), kOrder));
}

std::string SortText::items() const {
  if (kind_ == Items::packed)
    return "typedef ui64 Item;\n"
           "__device__ Item item_of(ui64 key, ui32 number) { return key << 32 | number; }\n"
           "__device__ ui32 number_of(Item i) { return (ui32)i; }\n"
           "__device__ bool less(Item a, Item b) { return a < b; }\n";
  if (kind_ == Items::wide)
    return "struct Item { ui64 key; ui32 number; };\n"
           "__device__ Item item_of(ui64 key, ui32 number) { return {key, number}; }\n"
           "__device__ ui32 number_of(const Item& i) { return i.number; }\n"
           "__device__ bool less(const Item& a, const Item& b) {\n"
           "  return a.key < b.key || (a.key == b.key && a.number < b.number);\n}\n";
  return "typedef ui32 Item;\n"
         "__device__ ui32 number_of(Item i) { return i; }\n";
}

std::string SortText::parameters(bool writes) const {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < types_.size(); ++k)
    all.push_back(fmt::format("const {}* __restrict__ in{}", cuda_memory_type(types_[k]), k));
  for (std::size_t k = 0; writes && k < types_.size(); ++k)
    all.push_back(fmt::format("{}* out{}", cuda_memory_type(types_[k]), k));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string SortText::placed() const {
  std::string text;
  for (std::size_t k = 0; k < types_.size(); ++k)
    text += fmt::format("    out{0}[to] = in{0}[at];\n", k);
  return text;
}

// Elements whose numbers lie behind their line come last.
std::string SortText::precedes() const {
  if (kind_ != Items::numbers)
    return "  const auto precedes = [](const Item& a, const Item& b, int) { return less(a, b); "
           "};\n";
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < types_.size(); ++k) columns.push_back(fmt::format("in{}", k));
  return fmt::format(R"cuda(  const Columns columns = {{{}}};
  const auto precedes = [&](Item a, Item b, int at) {{
    if (a >= kLength || b >= kLength) return a < b;
    const i64 first = first_of((i64)blockIdx.x * kTogether + at / kPadded);
    const i64 at_a = first + a * kInner, at_b = first + b * kInner;
    if (comes_before(columns, at_a, at_b)) return true;
    return !comes_before(columns, at_b, at_a) && a < b;
  }};
)cuda",
                     fmt::join(columns, ", "));
}

std::string SortText::item_at(std::string_view place, std::string_view number) const {
  if (kind_ == Items::numbers) return fmt::format("(ui32){}", number);
  return fmt::format("item_of(key_of(in{}[{}]), (ui32){})",
                     comparator_ ? comparator_->key()->operand : 0, place, number);
}

std::string SortText::tiles() const {
  std::string text = begin() + items() + (kind_ == Items::numbers ? comparison() : key());
  text += fmt::format(R"cuda(constexpr int kTogether = kTile / kPadded;
extern "C" __global__ void __launch_bounds__(kThreads) sort_tiles({}{}) {{
  __shared__ Item tile[kTile];
{})cuda",
                      parameters(!gives_items()), gives_items() ? ", Item* items" : "", precedes());
  const std::string padding = kind_ == Items::numbers  ? "0x80000000u | p"
                              : kind_ == Items::packed ? "item_of(0xffffffffull, 0x80000000u | p)"
                                                       : "item_of(~0ull, 0x80000000u | p)";
  if (is_long())
    return text +
           fmt::format(
               R"cuda(  const i64 line = blockIdx.x / kTiles, begin = blockIdx.x % kTiles * kTile;
  for (int p = threadIdx.x; p < kTile; p += kThreads) {{
    const i64 number = begin + p;
    tile[p] = number < kLength ? {} : {};
  }}
  __syncthreads();
{}  for (int p = threadIdx.x; p < kTile; p += kThreads)
    if (begin + p < kLength) items[line * kLength + begin + p] = tile[p];
}}
)cuda",
               item_at("first_of(line) + number * kInner", "number"), padding, kNetwork);
  // Neighbouring threads have neighbouring elements, of one line or of several.
  const std::string loop = R"cuda(  for (int i = threadIdx.x; i < kTile; i += kThreads) {
    const int l = kInner > 1 ? i % kTogether : i / kPadded, p = kInner > 1 ? i / kTogether : i % kPadded;
    const i64 line = (i64)blockIdx.x * kTogether + l;
    const bool is_there = line < kLines && p < kLength;
    const i64 first = first_of(line);
)cuda";
  return text + loop +
         fmt::format("    tile[l * kPadded + p] = is_there ? {} : {};\n  }}\n  __syncthreads();\n",
                     item_at("first + p * kInner", "p"), padding) +
         std::string(kNetwork) + loop +
         "    if (!is_there) continue;\n"
         "    const i64 to = first + p * kInner;\n"
         "    const i64 at = first + number_of(tile[l * kPadded + p]) * kInner;\n" +
         placed() + "  }\n}\n";
}

std::string SortText::merge() const {
  return begin() + items() + std::string(kSplit) + std::string(kMerge);
}

std::string SortText::place() const {
  return begin() + items() +
         fmt::format(R"cuda(
extern "C" __global__ void __launch_bounds__(kThreads) sort_place({}, const Item* items) {{
  for (i64 i = (i64)blockIdx.x * kThreads + threadIdx.x; i < kLines * kLength; i += (i64)gridDim.x * kThreads) {{
    const i64 first = first_of(i / kLength), to = first + i % kLength * kInner;
    const i64 at = first + number_of(items[i]) * kInner;
{}  }}
}}
)cuda",
                     parameters(true), placed());
}

}  // namespace heddle::cuda
