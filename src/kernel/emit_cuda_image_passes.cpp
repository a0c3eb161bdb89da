// A phase over images in passes, as CUDA text.
#include <algorithm>

#include "kernel/emit_cuda_image_point.h"

namespace heddle {

namespace {

constexpr int kFinishThreads = 512;

std::int64_t scratch_up(const Kernel& kernel) { return (kernel.scratch_bytes + 127) / 128 * 128; }

// What threads with the same columns put together, of one stage.
std::int64_t room_bytes(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                        std::size_t stage) {
  std::int64_t widest =
      has_squares(image, stage) ? 2 * static_cast<std::int64_t>(sizeof(float)) : 0;
  for (const Statement& statement : phase.stages[stage].statements)
    widest = std::max<std::int64_t>(widest, byte_size(kernel.buffers[statement.buffers[0]].dtype));
  return widest * image.abreast() * image.columns;
}

class PassEmitter {
 public:
  PassEmitter(const Kernel& kernel, const Phase& phase, const CudaImage& image,
              const CudaImagePass& pass, bool is_first, bool is_last, IndentedText& text)
      : kernel_(kernel),
        phase_(phase),
        image_(image),
        pass_(pass),
        is_first_(is_first),
        is_last_(is_last),
        text_(text) {}

  void emit() {
    const bool is_finish = pass_.kind == CudaImagePass::Kind::finish;
    threads_ = is_finish ? kFinishThreads : image_.threads;
    text_.line("__shared__ ui64 room[{}];", threads_);
    // What was read last is read again first, while the far cache still has it.
    if (pass_.kind == CudaImagePass::Kind::stores)
      text_.line("const unsigned place = of_blocks - 1 - at_block;");
    else
      text_.line("const unsigned place = at_block;");
    text_.line("const i64 block = place / {};", is_finish ? 1 : image_.parts);
    if (!is_finish) text_.line("const int piece = (int)(place % {});", image_.parts);
    emit_outer();
    emit_before();
    if (is_finish) return emit_finish();
    text_.line("const int part = (int)threadIdx.x / {0}, unit = (int)threadIdx.x % {0};",
               image_.units());
    if (pass_.kind == CudaImagePass::Kind::sums) return emit_large(pass_.stage);
    for (std::size_t s = pass_.stage; s < pass_.end; ++s)
      if (image_.stages[s] == CudaImageStage::small)
        emit_small(s, "piece == 0");
      else
        emit_large(s);
  }

 private:
  CudaVectors vectors_of(const Stage& stage) const {
    return cuda_vectors(kernel_, phase_, stage, image_.vector);
  }
  std::string_view image_type() const {
    return cuda_memory_type(kernel_.buffers[image_.input].dtype);
  }

  void emit_outer() {
    std::int64_t inner = 1;
    for (std::size_t i = phase_.outer.size(); i-- > 0;) {
      const std::int64_t extent = std::max<std::int64_t>(phase_.outer[i].extent, 1);
      text_.line("const i64 outer{} = block / {}ll % {}ll;", i, inner, extent);
      inner *= extent;
    }
  }

  // ---- small stages, and what they leave

  // Scratch as the last finish left it; before that, as the first small stages make it.
  void emit_before() {
    const bool is_begin = is_first_ || (pass_.kind == CudaImagePass::Kind::finish &&
                                        pass_.stage == image_.passes[0].stage);
    if (!is_begin) return emit_copy("own", "partials");
    for (std::size_t s = 0; s < pass_.stage; ++s) emit_small(s, is_first_ ? "false" : "");
  }
  void emit_copy(std::string_view to, std::string_view from) {
    const std::int64_t words = scratch_up(kernel_) / 16;
    if (words == 0) return;
    const std::string saved = fmt::format("block * {} + at", words);
    text_.open("for (int at = threadIdx.x; at < {}; at += {}) {{", words, threads_);
    text_.line("((ulonglong2*){})[{}] = ((const ulonglong2*){})[{}];", to,
               to == "own" ? "at" : saved, from, from == "own" ? "at" : saved);
    text_.close();
    text_.line("__syncthreads();");
  }

