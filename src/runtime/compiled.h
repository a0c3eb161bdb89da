// A program whose regions have been stitched and whose kernels have code, before memory is planned.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/lazy_code.h"
#include "heddle/kernel.h"
#include "heddle/program.h"
#include "heddle/stitch.h"

namespace heddle::runtime {

struct CompiledKernel {
  Kernel kernel;
  StitchGroup group;
  std::shared_ptr<LazyCode> code = {};  // none: it is interpreted
  // Kernels with the same number are known to be the same, but for the values of their buffers;
  // kNone: nothing is known.
  std::uint32_t alike = kNone;
  std::vector<ValueId> values = {};  // of buffers, where a kept plan has them
};

// One launch, or one op by a library, the reference evaluation or steps of its regions.
struct CompiledUnit {
  std::vector<CompiledKernel> kernels;
  OpId op = kNone;
  std::string note;  // why it stands alone, where that is not plain
  // Of a product that reads what other ops would have moved, or writes it moved.
  std::optional<ProductViews> views = {};
};

struct CompiledProgram {
  Program program;
  Device* device = nullptr;
  std::size_t function = 0;
  std::unordered_map<RegionId, std::vector<CompiledUnit>> regions;
  // Why the whole of it is left to the interpreter; empty where it is compiled.
  std::string interpreted_because;
  std::shared_ptr<BackgroundCode> background = {};  // where code is made while the program runs

  const Function& entry() const { return program.functions[function]; }
};

}  // namespace heddle::runtime
