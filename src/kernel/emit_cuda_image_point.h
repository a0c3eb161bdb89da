// Points of an image's rows as CUDA text.
#pragma once

#include "kernel/cuda_image.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

// The columns of a thread in one row, whose elements of the image are in shared memory.
class ImagePoint final : public CudaPoint {
 public:
  ImagePoint(const Kernel& kernel, const Phase& phase, const CudaImage& image, const Stage& stage,
             const CudaVectors& vectors, IndentedText& text)
      : CudaPoint(kernel, stage, vectors, false, text),
        image_(image),
        by_row_(differs_by_row(stage)) {
    const auto places = cuda_places(phase, stage);
    for (const Node& node : stage.nodes) is_here_.push_back(is_image(node, places));
  }

  bool by_row(std::size_t node) const { return by_row_[node]; }
  bool reads_image(const std::vector<bool>& live) const {
    for (std::size_t i = 0; i < live.size(); ++i)
      if (live[i] && is_here_[i]) return true;
    return false;
  }

  // The loops of the stage but for its columns, by the number of a row.
  void emit_loops_of_row(std::string row) {
    for (std::size_t i = stage_.loops.size() - 1; i-- > 0;) {
      text_.line("const i64 loop{} = {}{};", i, row,
                 i == 0 ? "" : fmt::format(" % {}", stage_.loops[i].size));
      row = fmt::format("({} / {})", row, stage_.loops[i].size);
    }
  }

  // A statement of the stage for all columns of the thread; sums are kept as sum<s><mark>.
  void emit_row_statement(std::size_t s, bool by_vector) {
    const Statement& statement = stage_.statements[s];
    if (by_vector) return emit_vector_store(statement);
    for (const std::string& mark : marks())
      if (statement.kind == Statement::Kind::update)
        text_.line("sum{0}{1} = {2};", s, mark,
                   accumulated(statement, fmt::format("sum{}{}", s, mark), mark));
      else
        emit_statement(statement, mark);
  }

 protected:
  std::string loaded(std::size_t i, std::string_view mark) const override {
    if (!is_here_[i]) return CudaPoint::loaded(i, mark);
    if (image_.parts > 0)
      return fmt::format("ahead[u].at[{}]", mark.empty() ? "0" : mark.substr(1));
    const bool truth = kernel_.buffers[image_.input].dtype == DType::i1;
    return fmt::format("share[own_place + {}]{}", mark.empty() ? "0" : mark.substr(1),
                       truth ? " != 0" : "");
  }
  void emit_vector_load(std::size_t i) override {
    if (image_.parts == 0 || !is_here_[i]) return CudaPoint::emit_vector_load(i);
    text_.line("const auto& w{} = ahead[u];", i);
    for (const std::string& mark : marks())
      text_.line("const {} n{}{} = w{}.at[{}];", cuda_type(stage_.nodes[i].type), i, mark, i,
                 mark.substr(1));
  }
  std::string from(std::size_t i) const override {
    return is_here_[i] ? "share + own_place" : CudaPoint::from(i);
  }
  bool is_same_for_many(NodeId id) const override { return !by_row_[id]; }
  // The compiler takes stores apart in these loops.
  std::string_view storing(std::uint32_t buffer) const override {
    return kernel_.buffers[buffer].reach == Reach::block ? "store_vec" : "put_vec";
  }

 private:
  bool is_image(const Node& node, const std::vector<std::optional<CudaPlace>>& places) const {
    if (node.kind != NodeKind::load || node.number != image_.input || node.in[1] != kNone ||
        !places[node.in[0]])
      return false;
    CudaPlace place = *places[node.in[0]];
    std::int64_t next = 1;
    for (std::size_t i = stage_.loops.size(); i-- > 0; next *= stage_.loops[i].size)
      if (stage_.loops[i].size > 1 && place.tile[i] != next) return false;
    place.tile.clear();
    return place == image_.base;
  }

  const CudaImage& image_;
  const std::vector<bool> by_row_;
  std::vector<bool> is_here_;  // by node
};

}  // namespace heddle
