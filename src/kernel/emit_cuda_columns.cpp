// Stages that write rows of few elements: a thread stays with its columns and goes along rows, so
// that what belongs to columns (means, gains) is loaded and computed once.
#include <algorithm>

#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

constexpr std::int64_t kManyRows = 8;  // that a thread has at least, to be worth it

// By node: whether it differs between rows; else whether it differs between columns.
struct Differs {
  std::vector<bool> by_row, by_column;
};
Differs differs(const Stage& stage) {
  Differs made;
  for (const Node& node : stage.nodes) {
    bool row = false, column = false;
    if (node.kind == NodeKind::loop) (node.number + 1 == stage.loops.size() ? column : row) = true;
    for (NodeId in : node.in) {
      if (in == kNone) continue;
      row = row || made.by_row[in];
      column = column || made.by_column[in];
    }
    made.by_row.push_back(row);
    made.by_column.push_back(column);
  }
  return made;
}

class ColumnStage {
 public:
  ColumnStage(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
              int cluster, IndentedText& text)
      : stage_(stage),
        threads_(threads),
        cluster_(cluster),
        vectors_(cuda_vectors(kernel, phase, stage)),
        live_(live_nodes(stage)),
        differs_(differs(stage)),
        point_(kernel, stage, vectors_, false, text),
        text_(text) {
    if (stage.loops.empty()) return;
    units_ = stage.loops.back().size / vectors_.count;
    for (std::size_t i = 0; i + 1 < stage.loops.size(); ++i) rows_ *= stage.loops[i].size;
  }

  bool fits() const {
    const bool has_loops =
        stage_.loops.size() > 1 && units_ > 1 && units_ * 2 <= threads_ &&
        std::ranges::all_of(stage_.loops, [](const StageLoop& loop) { return loop.block_of < 0; });
    if (!has_loops || rows_ > kMostCounted || rows_ < kManyRows * abreast() * cluster_)
      return false;
    const bool stores = std::ranges::all_of(stage_.statements, [](const Statement& statement) {
      return statement.kind == Statement::Kind::store;
    });
    return stores && std::ranges::count(shared_loops(stage_), false) == 0 && has_columns();
  }

  void emit() {
    text_.open("{{");
    text_.line("const int part = (int)threadIdx.x / {};", units_);
    text_.open("if (part < {}) {{", abreast());
    const std::size_t last = stage_.loops.size() - 1;
    if (vectors_.count > 1) {
      text_.line("const int unit = (int)threadIdx.x % {};", units_);
      point_.emit_neighbours(last);
    } else {
      text_.line("const i64 loop{} = (int)threadIdx.x % {};", last, units_);
    }
    emit_nodes(false);
    text_.line("#pragma unroll 2");
    text_.open("for (int row = part{0}; row < {1}; row += {2}) {{",
               cluster_ > 1 ? fmt::format(" + (int)cluster_rank() * {}", abreast()) : "", rows_,
               abreast() * cluster_);
    std::string rest = "row";
    for (std::size_t i = last; i-- > 0;) {
      text_.line("const i64 loop{} = {}{};", i, rest,
                 i == 0 ? "" : fmt::format(" % {}", stage_.loops[i].size));
      rest = fmt::format("({} / {})", rest, stage_.loops[i].size);
    }
    emit_nodes(true);
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      if (vectors_.count > 1 && vectors_.stores[s]) {
        point_.emit_vector_store(stage_.statements[s]);
        continue;
      }
      for (const std::string& mark : point_.marks())
        point_.emit_statement(stage_.statements[s], mark);
    }
    text_.close();
    text_.close();
    text_.close();
    text_.line("__syncthreads();");
  }

 private:
  static constexpr std::int64_t kMostCounted = 1LL << 30;
  std::int64_t abreast() const { return threads_ / units_; }  // rows at a time

  // Whether something is loaded that belongs to columns.
  bool has_columns() const {
    for (std::size_t i = 0; i < stage_.nodes.size(); ++i)
      if (live_[i] && stage_.nodes[i].kind == NodeKind::load && differs_.by_column[i] &&
          !differs_.by_row[i])
        return true;
    return false;
  }

  void emit_nodes(bool of_rows) {
    std::vector<bool> chosen(live_.size());
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = live_[i] && differs_.by_row[i] == of_rows;
    if (std::ranges::count(chosen, true) > 0) point_.emit_nodes(chosen);
  }

  const Stage& stage_;
  const int threads_, cluster_;
  const CudaVectors vectors_;
  const std::vector<bool> live_;
  const Differs differs_;
  CudaPoint point_;
  IndentedText& text_;
  std::int64_t units_ = 0, rows_ = 1;
};

}  // namespace

bool emit_cuda_columns(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                       int cluster, IndentedText& text) {
  if (cluster > 1 && cuda_share(kernel, phase, stage, threads) != CudaShare::points) return false;
  ColumnStage columns(kernel, phase, stage, threads, cluster, text);
  if (!columns.fits()) return false;
  columns.emit();
  return true;
}

}  // namespace heddle
