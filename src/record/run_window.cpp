// The run of a window: as a whole, or in pieces; on one device, or on several.
#include <utility>

#include "heddle/recorder.h"
#include "record/attempt.h"
#include "record/pieces.h"

namespace heddle {

// Touches no store: others may look at those meanwhile.
Verdict Recorder::compute(std::optional<Executable>& found, const Target& target, Done& done,
                          std::vector<Argument>& values) {
  if (found) {
    done.executable = *std::move(found);
  } else {
    HEDDLE_TRY(done.executable, compiled(target));
  }
  times_.clear();
  aligned_.clear();
  return compute(builder_.program, done.executable, !target.mesh.empty(),
                 std::exchange(arguments_, {}), done, values);
}

// What it takes to run it as a whole.
std::int64_t Recorder::needed_bytes(const Executable& executable, bool on_mesh,
                                    const std::vector<Argument>& arguments) const {
  std::int64_t needed = executable.peak_bytes();
  if (on_mesh && !devices_->are_ranks()) needed *= devices_->count();
  for (const Argument& argument : arguments) needed += argument.type().bytes();
  return needed;
}

// Over the limit in two pieces, of which each may be cut again.
Verdict Recorder::compute(const Program& program, const Executable& executable, bool on_mesh,
                          std::vector<Argument> arguments, Done& done,
                          std::vector<Argument>& values) {
  const std::int64_t limit = limit_on(executable.device());
  const bool is_all = &executable == &done.executable;
  if (needed_bytes(executable, on_mesh, arguments) > limit)
    if (const auto pieces = record::cut_in_two(program)) {
      if (is_all) arguments_ = arguments;  // pieces overwrite none
      return compute(*pieces, executable.device(), std::move(arguments), done, values);
    }
  ++done.pieces;
  // Memory that hundreds of executables keep each for itself would be bounded by nothing.
  constexpr std::int64_t kSmallShare = 64;
  const bool is_large = executable.peak_bytes() > limit / kSmallShare;
  const Verdict verdict =
      record::attempt([&] { return run_once(executable, on_mesh, arguments, done, values); });
  if (is_large || !verdict) executable.drop_spare_memory();
  if (!verdict && is_all) arguments_ = std::move(arguments);
  return verdict;
}

// Kernels read memory that begins at a multiple of so many bytes, which NumPy's does not: a run
// would copy it, and so would the next one.
void Recorder::align(std::vector<Argument>& arguments) {
  for (Argument& argument : arguments) {
    if (argument.spread || !argument.value.in_host_memory()) continue;
    const Array& array = argument.value.array();
    if (array.is_splat() || array.elements() == 0 || argument.of.expired()) continue;
    const std::span<const std::byte> bytes = array.bytes();
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % Block::kAlignment == 0) continue;
    Array copy(array.type(), Block::copy_of(bytes));
    aligned_.push_back({argument.of, bytes.data(), copy});
    argument.value = DeviceValue(std::move(copy));
  }
}

// Stores that still have the old memory get the new one.
void Recorder::keep_aligned() {
  for (Aligned& one : aligned_) {
    const StorePtr store = one.of.lock();
    if (!store || store->pending_ || !store->whole_ || !store->memory_.in_host_memory()) continue;
    const Array& held = store->memory_.array();
    if (held.type() != one.to.type() || held.bytes().data() != one.from) continue;
    store->memory_ = DeviceValue(std::move(one.to));
    ++store->generation_;
  }
  aligned_.clear();
}

Verdict Recorder::run_once(const Executable& executable, bool on_mesh,
                           std::vector<Argument>& arguments, const Done& done,
                           std::vector<Argument>& values) {
  if (on_mesh) return compute_on_devices(executable, std::exchange(arguments, {}), values);
  RunOptions options;
  std::vector<std::optional<DeviceValue>> left;
  options.left = &left;
  if (&executable == &done.executable) {  // not one of its pieces, which copy in their runs
    if (profiling_) options.times = &times_;
    if (executable.in_host_memory()) align(arguments);
  }
  for (Argument& argument : arguments) {
    if (argument.spread) {
      HEDDLE_TRY(Array whole, devices_->whole(*argument.spread));
      argument = {DeviceValue(std::move(whole)), nullptr};
    }
    HEDDLE_TRY_VOID(bring_to(executable.device(), argument));
  }
  std::vector<DeviceValue> given;
  given.reserve(arguments.size());
  for (Argument& argument : arguments) {
    given.push_back(std::move(argument.value));
    argument.is_gone = true;
    argument.there = {};
  }
  auto results = executable.run_values(std::move(given), options);
  if (!results) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!left[i]) continue;
      arguments[i].value = *std::move(left[i]);
      arguments[i].is_gone = false;
    }
    return results.why();
  }
  for (DeviceValue& result : *results) values.push_back({std::move(result), nullptr});
  return yes();
}

Verdict Recorder::compute(const record::Pieces& pieces, Device& device,
                          std::vector<Argument> arguments, Done& done,
                          std::vector<Argument>& values) {
  const auto run = [&](const Program& piece, std::vector<Argument> given,
                       std::vector<Argument>& made) -> Verdict {
    Target target = options_.target;
    target.options.donated.assign(given.size(), false);
    if (&device == device_) target.options.device = device_;
    if (devices_) {
      std::vector<Type> types, results;
      for (const Argument& one : given) types.push_back(one.type());
      for (TypeId type : piece.functions.back().results) results.push_back(piece.type(type));
      devices_->place(target, types, results);
    }
    HEDDLE_TRY(const Executable executable, cache_->compile(piece, target));
    return compute(piece, executable, !target.mesh.empty(), std::move(given), done, made);
  };
  using Of = record::Pieces::Source::Of;
  std::vector<Argument> of_first, of_second, given;
  for (std::size_t at : pieces.first_arguments) given.push_back(arguments[at]);
  // What only the first piece reads is not kept for the second.
  std::vector<bool> is_kept(arguments.size());
  for (const auto* sources : {&pieces.second_arguments, &pieces.results})
    for (const auto& source : *sources)
      if (source.of == Of::argument) is_kept[source.at] = true;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!is_kept[i]) arguments[i] = {};
  HEDDLE_TRY_VOID(run(pieces.first, std::move(given), of_first));
  const auto taken = [&](const record::Pieces::Source& source) {
    return source.of == Of::argument ? arguments[source.at]
           : source.of == Of::first  ? of_first[source.at]
                                     : of_second[source.at];
  };
  given.clear();
  for (const auto& source : pieces.second_arguments) given.push_back(taken(source));
  std::vector<bool> is_result(of_first.size());
  for (const auto& source : pieces.results)
    if (source.of == Of::first) is_result[source.at] = true;
  for (std::size_t i = 0; i < of_first.size(); ++i)
    if (!is_result[i]) of_first[i] = {};
  HEDDLE_TRY_VOID(run(pieces.second, std::move(given), of_second));
  for (const auto& source : pieces.results) values.push_back(taken(source));
  return yes();
}

Verdict Recorder::compute_on_devices(const Executable& executable, std::vector<Argument> given,
                                     std::vector<Argument>& values) {
  std::vector<WindowValue> arguments;
  for (Argument& argument : given) {
    Array whole;
    if (!argument.spread) whole = argument.value.take_array();
    arguments.push_back({std::move(whole), std::move(argument.spread)});
  }
  given.clear();
  HEDDLE_TRY(std::vector<WindowValue> results, devices_->run(executable, std::move(arguments)));
  for (WindowValue& result : results)
    values.push_back({DeviceValue(std::move(result.whole)), std::move(result.spread)});
  return yes();
}

}  // namespace heddle
