// Cuts of random graphs, compared with a look at every cut.
#include "parallel/pipeline/least_step.h"
#include "random_cut.h"

namespace heddle::property {
namespace {

PipelineShape random_shape(Choices& choices, bool backward) {
  PipelineShape shape;
  shape.backward = backward;
  shape.stages = 1 + static_cast<int>(choices.below(4));
  shape.micro_batches = 1 + static_cast<int>(choices.below(6));
  if (shape.stages == 2 && choices.one_in(3)) {
    shape.chunks = 2;
    shape.micro_batches = 2 * (1 + static_cast<int>(choices.below(3)));
  }
  return shape;
}

std::string text_of(const pipeline::CutProblem& problem) {
  return fmt::format("{} nodes, {} stages, {} micro-batches, {} chunks", problem.graph.nodes.size(),
                     problem.shape.stages, problem.shape.micro_batches, problem.shape.chunks);
}

// What a step takes of any cut whose stages wait for each other is no less than what is known of
// the work alone.
void keeps_to_the_chain(Choices& choices, const pipeline::CutProblem& problem, double best) {
  const double once = 0.25 * static_cast<double>(1 + choices.below(4));
  double each = 0, after = 0;
  for (const pipeline::CutGraph::Node& node : problem.graph.nodes)
    each += node.forward + (problem.shape.backward ? node.backward : 0);
  for (const pipeline::CutGraph::Resident& r : problem.graph.residents) after += r.update;
  const double least = pipeline::least_of_chain(
      problem.shape, problem.shape.micro_batches * each + once * after, once, problem.link.latency);
  require(least <= best * (1 + 1e-9),
          [&] { return fmt::format("{}: at least {}, best {}", text_of(problem), least, best); });
  require(least > 0, [&] { return text_of(problem) + ": nothing is known"; });
}

// Nor of any other cut: neither by what stays together, nor by who waits for whom. Devices that
// share everything as well as can be take no less.
void keeps_to_the_least(Choices& choices, const pipeline::CutProblem& problem, double best) {
  const double once = 0.25 * static_cast<double>(choices.below(5));
  double each = 0, after = 0;
  for (const pipeline::CutGraph::Node& node : problem.graph.nodes)
    each += node.forward + (problem.shape.backward ? node.backward : 0);
  for (const pipeline::CutGraph::Resident& r : problem.graph.residents) after += r.update;
  const double work = problem.shape.micro_batches * each + once * after;
  const pipeline::LeastStep least(problem.graph, problem.shape, 1, problem.link);
  const double alone = least.of(work, once);
  require(alone <= best * (1 + 1e-9), [&] {
    return fmt::format("{}: at least {} by what stays together, best {}", text_of(problem), alone,
                       best);
  });
  const double waiting = pipeline::least_of_chain(problem.shape, work, once, problem.link.latency);
  const double either = std::min(waiting, least.with_fewer_on_way(work, once));
  require(either <= best * (1 + 1e-9), [&] {
    return fmt::format("{}: at least {} by who waits for whom, best {}", text_of(problem), either,
                       best);
  });
  require(alone >= work / problem.shape.stages * (1 - 1e-9),
          [&] { return text_of(problem) + ": less than an equal part"; });
  const double shared =
      pipeline::LeastStep(problem.graph, problem.shape, 4, problem.link).of(work / 4, once);
  require(shared <= alone * (1 + 1e-9),
          [&] { return text_of(problem) + ": more devices take longer"; });
}

// At level 3 the best cut is found and proved, or it is proved that none fits; at level 2 bounds
// hold.
void finds_the_best_cut(Choices& choices, bool with_memory) {
  const bool backward = !choices.one_in(4);
  const pipeline::CutGraph drawn = random_cut_graph(choices, 12, backward);
  const pipeline::Merged whole = pipeline::without_circles(drawn);
  const Link link{0.1 * static_cast<double>(choices.below(5)),
                  5.0 + static_cast<double>(choices.below(40))};
  const pipeline::CutProblem problem{whole.graph, random_shape(choices, backward), link,
                                     with_memory ? 10 + choices.below(200) : INT64_MAX};
  EveryCut every(problem, 4000);
  if (!every.look()) leave_out();
  const auto found = pipeline::find_cut(problem, {.level = 3});
  require(found.ok() == every.best.has_value(), [&] {
    return text_of(problem) + (found ? ": a cut where there is none" : ": " + found.reason());
  });
  if (!found) return;
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + b); };
  require(near(found->times.seconds, *every.best) && near(found->bound, *every.best), [&] {
    return fmt::format("{}: found {}, bound {}, best {}", text_of(problem), found->times.seconds,
                       found->bound, *every.best);
  });
  require(pipeline::least_seconds(problem) <= *every.best * (1 + 1e-12),
          [&] { return text_of(problem) + ": the bound is too high"; });
  if (every.best_chain) keeps_to_the_chain(choices, problem, *every.best_chain);
  keeps_to_the_least(choices, problem, *every.best);
  const auto quick = pipeline::find_cut(problem);
  if (!quick) return;
  require(quick->bound <= *every.best * (1 + 1e-12) &&
              quick->times.seconds >= *every.best * (1 - 1e-12),
          [&] { return text_of(problem) + ": level 2 is out of bounds"; });
}

// Graphs with too many cuts to look at all of them are left out.
constexpr Effort kCuts{.cases = 300, .seed = kSeed, .decisions = 600};
constexpr double kTooMany = 0.6;

TEST(CutLaw, FindsTheBestWithoutMemory) {
  run_law([](Choices& choices) { finds_the_best_cut(choices, false); }, kTooMany, kCuts);
}
TEST(CutLaw, FindsTheBestWithMemory) {
  run_law([](Choices& choices) { finds_the_best_cut(choices, true); }, kTooMany, kCuts);
}

}  // namespace
}  // namespace heddle::property
