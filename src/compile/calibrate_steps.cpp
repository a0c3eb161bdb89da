#include "compile/calibrate_steps.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <thread>

#include "compile/calibrate_texts.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"

namespace heddle {

namespace {

using namespace trials;

// A program that was run: what a run takes beside its start, and what its steps do.
struct Timed {
  double seconds = 0;
  std::vector<StepWork> work;
};

double predicted(const std::vector<StepWork>& steps, const StepFigures& figures,
                 double footprint = 0) {
  double all = 0;
  for (const StepWork& step : steps)
    all += step.inside.empty() ? step_seconds(step, figures, footprint)
                               : step.turns * predicted(step.inside, figures, footprint);
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
    figures_.first_cache = static_cast<double>(first_cache_bytes());
    figures_.near_cache = static_cast<double>(machine.near_cache) * std::min(1.0, cores / n);
    figures_.far_cache = static_cast<double>(machine.far_cache) / n;
    figures_.memory_rate = memory_rate;
  }

  // Twice, and of both the shortest times: for a while the machine may be slower.
  Expected<StepFigures> run() {
    const StepFigures given = figures_;
    HEDDLE_TRY_VOID(measure_all());
    figures_ = given;
    HEDDLE_TRY_VOID(measure_all());
    return figures_;
  }

 private:
  Verdict measure_all() {
    HEDDLE_TRY_VOID(measure_starts());
    HEDDLE_TRY_VOID(measure_instructions());
    if (figures_.workers > 1) HEDDLE_TRY_VOID(measure_sharing());
    HEDDLE_TRY_VOID(measure_caches());
    HEDDLE_TRY_VOID(measure_products());
    HEDDLE_TRY_VOID(measure_conversions());
    HEDDLE_TRY_VOID(measure_windows());
    return yes();
  }

  // Elements that one worker does; of a sum, all fit its first cache.
  static constexpr std::int64_t kFew = 4096, kFirst = 2048;

  static std::int64_t first_cache_bytes() {
    constexpr std::int64_t kUsual = 32 << 10;
    const std::int64_t bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    return bytes > 0 ? bytes : kUsual;
  }

  Expected<Timed> timed(const std::string& text) {
    HEDDLE_TRY(const Program program, read_stablehlo(text, "calibrate"));
    HEDDLE_TRY(const Executable executable, compile(program));
    HEDDLE_TRY_VOID(executable.finish_compiling());
    std::vector<Type> types;
    for (ValueId v : program.region(program.functions[0].body).args)
      types.push_back(program.type_of(v));
    HEDDLE_TRY(double seconds, seconds_of(place_, executable, types));
    // The machine may have been slower the first time.
    const auto [known, is_new] = least_.try_emplace(text, seconds);
    seconds = known->second = std::min(known->second, seconds);
    const auto arrays = static_cast<double>(types.size() + 1) * figures_.array;
    return Timed{std::max(1e-9, seconds - figures_.start - arrays), executable.step_work()};
  }

  Expected<Timed> loop(int turns, std::int64_t n, const std::string& body) {
    return timed(loop_text(turns, vector_type(n), vector_type(n), body));
  }

  // The rate with which the model gives back what was measured. What goes on beside other work may
  // take no time at all: then it gets as much of it as can be.
  void settle(double StepFigures::* rate, const Timed& trial, double count, double footprint = 0) {
    const auto with = [&](double part) {
      figures_.*rate = count / (part * trial.seconds);
      return predicted(trial.work, figures_, footprint);
    };
    constexpr double kLeastPart = 0.05;  // of the whole, where others seem to take all of it
    constexpr int kHalvings = 30;
    double low = kLeastPart, high = 2;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (with(middle) < trial.seconds ? low : high) = middle;
    }
    with(low);
  }

  Verdict measure_starts() {
    HEDDLE_TRY(const Timed tiny, timed(negations(1)));
    figures_.start = tiny.seconds;
    constexpr int kTurns = 4000;
    HEDDLE_TRY(const Timed empty, loop(kTurns, 1, "%z = stablehlo.add %y, %a : tensor<1xf32>"));
    const double steps =
        counted(empty.work, [](const StepWork& s) { return s.inside.empty() ? 1.0 : 0.0; });
    figures_.call = empty.seconds / steps;
    // One has a kernel as the other has, with little to do.
    constexpr int kMany = 64;
    HEDDLE_TRY(const Timed many, timed(negations(kMany)));
    figures_.array = std::max(0.0, many.seconds / (2 * (kMany - 1)));
    figures_.start = std::max(1e-9, figures_.start - figures_.call - 2 * figures_.array);
    return yes();
  }

