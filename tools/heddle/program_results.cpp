// Results of a run: described, compared with what was recorded, written to files.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heddle/hash.h"
#include "heddle/npy.h"
#include "ir/eval/scalar.h"
#include "program_commands.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return 1e-9;
    case DType::f32:
    case DType::c64:
      return 1e-4;
    case DType::f16:
    case DType::bf16:
      return 1e-2;
    default:
      // Floats of a few bits; integers and truth values must be equal.
      return is_float(dtype) ? 1e-1 : 0;
  }
}

// How two elements differ: by how much, and whether it is too much.
struct Difference {
  double size;
  bool outside;
};

Difference float_difference(double a, double b, double rtol, double atol) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return {0, false};
  const double size = std::abs(a - b);
  if (!std::isfinite(a) || !std::isfinite(b)) return {INFINITY, true};
  return {size, !(size <= atol + rtol * std::abs(b))};
}

template <typename T>
Difference difference(T a, T b, double rtol, double atol) {
  if constexpr (ComplexScalar<T>) {
    const Difference real = float_difference(a.real(), b.real(), INFINITY, INFINITY);
    const Difference imag = float_difference(a.imag(), b.imag(), INFINITY, INFINITY);
    if (real.outside || imag.outside) return {INFINITY, true};
    const double size = std::hypot(real.size, imag.size);
    return {size, !(size <= atol + rtol * std::abs(b)) && size != 0};
  } else if constexpr (FloatScalar<T>) {
    return float_difference(static_cast<double>(a), static_cast<double>(b), rtol, atol);
  } else if constexpr (BoolScalar<T>) {
    return {a == b ? 0.0 : 1.0, !(a == b)};
  } else {
    const double size = std::abs(static_cast<double>(a) - static_cast<double>(b));
    return {a == b ? 0 : std::max(size, 1.0), a != b};
  }
}

// "[0,4]"; nothing for a scalar.
std::string place(const Shape& shape, std::int64_t flat) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", flat % shape[d], text.empty() ? "" : ",", text);
    flat /= shape[d];
  }
  return text.empty() ? "" : " at [" + text + "]";
}

template <typename T>
Summary summary_of(const Array& array) {
  Summary s;
  const auto values = array.as<T>();
  bool first = true;
  double sum = 0;
  for (const T v : values) {
    double x = 0;
    if constexpr (BoolScalar<T>)
      x = bool(v) ? 1 : 0;
    else if constexpr (ComplexScalar<T>)
      x = std::abs(C128(v));
    else
      x = static_cast<double>(v);
    if (std::isnan(x)) x = NAN;  // without a sign
    s.least = first || x < s.least || std::isnan(x) ? x : s.least;
    s.most = first || x > s.most || std::isnan(x) ? x : s.most;
    sum += x;
    first = false;
  }
  s.mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  if (std::isnan(s.mean)) s.mean = NAN;
  return s;
}

// JSON has no infinities and no NaN: they are written as text.
nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

std::string file_name(std::size_t index) { return fmt::format("out.{}", index); }

bool is_one_file(const std::string& target) { return target.ends_with(".safetensors"); }

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? "." : parent;
}

// The folder that files are written to; "a/" is "a".
fs::path output_folder(const std::string& target) {
  if (is_one_file(target)) return parent_of(target);
  const fs::path folder = target;
  return folder.has_filename() || !folder.has_parent_path() ? folder : folder.parent_path();
}

}  // namespace

Comparison compare_arrays(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  Comparison c;
  c.elements = actual.elements();
  if (actual.type() != expected.type()) {
    c.outside = c.elements;
    c.complaint = fmt::format("{} instead of {}", actual.type().str(), expected.type().str());
    return c;
  }
  const double rtol = tolerance.rtol.value_or(default_tolerance(actual.dtype()));
  const double atol = tolerance.atol.value_or(default_tolerance(actual.dtype()));
  std::int64_t worst = -1;
  double worst_size = -1;
  dispatch(actual.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto a = actual.as<T>();
    const auto b = expected.as<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const Difference d = difference(a[i], b[i], rtol, atol);
      c.largest = std::max(c.largest, d.size);
      if (!d.outside) continue;
      ++c.outside;
      if (d.size > worst_size) worst = static_cast<std::int64_t>(i), worst_size = d.size;
    }
  });
  if (worst < 0) return c;
  c.complaint = fmt::format("{} instead of {}{}", element_text(actual, worst),
                            element_text(expected, worst), place(actual.shape(), worst));
  if (!actual.shape().empty())
    c.complaint += fmt::format("; {} of {} elements are outside", c.outside, c.elements);
  return c;
}

Summary summarize(const Array& array) {
  Summary s = dispatch(array.dtype(),
                       [&](auto tag) { return summary_of<typename decltype(tag)::type>(array); });
  const auto bytes = array.bytes();
  s.checksum =
      hash_combine(0, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (array.shape().empty()) s.value = element_text(array, 0);
  return s;
}

nlohmann::ordered_json summary_json(const Array& array) {
  const Summary s = summarize(array);
  nlohmann::ordered_json json = {{"type", array.type().str()},
                                 {"min", json_number(s.least)},
                                 {"max", json_number(s.most)},
                                 {"mean", json_number(s.mean)},
                                 {"checksum", fmt::format("{:016x}", s.checksum)}};
  if (!s.value.empty()) json["value"] = s.value;
  return json;
}

void check_output(const std::string& target) {
  if (target.ends_with(".npy"))
    throw Error(
        fmt::format("--output {}: give a folder, which gets out.0.npy, out.1.npy, ..., or a "
                    "file x.safetensors",
                    target));
  const fs::path folder = output_folder(target);
  const fs::path around = parent_of(folder);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return;
  if (fs::exists(folder, ignored))
    throw Error(fmt::format("--output {}: {} is no folder", target, folder.string()));
  if (!fs::is_directory(around, ignored))
    throw Error(
        fmt::format("--output {}: there is no folder {}: make it first", target, around.string()));
}

std::string write_results(const std::string& target, const std::vector<Array>& results) {
  check_output(target);
  const fs::path folder = output_folder(target);
  std::error_code problem;
  fs::create_directory(folder, problem);
  if (problem)
    throw Error(fmt::format("cannot make folder {}: {}", folder.string(), problem.message()));
  const std::string count = counted(results.size(), "result");
  if (is_one_file(target)) {
    NamedArrays named;
    for (std::size_t i = 0; i < results.size(); ++i) named.emplace_back(file_name(i), results[i]);
    (void)write_safetensors(target, named).value();
    return fmt::format("wrote {} to {}", count, target);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    (void)write_npy(folder / (file_name(i) + ".npy"), results[i]).value();
  return fmt::format("wrote {} to {}", count,
                     (folder / (results.size() == 1 ? "out.0.npy" : "out.*.npy")).string());
}

}  // namespace heddle::cli
