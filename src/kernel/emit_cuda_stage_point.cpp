#include "kernel/emit_cuda_stage_point.h"

#include <algorithm>

namespace heddle {

StagePoint::StagePoint(const Kernel& kernel, const Stage& stage, const CudaMapping& mapping,
                       const std::vector<CudaStaged>& staged, IndentedText& text)
    : CudaPoint(kernel, stage, mapping.vectors,
                mapping.round.size(CudaMapping::kPoints, RoundAxis::reg) > 1, text),
      turn_(mapping.turn),
      staged_(staged) {}

void StagePoint::emit_turned_loads() {
  for (std::size_t i = 0; i < stage_.nodes.size(); ++i) {
    if (!turn_->loads[i]) continue;
    const std::uint32_t b = stage_.nodes[i].number;
    for (const std::string& mark : marks())
      text_.line("t{}{} = {}<{}, {}>({});", i, mark, is_staged(b) ? "load_vec" : "read_vec",
                 cuda_memory_type(kernel_.buffers[b].dtype), turn_->width, address(i, mark));
  }
}

void StagePoint::emit_turned_variables() {
  for (std::size_t i = 0; i < stage_.nodes.size(); ++i)
    if (turn_->loads[i])
      text_.line("Vec<{}, {}> {};", cuda_memory_type(kernel_.buffers[stage_.nodes[i].number].dtype),
                 turn_->width,
                 fmt::format("t{}{}", i, fmt::join(marks(), fmt::format(", t{}", i))));
}

std::string StagePoint::loaded(std::size_t i, std::string_view mark) const {
  const std::uint32_t b = stage_.nodes[i].number;
  if (turn_ && turn_->loads[i]) return truth(b, fmt::format("t{}{}.at[turned]", i, mark));
  if (is_staged(b)) return truth(b, fmt::format("*{}", address(i, mark)));
  return CudaPoint::loaded(i, mark);
}

std::string StagePoint::truth(std::uint32_t buffer, std::string text) const {
  return kernel_.buffers[buffer].dtype == DType::i1 ? fmt::format("({} != 0)", text) : text;
}
bool StagePoint::is_staged(std::uint32_t buffer) const {
  return std::ranges::any_of(staged_, [&](const CudaStaged& t) { return t.buffer == buffer; });
}
std::string StagePoint::address(std::size_t i, std::string_view mark) const {
  const Node& load = stage_.nodes[i];
  const std::string index = node(load.in[0], mark);
  for (const CudaStaged& tile : staged_)
    if (tile.buffer == load.number)
      return fmt::format("in_tile<{}, {}, {}>(tile{}, {} - base{})",
                         cuda_memory_type(kernel_.buffers[load.number].dtype), tile.stride,
                         tile.accesses(), load.number, index, load.number);
  return fmt::format("b{} + {}", load.number, index);
}

}  // namespace heddle
