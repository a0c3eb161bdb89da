#include "kernel/emit_cuda_row_sums.h"

#include <algorithm>

#include "kernel/emit_cuda_resident.h"

namespace heddle {

std::string combined_text(const Statement& statement, const std::string& old,
                          const std::string& value) {
  if (statement.kind != Statement::Kind::update) return value;
  return fmt::format("h_{}({}, {})", name(statement.combiner.op), old, value);
}

std::string if_here_text(const CudaResident& resident, std::string_view more) {
  if (resident.rows() > 1) return fmt::format("if (here{}{}) ", more.empty() ? "" : " && ", more);
  return more.empty() ? "" : fmt::format("if ({}) ", more);
}

CudaRowSums::CudaRowSums(const Kernel& kernel, const CudaResident& resident, IndentedText& text)
    : kernel_(kernel), resident_(resident), text_(text) {
  for (const Stage& stage : resident.phase.stages) {
    if (!waits_for(stage)) continue;
    rooms_ += count(stage);
    ++waits_;
  }
}

bool CudaRowSums::has(const Statement& statement, const Stage& stage) const {
  if (statement.kind != Statement::Kind::update || !has_points(resident_, stage)) return false;
  const auto places = cuda_places(resident_, stage);
  return places[statement.index]->is_same_for_all_points();
}

bool CudaRowSums::has_segment(const Statement& statement, const Stage& stage) const {
  return statement.kind == Statement::Kind::update && has_points(resident_, stage) &&
         resident_.homes[statement.buffers[0]] == CudaHome::segment;
}

int CudaRowSums::count(const Stage& stage) const {
  return static_cast<int>(std::ranges::count_if(
      stage.statements, [&](const Statement& statement) { return has(statement, stage); }));
}

void CudaRowSums::emit_rooms() {
  if (rooms_ == 0) return;
  text_.line("__shared__ ui64 rooms[{}][{}];", rooms_ * sides(), warps() * resident_.cluster);
  if (sides() > 1) text_.line("int side = 0;");
  if (resident_.cluster == 1) return;
  // Each stage with sums has a gate that opens once a row, or on its side.
  text_.line("__shared__ ui64 met[{}];", waits_ * sides());
  text_.line("ui32 meeting = 0;");
  text_.open("if (threadIdx.x == 0) {{");
  text_.line("for (int at = 0; at < {}; ++at) open_gate(&met[at]);", waits_ * sides());
  text_.line("gates_are_open();");
  text_.close();
  text_.line("cluster_barrier();");
}

void CudaRowSums::emit_row_end() {
  if (sides() > 1) text_.line("side ^= 1;");
  if (resident_.cluster > 1 && rooms_ > 0)
    text_.line("{}meeting ^= 1;", sides() > 1 ? "if (side == 0) " : "");
}

std::string CudaRowSums::room(int number) const {
  return sides() > 1 ? fmt::format("rooms[side * {} + {}]", rooms_, number)
                     : fmt::format("rooms[{}]", number);
}
std::string CudaRowSums::gate() const {
  return sides() > 1 ? "met[side]" : fmt::format("met[{}]", gate_);
}

// For what `sums` sums have of all warps.
void CudaRowSums::emit_wait(std::size_t sums) {
  if (resident_.cluster == 1) return text_.line("__syncthreads();");
  text_.line("if (threadIdx.x == 0) expect(&{}, {});", gate(),
             static_cast<int>(sums) * warps() * resident_.cluster * 8);
  text_.line("arrive(&{}, meeting);", gate());
}

void CudaRowSums::emit_start(const Stage& stage, ResidentPoint& point) {
  for (std::size_t s = 0; s < stage.statements.size(); ++s) {
    const Statement& statement = stage.statements[s];
    const bool in_segments = has_segment(statement, stage);
    if (!in_segments && !has(statement, stage)) continue;
    const DType type = kernel_.buffers[statement.buffers[0]].dtype;
    const std::string start = fmt::format("h_constant<{}>({:#x}ull)", point.type_of(statement, 0),
                                          neutral_bits(statement.combiner.op, type));
    if (in_segments) {
      text_.line("{} sum{}[{}];", point.type_of(statement, 0), s, resident_.turns());
      text_.line("#pragma unroll");
      text_.line("for (int u = 0; u < {}; ++u) sum{}[u] = {};", resident_.turns(), s, start);
    } else {
      text_.line("{} sum{} = {};", point.type_of(statement, 0), s, start);
    }
    if (!in_segments && !point.pairs(statement).empty()) {
      const auto bits = neutral_bits(statement.combiner.op, point.pair_type(statement));
      text_.line("ui32 pair{} = {:#x}u;", s, bits | bits << 16);
    }
  }
}

void CudaRowSums::emit_end(const Stage& stage, ResidentPoint& point, bool releases) {
  std::vector<std::size_t> sums;
  for (std::size_t s = 0; s < stage.statements.size(); ++s) {
    if (has(stage.statements[s], stage)) sums.push_back(s);
    if (has_segment(stage.statements[s], stage)) emit_segments(stage, s, point);
  }
  if (sums.empty()) return;
  const auto in_warp = [&](std::size_t s, int width) {
    text_.line("WARP_ALL({}, {}, h_{}, sum{})", point.type_of(stage.statements[s], 0), width,
               name(stage.statements[s].combiner.op), s);
  };
  const bool two = are_two(stage, sums, point);
  for (std::size_t s : sums) {
    const Statement& statement = stage.statements[s];
    if (!point.pairs(statement).empty())
      text_.line("sum{} = extremum_of_pair<{}, {}>(pair{});", s,
                 statement.combiner.op == ScalarOp::maximum, cuda_type(point.pair_type(statement)),
                 s);
    if (!two) in_warp(s, std::min(resident_.group, kCudaWarp));
  }
  if (two) {
    emit_two(stage, sums, point, releases);
  } else if (is_wide()) {
    for (std::size_t k = 0; k < sums.size(); ++k)
      emit_put(sums[k], point.type_of(stage.statements[sums[k]], 0), room_ + static_cast<int>(k));
    emit_wait(sums.size());
    if (releases) emit_cuda_release(text_);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const Statement& statement = stage.statements[sums[k]];
      emit_get(sums[k], statement, point.type_of(statement, 0), room_ + static_cast<int>(k));
      in_warp(sums[k], warps());
    }
    room_ += static_cast<int>(sums.size());
    ++gate_;
  }
  for (std::size_t s : sums) emit_result(stage.statements[s], s, point);
}

