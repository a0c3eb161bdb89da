// Arrays for the arguments of a function: from files, or random.
#include "heddle/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "heddle/hash.h"
#include "heddle/npy.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

// Hashes numbers that count up: the same stream on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(hash_mix(seed)) {}
  std::uint64_t bits() { return hash_combine(seed_, count_++); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  // Nearly: the sum of twelve uniforms, because libraries differ in how they round log and cos.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

template <typename T>
T random_scalar(Random& random) {
  if constexpr (BoolScalar<T>)
    return T((random.bits() >> 63) != 0);
  else if constexpr (IntScalar<T>)
    return static_cast<T>(random.bits() >> 61);
  else if constexpr (ComplexScalar<T>) {
    const double real = random.normal();
    return convert_scalar<T>(C128(real, random.normal()));
  } else
    return convert_scalar<T>(random.normal());
}

// What has come in for each argument so far.
struct Slots {
  const Function& function;
  const std::vector<Type>& types;
  std::vector<std::optional<Array>> arrays;

  // The type of argument i, which `source` is for.
  Expected<Type> expected(std::size_t i, const std::string& source) const {
    if (i >= types.size())
      return reason("{} is one input too many: {} takes {}", source, function.name,
                    counted(types.size(), "argument"));
    return types[i];
  }

  // Numbers that would not be used are a mistake; a function without arguments needs none.
  Verdict want_open(std::uint64_t seed) const {
    if (!types.empty() && std::ranges::all_of(arrays, [](const auto& a) { return a.has_value(); }))
      return reason("input random:{} has nothing to fill: all {} of {} are given", seed,
                    counted(types.size(), "argument"), function.name);
    return yes();
  }

  Verdict put(std::size_t i, const Array& array, const std::string& source) {
    HEDDLE_TRY_VOID(expected(i, source));
    if (array.type() != types[i])
      return reason("{} is {}, but argument {} of {} is {}", source, array.type().str(), i,
                    function.name, types[i].str());
    if (arrays[i]) return reason("{}: argument {} of {} is given twice", source, i, function.name);
    arrays[i] = array;
    return yes();
  }

  Verdict put_all(const NamedArrays& named, const std::string& file) {
    bool any = false;
    for (std::size_t i = 0; i < types.size(); ++i)
      if (const Array* array = find_array(named, fmt::format("in.{}", i))) {
        HEDDLE_TRY_VOID(put(i, *array, fmt::format("in.{} of {}", i, file)));
        any = true;
      }
    if (find_array(named, fmt::format("in.{}", types.size())) != nullptr)
      return reason("{} has in.{}, but {} takes only {}", file, types.size(), function.name,
                    counted(types.size(), "argument"));
    // Results alone are for comparing with.
    if (!any && !types.empty() && find_array(named, "out.0") == nullptr)
      return reason("{} has no in.0, in.1, ...: arrays for arguments are named so", file);
    return yes();
  }
};

Expected<std::uint64_t> parse_seed(const std::string& source) {
  const std::string text = source.substr(source.find(':') + 1);
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seed);
  if (problem != std::errc() || stop != end || text.empty())
    return reason("input {}: write random:SEED with an integer, as in random:1", source);
  return seed;
}

Reason no_input(const std::string& source, const std::string& why) {
  return reason("input {}: {}\n  write {}", shortened(source, 80), why, kInputForms);
}

// A constant as StableHLO writes it: dense<[1, 2]> : tensor<2xi32>. Without a type it is of `type`.
Expected<Array> parse_constant(const std::string& source, const Type& type) {
  const std::string typed =
      source.find(':') == source.npos ? fmt::format("{} : {}", source, type.str()) : source;
  const std::string open = "func.func @main() {\n  %0 = stablehlo.constant " + typed;
  const Expected<Program> program = read_stablehlo(open + "\n  return\n}\n", "input");
  // What follows is not the user's either: a reason is looked for without it.
  if (!program) return no_input(source, without_place(read_stablehlo(open, "input").reason()));
  const Attr* value = program->op_count() == 2 ? program->attr(program->op(0), "value") : nullptr;
  const Array* array = value == nullptr ? nullptr : value->get<Array>();
  if (array == nullptr) return no_input(source, "this is no constant");
  return *array;
}

Verdict fill_randomly(Slots& slots, std::uint64_t seed, std::int64_t most_bytes) {
  std::int64_t bytes = 0;
  for (const Type& type : slots.types) bytes += type.bytes();
  if (bytes > most_bytes)
    return reason("the arguments of {} take {}, and the limit of memory is {}", slots.function.name,
                  format_bytes(static_cast<double>(bytes)),
                  format_bytes(static_cast<double>(most_bytes)));
  for (std::size_t i = 0; i < slots.types.size(); ++i)
    if (!slots.arrays[i]) slots.arrays[i] = random_array(slots.types[i], hash_combine(seed, i));
  return yes();
}

}  // namespace

const Array* find_array(const NamedArrays& arrays, std::string_view name) {
  for (const auto& [n, array] : arrays)
    if (n == name) return &array;
  return nullptr;
}

Array random_array(const Type& type, std::uint64_t seed) {
  Array array(type);
  Random random(seed);
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& element : array.as_mutable<T>()) element = random_scalar<T>(random);
  });
  return array;
}

Expected<std::vector<Array>> gather_inputs(const Program& program, const Function& function,
                                           const std::vector<std::string>& sources,
                                           std::int64_t most_bytes,
                                           const std::vector<bool>& elsewhere) {
  const std::vector<Type> types = argument_types(program, function);
  Slots slots{function, types, std::vector<std::optional<Array>>(types.size())};
  std::optional<std::uint64_t> seed;
  std::size_t next = 0;
  for (const std::string& source : sources) {
    if (source.starts_with("random:")) {
      HEDDLE_TRY(seed, parse_seed(source));
    } else if (source.starts_with("dense<")) {
      HEDDLE_TRY(const Type type, slots.expected(next, source));
      HEDDLE_TRY(const Array constant, parse_constant(source, type));
      HEDDLE_TRY_VOID(slots.put(next++, constant, source));
    } else if (source.ends_with(".npy")) {
      HEDDLE_TRY(const Array wide, read_npy(source));
      HEDDLE_TRY(const Type type, slots.expected(next, source));
      const Expected<Array> array = narrowed_npy(wide, type);
      if (!array) return reason("{}: {}", source, array.reason());
      HEDDLE_TRY_VOID(slots.put(next++, *array, source));
    } else if (source.ends_with(".safetensors")) {
      HEDDLE_TRY(const NamedArrays arrays, read_safetensors(source));
      HEDDLE_TRY_VOID(slots.put_all(arrays, source));
    } else {
      return no_input(source, "this is no input");
    }
  }
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!types[i].is_tensor() || (!elsewhere.empty() && elsewhere[i] && !slots.arrays[i]))
      slots.arrays[i] = Array();  // a token carries nothing
  if (seed) {
    if (elsewhere.empty()) HEDDLE_TRY_VOID(slots.want_open(*seed));
    HEDDLE_TRY_VOID(fill_randomly(slots, *seed, most_bytes));
  }
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!slots.arrays[i])
      return reason(
          "argument {} of {} is missing: {}\n  give it as an input, x.npy, or fill what is missing "
          "with random:1",
          i, function.name, types[i].str());
    inputs.push_back(*std::move(slots.arrays[i]));
  }
  return inputs;
}

}  // namespace heddle
