#include "kernel/emit_cuda_resident_point.h"

namespace heddle {

ResidentPoint::ResidentPoint(const Kernel& kernel, const CudaResident& resident, const Stage& stage,
                             std::size_t number, const CudaVectors& vectors, IndentedText& text)
    : CudaPoint(kernel, stage, vectors, false, text),
      resident_(resident),
      number_(number),
      places_(cuda_places(resident, stage)),
      differs_(differs_along_row(stage)),
      has_points_(has_points(resident, stage)) {}

namespace {

// Which of `those` a load is, or -1.
template <typename Those>
int which(const Those& those, const Node& node,
          const std::vector<std::optional<CudaPlace>>& places) {
  if (node.kind != NodeKind::load || node.in[1] != kNone || !places[node.in[0]]) return -1;
  for (std::size_t k = 0; k < those.size(); ++k)
    if (those[k].buffer == node.number && those[k].place == *places[node.in[0]])
      return static_cast<int>(k);
  return -1;
}

}  // namespace

int ResidentPoint::kept(std::size_t node) const {
  return which(resident_.kept, stage_.nodes[node], places_);
}

int ResidentPoint::flight(std::size_t node) const {
  if (!has_points_ || !vectors_.loads[node]) return -1;
  return which(resident_.flights, stage_.nodes[node], places_);
}

bool ResidentPoint::reads_flights(const std::vector<bool>& live) const {
  for (std::size_t i = 0; i < live.size(); ++i)
    if (live[i] && flight(i) >= 0) return true;
  return false;
}

int ResidentPoint::value(std::size_t node, bool computes) const {
  if (!has_points_) return -1;
  for (std::size_t k = 0; k < resident_.values.size(); ++k)
    if (number_ < resident_.values[k].nodes.size() && resident_.values[k].nodes[number_] == node &&
        (resident_.values[k].first() == number_) == computes)
      return static_cast<int>(k);
  return -1;
}

CudaHome ResidentPoint::home(std::uint32_t buffer) const {
  const CudaHome home = resident_.homes[buffer];
  return home == CudaHome::column && !resident_.in_registers ? CudaHome::memory : home;
}

std::string ResidentPoint::own(char kind, std::size_t number, int vector, std::string_view mark) {
  return fmt::format("{}{}[u * {} + {}]", kind, number, vector,
                     mark.empty() ? "0" : mark.substr(1));
}

std::string ResidentPoint::pairs(const Statement& statement) const {
  const bool asks =
      statement.combiner.op == ScalarOp::maximum || statement.combiner.op == ScalarOp::minimum;
  const Node& wide = stage_.nodes[statement.values[0]];
  if (!asks || statement.guard != kNone || vectors_.count % 2 != 0 || wide.type != DType::f32 ||
      wide.op != ScalarOp::convert || !known(statement.values[0], marks()[0]).empty())
    return {};
  const std::size_t load = wide.in[0];
  const Node& node = stage_.nodes[load];
  const bool is_small = node.type == DType::bf16 || node.type == DType::f16;
  if (!is_small || node.kind != NodeKind::load || node.in[1] != kNone) return {};
  if (const int k = kept(load); k >= 0) return fmt::format("k{}[u]", k);
  const bool in_one = vectors_.loads[load] && home(node.number) == CudaHome::memory;
  return in_one ? fmt::format("w{}", load) : "";
}

DType ResidentPoint::pair_type(const Statement& statement) const {
  return stage_.nodes[stage_.nodes[statement.values[0]].in[0]].type;
}

void ResidentPoint::emit_kept_load(std::size_t node) {
  const Node& load = stage_.nodes[node];
  text_.line("k{}[u] = read_vec<{}, {}>(b{} + {});", kept(node),
             cuda_memory_type(kernel_.buffers[load.number].dtype), vectors_.count, load.number,
             this->node(load.in[0], marks()[0]));
}

void ResidentPoint::emit_kept_values() {
  for (std::size_t i = 0; i < stage_.nodes.size(); ++i)
    if (const int k = value(i, true); k >= 0)
      for (const std::string& mark : marks())
        text_.line("{} = {};", own('v', static_cast<std::size_t>(k), resident_.vector, mark),
                   node(static_cast<NodeId>(i), mark));
}

std::string ResidentPoint::known(std::size_t node, std::string_view mark) const {
  if (const int early = which(resident_.ahead, stage_.nodes[node], places_); early >= 0)
    return fmt::format("early{}", early);
  const int k = value(node, false);
  return k < 0 ? "" : own('v', static_cast<std::size_t>(k), resident_.vector, mark);
}

std::string ResidentPoint::loaded(std::size_t i, std::string_view mark) const {
  const std::uint32_t buffer = stage_.nodes[i].number;
  const bool truth = kernel_.buffers[buffer].dtype == DType::i1;
  if (const int k = kept(i); k >= 0)
    return fmt::format("k{}[u].at[{}]{}", k, mark.empty() ? "0" : mark.substr(1),
                       truth ? " != 0" : "");
  if (home(buffer) == CudaHome::row) return fmt::format("r{}", buffer);
  if (home(buffer) == CudaHome::segment) return fmt::format("s{}[u]", buffer);
  if (home(buffer) == CudaHome::column) return own('c', buffer, resident_.vector, mark);
  return CudaPoint::loaded(i, mark);
}

std::string ResidentPoint::loaded_together(std::size_t i) const {
  if (const int k = kept(i); k >= 0 && vectors_.count > 1) return fmt::format("k{}[u]", k);
  return home(stage_.nodes[i].number) == CudaHome::memory ? CudaPoint::loaded_together(i) : "";
}

std::string ResidentPoint::from(std::size_t i) const {
  const int f = flight(i);
  if (f < 0) return CudaPoint::from(i);
  return fmt::format("(const {0}*)(row_here + {1}) + (u * {2} + (int)threadIdx.x) * {3}",
                     cuda_memory_type(kernel_.buffers[stage_.nodes[i].number].dtype),
                     resident_.flights[static_cast<std::size_t>(f)].offset, resident_.threads,
                     vectors_.count);
}

void ResidentPoint::emit_vector_load(std::size_t i) {
  const bool is_here = kept(i) >= 0 || home(stage_.nodes[i].number) != CudaHome::memory;
  if (!is_here) return CudaPoint::emit_vector_load(i);
  for (const std::string& mark : marks()) emit_node(i, mark);
}

}  // namespace heddle
