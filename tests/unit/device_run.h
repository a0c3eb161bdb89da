// Runs a kernel as machine code and by the kernel interpreter, on the same bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "device/cpu/jit.h"
#include "kernel_build.h"

namespace heddle {

// One for all tests of a program.
inline CpuJit& test_jit() {
  static CpuJit jit;
  return jit;
}

// For machines with shorter vectors.
inline CpuJit& test_jit(int vector_bytes) {
  static CpuJitOptions short_options{.vector_bytes = 16}, medium_options{.vector_bytes = 32};
  static CpuJit short_jit(short_options), medium_jit(medium_options);
  return vector_bytes == 64 ? test_jit() : vector_bytes == 32 ? medium_jit : short_jit;
}

// At the beginning of a test that runs machine code.
#define HEDDLE_NEEDS_LLVM() \
  if (const auto target = test_jit().target(); !target) GTEST_SKIP() << target.reason()

// Memory as kernels want it, with guard bytes behind that nobody may touch.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size) : size_(size) {
    const std::size_t room = (size + 127) / 64 * 64;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, room)));
    std::memset(data_.get(), 0xa5, room);
  }
  std::byte* data() const { return data_.get(); }
  bool tail_is_whole() const {
    for (std::size_t i = size_; i < size_ + 64 - size_ % 64; ++i)
      if (data_.get()[i] != std::byte{0xa5}) return false;
    return true;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

// The blocks of each phase one after another, or `chunks` pieces where the phase is cut.
inline void run_compiled(const CpuKernel& code, const Kernel& kernel, KernelData& data) {
  std::vector<AlignedBytes> memory;
  for (const KernelBuffer& b : kernel.buffers) {
    const auto size = static_cast<std::size_t>(b.elements * byte_size(b.dtype));
    memory.emplace_back(size);
    const auto& given = data.bytes[memory.size() - 1];
    if (!given.empty()) std::memcpy(memory.back().data(), given.data(), given.size());
  }
  const AlignedBytes scratch(static_cast<std::size_t>(kernel.scratch_bytes));
  std::vector<void*> buffers;
  for (const AlignedBytes& m : memory) buffers.push_back(m.data());
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    const std::int64_t blocks = phase.blocks();
    // Without chunks in two unequal pieces, to begin in the middle too.
    const std::int64_t pieces = phase.chunks > 0 ? phase.chunks : 2;
    for (std::int64_t c = 0; c < pieces; ++c) {
      const std::int64_t first = phase.chunks > 0 ? blocks * c / pieces : c == 0 ? 0 : blocks / 3;
      const std::int64_t last = phase.chunks > 0 ? blocks * (c + 1) / pieces
                                : c == 0         ? blocks / 3
                                                 : blocks;
      code.phases[p](buffers.data(), first, last, scratch.data(), c);
    }
  }
  for (std::size_t b = 0; b < memory.size(); ++b) {
    EXPECT_TRUE(memory[b].tail_is_whole()) << "wrote behind buffer " << b;
    auto& given = data.bytes[b];
    if (!given.empty()) std::memcpy(given.data(), memory[b].data(), given.size());
  }
}

// How far apart two floats are, in units of the last place of the type; NaN equals NaN.
template <typename T>
std::int64_t distance(T a, T b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : INT64_MAX;
  auto place = [](T value) -> std::int64_t {
    std::int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    const std::int64_t top = std::int64_t{1} << (8 * sizeof(T) - 1);
    return (bits & top) != 0 ? -(bits & ~top) : bits;
  };
  return std::abs(place(a) - place(b));
}

inline void expect_same_bytes(const KernelBuffer& buffer, const std::vector<std::byte>& got,
                              const std::vector<std::byte>& want, std::int64_t ulps,
                              const std::string& what) {
  dispatch(buffer.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < static_cast<std::size_t>(buffer.elements); ++i) {
      T a, b;
      std::memcpy(static_cast<void*>(&a), got.data() + i * sizeof(T), sizeof(T));
      std::memcpy(static_cast<void*>(&b), want.data() + i * sizeof(T), sizeof(T));
      bool same = std::memcmp(&a, &b, sizeof(T)) == 0;
      if constexpr (FloatScalar<T>) {
        // -0 and +0 differ, unless something is allowed at all.
        same = same || (std::isnan(static_cast<double>(a)) && std::isnan(static_cast<double>(b))) ||
               (ulps > 0 && distance(a, b) <= ulps);
        ASSERT_TRUE(same) << what << " element " << i << ": " << static_cast<double>(a)
                          << " instead of " << static_cast<double>(b);
      } else {
        ASSERT_TRUE(same) << what << " element " << i;
      }
    }
  });
}

inline void expect_compiled_as_interpreted(const Kernel& kernel, const KernelData& start,
                                           std::int64_t ulps = 0, int vector_bytes = 64) {
  HEDDLE_NEEDS_LLVM();
  const Verdict legal = verify(kernel);
  ASSERT_TRUE(legal) << legal.reason();
  KernelData want = start, got = start;
  const Verdict ran = want.run(kernel);
  ASSERT_TRUE(ran) << ran.reason();
  const auto code = test_jit(vector_bytes).compile(kernel);
  ASSERT_TRUE(code) << code.reason();
  run_compiled(**code, kernel, got);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    if (!start.bytes[b].empty())
      expect_same_bytes(kernel.buffers[b], got.bytes[b], want.bytes[b], ulps,
                        kernel.name + " buffer " + std::to_string(b));
}

// Small whole numbers and halves, so that sums are exact in any order.
inline KernelData random_data(const Kernel& kernel, unsigned seed = 1) {
  KernelData data(kernel);
  std::mt19937 random(seed);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    dispatch(kernel.buffers[b].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (std::size_t i = 0; i < data.bytes[b].size() / sizeof(T); ++i) {
        const int number = static_cast<int>(random() % 17) - 8;
        const T value = convert_scalar<T>(is_float(dtype_of<T>()) ? number / 2.0 : number);
        std::memcpy(data.bytes[b].data() + i * sizeof(T), &value, sizeof(T));
      }
    });
  return data;
}

}  // namespace heddle
