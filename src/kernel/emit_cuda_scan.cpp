// Running sums along another loop than the last: threads have columns, and several share each. Each
// adds up a stretch of its column, and then goes along it again with what came before.
#include <algorithm>

#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

constexpr int kAbreast = 32;            // columns at a time, where there are as many
constexpr int kAhead = 4;               // positions whose loads are under way together
constexpr std::int64_t kLeastEach = 4;  // positions of a thread, to be worth the second look
constexpr std::size_t kMostScanNodes = 48;

class ColumnScan {
 public:
  ColumnScan(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads, int cluster,
             IndentedText& text)
      : kernel_(kernel),
        phase_(phase),
        stage_(stage),
        threads_(threads),
        cluster_(cluster),
        shared_(shared_loops(stage)),
        point_(kernel, stage, vectors_, true, text),
        text_(text) {}

  bool fits() const {
    if (stage_.statements.size() != 1 || stage_.loops.size() < 2) return false;
    const Statement& s = stage_.statements[0];
    if (s.kind != Statement::Kind::scan || s.values.size() != 1 || s.guard != kNone ||
        s.combiner.op == ScalarOp::none || stage_.nodes.size() > kMostScanNodes ||
        kernel_.buffers[s.buffers[0]].dtype == DType::i1 || !has_one_element(stage_, s, shared_))
      return false;
    const std::int64_t points = points_of(stage_, shared_, true);
    const std::int64_t others = points_of(stage_, shared_, false);
    return points > 0 && std::max(points, others) < kMostCounted && parts() > 1 &&
           others >= parts() * kLeastEach;
  }

  void emit() {
    text_.open("{{");
    for (std::size_t i = 0; i < stage_.loops.size(); ++i)
      text_.line("const int size{} = {};", i, cuda_loop_size(phase_, stage_.loops[i]));
    text_.line("const int points = {}, others = {};", product(true), product(false));
    text_.line("const int part = (int)threadIdx.x / {0}, who = (int)threadIdx.x % {0};", abreast());
    text_.line("const int each = (others + {0} - 1) / {0};", parts() * cluster_);
    text_.line("__shared__ {} stretch[{}];", type(), parts() * abreast());
    if (cluster_ > 1) text_.line("__shared__ ui64 far[{}];", abreast());
    text_.open("for (int first = 0; first < points; first += {}) {{", abreast());
    emit_column();
    text_.close();
    text_.close();
    text_.line("__syncthreads();");
  }

 private:
  int abreast() const {
    return static_cast<int>(std::min<std::int64_t>(points_of(stage_, shared_, true), kAbreast));
  }
  int parts() const { return threads_ / abreast(); }

  const Statement& statement() const { return stage_.statements[0]; }
  std::string_view type() const { return point_.type_of(statement(), 0); }
  std::string_view op() const { return name(statement().combiner.op); }

  void emit_column() {
    text_.line("const bool here = first + who < points && part < {};", parts());
    text_.line("const int point = min(first + who, points - 1);");
    text_.line("const int begin = min((part{}) * each, others);",
               cluster_ > 1 ? fmt::format(" + (int)cluster_rank() * {}", parts()) : "");
    text_.line("const int end = here ? min(begin + each, others) : begin;");
    text_.line(
        "{0} sum = h_constant<{0}>({1:#x}ull);", type(),
        neutral_bits(statement().combiner.op, kernel_.buffers[statement().buffers[0]].dtype));
    emit_along("sum", false);
    text_.line("if (part < {}) stretch[part * {} + who] = sum;", parts(), abreast());
    text_.line("__syncthreads();");
    text_.line("i64 at;");
    text_.open("{{");
    emit_positions("point", true, "_0");
    emit_positions("0", false, "_0");
    for (std::size_t i = 0; i < stage_.nodes.size(); ++i)
      if (is_index(i)) point_.emit_node(i, "_0");
    text_.line("at = {};", point_.node(statement().index, "_0"));
    text_.close();
    text_.line("sum = b{}[at];", statement().buffers[0]);
    if (cluster_ > 1) emit_far();
    text_.line(
        "for (int k = 0; k < part; ++k) if (k < {2}) sum = h_{0}(sum, stretch[k * {1} + who]);",
        op(), abreast(), parts());
    emit_along("sum", true);
    text_.line("__syncthreads();");
    if (cluster_ == 1)
      text_.line("if (here && part == {}) b{}[at] = sum;", parts() - 1, statement().buffers[0]);
    else
      text_.line("if (here && part == 0) b{}[at] = all;", statement().buffers[0]);
    text_.line("__syncthreads();");
  }

