// Writes the body of one LLVM function, instruction by instruction.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/emit_llvm.h"

namespace heddle {

// A value in registers: a scalar (lanes 0) or a vector. f16 and bf16 are held as float, rounded to
// their own type; an i64 that fits may be held as i32.
struct LlvmValue {
  std::string text;
  DType type = DType::f32;
  int lanes = 0;
  bool narrow = false;
};

class LlvmWriter {
 public:
  explicit LlvmWriter(const VectorTarget& vector_target) : target(vector_target) {}

  const VectorTarget target;

  // ---- types
  static std::string_view scalar_type(DType type, bool narrow = false);  // in registers
  static std::string_view memory_type(DType type);
  static std::string vector_of(std::string_view scalar, int lanes);  // the scalar itself for 0
  static std::string type_of(const LlvmValue& value) {
    return vector_of(scalar_type(value.type, value.narrow), value.lanes);
  }
  // f32 or v16f32, as names of intrinsics end.
  static std::string suffix(std::string_view scalar, int lanes);

  // ---- instructions
  template <typename... Args>
  std::string set(fmt::format_string<Args...> format, Args&&... args) {
    std::string result = fmt::format("%v{}", next_++);
    fmt::format_to(std::back_inserter(body_), "  {} = ", result);
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
    return result;
  }
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  ";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }
  // A call of an intrinsic or a function, which is declared on the way.
  std::string call(std::string_view result_type, std::string_view function,
                   std::string_view arguments, std::string_view flags = {});
  void call_void(std::string_view function, std::string_view arguments);
  // A constant table that whoever links the code brings along.
  void declare_table(std::string_view name) {
    declarations_.insert(fmt::format("@{} = external constant i8", name));
  }

  // Room on the stack for the whole function.
  std::string stack(std::string_view type, int align = 0);
  // An instruction that stands at the beginning of the function.
  template <typename... Args>
  std::string set_at_entry(fmt::format_string<Args...> format, Args&&... args) {
    std::string result = fmt::format("%v{}", next_++);
    entry_ += "  " + result + " = " + fmt::format(format, std::forward<Args>(args)...) + "\n";
    return result;
  }

  // ---- control
  std::string label() { return fmt::format("b{}", next_++); }
  void place(std::string_view label);
  void branch(std::string_view label) { put("br label %{}", label); }
  void branch(std::string_view condition, std::string_view yes, std::string_view no) {
    put("br i1 {}, label %{}, label %{}", condition, yes, no);
  }
  // Runs body(position) for positions from first to limit - 1, step by step.
  template <typename Body>
  void loop(std::string_view first, std::string_view limit, std::int64_t step, Body&& body) {
    const std::string counter = stack("i64");
    const std::string head = label(), inside = label(), after = label();
    put("store i64 {}, ptr {}", first, counter);
    branch(head);
    place(head);
    const std::string at = set("load i64, ptr {}", counter);
    branch(set("icmp slt i64 {}, {}", at, limit), inside, after);
    place(inside);
    body(at);
    put("store i64 {}, ptr {}", set("add nsw i64 {}, {}", at, step), counter);
    branch(head);
    place(after);
  }
  template <typename Body>
  void when(std::string_view condition, Body&& body) {
    const std::string inside = label(), after = label();
    branch(condition, inside, after);
    place(inside);
    body();
    branch(after);
    place(after);
  }

  // ---- values
  std::string splat(std::string_view scalar_text, std::string_view scalar_type, int lanes);
  // `count` lanes of a vector, from `first` on; what lies beyond it is left open.
  std::string part(std::string_view scalar, int lanes, std::string_view vector, int first,
                   int count);
  // Vectors of `each` lanes side by side, as many as a power of two; of all that so many lanes.
  std::string joined(std::vector<std::string> parts, std::string_view scalar, int each, int lanes);
  // As a vector of so many lanes (0: as it is).
  LlvmValue widened(const LlvmValue& value, int lanes);
  // An i64 in 64 bits.
  LlvmValue wide(const LlvmValue& value);
  // 0, 1, 2, … times stride as a constant.
  static std::string iota(std::string_view scalar_type, int lanes, std::int64_t stride = 1);
  static LlvmValue constant(DType type, std::uint64_t bits);

  // The function, and what it declares beside it.
  std::string function(std::string_view header) const;
  const std::set<std::string>& declarations() const { return declarations_; }

 private:
  void declare(std::string_view result_type, std::string_view function, std::string_view arguments);

  int next_ = 0;
  std::string entry_, body_;
  std::set<std::string> declarations_;
};

}  // namespace heddle
