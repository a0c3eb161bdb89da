#include "kernel/emit_cuda_resident_units.h"

#include <algorithm>

namespace heddle {

CudaVectors ResidentUnits::vectors_of(const Stage& stage) const {
  if (!has_points(resident_, stage) || resident_.vector == 1) {
    CudaVectors none;
    none.loads.assign(stage.nodes.size(), false);
    none.stores.assign(stage.statements.size(), false);
    return none;
  }
  return cuda_vectors(kernel_, resident_.phase, stage, resident_.vector);
}

// Loops of one position.
void ResidentUnits::emit_single_positions(const Stage& stage) {
  const auto loops = tile_loops(stage);
  for (std::size_t i = 0; i < stage.loops.size(); ++i)
    if (std::ranges::find(loops, i) == loops.end()) text_.line("const i64 loop{} = 0;", i);
}

// The units of a thread, one after the other.
void ResidentUnits::open(const Stage& stage, CudaPoint& point) {
  const std::int64_t part = resident_.part();
  const bool is_even = part % resident_.group == 0 && part * resident_.cluster == resident_.units;
  text_.line("#pragma unroll{}", unrolls() ? "" : " 4");
  text_.open("for (int u = 0; u < {}; ++u) {{", resident_.turns());
  text_.line("const int at = u * {} + lane;", resident_.round().apart(CudaResident::kColumns));
  text_.open("{}{{", is_even
                         ? ""
                         : fmt::format("if (at < {}) ", resident_.cluster > 1
                                                            ? "lanes"
                                                            : fmt::format("{}", resident_.units)));
  const auto loops = tile_loops(stage);
  const bool in_segments = has_segments(resident_, stage);
  std::string rest =
      in_segments ? fmt::format("at / {}", resident_.segment(loops.size())) : std::string("at");
  for (std::size_t k = loops.size(); k-- > 0;) {
    const bool in_units = !in_segments && k + 1 == loops.size() && resident_.vector > 1;
    const std::int64_t size = in_units ? resident_.tile[k] / resident_.vector : resident_.tile[k];
    const std::string name = in_units ? "unit" : fmt::format("loop{}", loops[k]);
    text_.line("const {} {} = {}{};", in_units ? "int" : "i64", name, rest,
               k == 0 ? "" : fmt::format(" % {}", size));
    if (in_units) point.emit_neighbours(loops[k]);
    rest = fmt::format("({} / {})", rest, size);
  }
}
void ResidentUnits::close() {
  text_.close();
  text_.close();
}
// Registers can only be counted where every turn is written out.
bool ResidentUnits::unrolls() const {
  const bool holds = std::ranges::any_of(
      resident_.homes, [](CudaHome home) { return home == CudaHome::chunk_column; });
  return resident_.in_registers || holds;
}

}  // namespace heddle
