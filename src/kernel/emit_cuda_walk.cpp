#include <algorithm>

#include "kernel/cuda_resident.h"
#include "kernel/cuda_walk.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

constexpr int kMostRowsUnderWay = 4, kWalkWords = 48;

class WalkEmitter {
 public:
  WalkEmitter(const Kernel& kernel, const CudaWalk& walk, IndentedText& text)
      : kernel_(kernel),
        walk_(walk),
        stage_(walk.stage()),
        live_(live_nodes(stage_)),
        by_row_(differs_by_row()),
        text_(text),
        point_(kernel, stage_, walk.vectors, false, text),
        column_(kernel, stage_, one_, false, text) {}

  void emit() {
    emit_begin();
    text_.line("const int part = (int)threadIdx.x / {0}, unit = (int)threadIdx.x % {0};",
               walk_.units);
    emit_accumulators();
    text_.open("if (part < {}) {{", walk_.abreast());
    text_.line("const i64 loop0 = 0;");
    if (walk_.vectors.count > 1)
      point_.emit_neighbours(1);
    else
      text_.line("const i64 loop1 = unit;");
    emit_nodes(false);
    text_.line("#pragma unroll {}", rows_under_way());
    text_.open("for (int row = first + part; row < end; row += {}) {{", step());
    text_.line("const i64 outer0 = row;");
    emit_nodes(true);
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) emit_statement(s);
    text_.close();
    text_.close();
    emit_sums();
  }

 private:
  // ---- rows

  // The rows of a chunk; or all rows, of which every block takes some next to each other in turn.
  void emit_begin() {
    const auto& stages = walk_.phase.stages;
    text_.line("__shared__ ui64 room[{}];", std::max(kCudaThreads, walk_.threads));
    if (walk_.phase.chunks > 0) text_.line("const i64 chunk = at_block;");
    for (const Stage& stage : walk_.phase.begin) emit_whole(stage);
    for (std::size_t s = 0; s + 1 < stages.size(); ++s) emit_whole(stages[s]);
    if (walk_.phase.chunks == 0) {
      text_.line("const int first = (int)at_block * {}, end = {};", walk_.abreast(), walk_.rows());
      return;
    }
    text_.line(
        "const int first = (int)({0}ll * chunk / {1}), end = (int)({0}ll * (chunk + 1) / {1});",
        walk_.rows(), walk_.phase.chunks);
  }
  void emit_whole(const Stage& stage) {
    emit_cuda_stage(kernel_, walk_.phase, stage, walk_.threads, 1, {}, text_);
  }
  std::string step() const {
    return walk_.phase.chunks > 0 ? fmt::format("{}", walk_.abreast())
                                  : fmt::format("{} * (int)of_blocks", walk_.abreast());
  }

  // By node: whether it differs between rows.
  std::vector<bool> differs_by_row() const {
    std::vector<bool> differs;
    for (const Node& node : stage_.nodes) {
      bool own = node.kind == NodeKind::outer;
      for (NodeId in : node.in) own = own || (in != kNone && differs[in]);
      differs.push_back(own);
    }
    return differs;
  }
  void emit_nodes(bool of_rows) {
    std::vector<bool> chosen(live_.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = live_[i] && by_row_[i] == of_rows;
    if (std::ranges::count(chosen, true) > 0) point_.emit_nodes(chosen);
  }
  // Rows of a thread whose loads may be under way together, by what registers hold.
  int rows_under_way() const {
    const int sums = static_cast<int>(std::ranges::count(walk_.accumulated, true));
    int loads = 0, columns = 0;
    for (std::size_t i = 0; i < live_.size(); ++i)
      if (live_[i] && stage_.nodes[i].kind == NodeKind::load) ++(by_row_[i] ? loads : columns);
    const int words = (sums + columns + kMostRowsUnderWay * loads) * walk_.vectors.count;
    return words <= kWalkWords ? kMostRowsUnderWay : kMostRowsUnderWay / 2;
  }

  void emit_statement(std::size_t s) {
    const Statement& statement = stage_.statements[s];
    if (walk_.vectors.count > 1 && walk_.vectors.stores[s])
      return point_.emit_vector_store(statement);
    for (const std::string& mark : point_.marks())
      if (walk_.accumulated[s])
        text_.line("sum{0}{1} = {2};", s, mark,
                   point_.accumulated(statement, fmt::format("sum{}{}", s, mark), mark));
      else
        point_.emit_statement(statement, mark);
  }

  // ---- sums

  void emit_accumulators() {
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      for (const std::string& mark : point_.marks())
        if (walk_.accumulated[s])
          text_.line("{0} sum{1}{2} = {3};", type_of(s), s, mark, neutral(s));
  }
  std::string_view type_of(std::size_t s) const { return point_.type_of(stage_.statements[s], 0); }
  std::string neutral(std::size_t s) const {
    const Statement& statement = stage_.statements[s];
    return fmt::format(
        "h_constant<{}>({:#x}ull)", type_of(s),
        neutral_bits(statement.combiner.op, kernel_.buffers[statement.buffers[0]].dtype));
  }

  void emit_sums() {
    if (walk_.phase.chunks == 0) return;
    text_.line("__shared__ __align__(16) char parts[{}];", walk_.part_bytes(kernel_));
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      if (walk_.accumulated[s]) emit_sum(s);
  }

  // Of every column, over the rows that are abreast.
  void emit_sum(std::size_t s) {
    const Statement& statement = stage_.statements[s];
    const std::string_view op = name(statement.combiner.op);
    text_.open("{{");
    text_.line("{0}* const all = ({0}*)parts;", type_of(s));
    text_.line("__syncthreads();");
    for (std::size_t v = 0; v < point_.marks().size(); ++v)
      text_.line("if (part < {}) all[(int)threadIdx.x * {} + {}] = sum{}{};", walk_.abreast(),
                 walk_.vectors.count, v, s, point_.marks()[v]);
    text_.line("__syncthreads();");
    text_.open("for (int at = threadIdx.x; at < {}; at += {}) {{", walk_.columns(), walk_.threads);
    text_.line("{} sum = all[at];", type_of(s));
    text_.line("for (int p = 1; p < {0}; ++p) sum = h_{1}(sum, all[p * {2} + at]);",
               walk_.abreast(), op, walk_.columns());
    text_.line("const i64 loop0 = 0, loop1 = at;");
    column_.emit_nodes(nodes_for(stage_, statement.index));
    const std::string at = column_.node(statement.index, "");
    text_.line("b{0}[{1}] = h_{2}(({3})b{0}[{1}], sum);", statement.buffers[0], at, op, type_of(s));
    text_.close();
    text_.close();
  }

  const Kernel& kernel_;
  const CudaWalk& walk_;
  const Stage& stage_;
  const std::vector<bool> live_, by_row_;
  const CudaVectors one_ = {};
  IndentedText& text_;
  CudaPoint point_;   // of the columns that a thread has
  CudaPoint column_;  // of one column
};

}  // namespace

void emit_cuda_walk(const Kernel& kernel, const CudaWalk& walk, IndentedText& text) {
  WalkEmitter(kernel, walk, text).emit();
}

}  // namespace heddle
