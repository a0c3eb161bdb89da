#include "compile/calibrate_steps.h"

#include <algorithm>
#include <array>
#include <thread>

#include "heddle/compile.h"
#include "heddle/stablehlo.h"

namespace heddle {

namespace {

// A loop that computes %z from %y in every turn; %a is an argument that stays.
std::string loop_text(int turns, const std::string& carried, const std::string& other,
                      const std::string& body) {
  return fmt::format(R"(func.func @main(%x: {1}, %a: {2}) -> {1} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %end = stablehlo.constant dense<{0}> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {1}
  cond {{
    %go = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
{3}
    stablehlo.return %next, %z : tensor<i32>, {1}
  }}
  return %r#1 : {1}
}}
)",
                     turns, carried, other, body);
}

std::string vector_type(std::int64_t n) { return fmt::format("tensor<{}xf32>", n); }
std::string matrix_type(std::int64_t m, std::int64_t n, const std::string& element = "f32") {
  return fmt::format("tensor<{}x{}x{}>", m, n, element);
}

// Sums and products, one after the other.
std::string chain(std::int64_t n, int length) {
  std::string text, last = "%y";
  for (int i = 0; i < length; ++i) {
    const std::string next = i + 1 == length ? "%z" : fmt::format("%c{}", i);
    text += fmt::format("%{} = stablehlo.{} {}, %a : {}\n", next.substr(1),
                        i % 2 == 0 ? "multiply" : "add", last, vector_type(n));
    last = next;
  }
  return text;
}

std::string exponentials(std::int64_t n, int count) {
  std::string text, last = "%y";
  const std::string type = vector_type(n);
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "%n{0} = stablehlo.negate {1} : {2}\n%e{0} = stablehlo.exponential %n{0} : {2}\n", i, last,
        type);
    last = fmt::format("%e{}", i);
  }
  return text + fmt::format("%z = stablehlo.add {}, %a : {}\n", last, type);
}

// Elements at places that data say.
std::string gathered(std::int64_t n) {
  return fmt::format(
      "%p = stablehlo.convert %y : (tensor<{0}xf32>) -> tensor<{0}xi32>\n"
      "%q = stablehlo.reshape %p : (tensor<{0}xi32>) -> tensor<{0}x1xi32>\n"
      "%g = \"stablehlo.gather\"(%a, %q) <{{dimension_numbers = "
      "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
      "indices_are_sorted = false, slice_sizes = array<i64: 1>}}> : (tensor<{0}xf32>, "
      "tensor<{0}x1xi32>) -> tensor<{0}xf32>\n"
      "%z = stablehlo.add %g, %y : tensor<{0}xf32>\n",
      n);
}

// There and back: m x k by k x n, then by n x k.
std::string two_products(std::int64_t m, std::int64_t n, std::int64_t k,
                         const std::string& element = "f32") {
  return fmt::format(
      "%d = stablehlo.dot_general %y, %a, contracting_dims = [1] x [0] : ({0}, {1}) -> {2}\n"
      "%z = stablehlo.dot_general %d, %a, contracting_dims = [1] x [1] : ({2}, {1}) -> {0}\n",
      matrix_type(m, k, element), matrix_type(k, n, element), matrix_type(m, n, element));
}

constexpr const char* kImages = "tensor<2x16x16x8xf32>";
constexpr const char* kWindow = "tensor<3x3x8x8xf32>";
std::string convolution() {
  return fmt::format(
      "%z = stablehlo.convolution(%y, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
      "window = {{stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, "
      "1], reverse = [false, false]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : "
      "i64}} : ({0}, {1}) -> {0}\n",
      kImages, kWindow);
}

// A program that was run: what a run takes beside its start, and what its steps do.
struct Timed {
  double seconds = 0;
  std::vector<StepWork> work;
};

double predicted(const std::vector<StepWork>& steps, const StepFigures& figures) {
  double all = 0;
  for (const StepWork& step : steps)
    all += step.inside.empty() ? step_seconds(step, figures, 0)
                               : step.turns * predicted(step.inside, figures);
  return all;
}

// How much of one class all steps do.
template <typename Count>
double counted(const std::vector<StepWork>& steps, Count count) {
  double all = 0;
  for (const StepWork& step : steps) all += count(step) + step.turns * counted(step.inside, count);
  return all;
}

auto both(double KernelWork::* figure) {
  return [figure](const StepWork& s) { return s.alone.*figure + s.shared.*figure; };
}

class StepTrials {
 public:
  StepTrials(const TrialPlace& place, const MachineFigures& machine, std::int64_t sharers,
             double memory_rate)
      : place_(place) {
    const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
    const auto n = static_cast<double>(sharers);
    figures_.workers =
        place.ranks != nullptr ? machine.workers : std::max(1.0, machine.workers / n);
    figures_.near_cache = static_cast<double>(machine.near_cache) * std::min(1.0, cores / n);
    figures_.far_cache = static_cast<double>(machine.far_cache) / n;
    figures_.memory_rate = memory_rate;
  }