  // What goes to memory only where `who` says so; "": everybody's.
  void emit_small(std::size_t number, std::string_view who) {
    const Stage& stage = phase_.stages[number];
    const bool to_memory = std::ranges::any_of(stage.statements, [&](const Statement& statement) {
      return kernel_.buffers[statement.buffers[0]].reach != Reach::block;
    });
    const bool by_some = to_memory && !who.empty();
    if (by_some) text_.open("if ({}) {{", who);
    emit_cuda_stage(kernel_, phase_, stage, threads_, 1, {}, text_);
    if (by_some) text_.close();
    text_.line("__syncthreads();");
  }

  // ---- rows of a part

  void emit_large(std::size_t number) {
    const Stage& stage = phase_.stages[number];
    const CudaVectors vectors = vectors_of(stage);
    ImagePoint point(kernel_, phase_, image_, stage, vectors, text_);
    const auto live = live_nodes(stage);
    std::vector<bool> of_row(live.size()), of_column(live.size());
    for (std::size_t i = 0; i < live.size(); ++i) {
      of_row[i] = live[i] && point.by_row(i);
      of_column[i] = live[i] && !point.by_row(i);
    }
    text_.open("{{");
    point.emit_neighbours(stage.loops.size() - 1);
    if (std::ranges::count(of_column, true) > 0) point.emit_nodes(of_column);
    const bool sums = image_.stages[number] == CudaImageStage::sums;
    if (sums) emit_starts(stage, number, point);
    text_.open("if (part < {}) {{", image_.abreast());
    open_rows(point.reads_image(live), sums);
    point.emit_loops_of_row("own_row");
    if (std::ranges::count(of_row, true) > 0) point.emit_nodes(of_row);
    for (std::size_t s = 0; s < stage.statements.size(); ++s)
      point.emit_row_statement(s, vectors.stores[s]);
    if (sums && has_squares(image_, number)) emit_squares(stage.statements[0], point);
    text_.close();
    text_.close();
    text_.close();
    if (sums) {
      for (std::size_t s = 0; s < stage.statements.size(); ++s) emit_partial(stage, s, point);
      if (has_squares(image_, number)) emit_partial_squares(stage, point);
    }
    text_.close();
  }

  // Several rows are asked for before the first is worked on.
  void open_rows(bool reads_image, bool sums) {
    const std::int64_t turns = image_.part_rows() / image_.abreast();
    std::int64_t at_once = sums ? 8 : 4;
    while (turns % at_once != 0) at_once /= 2;
    text_.open("for (int base = part; base < {}; base += {}) {{", image_.part_rows(),
               at_once * image_.abreast());
    if (reads_image) {
      std::string from = fmt::format("{}ll", image_.base.constant);
      for (std::size_t o = 0; o < image_.base.outer.size(); ++o)
        if (image_.base.outer[o] != 0)
          from += fmt::format(" + {}ll * outer{}", image_.base.outer[o], o);
      text_.line("Vec<{}, {}> ahead[{}];", image_type(), image_.vector, at_once);
      text_.line("#pragma unroll");
      text_.line(
          "for (int u = 0; u < {}; ++u) ahead[u] = read_vec<{}, {}>(b{} + ({} + (i64)(piece * {} + "
          "base + u * {}) * {} + unit * {}));",
          at_once, image_type(), image_.vector, image_.input, from, image_.part_rows(),
          image_.abreast(), image_.columns, image_.vector);
    }
    text_.line("#pragma unroll");
    text_.open("for (int u = 0; u < {}; ++u) {{", at_once);
    text_.line("const int own_row = piece * {} + base + u * {};", image_.part_rows(),
               image_.abreast());
  }

  // ---- sums of a part

  void emit_starts(const Stage& stage, std::size_t number, ImagePoint& point) {
    for (std::size_t s = 0; s < stage.statements.size(); ++s) {
      const Statement& statement = stage.statements[s];
      const DType type = kernel_.buffers[statement.buffers[0]].dtype;
      for (const std::string& mark : point.marks())
        text_.line("{0} sum{1}{2} = h_constant<{0}>({3:#x}ull);", point.type_of(statement, 0), s,
                   mark, neutral_bits(statement.combiner.op, type));
    }
    if (!has_squares(image_, number)) return;
    for (const std::string& mark : point.marks())
      text_.line("f32 start{0} = 0.0f, off{0} = 0.0f, squares{0} = 0.0f;", mark);
  }

