#include "ir/lapack/call.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "ir/attr_access.h"
#include "ir/eval/linalg.h"
#include "ir/shape_rules.h"

namespace heddle::lapack {

namespace {

DType real_of(DType dtype) { return is_complex(dtype) ? part_dtype(dtype) : dtype; }
DType complex_of(DType dtype) { return real_of(dtype) == DType::f32 ? DType::c64 : DType::c128; }

// The next part of a text in parts, which are apart by spaces.
std::string_view next_part(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

// Reads what a signature says of shapes, and what the types at hand make of its letters.
class Fit {
 public:
  Fit(const Program& program, const Op& op, const Signature& signature)
      : program_(program), op_(op), signature_(signature) {
    sizes_.fill(kUnknown);
  }

  Expected<Call> fit() {
    Call call;
    call.signature = &signature_;
    const auto operands = program_.operands(op_);
    if (operands.empty()) return refused("it has no operands");
    const Type& first = program_.type_of(operands[0]);
    call.dtype = first.dtype;
    if (call.dtype != DType::f32 && call.dtype != DType::f64 && !is_complex(call.dtype))
      return refused("{} has elements that LAPACK does not have: f32, f64 and complex numbers are",
                     first.str());
    const std::size_t inner = inner_ranks(signature_.operands)[0];
    if (first.rank() < inner)
      return refused("operand 0 is {}: a rank of at least {} was expected", first.str(), inner);
    batch_.assign(first.shape.begin(), first.shape.end() - static_cast<std::ptrdiff_t>(inner));
    for (std::int64_t size : batch_) call.batches *= size;
    const bool other = is_complex(call.dtype) && !signature_.complex_results.empty();
    std::vector<Type> given;
    for (ValueId v : operands) given.push_back(program_.type_of(v));
    HEDDLE_TRY_VOID(items("operand", signature_.operands, given, call, call.operands));
    given.clear();
    for (std::size_t i = 0; i < op_.result_count; ++i)
      given.push_back(program_.type_of(program_.result(op_, i)));
    HEDDLE_TRY_VOID(items("result", other ? signature_.complex_results : signature_.results, given,
                          call, call.results));
    sizes_in_bytes(call);
    return call;
  }

  std::int64_t size(char letter) const { return sizes_[static_cast<std::size_t>(letter - 'a')]; }

  template <typename... Args>
  Reason refused(fmt::format_string<Args...> format, Args&&... args) const {
    return reason("{} {}: {}", bracketed(op_), signature_.name,
                  fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  // The size that a letter stands for; the first one that is met is the one.
  std::int64_t bound(char letter, std::int64_t given) {
    if (letter == 'k') return std::min(size('m'), size('n'));
    if (letter == 'h') return std::max<std::int64_t>(size('n') - 1, 0);
    std::int64_t& known = sizes_[static_cast<std::size_t>(letter - 'a')];
    if (known == kUnknown) known = given;
    return known;
  }

  static DType kind(char letter, DType dtype) {
    if (letter == 'I') return DType::i32;
    if (letter == 'R') return real_of(dtype);
    if (letter == 'C') return complex_of(dtype);
    return dtype;
  }

  Verdict items(std::string_view what, std::string_view wanted, std::span<const Type> given,
                const Call& call, std::vector<Shape>& inner) {
    const std::size_t count = inner_ranks(wanted).size();
    if (given.size() != count)
      return refused("{} {}s came, {} were expected", given.size(), what, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view item = next_part(wanted);
      const std::string_view letters = item.substr(2, item.size() - 3);
      Shape shape = batch_;
      const Type& type = given[i];
      for (std::size_t d = 0; d < letters.size(); ++d) {
        const std::size_t at = batch_.size() + d;
        shape.push_back(bound(letters[d], at < type.rank() ? type.shape[at] : 0));
      }
      const Type expected = Type::tensor(kind(item[0], call.dtype), shape);
      if (!(type == expected))
        return refused("{} {} is {}, {} was expected", what, i, type.str(), expected.str());
      inner.emplace_back(shape.begin() + static_cast<std::ptrdiff_t>(batch_.size()), shape.end());
      if (std::ranges::any_of(inner.back(), [](std::int64_t n) { return n > kMostInt; }))
        return refused("{} {} is {}, larger than LAPACK can count", what, i, type.str());
    }
    return yes();
  }

  void sizes_in_bytes(Call& call) const {
    const auto each = [&](const Type& type) {
      return call.batches == 0 ? 0 : type.elements() * byte_size(type.dtype) / call.batches;
    };
    for (ValueId v : program_.operands(op_))
      call.operand_bytes.push_back(each(program_.type_of(v)));
    for (std::size_t i = 0; i < op_.result_count; ++i)
      call.result_bytes.push_back(each(program_.type_of(program_.result(op_, i))));
  }

  static constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

  const Program& program_;
  const Op& op_;
  const Signature& signature_;
  Shape batch_;
  std::array<std::int64_t, 26> sizes_{};
};

// ---- options

char* letter_option(Options& options, std::string_view name) {
  if (name == "uplo") return &options.uplo;
  if (name == "mode") return &options.mode;
  if (name == "side") return &options.side;
  if (name == "trans_x") return &options.trans;
  if (name == "diag") return &options.diag;
  if (name == "sort") return &options.sort;
  return name == "compute_left" ? &options.left_vectors : &options.right_vectors;
}

Verdict read_options(const Fit& fit, const Signature& signature, const Attr* given,
                     Options& options) {
  for (std::string_view rest = signature.options; !rest.empty();) {
    const std::string_view part = next_part(rest);
    const std::size_t colon = part.find(':');
    const std::string_view name = part.substr(0, colon), allowed = part.substr(colon + 1);
    const std::int64_t code = integer_or(field(given, name), 0);
    if (code <= 0 || code > 127 || allowed.find(static_cast<char>(code)) == std::string_view::npos)
      return fit.refused("option {} is {}, the code of one of the letters {} was expected", name,
                         code, allowed);
    *letter_option(options, name) = static_cast<char>(code);
  }
  for (std::string_view rest = signature.truths; !rest.empty();) {
    const std::string_view name = next_part(rest);
    const auto value = flag(field(given, name));
    if (!value) return fit.refused("option {} is missing, or no truth value", name);
    (name == "left" ? options.from_left : options.transposed) = *value;
  }
  for (std::string_view rest = signature.numbers; !rest.empty();) {
    const std::string_view name = next_part(rest);
    const auto value = integer(field(given, name));
    if (!value) return fit.refused("option {} is missing, or no number", name);
    (name == "low" ? options.low : options.high) =
        static_cast<int>(std::clamp<std::int64_t>(*value, -1, INT32_MAX));
  }
  return yes();
}

// What the letters of a signature cannot say.
Verdict check_sizes(const Fit& fit, const Call& call) {
  const Options& o = call.options;
  switch (call.signature->routine) {
    case Routine::orgqr:
      if (fit.size('t') <= fit.size('n') && fit.size('n') <= fit.size('m')) return yes();
      return fit.refused("{} reflectors give no {} columns of {} rows", fit.size('t'),
                         fit.size('n'), fit.size('m'));
    case Routine::ormqr:
      if (fit.size('p') == fit.size(o.from_left ? 'm' : 'n') &&
          fit.size('t') <= std::min(fit.size('p'), fit.size('q')))
        return yes();
      return fit.refused("{} reflectors of {} rows do not fit a {}x{} matrix", fit.size('t'),
                         fit.size('p'), fit.size('m'), fit.size('n'));
    case Routine::trsm:
      if (fit.size('s') == fit.size(o.side == 'L' ? 'm' : 'n')) return yes();
      return fit.refused("a triangle of {} does not fit a {}x{} matrix", fit.size('s'),
                         fit.size('m'), fit.size('n'));
    case Routine::gesdd:
    case Routine::gesvd: {
      const std::int64_t m = fit.size('m'), n = fit.size('n'), k = std::min(m, n);
      const bool all = o.mode == 'A';
      if (o.mode == 'N' || (fit.size('u') == (all ? m : k) && fit.size('v') == (all ? n : k)))
        return yes();
      return fit.refused("mode {} gives {} columns of u and {} rows of v, not {} and {}", o.mode,
                         all ? m : k, all ? n : k, fit.size('u'), fit.size('v'));
    }
    case Routine::gehrd: {
      const std::int64_t n = fit.size('n');
      if (n == 0 || (o.low >= 1 && o.low <= o.high && o.high <= n)) return yes();
      return fit.refused("rows {} to {} are none of the {}", o.low, o.high, n);
    }
    default:
      return yes();
  }
}

bool lapack_has(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype);
}

}  // namespace

Expected<Call> call_of(const Program& program, const Op& op) {
  const std::string_view name = text_or(program.attr(op, "routine"), "");
  const Signature* signature = find_signature(name);
  if (signature == nullptr || signature->routine == Routine::cholesky)
    return reason("{} there is no routine \"{}\"", bracketed(op), name);
  HEDDLE_TRY_VOID(check_tensors(program, op));
  Fit fit(program, op, *signature);
  HEDDLE_TRY(Call call, fit.fit());
  HEDDLE_TRY_VOID(read_options(fit, *signature, program.attr(op, "options"), call.options));
  HEDDLE_TRY_VOID(check_sizes(fit, call));
  return call;
}

std::optional<Call> call_for(const Program& program, const Op& op) {
  if (op.def->evaluate == evaluate_lapack) {
    auto call = call_of(program, op);
    return call ? std::optional(*std::move(call)) : std::nullopt;
  }
  const bool solves = op.def->evaluate == evaluate_triangular_solve;
  if (!solves && op.def->evaluate != evaluate_cholesky) return {};
  if (!lapack_has(operand_type(program, op, 0).dtype)) return {};
  auto call = Fit(program, op, *find_signature(solves ? "trsm" : "cholesky")).fit();
  if (!call) return {};
  Options& o = call->options;
  o.uplo = flag_or(program.attr(op, "lower"), false) ? 'L' : 'U';
  if (solves) {
    const std::string_view transpose = word_or(program.attr(op, "transpose_a"), "NO_TRANSPOSE");
    o.side = flag_or(program.attr(op, "left_side"), true) ? 'L' : 'R';
    o.trans = transpose == "ADJOINT" ? 'C' : transpose == "TRANSPOSE" ? 'T' : 'N';
    o.diag = flag_or(program.attr(op, "unit_diagonal"), false) ? 'U' : 'N';
  }
  return *std::move(call);
}

std::string text(const Call& call) {
  std::string sizes;
  for (std::int64_t n : call.operands[0]) sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", n);
  return call.batches == 1 ? fmt::format("{} {} {}", call.signature->name, sizes, name(call.dtype))
                           : fmt::format("{} {} {}, {} times", call.signature->name, sizes,
                                         name(call.dtype), call.batches);
}

}  // namespace heddle::lapack
