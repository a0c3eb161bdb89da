// Chunks of rows, as CUDA text: what threads hold until a chunk is done.
#include "kernel/emit_cuda_resident_units.h"

namespace heddle {

namespace {

class ChunkEmitter {
 public:
  ChunkEmitter(const Kernel& kernel, const CudaResident& resident, IndentedText& text)
      : kernel_(kernel), resident_(resident), units_(kernel, resident, text), text_(text) {}

  void emit_variables() {
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) {
      const std::string_view type = cuda_type(kernel_.buffers[b].dtype);
      if (resident_.homes[b] == CudaHome::chunk_row) text_.line("{} q{};", type, b);
      if (resident_.homes[b] == CudaHome::chunk_column)
        text_.line("{} q{}[{}];", type, b, resident_.turns() * resident_.vector);
    }
    for (const Stage& stage : resident_.phase.begin)
      over_chunk(stage, [&](ResidentPoint& point) {
        for (const Statement& statement : stage.statements)
          for (const std::string& mark : point.marks()) {
            const std::uint32_t b = statement.buffers[0];
            text_.line("{} = {};", chunk_own(b, mark), point.node(statement.values[0], mark));
          }
      });
  }
  std::string chunk_own(std::uint32_t b, std::string_view mark) const {
    if (resident_.homes[b] == CudaHome::chunk_row) return fmt::format("q{}", b);
    return ResidentPoint::own('q', b, resident_.vector, mark);
  }

  void emit_results() {
    for (const Stage& stage : resident_.phase.begin)
      over_chunk(stage, [&](ResidentPoint& point) {
        const CudaVectors vectors = units_.vectors_of(stage);
        for (std::size_t s = 0; s < stage.statements.size(); ++s) {
          const Statement& statement = stage.statements[s];
          const std::uint32_t b = statement.buffers[0];
          const bool is_row = resident_.homes[b] == CudaHome::chunk_row;
          if (!is_row && vectors.count > 1 && vectors.stores[s]) {
            std::vector<std::string> values;
            for (const std::string& mark : point.marks()) values.push_back(chunk_own(b, mark));
            point.emit_vector_store(b, statement.index, values);
            continue;
          }
          for (const std::string& mark : point.marks())
            text_.line("{}b{}[{}] = {};", is_row ? "if (lane == 0) " : "", b,
                       point.node(statement.index, mark), chunk_own(b, mark));
        }
      });
  }

  // Once for each point of a row where a stage has such, without rows.
  template <typename Emit>
  void over_chunk(const Stage& stage, Emit emit) {
    const CudaVectors vectors = units_.vectors_of(stage);
    ResidentPoint point(kernel_, resident_, stage, kNone, vectors, text_);
    text_.open("{{");
    units_.emit_single_positions(stage);
    const bool in_row = tile_loops(stage).empty();
    if (!in_row) units_.open(stage, point);
    point.emit_nodes(live_nodes(stage));
    emit(point);
    if (!in_row) units_.close();
    text_.close();
  }

 private:
  const Kernel& kernel_;
  const CudaResident& resident_;
  ResidentUnits units_;
  IndentedText& text_;
};

}  // namespace

void emit_cuda_chunk_variables(const Kernel& kernel, const CudaResident& resident,
                               IndentedText& text) {
  ChunkEmitter(kernel, resident, text).emit_variables();
}

void emit_cuda_chunk_results(const Kernel& kernel, const CudaResident& resident,
                             IndentedText& text) {
  ChunkEmitter(kernel, resident, text).emit_results();
}

}  // namespace heddle