  // About the first number that a thread has of a column: few numbers, of which it is one, so that
  // what it is off their mean cannot hide their squares.
  void emit_squares(const Statement& statement, ImagePoint& point) {
    for (const std::string& mark : point.marks()) {
      const std::string value = point.node(statement.values[0], mark);
      text_.line("if (u == 0 && base == part) start{} = {};", mark, value);
      text_.line("const f32 from_start{0} = {1} - start{0};", mark, value);
      text_.line("off{0} += from_start{0};", mark);
      text_.line("squares{0} = fmaf(from_start{0}, from_start{0}, squares{0});", mark);
    }
  }

  // Where sums of a part lie in memory: of all images, then of the next.
  std::string partial(std::string_view type, std::int64_t before, std::string_view piece) const {
    return fmt::format(
        "(({}*)(partials + {}ll))[(block * {} + {}) * {} + column]", type,
        image_.saved_bytes + before * phase_.blocks() * image_.parts * image_.columns, image_.parts,
        piece, image_.columns);
  }
  // Bytes of an element of all that stands before a statement.
  std::int64_t bytes_before(const Stage& stage, std::size_t s) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < s; ++i)
      bytes += byte_size(kernel_.buffers[stage.statements[i].buffers[0]].dtype);
    return bytes;
  }

  void open_columns() {
    text_.open("for (int column = threadIdx.x; column < {}; column += {}) {{", image_.columns,
               threads_);
  }

  void emit_put(std::string_view array, std::string_view type, const std::string& value,
                ImagePoint& point) {
    text_.line("Vec<{}, {}> own_{};", type, image_.vector, array);
    for (std::size_t v = 0; v < point.marks().size(); ++v)
      text_.line("own_{}.at[{}] = {};", array, v,
                 fmt::format(fmt::runtime(value), point.marks()[v]));
    text_.line("store_vec<{0}, {1}>({3} + part * {2} + unit * {1}, own_{3});", type, image_.vector,
               image_.columns, array);
  }

  void emit_partial(const Stage& stage, std::size_t s, ImagePoint& point) {
    const Statement& statement = stage.statements[s];
    const std::string_view type = point.type_of(statement, 0), op = name(statement.combiner.op);
    text_.open("{{");
    text_.line("{0}* const across = ({0}*)(scratch + {1});", type, scratch_up(kernel_));
    text_.line("__syncthreads();");
    text_.open("if (part < {}) {{", image_.abreast());
    emit_put("across", type, fmt::format("sum{}{{}}", s), point);
    text_.close();
    text_.line("__syncthreads();");
    open_columns();
    text_.line("{} sum = across[column];", type);
    text_.line("#pragma unroll");
    text_.line("for (int row = 1; row < {0}; ++row) sum = h_{1}(sum, across[row * {2} + column]);",
               image_.abreast(), op, image_.columns);
    text_.line("{} = sum;", partial(type, bytes_before(stage, s), "piece"));
    text_.close();
    text_.close();
  }

  // The mean of a part's columns, and squares of what its rows are off that.
  void emit_partial_squares(const Stage& stage, ImagePoint& point) {
    const std::int64_t turns = image_.part_rows() / image_.abreast();
    const std::int64_t before = bytes_before(stage, stage.statements.size());
    text_.open("{{");
    text_.line("f32* const means = (f32*)(scratch + {});", scratch_up(kernel_));
    text_.line("f32* const spreads = means + {};", image_.abreast() * image_.columns);
    text_.line("__syncthreads();");
    text_.open("if (part < {}) {{", image_.abreast());
    emit_put("means", "f32", fmt::format("start{{0}} + off{{0}} * (1.0f / {})", turns), point);
    emit_put("spreads", "f32",
             fmt::format("squares{{0}} - off{{0}} * off{{0}} * (1.0f / {})", turns), point);
    text_.close();
    text_.line("__syncthreads();");
    open_columns();
    emit_together(image_.abreast(), turns, fmt::format("means[at * {} + column]", image_.columns),
                  fmt::format("spreads[at * {} + column]", image_.columns));
    text_.line("{} = mean;", partial("f32", before, "piece"));
    text_.line("{} = spread;", partial("f32", before + 4, "piece"));
    text_.close();
    text_.close();
  }

