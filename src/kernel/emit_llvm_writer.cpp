#include "kernel/emit_llvm_writer.h"

#include <bit>

#include "ir/eval/scalar.h"

namespace heddle {

std::string_view LlvmWriter::scalar_type(DType type, bool narrow) {
  switch (type) {
    case DType::i1:
      return "i1";
    case DType::f16:
    case DType::bf16:
      return "float";
    case DType::i64:
      return narrow ? "i32" : "i64";
    default:
      return memory_type(type);
  }
}

std::string_view LlvmWriter::memory_type(DType type) {
  switch (type) {
    case DType::i1:
    case DType::i8:
    case DType::ui8:
      return "i8";
    case DType::i16:
    case DType::ui16:
    case DType::bf16:
      return "i16";
    case DType::i32:
    case DType::ui32:
      return "i32";
    case DType::i64:
    case DType::ui64:
      return "i64";
    case DType::f16:
      return "half";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    default:
      break;
  }
  throw InternalError("a type of kernels", name(type));
}

std::string LlvmWriter::vector_of(std::string_view scalar, int lanes) {
  return lanes == 0 ? std::string(scalar) : fmt::format("<{} x {}>", lanes, scalar);
}

std::string LlvmWriter::suffix(std::string_view scalar, int lanes) {
  if (scalar == "float") scalar = "f32";
  if (scalar == "double") scalar = "f64";
  if (scalar == "half") scalar = "f16";
  if (scalar == "ptr") scalar = "p0";
  return lanes == 0 ? std::string(scalar) : fmt::format("v{}{}", lanes, scalar);
}

// The types of the arguments: of "float 0.0, <2 x i1> %m" that is "float, <2 x i1>".
static std::string argument_types(std::string_view arguments) {
  std::string types;
  while (!arguments.empty()) {
    // A type ends at the first space outside of brackets.
    std::size_t end = 0;
    for (int open = 0; end < arguments.size(); ++end) {
      if (arguments[end] == '<') ++open;
      if (arguments[end] == '>') --open;
      if (open == 0 && arguments[end] == ' ') break;
    }
    types += (types.empty() ? "" : ", ") + std::string(arguments.substr(0, end));
    int open = 0;
    for (; end < arguments.size(); ++end) {
      if (arguments[end] == '<' || arguments[end] == '(') ++open;
      if (arguments[end] == '>' || arguments[end] == ')') --open;
      if (open == 0 && arguments[end] == ',') break;
    }
    arguments.remove_prefix(std::min(arguments.size(), end + 2));
  }
  return types;
}

void LlvmWriter::declare(std::string_view result_type, std::string_view function,
                         std::string_view arguments) {
  // Functions of mathematics touch nothing; intrinsics say so themselves.
  const std::string_view attributes = function.starts_with("llvm.") ? "" : " #1";
  declarations_.insert(fmt::format("declare {} @{}({}){}", result_type, function,
                                   argument_types(arguments), attributes));
}

std::string LlvmWriter::call(std::string_view result_type, std::string_view function,
                             std::string_view arguments, std::string_view flags) {
  declare(result_type, function, arguments);
  return set("call {}{} @{}({})", flags, result_type, function, arguments);
}

void LlvmWriter::call_void(std::string_view function, std::string_view arguments) {
  declare("void", function, arguments);
  put("call void @{}({})", function, arguments);
}

std::string LlvmWriter::stack(std::string_view type, int align) {
  return align == 0 ? set_at_entry("alloca {}", type)
                    : set_at_entry("alloca {}, align {}", type, align);
}

void LlvmWriter::place(std::string_view label) {
  fmt::format_to(std::back_inserter(body_), "{}:\n", label);
}

std::string LlvmWriter::part(std::string_view scalar, int lanes, std::string_view vector, int first,
                             int count) {
  if (count == lanes) return std::string(vector);
  std::string order;
  for (int i = first; i < first + count; ++i)
    order += fmt::format("{}i32 {}", order.empty() ? "" : ", ", i < lanes ? i : 0);
  return set("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", vector_of(scalar, lanes),
             vector, count, order);
}

std::string LlvmWriter::joined(std::vector<std::string> parts, std::string_view scalar, int each,
                               int lanes) {
  for (; parts.size() > 1; each *= 2) {
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      parts[i / 2] = set("shufflevector <{0} x {1}> {2}, <{0} x {1}> {3}, <{4} x i32> {5}", each,
                         scalar, parts[i], parts[i + 1], 2 * each, iota("i32", 2 * each));
    parts.resize(parts.size() / 2);
  }
  if (each == lanes) return parts[0];
  return set("shufflevector <{0} x {1}> {2}, <{0} x {1}> poison, <{3} x i32> {4}", each, scalar,
             parts[0], lanes, iota("i32", lanes));
}

std::string LlvmWriter::splat(std::string_view scalar_text, std::string_view scalar, int lanes) {
  if (scalar_text[0] != '%') return fmt::format("splat ({} {})", scalar, scalar_text);
  const std::string one =
      set("insertelement <{0} x {1}> poison, {1} {2}, i64 0", lanes, scalar, scalar_text);
  return set("shufflevector <{0} x {1}> {2}, <{0} x {1}> poison, <{0} x i32> zeroinitializer",
             lanes, scalar, one);
}

LlvmValue LlvmWriter::widened(const LlvmValue& value, int lanes) {
  if (lanes == value.lanes) return value;
  HEDDLE_CHECK(value.lanes == 0, "a vector of {} lanes where {} are wanted", value.lanes, lanes);
  LlvmValue result = value;
  result.text = splat(value.text, scalar_type(value.type, value.narrow), lanes);
  result.lanes = lanes;
  return result;
}

LlvmValue LlvmWriter::wide(const LlvmValue& value) {
  if (!value.narrow) return value;
  LlvmValue result = value;
  result.narrow = false;
  result.text = set("sext {} {} to {}", type_of(value), value.text, type_of(result));
  return result;
}

std::string LlvmWriter::iota(std::string_view scalar, int lanes, std::int64_t stride) {
  std::string text = "<";
  for (int i = 0; i < lanes; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", scalar, i * stride);
  return text + ">";
}

LlvmValue LlvmWriter::constant(DType type, std::uint64_t bits) {
  LlvmValue value{"", type, 0, false};
  auto real = [&](double x) { return fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(x)); };
  switch (type) {
    case DType::i1:
      value.text = (bits & 0xff) != 0 ? "true" : "false";
      break;
    case DType::f16:
      value.text = real(double(F16::from_bits(static_cast<std::uint16_t>(bits))));
      break;
    case DType::bf16:
      value.text = real(double(BF16::from_bits(static_cast<std::uint16_t>(bits))));
      break;
    case DType::f32:
      value.text = real(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      break;
    case DType::f64:
      value.text = real(std::bit_cast<double>(bits));
      break;
    default: {
      // As a signed number of its width, whatever bits stand above.
      const int shift = 64 - 8 * byte_size(type);
      value.text = std::to_string(static_cast<std::int64_t>(bits << shift) >> shift);
    }
  }
  return value;
}

std::string LlvmWriter::function(std::string_view header) const {
  return fmt::format("{} {{\nentry:\n{}  br label %start\nstart:\n{}}}\n", header, entry_, body_);
}

}  // namespace heddle