  Verdict measure_instructions() {
    HEDDLE_TRY(const Timed light, loop(400, kFirst, chain(kFirst, 24)));
    settle(&StepFigures::light_rate, light, counted(light.work, both(&KernelWork::light)));
    HEDDLE_TRY(const Timed sum, loop(2000, kFirst, chain(kFirst, 1)));
    settle(&StepFigures::access_rate, sum, counted(sum.work, both(&KernelWork::accesses)));
    HEDDLE_TRY(const Timed heavy, loop(100, kFirst, exponentials(kFirst, 4)));
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

  // What goes round through the caches of workers, and through one that all share.
  Verdict measure_caches() {
    constexpr double kArrays = 3;  // of a sum
    const double near = 0.75 * figures_.near_cache;
    HEDDLE_TRY_VOID(measure_cache(&StepFigures::near_rate, near / kArrays));
    // Far more than near caches hold, and less than the far one does.
    return measure_cache(&StepFigures::far_rate, std::clamp(figures_.far_cache / 4, 1e6, 8e6));
  }

  Verdict measure_cache(double StepFigures::* rate, double bytes_of_one) {
    const auto n = static_cast<std::int64_t>(bytes_of_one / 4);
    constexpr double kElements = 4e6;
    const int turns = std::max(6, static_cast<int>(kElements / static_cast<double>(n)));
    HEDDLE_TRY(const Timed sum, loop(turns, n, chain(n, 1)));
    const double bytes = counted(sum.work, [](const StepWork& s) { return s.bytes; });
    settle(rate, sum, bytes, bytes / turns);
    return yes();
  }

  Verdict measure_products() {
    constexpr std::array<std::int64_t, 3> kShapes[] = {
        {64, 64, 64}, {32, 32, 16},  {128, 16, 64},   {16, 128, 32},  {24, 24, 96},
        {8, 64, 256}, {512, 12, 10}, {128, 128, 128}, {384, 96, 128}, {192, 192, 256}};
    std::vector<TimedProduct> timed_products;
    for (const auto& [m, n, k] : kShapes) {
      const int turns = std::clamp(static_cast<int>(1e7 / static_cast<double>(m * n * k)), 1, 40);
      HEDDLE_TRY(const Timed trial, timed(loop_text(turns, matrix_type(m, k), matrix_type(k, n),
                                                    two_products(m, n, k))));
      const double products = counted(trial.work, [](const StepWork& s) {
        return s.products.empty() ? 0.0 : s.products[0].count;
      });
      if (products == 0) continue;
      StepFigures without = figures_;
      without.product_call = without.pack_rate = without.result_rate = without.product_rate = 0;
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

  // Products of what has to be brought into another type, and back: bytes, which no library takes.
  Verdict measure_conversions() {
    constexpr std::int64_t kSize = 48;
    const std::string type = matrix_type(kSize, kSize, "ui8");
    HEDDLE_TRY(const Timed trial,
               timed(loop_text(40, type, type, two_products(kSize, kSize, kSize, "ui8"))));
    settle(&StepFigures::convert_rate, trial, counted(trial.work, both(&KernelWork::converted)));
    return yes();
  }

  // Short runs and longer ones; between the two lies what is kept.
  Verdict measure_windows() {
    double product = 1;
    constexpr std::int64_t kChannels[] = {8, 16};
    for (const std::int64_t channels : kChannels) {
      HEDDLE_TRY(const Timed trial, timed(loop_text(20, images_type(channels),
                                                    window_type(channels), convolution(channels))));
      settle(&StepFigures::run_rate, trial, counted(trial.work, both(&KernelWork::runs)));
      product *= figures_.run_rate;
    }
    figures_.run_rate = std::sqrt(product);
    return yes();
  }

  TrialPlace place_;
  StepFigures figures_;
  std::map<std::string, double> least_;  // seconds of runs, by text
};

}  // namespace

Expected<StepFigures> measure_steps(const TrialPlace& place, const MachineFigures& machine,
                                    std::int64_t sharers, double memory_rate) {
  return StepTrials(place, machine, sharers, memory_rate).run();
}

}  // namespace heddle
