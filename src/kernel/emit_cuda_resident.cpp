#include "kernel/emit_cuda_resident.h"

#include <algorithm>

#include "kernel/cuda_round.h"
#include "kernel/emit_cuda_resident_units.h"
#include "kernel/emit_cuda_row_sums.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostRowBlocks = 1 << 20;  // of a grid; rows beyond come in turns

class ResidentEmitter {
 public:
  ResidentEmitter(const Kernel& kernel, const CudaResident& resident, IndentedText& text)
      : kernel_(kernel),
        resident_(resident),
        phase_(resident.phase),
        sums_(kernel, resident, text),
        units_(kernel, resident, text),
        text_(text) {}

  void emit() {
    find_release();
    emit_places();
    if (phase_.chunks > 0) {
      text_.line("const i64 chunk = {};", worker());
      emit_cuda_chunk_variables(kernel_, resident_, text_);
      text_.line(
          "const i64 begin = {0}ll * chunk / {1}, end = {0}ll * (chunk + 1) / {1}, step = 1;",
          phase_.blocks(), phase_.chunks);
    } else {
      text_.line("const i64 begin = {0} * {1}, end = {2}ll, step = {3} * {1};", worker(),
                 resident_.rows(), phase_.blocks(), workers());
    }
    if (flies()) emit_cuda_flights(kernel_, resident_, text_);
    emit_lasting();
    emit_cuda_ahead(kernel_, resident_, text_);
    text_.open("for (i64 first = begin; first < end; first += step) {{");
    emit_row();
    text_.close();
    if (phase_.chunks > 0) emit_cuda_chunk_results(kernel_, resident_, text_);
    // Nobody leaves while another block may still write to its memory.
    if (resident_.cluster > 1) text_.line("cluster_barrier();");
  }

 private:
  bool has_many_rows() const { return resident_.rows() > 1; }
  bool flies() const { return resident_.slots > 0; }
  std::string worker() const {
    return resident_.cluster > 1 ? fmt::format("(i64)(at_block / {})", resident_.cluster)
                                 : "(i64)at_block";
  }
  std::string workers() const {
    return resident_.cluster > 1 ? fmt::format("(i64)(of_blocks / {})", resident_.cluster)
                                 : "(i64)of_blocks";
  }
  // ---- who is who

  void emit_places() {
    const Round round = resident_.round();
    const std::string lane = cuda_first(round, CudaResident::kColumns);
    if (resident_.cluster > 1)
      text_.line("const int lane = (int)cluster_rank() * {} + {};", resident_.part(), lane);
    else if (has_many_rows())
      text_.line("const int lane = {}, group = {};", lane, cuda_first(round, CudaResident::kRows));
    else
      text_.line("const int lane = {};", lane);
    if (resident_.cluster > 1)
      text_.line("const int lanes = min({}, (int)(cluster_rank() + 1) * {});", resident_.units,
                 resident_.part());
    sums_.emit_rooms();
  }

  // The last stage that reads what has come, and the first that waits for all threads after that:
  // from then on its room may be filled again. Without such a stage the end of the row waits.
  void find_release() {
    release_ = phase_.stages.size();
    if (!flies()) return;
    for (std::size_t s = phase_.stages.size(); s-- > 0;) {
      const Stage& stage = phase_.stages[s];
      if (sums_.waits_for(stage)) release_ = s;
      const CudaVectors vectors = units_.vectors_of(stage);
      const ResidentPoint point(kernel_, resident_, stage, s, vectors, text_);
      if (point.reads_flights(live_nodes(stage, known_nodes(resident_, s)))) return;
    }
  }

  // What is the same for all rows is loaded before the first.
  void emit_lasting() {
    const auto lasts = [](const CudaKeptLoad& load) { return load.lasts; };
    if (std::ranges::none_of(resident_.kept, lasts)) return;
    const auto stage = std::ranges::find_if(
        phase_.stages, [&](const Stage& s) { return has_points(resident_, s); });
    const CudaVectors vectors = units_.vectors_of(*stage);
    ResidentPoint point(kernel_, resident_, *stage,
                        static_cast<std::size_t>(stage - phase_.stages.begin()), vectors, text_);
    for (std::size_t k = 0; k < resident_.kept.size(); ++k)
      if (resident_.kept[k].lasts) emit_kept_variable(k);
    units_.open(*stage, point);
    const auto loops = tile_loops(*stage);
    for (std::size_t k = 0; k < resident_.kept.size(); ++k) {
      const CudaKeptLoad& load = resident_.kept[k];
      if (!load.lasts) continue;
      std::string at = fmt::format("{}ll", load.place.constant);
      for (std::size_t i = 0; i < loops.size(); ++i)
        if (load.place.tile[i] != 0)
          at += fmt::format(" + {}ll * loop{}{}", load.place.tile[i], loops[i],
                            point.is_in_vectors(loops[i]) ? point.marks()[0] : "");
      text_.line("k{}[u] = read_vec<{}, {}>(b{} + ({}));", k,
                 cuda_memory_type(kernel_.buffers[load.buffer].dtype), resident_.vector,
                 load.buffer, at);
    }
    units_.close();
  }
  void emit_kept_variable(std::size_t k) {
    text_.line("Vec<{}, {}> k{}[{}];",
               cuda_memory_type(kernel_.buffers[resident_.kept[k].buffer].dtype), resident_.vector,
               k, resident_.turns());
  }