// Two that are put together alike, each by half of a warp from the first exchange on.
bool CudaRowSums::are_two(const Stage& stage, const std::vector<std::size_t>& sums,
                          const ResidentPoint& point) const {
  if (sums.size() != 2 || !is_wide() || resident_.cluster > 1 || warps() > kCudaWarp / 2)
    return false;
  const Statement &first = stage.statements[sums[0]], &second = stage.statements[sums[1]];
  return first.combiner.op == second.combiner.op &&
         point.type_of(first, 0) == point.type_of(second, 0);
}

void CudaRowSums::emit_two(const Stage& stage, const std::vector<std::size_t>& sums,
                           ResidentPoint& point, bool releases) {
  const Statement& first = stage.statements[sums[0]];
  const std::string_view type = point.type_of(first, 0), op = name(first.combiner.op);
  text_.line("const int half = (int)threadIdx.x / {} % 2;", kCudaWarp / 2);
  text_.line(
      "{0} both = h_{1}(half ? sum{3} : sum{2}, from_lane<{0}>(half ? sum{2} : sum{3}, 16));", type,
      op, sums[0], sums[1]);
  text_.line("WARP_ALL({}, 16, h_{}, both)", type, op);
  const std::string places = sides() > 1
                                 ? fmt::format("rooms[side * {} + {} + half]", rooms_, room_)
                                 : fmt::format("rooms[{} + half]", room_);
  text_.line("if (threadIdx.x % 16 == 0) *({}*)&{}[threadIdx.x / 32] = both;", type, places);
  emit_wait(sums.size());
  if (releases) emit_cuda_release(text_);
  text_.line("both = *({}*)&{}[threadIdx.x % {}];", type, places, warps());
  text_.line("WARP_ALL({}, {}, h_{}, both)", type, warps(), op);
  text_.line("const {0} other = from_lane<{0}>(both, 16);", type);
  text_.line("sum{} = half ? other : both;", sums[0]);
  text_.line("sum{} = half ? both : other;", sums[1]);
  room_ += 2;
  ++gate_;
}

// All threads of a segment get what it has.
void CudaRowSums::emit_segments(const Stage& stage, std::size_t s, ResidentPoint& point) {
  const Statement& statement = stage.statements[s];
  const auto place = cuda_places(resident_, stage)[statement.index];
  const std::string own = fmt::format("s{}[u]", statement.buffers[0]);
  const std::string sum = fmt::format("sum{}[u]", s);
  text_.line("#pragma unroll");
  text_.open("for (int u = 0; u < {}; ++u) {{", resident_.turns());
  text_.line("WARP_ALL({}, {}, h_{}, {})", point.type_of(statement, 0),
             resident_.segment(place->depth()), name(statement.combiner.op), sum);
  text_.line("{} = {};", own, combined_text(statement, own, sum));
  text_.close();
}

void CudaRowSums::emit_put(std::size_t s, std::string_view type, int room) {
  if (resident_.cluster > 1)
    text_.line(
        "if (threadIdx.x % 32 < {0}) put_far<{1}>(&{2}[cluster_rank() * {3} + threadIdx.x "
        "/ 32], &{5}, threadIdx.x % 32, sum{4});",
        resident_.cluster, type, this->room(room), warps(), s, gate());
  else
    text_.line("if (threadIdx.x % 32 == 0) *({}*)&{}[threadIdx.x / 32] = sum{};", type,
               this->room(room), s);
}
void CudaRowSums::emit_get(std::size_t s, const Statement& statement, std::string_view type,
                           int room) {
  text_.line("sum{} = *({}*)&{}[threadIdx.x % {}];", s, type, this->room(room), warps());
  for (int block = 1; block < resident_.cluster; ++block)
    text_.line("sum{0} = h_{1}(sum{0}, *({2}*)&{3}[{4} + threadIdx.x % {5}]);", s,
               name(statement.combiner.op), type, this->room(room), block * warps(), warps());
}

void CudaRowSums::emit_result(const Statement& statement, std::size_t s, ResidentPoint& point) {
  const std::uint32_t b = statement.buffers[0];
  const std::string sum = fmt::format("sum{}", s);
  if (resident_.homes[b] == CudaHome::row)
    text_.line("r{0} = {1};", b, combined_text(statement, fmt::format("r{}", b), sum));
  else if (resident_.homes[b] == CudaHome::chunk_row)
    text_.line("q{} = {};", b, combined_text(statement, fmt::format("q{}", b), sum));
  else {
    const std::string at = point.element(b, point.node(statement.index, ""));
    text_.line(
        "{}b{}[{}] = {};", if_here_text(resident_, "lane == 0"), b, point.node(statement.index, ""),
        combined_text(statement, fmt::format("({}){}", point.type_of(statement, 0), at), sum));
  }
}

}  // namespace heddle
