// A phase whose images stay in shared memory, as CUDA text.
#include <algorithm>

#include "kernel/cuda_image.h"
#include "kernel/emit_cuda_image_point.h"

namespace heddle {

namespace {

class ImageEmitter {
 public:
  ImageEmitter(const Kernel& kernel, const Phase& phase, const CudaImage& image, IndentedText& text)
      : kernel_(kernel), phase_(phase), image_(image), text_(text) {
    sums_ = std::ranges::count(image.stages, CudaImageStage::sums);
    for (std::size_t s = 0; s < phase.stages.size(); ++s) {
      if (image.stages[s] == CudaImageStage::small) continue;
      const CudaVectors vectors = vectors_of(phase.stages[s]);
      const ImagePoint point(kernel, phase, image, phase.stages[s], vectors, text);
      if (!point.reads_image(live_nodes(phase.stages[s]))) continue;
      first_ = std::min(first_, s);
      last_ = s;
    }
  }

  void emit() {
    emit_start();
    text_.open("for (i64 block = at_block / {0}; block < {1}ll; block += step) {{", image_.cluster,
               phase_.blocks());
    emit_outer("block", "outer");
    for (std::size_t s = 0; s < phase_.stages.size(); ++s) {
      if (image_.stages[s] == CudaImageStage::small)
        emit_small(phase_.stages[s]);
      else
        emit_large(s);
    }
    text_.line("turn ^= 1;");
    // What the only stage with sums has of other blocks is written again.
    if (image_.cluster > 1 && sums_ == 1) text_.line("cluster_barrier();");
    text_.close();
    // Nobody leaves while another block may still read its memory.
    if (image_.cluster > 1) text_.line("cluster_barrier();");
  }

 private:
  CudaVectors vectors_of(const Stage& stage) const {
    return cuda_vectors(kernel_, phase_, stage, image_.vector);
  }
  std::string_view image_type() const {
    return cuda_memory_type(kernel_.buffers[image_.input].dtype);
  }

  // ---- slices that fly

  void emit_start() {
    text_.line("__shared__ ui64 room[{}], gates[{}];", image_.threads, image_.slices);
    text_.line("{0}* const share = ({0}*)(scratch + {1});", image_type(), image_.image_offset);
    text_.line("const int rank = {};", image_.cluster > 1 ? "(int)cluster_rank()" : "0");
    text_.line("const int part = (int)threadIdx.x / {0}, unit = (int)threadIdx.x % {0};",
               image_.units());
    text_.line("const i64 step = of_blocks / {};", image_.cluster);
    text_.line("ui32 turn = 0;");
    text_.open("const auto send = [&](i64 next, int slice) {{");
    text_.line("if (next >= {}ll) return;", phase_.blocks());
    emit_outer("next", "at");
    std::string at = fmt::format("{}ll", image_.base.constant);
    for (std::size_t o = 0; o < image_.base.outer.size(); ++o)
      if (image_.base.outer[o] != 0) at += fmt::format(" + {}ll * at{}", image_.base.outer[o], o);
    const std::int64_t elements = image_.slice() * image_.columns;
    const std::int64_t bytes =
        elements * static_cast<std::int64_t>(byte_size(kernel_.buffers[image_.input].dtype));
    text_.line("expect(&gates[slice], {});", bytes);
    text_.line(
        "fly(share + slice * {0}, b{1} + ({2} + (i64)(rank * {3} + slice) * {0}), {4}, "
        "&gates[slice]);",
        elements, image_.input, at, image_.slices, bytes);
    text_.back();
    text_.line("}};");
    text_.open("if (threadIdx.x == 0) {{");
    text_.line("for (int slice = 0; slice < {}; ++slice) open_gate(&gates[slice]);", image_.slices);
    text_.line("gates_are_open();");
    text_.line("for (int slice = 0; slice < {}; ++slice) send(at_block / {}, slice);",
               image_.slices, image_.cluster);
    text_.close();
    text_.line("{}();", image_.cluster > 1 ? "cluster_barrier" : "__syncthreads");
  }

  void emit_outer(std::string_view number, std::string_view name) {
    std::int64_t inner = 1;
    for (std::size_t i = phase_.outer.size(); i-- > 0;) {
      const std::int64_t extent = std::max<std::int64_t>(phase_.outer[i].extent, 1);
      text_.line("const i64 {}{} = {} / {}ll % {}ll;", name, i, number, inner, extent);
      inner *= extent;
    }
  }

  // ---- stages