  Expected<StepFigures> run() {
    HEDDLE_TRY_VOID(measure_starts());
    HEDDLE_TRY_VOID(measure_instructions());
    if (figures_.workers > 1) HEDDLE_TRY_VOID(measure_sharing());
    HEDDLE_TRY_VOID(measure_far_cache());
    HEDDLE_TRY_VOID(measure_products());
    HEDDLE_TRY_VOID(measure_conversions());
    HEDDLE_TRY_VOID(measure_windows());
    return figures_;
  }

 private:
  static constexpr std::int64_t kFew = 4096;  // elements, which one worker does

  Expected<Timed> timed(const std::string& text) {
    HEDDLE_TRY(const Program program, read_stablehlo(text, "calibrate"));
    HEDDLE_TRY(const Executable executable, compile(program));
    HEDDLE_TRY_VOID(executable.finish_compiling());
    std::vector<Type> types;
    for (ValueId v : program.region(program.functions[0].body).args)
      types.push_back(program.type_of(v));
    HEDDLE_TRY(const double seconds, seconds_of(place_, executable, types));
    return Timed{std::max(1e-9, seconds - figures_.start), executable.step_work()};
  }

  Expected<Timed> loop(int turns, std::int64_t n, const std::string& body) {
    return timed(loop_text(turns, vector_type(n), vector_type(n), body));
  }

  // A figure so that what all others leave of the measured time is its part.
  void settle(double StepFigures::* rate, const Timed& trial, double count) {
    figures_.*rate = 0;                  // costs nothing
    constexpr double kLeastPart = 0.05;  // of the whole, where others seem to take all of it
    const double rest = trial.seconds - predicted(trial.work, figures_);
    figures_.*rate = count / std::max(rest, kLeastPart * trial.seconds);
  }

  Verdict measure_starts() {
    HEDDLE_TRY(const Timed tiny, timed("func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {\n"
                                       "%0 = stablehlo.negate %x : tensor<16xf32>\n"
                                       "return %0 : tensor<16xf32>\n}\n"));
    figures_.start = tiny.seconds;
    constexpr int kTurns = 4000;
    HEDDLE_TRY(const Timed empty, loop(kTurns, 1, "%z = stablehlo.add %y, %a : tensor<1xf32>"));
    const double steps =
        counted(empty.work, [](const StepWork& s) { return s.inside.empty() ? 1.0 : 0.0; });
    figures_.call = empty.seconds / steps;
    figures_.start = std::max(1e-9, figures_.start - figures_.call);
    return yes();
  }

  Verdict measure_instructions() {
    HEDDLE_TRY(const Timed light, loop(200, kFew, chain(kFew, 24)));
    settle(&StepFigures::light_rate, light, counted(light.work, both(&KernelWork::light)));
    HEDDLE_TRY(const Timed heavy, loop(200, kFew, exponentials(kFew, 1)));
    settle(&StepFigures::heavy_rate, heavy, counted(heavy.work, both(&KernelWork::heavy)));
    HEDDLE_TRY(const Timed lanes, loop(100, kFew, gathered(kFew)));
    settle(&StepFigures::lane_rate, lanes, counted(lanes.work, both(&KernelWork::lanes)));
    return yes();
  }

  // Two sizes of work that all workers share: what waking them takes, and what they are worth.
  Verdict measure_sharing() {
    const auto work_of = [&](const Timed& t) {
      return counted(t.work, both(&KernelWork::light)) / figures_.light_rate;
    };
    constexpr int kTurns = 40;
    HEDDLE_TRY(const Timed small, loop(kTurns, 4 * kFew, chain(4 * kFew, 24)));
    HEDDLE_TRY(const Timed large, loop(kTurns, 16 * kFew, chain(16 * kFew, 24)));
    const double more = std::max(1e-9, large.seconds - small.seconds);
    figures_.together = std::clamp((work_of(large) - work_of(small)) / more, 1.0, figures_.workers);
    const double launches = counted(small.work, [](const StepWork& s) { return s.launches; });
    figures_.wake = 0;
    const double rest = small.seconds - predicted(small.work, figures_);
    figures_.wake = std::max(0.0, rest / std::max(1.0, launches));
    return yes();
  }

  // What goes round through a cache that all share.
  Verdict measure_far_cache() {
    // Far more than near caches hold, and less than the far one does.
    const auto n = static_cast<std::int64_t>(std::clamp(figures_.far_cache / 4, 1e6, 8e6) / 4);
    HEDDLE_TRY(const Timed copy,
               loop(6, n, fmt::format("%z = stablehlo.add %y, %a : {}", vector_type(n))));
    const double bytes = counted(copy.work, [](const StepWork& s) { return s.bytes; });
    const double work = predicted(copy.work, figures_);  // without a footprint: no traffic
    // The smaller of both hides by half (cost/rates.h).
    const double rest = copy.seconds - work / 2;
    figures_.far_rate = bytes / std::max(rest, copy.seconds / 4);
    return yes();
  }