  // ---- a row

  void emit_row() {
    emit_cuda_early(kernel_, resident_, text_);
    if (flies()) emit_cuda_arrival(resident_, text_);
    if (has_many_rows()) {
      text_.line("const bool here = first + group < end;");
      text_.line("const i64 block = here ? first + group : end - 1;");
    } else {
      text_.line("const i64 block = first;");
    }
    std::int64_t inner = 1;
    for (std::size_t i = phase_.outer.size(); i-- > 0;) {
      const std::int64_t blocks = std::max<std::int64_t>(phase_.outer[i].blocks(), 1);
      text_.line("const i64 outer{} = block / {}ll % {}ll;", i, inner, blocks);
      inner *= blocks;
    }
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const std::string_view type = cuda_type(kernel_.buffers[b].dtype);
      if (resident_.homes[b] == CudaHome::row)
        text_.line("{0} r{1} = h_constant<{0}>(0);", type, b);
      if (resident_.homes[b] == CudaHome::segment)
        text_.line("{} s{}[{}];", type, b, resident_.turns());
      if (resident_.homes[b] == CudaHome::column && resident_.in_registers)
        text_.line("{} c{}[{}];", type, b, resident_.turns() * resident_.vector);
    }
    for (std::size_t k = 0; k < resident_.kept.size(); ++k)
      if (!resident_.kept[k].lasts) emit_kept_variable(k);
    for (std::size_t k = 0; k < resident_.values.size(); ++k)
      text_.line("{} v{}[{}];", cuda_type(resident_.values[k].type), k,
                 resident_.turns() * resident_.vector);
    std::vector<bool> is_there;
    for (const CudaKeptLoad& load : resident_.kept) is_there.push_back(load.lasts);
    sums_.begin_row();
    for (std::size_t s = 0; s < phase_.stages.size(); ++s) emit_stage(s, is_there);
    const bool must_release = flies() && release_ == phase_.stages.size();
    sums_.emit_row_end();
    if (must_release) text_.line("__syncthreads();");
    if (must_release) emit_cuda_release(text_);
    if (flies()) emit_cuda_next_slot(resident_, text_);
  }

  void emit_stage(std::size_t number, std::vector<bool>& is_there) {
    const Stage& stage = phase_.stages[number];
    const CudaVectors vectors = units_.vectors_of(stage);
    ResidentPoint point(kernel_, resident_, stage, number, vectors, text_);
    const auto live = live_nodes(stage, known_nodes(resident_, number));
    const auto along = differs_along_row(stage);
    const bool in_row = tile_loops(stage).empty();
    std::vector<bool> of_row(live.size()), of_point(live.size());
    for (std::size_t i = 0; i < live.size(); ++i) {
      of_row[i] = live[i] && !along[i];
      of_point[i] = live[i] && along[i];
    }
    text_.open("{{");
    units_.emit_single_positions(stage);
    if (std::ranges::count(of_row, true) > 0) point.emit_nodes(of_row);
    if (in_row) {
      for (const Statement& statement : stage.statements) emit_row_statement(statement, point);
    } else if (has_segments(resident_, stage)) {
      units_.open(stage, point);
      point.emit_nodes(of_point);
      for (const Statement& statement : stage.statements)
        emit_segment_statement(statement, stage, point);
      units_.close();
    } else {
      emit_loads(stage, point, live, is_there);
      sums_.emit_start(stage, point);
      units_.open(stage, point);
      if (std::ranges::count(of_point, true) > 0) point.emit_nodes(of_point);
      point.emit_kept_values();
      for (std::size_t s = 0; s < stage.statements.size(); ++s)
        emit_point_statement(stage, s, point, vectors);
      units_.close();
      sums_.emit_end(stage, point, number == release_);
    }
    text_.close();
  }

  // All that later stages need too is asked for before anything is computed.
  void emit_loads(const Stage& stage, ResidentPoint& point, const std::vector<bool>& live,
                  std::vector<bool>& is_there) {
    std::vector<std::size_t> loads;
    for (std::size_t i = 0; i < live.size(); ++i) {
      if (!live[i]) continue;
      const int k = point.kept(i);
      if (k < 0 || is_there[static_cast<std::size_t>(k)]) continue;
      is_there[static_cast<std::size_t>(k)] = true;
      loads.push_back(i);
    }
    if (loads.empty()) return;
    std::vector<bool> needed(live.size(), false);
    for (std::size_t i : loads) needed[stage.nodes[i].in[0]] = true;
    for (std::size_t i = needed.size(); i-- > 0;)
      if (needed[i])
        for (NodeId in : stage.nodes[i].in)
          if (in != kNone) needed[in] = true;
    const auto along = differs_along_row(stage);
    for (std::size_t i = 0; i < needed.size(); ++i) needed[i] = needed[i] && along[i];
    units_.open(stage, point);
    if (std::ranges::count(needed, true) > 0) point.emit_nodes(needed);
    for (std::size_t i : loads) point.emit_kept_load(i);
    units_.close();
  }

  // ---- statements

  void emit_row_statement(const Statement& statement, ResidentPoint& point) {
    const std::uint32_t b = statement.buffers[0];
    const CudaHome home = resident_.homes[b];
    const std::string value = point.node(statement.values[0], "");
    const std::string guard = point.guard(statement, "");
    if (home == CudaHome::row)
      text_.line("{}r{} = {};", guard, b, combined_text(statement, fmt::format("r{}", b), value));
    else if (home == CudaHome::chunk_row)
      text_.line("{}q{} = {};", guard, b, combined_text(statement, fmt::format("q{}", b), value));
    else {
      text_.open("{}{{", if_here_text(resident_, "lane == 0"));
      point.emit_statement(statement, "");
      text_.close();
    }
  }

  // Its threads all have what a segment has; the first one writes it.
  void emit_segment_statement(const Statement& statement, const Stage& stage,
                              ResidentPoint& point) {
    const std::uint32_t b = statement.buffers[0];
    if (resident_.homes[b] == CudaHome::segment) {
      const std::string own = fmt::format("s{}[u]", b);
      text_.line("{}{} = {};", point.guard(statement, ""), own,
                 combined_text(statement, own, point.node(statement.values[0], "")));
      return;
    }
    const std::int64_t units = resident_.segment(tile_loops(stage).size());
    text_.open("{}{{", if_here_text(resident_, fmt::format("at % {} == 0", units)));
    point.emit_statement(statement, "");
    text_.close();
  }

  void emit_point_statement(const Stage& stage, std::size_t s, ResidentPoint& point,
                            const CudaVectors& vectors) {
    const Statement& statement = stage.statements[s];
    const std::uint32_t b = statement.buffers[0];
    const CudaHome home = point.home(b);
    if (home == CudaHome::memory && !sums_.has(statement, stage)) {
      text_.open("{}{{", if_here_text(resident_));
      if (vectors.count > 1 && vectors.stores[s])
        point.emit_vector_store(statement);
      else
        for (const std::string& mark : point.marks()) point.emit_statement(statement, mark);
      text_.close();
      return;
    }
    if (const std::string pairs = point.pairs(statement);
        !pairs.empty() && sums_.has(statement, stage))
      return text_.line("note_pairs<{}>(pair{}, {});", statement.combiner.op == ScalarOp::maximum,
                        s, pairs);
    for (const std::string& mark : point.marks()) {
      std::string to = fmt::format("sum{}", s);
      if (sums_.has_segment(statement, stage))
        to += "[u]";
      else if (!sums_.has(statement, stage))
        to = ResidentPoint::own(home == CudaHome::column ? 'c' : 'q', b, resident_.vector, mark);
      text_.line("{}{} = {};", point.guard(statement, mark), to,
                 statement.kind == Statement::Kind::update ? point.accumulated(statement, to, mark)
                                                           : point.node(statement.values[0], mark));
    }
  }

  const Kernel& kernel_;
  const CudaResident& resident_;
  const Phase& phase_;
  CudaRowSums sums_;
  ResidentUnits units_;
  IndentedText& text_;
  std::size_t release_ = 0;  // the stage after whose sums what has come is needed no more
};

}  // namespace

void emit_cuda_resident(const Kernel& kernel, const CudaResident& resident, IndentedText& text) {
  ResidentEmitter(kernel, resident, text).emit();
}

std::int64_t resident_grid(const CudaResident& resident) {
  const std::int64_t rows = resident.phase.blocks();
  if (resident.phase.chunks > 0) return resident.phase.chunks * resident.cluster;
  const std::int64_t most = resident.workers > 0 ? resident.workers : kMostRowBlocks;
  return std::min((rows + resident.rows() - 1) / resident.rows(), most) * resident.cluster;
}

}  // namespace heddle
