// Pipelines in plan files, and cuts in words.
#include <algorithm>

#include "base/text.h"
#include "heddle/pipeline_search.h"

namespace heddle {

Verdict set_pipeline(const PlanFile& plan, Target& target) {
  if (plan.micro_batches > 0) target.micro_batches = plan.micro_batches;
  if (plan.interleave > 0) target.chunks = plan.interleave;
  if (target.pipeline.empty()) target.pipeline = plan.pipeline;
  if (plan.cut.empty()) return yes();
  StageCut& cut = target.cut.emplace();
  HEDDLE_TRY(cut.positions, parse_cut(plan.cut));
  cut.shape = {std::max(1, plan.stages), static_cast<int>(target.micro_batches), target.chunks,
               true};
  cut.memory = plan.memory.value_or(INT64_MAX);
  cut.shape.backward =
      std::ranges::any_of(cut.positions, [&](int p) { return p >= cut.shape.virtual_stages(); });
  return yes();
}

// ---- cuts in words

std::string cut_text(const std::vector<int>& positions) {
  std::string text;
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t end = i;
    while (end < positions.size() && positions[end] == positions[i]) ++end;
    text += fmt::format("{}{}x{}", text.empty() ? "" : " ", positions[i], end - i);
    i = end;
  }
  return text;
}

Expected<std::vector<int>> parse_cut(const std::string& text) {
  constexpr std::int64_t kMostOps = 1 << 24, kMostPosition = 1 << 20;
  std::vector<int> positions;
  const char* at = text.c_str();
  while (*at != 0) {
    long position = 0, count = 0;
    int read = 0;
    if (std::sscanf(at, "%ldx%ld%n", &position, &count, &read) != 2 || position < -1 ||
        position > kMostPosition || count < 1 ||
        count > kMostOps - static_cast<std::int64_t>(positions.size()))
      return reason("\"{}\" is no cut: it is as \"0x12 1x30\", twelve ops at position 0, ...",
                    shortened(text, 60));
    positions.insert(positions.end(), static_cast<std::size_t>(count), static_cast<int>(position));
    at += read;
    while (*at == ' ') ++at;
  }
  return positions;
}

}  // namespace heddle