  Verdict measure_products() {
    constexpr std::array<std::int64_t, 3> kShapes[] = {{64, 64, 64},  {32, 32, 16}, {128, 16, 64},
                                                       {16, 128, 32}, {24, 24, 96}, {8, 64, 256}};
    std::vector<TimedProduct> timed_products;
    for (const auto& [m, n, k] : kShapes) {
      constexpr int kTurns = 40;
      HEDDLE_TRY(const Timed trial, timed(loop_text(kTurns, matrix_type(m, k), matrix_type(k, n),
                                                    two_products(m, n, k))));
      const double products = counted(trial.work, [](const StepWork& s) {
        return s.products.empty() ? 0.0 : s.products[0].count;
      });
      if (products == 0) continue;
      StepFigures without = figures_;
      without.product_call = without.pack_rate = without.product_rate = 0;
      const double rest = std::max(1e-9, trial.seconds - predicted(trial.work, without));
      const ProductWork one{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
      const ProductWork back{one.m, one.k, one.n};
      timed_products.push_back({one, rest / products});
      timed_products.push_back({back, rest / products});
    }
    fit_products(timed_products, figures_);
    constexpr std::int64_t kLarge = 256;
    HEDDLE_TRY(const Timed large,
               timed(loop_text(2, matrix_type(kLarge, kLarge), matrix_type(kLarge, kLarge),
                               two_products(kLarge, kLarge, kLarge))));
    StepFigures alone = figures_;
    alone.workers = 1;
    const double times = predicted(large.work, alone) / large.seconds;
    figures_.products_together = std::clamp(times, 1.0, figures_.workers);
    return yes();
  }

  // Products of what has to be brought into another type, and back.
  Verdict measure_conversions() {
    constexpr std::int64_t kSize = 48;
    const std::string type = matrix_type(kSize, kSize, "bf16");
    HEDDLE_TRY(const Timed trial,
               timed(loop_text(40, type, type, two_products(kSize, kSize, kSize, "bf16"))));
    settle(&StepFigures::convert_rate, trial, counted(trial.work, both(&KernelWork::converted)));
    return yes();
  }

  Verdict measure_windows() {
    HEDDLE_TRY(const Timed trial, timed(loop_text(20, kImages, kWindow, convolution())));
    settle(&StepFigures::run_rate, trial, counted(trial.work, both(&KernelWork::runs)));
    return yes();
  }

  TrialPlace place_;
  StepFigures figures_;
};

// Least squares of three figures, without those that are left out.
std::array<double, 3> least_squares(const std::vector<std::array<double, 3>>& rows,
                                    const std::array<bool, 3>& in) {
  double a[3][4] = {};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) a[i][j] += in[i] && in[j] ? row[i] * row[j] : 0;
      a[i][3] += in[i] ? row[i] : 0;  // every relative time is 1
    }
  for (std::size_t i = 0; i < 3; ++i)
    if (!in[i] || !(a[i][i] > 0)) a[i][i] = 1;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t r = 0; r < 3; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < 4; ++c) a[r][c] -= factor * a[i][c];
    }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

}  // namespace

void fit_products(std::span<const TimedProduct> timed, StepFigures& figures) {
  // Scaled, so that numbers of all three are alike.
  constexpr double kCall = 1e-6, kLaid = 1e-10, kProduct = 1e-11;
  std::vector<std::array<double, 3>> rows;
  for (const auto& [p, seconds] : timed)
    rows.push_back({kCall / seconds, kLaid * (p.m * p.k + p.k * p.n + p.m * p.n) / seconds,
                    kProduct * 2 * p.m * p.n * p.k / seconds});
  std::array<bool, 3> in = {true, true, true};
  std::array<double, 3> found = {};
  for (int round = 0; round < 3; ++round) {
    found = least_squares(rows, in);
    const auto least = std::ranges::min_element(found);
    if (*least >= 0) break;
    in[static_cast<std::size_t>(least - found.begin())] = false;
  }
  figures.product_call = std::max(0.0, found[0]) * kCall;
  figures.pack_rate = found[1] > 0 ? 1 / (found[1] * kLaid) : 0;
  figures.product_rate = found[2] > 0 ? 1 / (found[2] * kProduct) : 0;
}

Expected<StepFigures> measure_steps(const TrialPlace& place, const MachineFigures& machine,
                                    std::int64_t sharers, double memory_rate) {
  return StepTrials(place, machine, sharers, memory_rate).run();
}

}  // namespace heddle
