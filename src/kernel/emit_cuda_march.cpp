#include <algorithm>
#include <set>

#include "kernel/cuda_march.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

using Load = CudaMarch::Load;

// What lies beside a thread's own columns comes from the thread that has it.
std::string held_text(const CudaMarch& march, const CudaMarch::Step& step, const Load& load,
                      std::int64_t column) {
  const CudaMarch::Source& source = march.sources[load.source];
  const std::int64_t row = source.window - 1 - (step.lag - source.lag - load.row);
  if (column >= 0 && column < CudaMarch::kColumns)
    return fmt::format("w{}[{}][{}]", load.source, row, column);
  return fmt::format("s{}_{}_{}", load.source, row, column + CudaMarch::kColumns);
}

class MarchPoint final : public CudaPoint {
 public:
  MarchPoint(const Kernel& kernel, const Stage& stage, const CudaVectors& vectors,
             const CudaMarch& march, const CudaMarch::Step& step, bool inside, IndentedText& text)
      : CudaPoint(kernel, stage, vectors, false, text),
        march_(march),
        step_(step),
        inside_(inside) {}

  // What has to be computed: no places of what is held, and nothing behind a guard that is true.
  std::vector<bool> needed() const {
    std::vector<bool> needed(stage_.nodes.size(), false);
    needed[stage_.statements[0].values[0]] = true;
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i] || (inside_ && step_.sure[i])) continue;
      for (std::size_t k = 0; k < stage_.nodes[i].in.size(); ++k) {
        const NodeId in = stage_.nodes[i].in[k];
        if (in != kNone && !(k == 0 && step_.loads[i])) needed[in] = true;
      }
    }
    return needed;
  }

  // What comes from other threads.
  void emit_exchange(const std::vector<bool>& needed) {
    std::set<std::string> there;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i] || !step_.loads[i] || !march_.sources[step_.loads[i]->source].is_held)
        continue;
      const Load& load = *step_.loads[i];
      for (std::int64_t e = 0; e < CudaMarch::kColumns; ++e) {
        const std::int64_t column = e + load.column;
        if (column >= 0 && column < CudaMarch::kColumns) continue;
        const std::string name = held_text(march_, step_, load, column);
        if (!there.insert(name).second) continue;
        const bool before = column < 0;
        text_.line("const f32 {} = __shfl_{}_sync(0xffffffffu, {}, 1);", name,
                   before ? "up" : "down",
                   held_text(march_, step_, load,
                             column + (before ? CudaMarch::kColumns : -CudaMarch::kColumns)));
      }
    }
  }

 protected:
  std::string known(std::size_t node, std::string_view /*mark*/) const override {
    return inside_ && step_.sure[node] ? "true" : "";
  }
  std::string loaded(std::size_t node, std::string_view mark) const override {
    if (!step_.loads[node]) return CudaPoint::loaded(node, mark);
    const Load& load = *step_.loads[node];
    const std::int64_t column = mark[1] - '0' + load.column;
    const CudaMarch::Source& source = march_.sources[load.source];
    if (source.is_held) return held_text(march_, step_, load, column);
    return fmt::format("row{}(loop0 + {}, column + {})", load.source, load.row, column);
  }

 private:
  const CudaMarch& march_;
  const CudaMarch::Step& step_;
  const bool inside_;
};

class MarchEmitter {
 public:
  MarchEmitter(const Kernel& kernel, const Phase& phase, const CudaMarch& march, IndentedText& text)
      : kernel_(kernel), phase_(phase), march_(march), text_(text) {}

  void emit() {
    const OuterLoop& rows = phase_.outer[0];
    text_.line("const int lane = threadIdx.x % 32;");
    text_.line("const i64 warp = (i64)at_block * {} + threadIdx.x / 32;",
               CudaMarch::kThreads / kCudaWarp);
    text_.line("const int strip = (int)(warp % {0}), part = (int)(warp / {0});", march_.strips());
    text_.line("if (part >= {}) return;", rows.blocks());
    text_.line("const i64 outer0 = (i64)part * {};", rows.block);
    text_.line(
        "const int strip_unit = strip * {} - {}, unit = strip_unit + lane, column = unit * {};",
        march_.lanes(), march_.left, CudaMarch::kColumns);
    text_.line("const int here = (int)min({}ll, {}ll - outer0);", rows.block, rows.extent);
    text_.line("const bool mine = lane >= {} && lane < {} && column < {};", march_.left,
               kCudaWarp - march_.right, march_.columns);
    for (std::size_t k = 0; k < march_.sources.size(); ++k) emit_source(k);
    text_.line(
        "const bool between = strip_unit * {0} >= {1}ll && (strip_unit + 32) * {0} <= {2}ll;",
        CudaMarch::kColumns, march_.least_column, march_.column_end);
    text_.open("for (int first = {}; first < here + {}; first += {}) {{", march_.begin,
               march_.steps.back().lag, CudaMarch::kAhead);
    text_.open("if (between && outer0 + first >= {}ll && outer0 + first + {} <= {}ll) {{",
               march_.least_row, CudaMarch::kAhead, march_.row_end);
    emit_turns(true);
    text_.back();
    text_.open("}} else {{");
    emit_turns(false);
    text_.close();
    text_.close();
  }