  // What the blocks before this one have, in their order; every block keeps what all have.
  void emit_far() {
    text_.line("{0} own = stretch[who], all = sum;", type());
    text_.line("for (int k = 1; k < {2}; ++k) own = h_{0}(own, stretch[k * {1} + who]);", op(),
               abreast(), parts());
    text_.line("if (part == 0) *({}*)&far[who] = own;", type());
    text_.line("cluster_barrier();");
    text_.open("for (int k = 0; k < {}; ++k) {{", cluster_);
    text_.line("const {0} its = get_far<{0}>(&far[who], k);", type());
    text_.line("if (k < (int)cluster_rank()) sum = h_{}(sum, its);", op());
    text_.line("all = h_{}(all, its);", op());
    text_.close();
    text_.line("cluster_barrier();");
  }

  // From begin to end; loads of several positions come before what is done with them.
  void emit_along(std::string_view sum, bool stores) {
    text_.open("for (int along = begin; along < end; along += {}) {{", kAhead);
    for (int u = 0; u < kAhead; ++u) {
      const std::string mark = fmt::format("_{}", u);
      text_.line("const int along{} = min(along + {}, end - 1);", mark, u);
      emit_positions("point", true, mark);
      emit_positions("along" + mark, false, mark);
      for (std::size_t i = 0; i < stage_.nodes.size(); ++i) point_.emit_node(i, mark);
    }
    for (int u = 0; u < kAhead; ++u) {
      const std::string mark = fmt::format("_{}", u);
      text_.open("if (along + {} < end) {{", u);
      text_.line("{0} = h_{1}({0}, {2});", sum, op(), point_.node(statement().values[0], mark));
      if (stores)
        text_.line("b{}[{}] = {};", statement().buffers[1],
                   point_.node(statement().scan_index, mark), sum);
      text_.close();
    }
    text_.close();
  }

  // Whether the index of what is carried needs a node.
  bool is_index(std::size_t node) const {
    std::vector<bool> needed(stage_.nodes.size(), false);
    needed[statement().index] = true;
    for (std::size_t i = needed.size(); i-- > node;)
      if (needed[i])
        for (NodeId in : stage_.nodes[i].in)
          if (in != kNone) needed[in] = true;
    return needed[node];
  }

  std::string product(bool shared) const {
    std::string text = "1";
    for (std::size_t i = 0; i < stage_.loops.size(); ++i)
      if (shared_[i] == shared) text += fmt::format(" * size{}", i);
    return text;
  }

  // Of the loops that are shared, or of the others, from a number that counts all their points.
  void emit_positions(std::string_view number, bool shared, std::string_view mark) {
    std::string rest(number);
    for (std::size_t i = stage_.loops.size(); i-- > 0;) {
      if (shared_[i] != shared) continue;
      text_.line("const i64 loop{}{} = {} % size{};", i, mark, rest, i);
      rest = fmt::format("({} / size{})", rest, i);
    }
  }

  static constexpr std::int64_t kMostCounted = 1LL << 30;

  const Kernel& kernel_;
  const Phase& phase_;
  const Stage& stage_;
  const int threads_, cluster_;
  const CudaVectors vectors_ = {};
  const std::vector<bool> shared_;
  CudaPoint point_;
  IndentedText& text_;
};

}  // namespace

bool is_column_scan(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads) {
  IndentedText unused;
  return ColumnScan(kernel, phase, stage, threads, 1, unused).fits();
}

bool emit_cuda_column_scan(const Kernel& kernel, const Phase& phase, const Stage& stage,
                           int threads, int cluster, IndentedText& text) {
  ColumnScan scan(kernel, phase, stage, threads, cluster, text);
  if (!scan.fits()) return false;
  scan.emit();
  return true;
}

}  // namespace heddle
