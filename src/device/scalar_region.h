// A region of scalar ops, as the body of a sort or scatter, as a short list of functions.
#pragma once

#include <optional>
#include <vector>

#include "heddle/program.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

// Elements come and go as their bytes, the first one lowest. Register i holds argument i.
class ScalarRegion {
 public:
  using Registers = std::vector<std::uint64_t>;

  // Nothing where the region holds more than scalar ops, or takes more than constants from around.
  static std::optional<ScalarRegion> of(const Program& program, RegionId region);

  // Constants in their places; the arguments' registers are the caller's to fill.
  const Registers& fresh_registers() const { return registers_; }
  void run(Registers& registers) const {
    for (const Step& step : steps_) run(step, registers);
  }
  // The registers of what it returns.
  const std::vector<std::size_t>& results() const { return results_; }

  struct Step {
    ScalarFunction function = nullptr;  // none: a comparison by total order
    std::size_t in[3] = {0, 0, 0}, out = 0;
    ScalarOp op = ScalarOp::none;
    DType from = DType::f32, to = DType::f32;
    bool is_total() const { return function == nullptr; }
  };
  const std::vector<Step>& steps() const { return steps_; }
  static void run(const Step& step, Registers& registers);
  // The step that gives a register; null for arguments and constants.
  const Step* maker(std::size_t at) const;
  bool is_constant(std::size_t at) const { return is_constant_[at]; }

 private:
  std::size_t add_register(std::uint64_t bits, bool is_constant);
  bool add_step(const Program& program, const Op& op, const std::vector<std::size_t>& in);

  std::vector<Step> steps_;
  Registers registers_;
  std::vector<bool> is_constant_;
  std::vector<std::size_t> results_;
};

bool is_nan(std::uint64_t bits, DType dtype);
// A number that compares, unsigned, as the element does; floats in total order.
std::uint64_t ordered_bits(std::uint64_t bits, DType dtype);

}  // namespace heddle
