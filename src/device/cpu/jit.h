// CpuJit: kernels as machine code of this CPU, by way of LLVM. Code is kept in memory and on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/code_cache.h"
#include "heddle/device.h"
#include "heddle/kernel.h"
#include "kernel/emit_llvm.h"

namespace heddle {

// Runs the blocks from first to last - 1 of a phase. `buffers` are addresses by KernelBuffer number
// (those of reach `block` are not looked at), `scratch` the worker's own Kernel::scratch_bytes; all
// of them 64-byte aligned. Stages of `begin` run first, for chunk `chunk`.
using PhaseFunction = void (*)(void* const* buffers, std::int64_t first, std::int64_t last,
                               void* scratch, std::int64_t chunk);

struct CpuKernel : DeviceCode {
  std::vector<PhaseFunction> phases;
  std::shared_ptr<const void> code;  // what the functions live in
  std::int64_t code_bytes = 0;       // that it takes in memory
  bool from_disk = false;            // nothing had to be compiled
};

// What code is made for.
struct CpuTarget {
  VectorTarget vectors;
  std::string cpu, features;  // as LLVM spells them
  std::string compiler;       // "LLVM 19.1.7"
};

struct CpuJitOptions {
  bool fast_math = false;
  int vector_bytes = 64;  // at most, and no instructions that only wider vectors need
  // Of object files; none: nothing is read from disk or written to it.
  std::optional<std::filesystem::path> cache_directory = std::nullopt;
  std::int64_t disk_bytes = kMostBytesOfCode;
  // Of kernels that nobody may use any more.
  std::int64_t memory_bytes = std::int64_t{8} << 20;
  // So many turns a loop is done step by step before it is worth a function of its own.
  std::int64_t turns_before_code = 2048;
};

// May be used from several threads at once.
class CpuJit {
 public:
  explicit CpuJit(CpuJitOptions options = {});
  ~CpuJit();

  // Where there is no LLVM, a reason that says how to get it.
  Expected<std::shared_ptr<const CpuKernel>> compile(const Kernel& kernel);
  // A text that has no kernel: functions @phase0 to @phase<N-1> of the same kind.
  Expected<std::shared_ptr<const CpuKernel>> compile_text(const std::string& ir,
                                                          std::size_t functions);
  Expected<CpuTarget> target() const;
  const CpuJitOptions& options() const;

  struct Counts {
    std::int64_t compiled = 0, from_memory = 0, from_disk = 0;
  };
  Counts counts() const;

 private:
  Expected<std::shared_ptr<const CpuKernel>> compile(const std::string& ir, std::size_t phases,
                                                     bool joins);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