  // Of `count` samples of `rows` each: the mean, and squares of what is off it.
  void emit_together(std::int64_t count, std::int64_t rows, const std::string& mean,
                     const std::string& spread) {
    text_.line("f32 mean = 0.0f, spread = 0.0f, apart = 0.0f;");
    text_.line("#pragma unroll 16");
    text_.line("for (int at = 0; at < {}; ++at) mean += {};", count, mean);
    text_.line("mean *= 1.0f / {};", count);
    text_.line("#pragma unroll 16");
    text_.open("for (int at = 0; at < {}; ++at) {{", count);
    text_.line("const f32 off = {} - mean;", mean);
    text_.line("apart = fmaf(off, off, apart);");
    text_.line("spread += {};", spread);
    text_.close();
    text_.line("spread = fmaf(apart, {}.0f, spread);", rows);
  }

  // ---- all parts of an image

  void emit_finish() {
    const Stage& stage = phase_.stages[pass_.stage];
    const bool squares = has_squares(image_, pass_.stage);
    if (squares) text_.line("__shared__ f32 means[{0}], spreads[{0}];", image_.columns);
    open_columns();
    for (std::size_t s = 0; s < stage.statements.size(); ++s) {
      const Statement& statement = stage.statements[s];
      const std::string_view type = cuda_type(kernel_.buffers[statement.buffers[0]].dtype);
      const std::string_view op = name(statement.combiner.op);
      const std::int64_t before = bytes_before(stage, s);
      text_.open("{{");
      text_.line("{} sum = {};", type, partial(type, before, "0"));
      text_.line("#pragma unroll 16");
      text_.line("for (int at = 1; at < {}; ++at) sum = h_{}(sum, {});", image_.parts, op,
                 partial(type, before, "at"));
      text_.line("b{0}[column] = h_{1}(({2})b{0}[column], sum);", statement.buffers[0], op, type);
      text_.close();
    }
    if (squares) {
      const std::int64_t before = bytes_before(stage, stage.statements.size());
      emit_together(image_.parts, image_.part_rows(), partial("f32", before, "at"),
                    partial("f32", before + 4, "at"));
      text_.line("means[column] = mean;");
      text_.line("spreads[column] = spread;");
    }
    text_.close();
    text_.line("__syncthreads();");
    for (std::size_t s = pass_.stage + 1; s < pass_.end; ++s)
      if (image_.stages[s] == CudaImageStage::small)
        emit_small(s, "");
      else
        emit_from_squares(phase_.stages[s]);
    if (!is_last_) emit_copy("partials", "own");
  }

  // Squares about another number than the mean of a column.
  void emit_from_squares(const Stage& stage) {
    const Statement& statement = stage.statements[0];
    const Node& square = stage.nodes[statement.values[0]];
    const NodeId about = stage.nodes[square.in[0]].in[1];
    const CudaVectors one{.count = 1,
                          .loads = std::vector<bool>(stage.nodes.size(), false),
                          .stores = std::vector<bool>(stage.statements.size(), false),
                          .alike = {}};
    CudaPoint point(kernel_, stage, one, false, text_);
    open_columns();
    text_.line("const i64 loop{} = column;", stage.loops.size() - 1);
    point.emit_nodes(nodes_for(stage, about));
    text_.line("const f32 off = means[column] - {};", point.node(about, ""));
    text_.line("b{0}[column] = b{0}[column] + fmaf(off * {1}.0f, off, spreads[column]);",
               statement.buffers[0], image_.rows);
    text_.close();
    text_.line("__syncthreads();");
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaImage& image_;
  const CudaImagePass& pass_;
  const bool is_first_, is_last_;
  IndentedText& text_;
  int threads_ = 1;
};

}  // namespace

CudaImageLaunch image_launch(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                             const CudaImagePass& pass) {
  CudaImageLaunch launch{.shared_bytes = scratch_up(kernel), .threads = image.threads};
  if (pass.kind == CudaImagePass::Kind::finish) {
    launch.grid = phase.blocks();
    launch.threads = kFinishThreads;
    launch.at_once = 1;
    return launch;
  }
  launch.grid = phase.blocks() * image.parts;
  if (pass.kind == CudaImagePass::Kind::sums)
    launch.shared_bytes += room_bytes(kernel, phase, image, pass.stage);
  return launch;
}

void emit_cuda_image_pass(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                          std::size_t pass, IndentedText& text) {
  PassEmitter(kernel, phase, image, image.passes[pass], pass == 0, pass + 1 == image.passes.size(),
              text)
      .emit();
}

}  // namespace heddle