 private:
  // Its rows in registers, and how an element of an input is loaded that may not be there.
  void emit_source(std::size_t k) {
    const CudaMarch::Source& source = march_.sources[k];
    if (source.is_held) {
      text_.line("f32 w{}[{}][{}] = {{}};", k, source.window, CudaMarch::kColumns);
      if (source.is_input)
        text_.line("f32 a{}[{}][{}];", k, CudaMarch::kAhead, CudaMarch::kColumns);
    }
    if (!source.is_input) return;
    text_.open("const auto row{} = [&](i64 row, int at) {{", k);
    text_.line("row += outer0;");
    text_.line("return row >= 0 && row < {}ll && at >= 0 && at < {} ? b{}[row * {} + at] : 0.0f;",
               source.rows, source.columns, source.buffer, source.columns);
    text_.back();
    text_.line("}};");
    if (!source.is_held) return;
    text_.open("const auto ask{} = [&](i64 row, f32* to) {{", k);
    if (source.columns % CudaMarch::kColumns == 0) {
      text_.line("Vec<f32, {}> got = {{}};", CudaMarch::kColumns);
      text_.line("row += outer0;");
      text_.line(
          "if (row >= 0 && row < {0}ll && column >= 0 && column < {1}) got = read_vec<f32, "
          "{2}>(b{3} + row * {1} + column);",
          source.rows, source.columns, CudaMarch::kColumns, source.buffer);
      text_.line("for (int e = 0; e < {}; ++e) to[e] = got.at[e];", CudaMarch::kColumns);
    } else {
      text_.line("for (int e = 0; e < {}; ++e) to[e] = row{}(row, column + e);",
                 CudaMarch::kColumns, k);
    }
    text_.back();
    text_.line("}};");
    text_.line("#pragma unroll");
    text_.line("for (int p = 0; p < {}; ++p) ask{}({} + p, a{}[p]);", CudaMarch::kAhead, k,
               march_.begin, k);
  }

  void emit_turns(bool inside) {
    text_.line("#pragma unroll");
    text_.open("for (int p = 0; p < {}; ++p) {{", CudaMarch::kAhead);
    text_.line("const int turn = first + p;");
    for (std::size_t k = 0; k < march_.sources.size(); ++k) {
      const CudaMarch::Source& source = march_.sources[k];
      if (!source.is_input || !source.is_held) continue;
      emit_move(k, fmt::format("a{}[p][e]", k));
      text_.line("ask{}(turn + {}, a{}[p]);", k, CudaMarch::kAhead, k);
    }
    for (std::size_t s = 0; s < march_.steps.size(); ++s) emit_step(s, inside);
    text_.close();
  }

  // Rows move on by one, and a new one comes.
  void emit_move(std::size_t k, const std::string& newest) {
    text_.line("#pragma unroll");
    text_.open("for (int e = 0; e < {}; ++e) {{", CudaMarch::kColumns);
    const std::int64_t window = march_.sources[k].window;
    for (std::int64_t r = 0; r + 1 < window; ++r)
      text_.line("w{0}[{1}][e] = w{0}[{2}][e];", k, r, r + 1);
    text_.line("w{}[{}][e] = {};", k, window - 1, newest);
    text_.close();
  }

  void emit_step(std::size_t s, bool inside) {
    const Stage& stage = phase_.stages[s];
    const CudaMarch::Step& step = march_.steps[s];
    CudaVectors vectors;
    vectors.count = CudaMarch::kColumns;
    vectors.loads.assign(stage.nodes.size(), false);
    vectors.stores.assign(stage.statements.size(), false);
    MarchPoint point(kernel_, stage, vectors, march_, step, inside, text_);
    text_.open("{{");
    text_.line("typedef int i64;");  // places of rows and columns
    text_.line("const i64 loop0 = turn - ({});", step.lag);
    point.emit_neighbours(1);
    const auto needed = point.needed();
    point.emit_exchange(needed);
    point.emit_nodes(needed);
    std::vector<std::string> values;
    for (const std::string& mark : point.marks())
      values.push_back(point.node(stage.statements[0].values[0], mark));
    text_.line("const f32 made[{}] = {{{}}};", CudaMarch::kColumns, fmt::join(values, ", "));
    if (step.source != SIZE_MAX)
      emit_move(step.source, "made[e]");
    else
      emit_store(stage.statements[0].buffers[0]);
    text_.close();
  }

  void emit_store(std::uint32_t buffer) {
    text_.open("if (mine && loop0 >= 0 && loop0 < here) {{");
    text_.line("f32* const to = b{} + (outer0 + loop0) * {} + column;", buffer, march_.columns);
    if (march_.columns % CudaMarch::kColumns == 0) {
      text_.line("Vec<f32, {}> out;", CudaMarch::kColumns);
      text_.line("for (int e = 0; e < {}; ++e) out.at[e] = made[e];", CudaMarch::kColumns);
      text_.line("store_vec<f32, {}>(to, out);", CudaMarch::kColumns);
    } else {
      text_.line("for (int e = 0; e < {}; ++e) if (column + e < {}) to[e] = made[e];",
                 CudaMarch::kColumns, march_.columns);
    }
    text_.close();
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaMarch& march_;
  IndentedText& text_;
};

}  // namespace

void emit_cuda_march(const Kernel& kernel, const Phase& phase, const CudaMarch& march,
                     IndentedText& text) {
  MarchEmitter(kernel, phase, march, text).emit();
}

}  // namespace heddle