  void emit_small(const Stage& stage) {
    const bool to_memory = std::ranges::any_of(stage.statements, [&](const Statement& statement) {
      return kernel_.buffers[statement.buffers[0]].reach != Reach::block;
    });
    const bool by_one = to_memory && image_.cluster > 1;
    if (by_one) text_.open("if (rank == 0) {{");
    emit_cuda_stage(kernel_, phase_, stage, image_.threads, 1, {}, text_);
    if (by_one) text_.close();
  }

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
    if (sums) emit_sums(stage, point);
    text_.open("for (int slice = 0; slice < {}; ++slice) {{", image_.slices);
    if (number == first_) text_.line("arrive(&gates[slice], turn);");
    text_.open("if (part < {}) {{", image_.abreast());
    text_.line("#pragma unroll 2");
    text_.open("for (int row = part; row < {}; row += {}) {{", image_.slice(), image_.abreast());
    emit_positions(point);
    if (std::ranges::count(of_row, true) > 0) point.emit_nodes(of_row);
    for (std::size_t s = 0; s < stage.statements.size(); ++s)
      point.emit_row_statement(s, vectors.stores[s]);
    text_.close();
    text_.close();
    if (number == last_) {
      text_.line("__syncthreads();");
      text_.line("if (threadIdx.x == 0) send(block + step, slice);");
    }
    text_.close();
    if (sums) emit_results(stage, point);
    text_.close();
    text_.line("__syncthreads();");
  }

  void emit_positions(ImagePoint& point) {
    text_.line("const int own_row = slice * {} + row;", image_.slice());
    text_.line("const int own_place = (own_row * {} + unit) * {};", image_.units(), image_.vector);
    point.emit_loops_of_row(fmt::format("(rank * {} + own_row)", image_.share()));
  }

  // ---- sums of columns

  void emit_sums(const Stage& stage, ImagePoint& point) {
    for (std::size_t s = 0; s < stage.statements.size(); ++s) {
      const Statement& statement = stage.statements[s];
      const DType type = kernel_.buffers[statement.buffers[0]].dtype;
      for (const std::string& mark : point.marks())
        text_.line("{0} sum{1}{2} = h_constant<{0}>({3:#x}ull);", point.type_of(statement, 0), s,
                   mark, neutral_bits(statement.combiner.op, type));
      if (image_.cluster > 1) text_.line("__shared__ ui64 far{}[{}];", s, image_.columns);
    }
  }

  // Of all rows of a block, and then of all blocks, each in the same order.
  void emit_results(const Stage& stage, ImagePoint& point) {
    for (std::size_t s = 0; s < stage.statements.size(); ++s)
      emit_block_sum(stage.statements[s], s, point);
    if (image_.cluster == 1) return;
    text_.line("cluster_barrier();");
    for (std::size_t s = 0; s < stage.statements.size(); ++s) {
      const Statement& statement = stage.statements[s];
      const std::string_view type = point.type_of(statement, 0), op = name(statement.combiner.op);
      open_columns();
      text_.line("{} sum = get_far<{}>(&far{}[column], 0);", type, type, s);
      text_.line("#pragma unroll");
      text_.line(
          "for (int other = 1; other < {}; ++other) sum = h_{}(sum, get_far<{}>(&far{}[column], "
          "other));",
          image_.cluster, op, type, s);
      emit_result(statement, op, type);
      text_.close();
    }
  }

  void emit_block_sum(const Statement& statement, std::size_t s, ImagePoint& point) {
    const std::string_view type = point.type_of(statement, 0), op = name(statement.combiner.op);
    text_.open("{{");
    text_.line("{0}* const across = ({0}*)(scratch + {1});", type, image_.room_offset);
    text_.line("__syncthreads();");
    text_.open("if (part < {}) {{", image_.abreast());
    text_.line("Vec<{}, {}> own;", type, image_.vector);
    for (std::size_t v = 0; v < point.marks().size(); ++v)
      text_.line("own.at[{}] = sum{}{};", v, s, point.marks()[v]);
    text_.line("store_vec<{0}, {1}>(across + part * {2} + unit * {1}, own);", type, image_.vector,
               image_.columns);
    text_.close();
    text_.line("__syncthreads();");
    open_columns();
    text_.line("{} sum = across[column];", type);
    text_.line("#pragma unroll");
    text_.line("for (int row = 1; row < {0}; ++row) sum = h_{1}(sum, across[row * {2} + column]);",
               image_.abreast(), op, image_.columns);
    if (image_.cluster > 1)
      text_.line("*({}*)&far{}[column] = sum;", type, s);
    else
      emit_result(statement, op, type);
    text_.close();
    text_.close();
  }
  void open_columns() {
    text_.open("for (int column = threadIdx.x; column < {}; column += {}) {{", image_.columns,
               image_.threads);
  }
  void emit_result(const Statement& statement, std::string_view op, std::string_view type) {
    text_.line("b{0}[column] = h_{1}(({2})b{0}[column], sum);", statement.buffers[0], op, type);
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaImage& image_;
  IndentedText& text_;
  std::int64_t sums_ = 0;                    // stages that have some
  std::size_t first_ = SIZE_MAX, last_ = 0;  // stages that read the image
};

}  // namespace

void emit_cuda_image(const Kernel& kernel, const Phase& phase, const CudaImage& image,
                     IndentedText& text) {
  ImageEmitter(kernel, phase, image, text).emit();
}

}  // namespace heddle
