// Running sums along the last loop, by all threads of a block, as CUDA text.
//
// A warp has neighbouring units, a few to each thread: neighbours are summed by the thread, its
// units by the warp, and what warps have by the block, which waits once for all of them.
#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

class RowScanEmitter {
 public:
  RowScanEmitter(const Kernel& kernel, const Stage& stage, int threads, const CudaMapping& mapping,
                 IndentedText& text)
      : kernel_(kernel),
        stage_(stage),
        statement_(stage.statements[0]),
        mapping_(mapping),
        threads_(threads),
        text_(text),
        point_(kernel, stage, mapping.vectors, false, text) {}

  void emit() {
    text_.open("{{");
    for (std::size_t i = 0; i < last(); ++i) text_.line("const i64 loop{} = 0;", i);
    text_.line("const int size = {};", stage_.loops[last()].size / count());
    text_.line("const int lane = threadIdx.x % {0}, warp = threadIdx.x / {0};", kCudaWarp);
    text_.line("{} carry = {};", type(), neutral());
    text_.line("int side = 0;");
    text_.open("for (int first = 0; first < size; first += {}) {{", threads_ * units());
    emit_own();
    emit_of_warp();
    emit_of_block();
    emit_stores();
    text_.line("carry = h_{}(carry, all);", op());
    text_.line("side ^= 1;");
    text_.close();
    text_.line("__syncthreads();");
    text_.open("if (threadIdx.x == 0) {{");
    emit_place();
    emit_nodes_for(statement_.index);
    text_.line("b{0}[{1}] = h_{2}({3}, carry);", statement_.buffers[0], index(), op(), element());
    text_.close();
    text_.close();
    text_.line("__syncthreads();");
  }

 private:
  std::size_t last() const { return stage_.loops.size() - 1; }
  int count() const { return mapping_.vectors.count; }
  int units() const { return mapping_.round.size(CudaMapping::kOthers, RoundAxis::reg); }
  DType dtype() const { return kernel_.buffers[statement_.buffers[0]].dtype; }
  std::string_view type() const { return cuda_type(dtype()); }
  std::string_view op() const { return name(statement_.combiner.op); }
  std::string neutral() const {
    return fmt::format("h_constant<{}>({:#x}ull)", type(),
                       neutral_bits(statement_.combiner.op, dtype()));
  }
  std::string index() const { return point_.node(statement_.index, point_.marks()[0]); }
  std::string element() const { return point_.element(statement_.buffers[0], index()); }
  bool is_even() const { return stage_.loops[last()].size / count() % (threads_ * units()) == 0; }

  void open_units() {
    text_.line("#pragma unroll");
    text_.open("for (int u = 0; u < {}; ++u) {{", units());
  }
  // The first position, for what is the same at all of them.
  void emit_place() {
    text_.line("const i64 {} = 0;",
               count() > 1 ? std::string("unit") : fmt::format("loop{}", last()));
    if (count() > 1) point_.emit_neighbours(last());
  }
  void emit_unit() {
    text_.line("const int at = first + (warp * {} + u) * {} + lane;", units(), kCudaWarp);
    if (!is_even()) text_.line("const bool here = at < size;");
    text_.line("const i64 {} = {};",
               count() > 1 ? std::string("unit") : fmt::format("loop{}", last()),
               is_even() ? "at" : "here ? at : size - 1");
    if (count() > 1) point_.emit_neighbours(last());
  }
  void emit_nodes_for(NodeId id) { point_.emit_nodes(nodes_for(stage_, id)); }

  // Neighbours of a unit, one after the other.
  void emit_own() {
    text_.line("{} own[{}], upto[{}], before[{}];", type(), units() * count(), units(), units());
    open_units();
    emit_unit();
    emit_nodes_for(statement_.values[0]);
    for (int v = 0; v < count(); ++v) {
      const std::string value =
          point_.node(statement_.values[0], point_.marks()[static_cast<std::size_t>(v)]);
      const std::string sum =
          v == 0 ? value : fmt::format("h_{}(own[u * {} + {}], {})", op(), count(), v - 1, value);
      text_.line("own[u * {} + {}] = {};", count(), v,
                 is_even() ? sum : fmt::format("here ? {} : {}", sum, neutral()));
    }
    text_.line("upto[u] = own[u * {} + {}];", count(), count() - 1);
    text_.close();
  }

  void emit_of_warp() {
    text_.line("#pragma unroll");
    text_.open("for (int distance = 1; distance < {}; distance *= 2) {{", kCudaWarp);
    open_units();
    text_.line("const {0} other = from_below<{0}>(upto[u], distance);", type());
    text_.line("if (lane >= distance) upto[u] = h_{}(other, upto[u]);", op());
    text_.close();
    text_.close();
    text_.line("{} of_warp = {};", type(), neutral());
    open_units();
    text_.line("before[u] = from_below<{}>(upto[u], 1);", type());
    text_.line("before[u] = lane == 0 ? of_warp : h_{}(of_warp, before[u]);", op());
    text_.line("of_warp = h_{}(of_warp, from_last<{}>(upto[u]));", op(), type());
    text_.close();
  }

  // What other warps have is written to one side while the other may still be read.
  void emit_of_block() {
    const int warps = threads_ / kCudaWarp;
    text_.line("if (lane == 0) (({}*)room)[side * {} + warp] = of_warp;", type(), warps);
    text_.line("__syncthreads();");
    text_.line("{0} all = {1}, lead = {1};", type(), neutral());
    text_.line("#pragma unroll");
    text_.open("for (int other = 0; other < {}; ++other) {{", warps);
    text_.line("if (other == warp) lead = all;");
    text_.line("all = h_{}(all, (({}*)room)[side * {} + other]);", op(), type(), warps);
    text_.close();
    text_.open("{{");
    emit_place();
    emit_nodes_for(statement_.index);
    text_.line("lead = h_{0}(h_{0}({1}, carry), lead);", op(), element());
    text_.close();
  }

  void emit_stores() {
    open_units();
    emit_unit();
    emit_nodes_for(statement_.scan_index);
    text_.line("const {} base = h_{}(lead, before[u]);", type(), op());
    std::vector<std::string> sums;
    for (int v = 0; v < count(); ++v)
      sums.push_back(fmt::format("h_{}(base, own[u * {} + {}])", op(), count(), v));
    text_.open("{}{{", is_even() ? "" : "if (here) ");
    if (count() > 1 && mapping_.vectors.stores[0]) {
      point_.emit_vector_store(statement_.buffers[1], statement_.scan_index, sums);
    } else {
      for (std::size_t v = 0; v < sums.size(); ++v)
        text_.line("b{}[{}] = {};", statement_.buffers[1],
                   point_.node(statement_.scan_index, point_.marks()[v]), sums[v]);
    }
    text_.close();
    text_.close();
  }

  const Kernel& kernel_;
  const Stage& stage_;
  const Statement& statement_;
  const CudaMapping& mapping_;
  const int threads_;
  IndentedText& text_;
  CudaPoint point_;
};

}  // namespace

void emit_cuda_row_scan(const Kernel& kernel, const Stage& stage, int threads,
                        const CudaMapping& mapping, IndentedText& text) {
  RowScanEmitter(kernel, stage, threads, mapping, text).emit();
}

}  // namespace heddle
