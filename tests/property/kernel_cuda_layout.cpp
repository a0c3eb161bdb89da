// The layouts of stages on a GPU say what the emitted text does: every element of a layout is where
// the text's own expressions put it.
#include <map>
#include <regex>

#include "../unit/kernel_examples.h"
#include "../unit/thread_text.h"
#include "choices.h"
#include "heddle/notation.h"
#include "kernel/cuda_layout.h"

namespace heddle::property {
namespace {

constexpr int kLooks = 6;  // threads of a block that are looked at

std::int64_t between(std::int64_t least, std::int64_t most) {
  return *rc::gen::inRange(least, most + 1);
}

using Place = std::map<std::string, std::int64_t>;  // by axis; what is 0 is left out

Place place_of(const Layout& layout, const AxisRegistry& axes, std::int64_t a, std::int64_t b) {
  Place place;
  const Index at = {a, b};
  const Coord found = position_of(layout, at).value();
  for (const AxisValue& v : found) {
    const std::string& name = axes[v.axis].name;
    if (v.value == 0) continue;
    if (name == "warp")
      place["thread"] += 32 * v.value;
    else if (name == "lane")
      place["thread"] += v.value;
    else
      place[name] += v.value;
  }
  return place;
}

Place place(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  Place made;
  for (const auto& [axis, value] : values)
    if (value != 0) made[axis] = value;
  return made;
}

// The numbers that a line of the text has where the pattern has groups; 0 for a group that is not
// there.
std::vector<std::int64_t> numbers_in(const std::string& text, const std::string& pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return {};
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < found.size(); ++i)
    numbers.push_back(found[i].length() == 0 ? 0 : std::stoll(found[i].str()));
  return numbers;
}

// As "at = u * group + lane" has it, in every thread of the first blocks.
void check_rows(const Kernel& kernel, const CudaLimits& limits) {
  const auto resident = cuda_resident(kernel, kernel.phases[0], limits);
  if (!resident) return;
  const CudaPhase launch = cuda_plan(kernel, limits).phases[0];
  const AxisRegistry axes = kernel_axes();
  const auto layout = cuda_row_layout(*resident, launch.grid, axes);
  if (!layout) return;
  const Verdict valid = validate(*layout, axes);
  if (!(valid.ok())) RC_FAIL(valid.reason());
  std::string text = emit_cuda(kernel, limits);
  text.erase(0, text.find("struct Buffers"));
  const auto part =
      numbers_in(text, R"(lane = \(int\)cluster_rank\(\) \* (\d+) \+ \(int\)threadIdx)");
  const auto group =
      numbers_in(text, R"(lane = \(int\)threadIdx.x % (\d+), group = \(int\)threadIdx)");
  const auto turn = numbers_in(text, R"(const int at = u \* (\d+) \+ lane;)");
  if (!(turn.size() == 1)) RC_FAIL("no units in\n" + text);
  const std::int64_t rows = resident->phase.blocks(), blocks = launch.grid / launch.cluster;
  const std::int64_t together = group.empty() ? 1 : launch.threads / group[0];
  for (std::int64_t block : {std::int64_t{0}, blocks - 1})
    for (std::int64_t rank = 0; rank < launch.cluster; ++rank)
      for (int look = 0; look < kLooks; ++look) {
        const std::int64_t thread = between(0, launch.threads - 1);
        const std::int64_t lane = !part.empty()    ? rank * part[0] + thread
                                  : !group.empty() ? thread % group[0]
                                                   : thread;
        const std::int64_t row = block * together + (group.empty() ? 0 : thread / group[0]);
        const std::int64_t end =
            part.empty() ? resident->units : std::min(resident->units, (rank + 1) * part[0]);
        for (std::int64_t u = 0; u < resident->turns(); ++u) {
          const std::int64_t at = u * turn[0] + lane;
          if (at >= end || row >= rows) continue;
          for (std::int64_t v = 0; v < resident->vector; ++v)
            if (!(place_of(*layout, axes, row, at * resident->vector + v) ==
                  place({{"block", block},
                         {"cluster", rank},
                         {"thread", thread},
                         {"reg", u},
                         {"vec", v}})))
              RC_FAIL(print_layout(*layout, axes) + "\n" + text);
        }
      }
}

HEDDLE_PROPERTY(CudaLayout, RowsLieWhereTheTextPutsThem) {
  const std::int64_t rows = between(1, 40);
  const std::int64_t columns = between(0, 1) == 0 ? between(1, 600) : 512 * between(1, 30);
  const DType type = between(0, 1) == 0 ? DType::f32 : DType::bf16;
  check_rows(examples::softmax(rows, columns, 1, type), {.shared_bytes = 227 << 10});
}

// Threads that share points and deal out other loops, as the loops of the text do.
void check_stage(const Kernel& kernel, std::size_t number, int threads, int cluster) {
  const Phase& phase = kernel.phases[0];
  const Stage& stage = phase.stages[number];
  const AxisRegistry axes = kernel_axes();
  const auto layout = cuda_stage_layout(kernel, phase, stage, threads, cluster, axes);
  if (!layout) return;
  const Verdict valid = validate(*layout, axes);
  if (!(valid.ok())) RC_FAIL(valid.reason());
  IndentedText written;
  emit_cuda_stage(kernel, phase, stage, threads, cluster, {}, written);
  const std::string text = written.take();
  const CudaMapping mapping = cuda_mapping(kernel, phase, stage, threads);
  const auto grouped = numbers_in(
      text,
      R"(for \(int first = 0(?: \+ \(int\)cluster_rank\(\) \* (\d+))?; first < points; first \+= (\d+))");
  const auto alone = numbers_in(
      text,
      R"(for \(int point = \(int\)threadIdx.x(?: \+ \(int\)cluster_rank\(\) \* (\d+))?; point < points; point \+= (\d+))");
  if (grouped.empty() && alone.empty()) return;
  const std::int64_t vec = mapping.vectors.count;
  const bool is_last = mapping.shared.back();
  const std::int64_t points = points_of(stage, mapping.shared, true) / (is_last ? vec : 1);
  const std::int64_t others = points_of(stage, mapping.shared, false) / (is_last ? 1 : vec);
  std::smatch places;
  std::regex_search(text, places, std::regex(R"(who = ([^,]+), part = ([^;]+);)"));
  const auto along = numbers_in(
      text,
      R"(for \(int along = part(?: \+ \(int\)cluster_rank\(\) \* (\d+))?; along < others; along \+= (\d+))");
  for (std::int64_t rank = 0; rank < cluster; ++rank)
    for (int look = 0; look < kLooks; ++look) {
      const std::int64_t thread = between(0, threads - 1);
      const bool has_group = !grouped.empty();
      const std::int64_t who = has_group ? examples::computed(places[1], thread) : thread;
      const std::int64_t part = has_group ? examples::computed(places[2], thread) : 0;
      if (has_group && (who >= mapping.round.threads(CudaMapping::kPoints) ||
                        part >= mapping.round.threads(CudaMapping::kOthers)))
        continue;
      const auto& loop = has_group ? grouped : alone;
      std::int64_t turn = 0;
      for (std::int64_t point = who + rank * loop[0]; point < points; point += loop[1], ++turn) {
        std::int64_t step = 0;
        const std::int64_t begin = has_group ? part + rank * along[0] : 0;
        for (std::int64_t at = begin; at < others; at += has_group ? along[1] : 1, ++step) {
          const bool has_rank = loop[0] != 0 || (has_group && along[0] != 0);
          if (!(place_of(*layout, axes, point * (is_last ? vec : 1), at * (is_last ? 1 : vec)) ==
                place({{"cluster", has_rank ? rank : 0},
                       {"thread", thread},
                       {"turn", turn},
                       {"step", step}})))
            RC_FAIL(print_layout(*layout, axes) + "\n" + text);
        }
      }
    }
}

HEDDLE_PROPERTY(CudaLayout, StagesLieWhereTheTextPutsThem) {
  const std::int64_t tile = between(2, 400), columns = between(1, 120);
  const Kernel kernel = between(0, 1) == 0 ? examples::inner_sum(2, tile, columns)
                                           : examples::column_sum(tile, columns, 1);
  const auto last = static_cast<std::int64_t>(kernel.phases[0].stages.size()) - 1;
  check_stage(kernel, static_cast<std::size_t>(between(0, last)), kCudaThreads,
              between(0, 1) == 0 ? 1 : 4);
}

}  // namespace
}  // namespace heddle::property
