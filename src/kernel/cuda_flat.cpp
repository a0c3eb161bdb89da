#include "kernel/cuda_flat.h"

#include <algorithm>

#include "kernel/cuda_round.h"
#include "kernel/emit_cuda_point.h"

namespace heddle {

namespace {

constexpr std::size_t kMostNodes = 96;  // of several neighbours in a thread's registers
constexpr std::int64_t kMostGrid = 1 << 28;

// About how many instructions an element takes from which on loads had better be under way while
// others are computed with: blocks that stay and have several turns (black-scholes on an H200:
// 0.755 ms so, 0.801 by one access to a thread; Adam 2.80 and 2.19).
constexpr int kHeavy = 48;
constexpr std::int64_t kStayingBlocks = 4096;

int instructions(const Stage& stage) {
  int all = 0;
  for (const Node& node : stage.nodes)
    if (node.kind == NodeKind::scalar && node.type != DType::i64)
      all += is_heavy(node.op) || node.op == ScalarOp::divide ? 8 : 1;
  return all;
}

bool is_sum(const Statement& statement) { return statement.kind == Statement::Kind::update; }

// A sum of all that a chunk has, in one element of it.
bool is_sum_of_chunk(const Kernel& kernel, const Stage& stage, const Statement& statement) {
  if (!is_sum(statement) || statement.values.size() != 1 || statement.guard != kNone ||
      !statement.any_order || statement.combiner.op == ScalarOp::none)
    return false;
  if (kernel.buffers[statement.buffers[0]].dtype == DType::i1) return false;
  std::vector<bool> moves;  // by node: whether it differs within a chunk
  for (const Node& node : stage.nodes) {
    bool own = node.kind == NodeKind::loop || node.kind == NodeKind::outer;
    for (NodeId in : node.in) own = own || (in != kNone && moves[in]);
    moves.push_back(own);
  }
  return !moves[statement.index];
}

bool touches(const Kernel& kernel, const Stage& stage, Reach reach) {
  const auto is_there = [&](std::uint32_t b) { return kernel.buffers[b].reach == reach; };
  return std::ranges::any_of(
             stage.nodes,
             [&](const Node& n) { return n.kind == NodeKind::load && is_there(n.number); }) ||
         std::ranges::any_of(stage.statements, [&](const Statement& s) {
           return std::ranges::any_of(s.buffers, is_there);
         });
}

// What neighbours have together, wherever blocks begin.
CudaVectors vectors_of(const Kernel& kernel, const Phase& phase) {
  Phase even = phase;
  even.outer[0] = {kCudaAccess * kCudaAccess, kCudaAccess};
  even.stages[0].loops[0].size = kCudaAccess;
  return cuda_vectors(kernel, even, even.stages[0]);
}

}  // namespace

std::optional<CudaFlat> cuda_flat(const Kernel& kernel, const Phase& phase) {
  if (phase.outer.size() != 1 || phase.stages.size() != 1) return {};
  const Stage& stage = phase.stages[0];
  if (stage.loops.size() != 1 || stage.loops[0].block_of != 0 || stage.nodes.size() > kMostNodes ||
      touches(kernel, stage, Reach::block))
    return {};
  const auto fits = [&](const Statement& statement) {
    return statement.kind == Statement::Kind::store ||
           (phase.chunks > 0 && is_sum_of_chunk(kernel, stage, statement));
  };
  if (!std::ranges::all_of(stage.statements, fits)) return {};
  CudaFlat flat;
  flat.extent = phase.outer[0].extent;
  flat.chunks = phase.chunks;
  flat.block = phase.outer[0].block;
  flat.blocks = phase.blocks();
  flat.vectors = vectors_of(kernel, phase);
  flat.stays = flat.chunks == 0 && instructions(stage) >= kHeavy;
  // Blocks that are all alike are as good as they come.
  if (flat.stays && flat.extent % flat.block == 0) return {};
  const int count = flat.vectors.count;
  if (count == 1 || flat.extent == 0 || flat.grid() > kMostGrid) return {};
  if (flat.chunks > 0 && (flat.block % count != 0 || flat.extent % count != 0)) return {};
  return flat;
}

std::int64_t CudaFlat::grid() const {
  const std::int64_t of_block = std::int64_t{kThreads} * vectors.count;
  const std::int64_t needed = (extent + of_block - 1) / of_block;
  return chunks > 0 ? chunks : stays ? std::min(needed, kStayingBlocks) : needed;
}

Round CudaFlat::round() const {
  return Round({{{RoundAxis::thread, kThreads}, {RoundAxis::vec, vectors.count}}});
}

namespace {

class FlatEmitter {
 public:
  FlatEmitter(const Kernel& kernel, const Phase& phase, const CudaFlat& flat, IndentedText& text)
      : kernel_(kernel),
        phase_(phase),
        flat_(flat),
        round_(flat.round()),
        stage_(phase.stages[0]),
        text_(text),
        several_(kernel, stage_, flat.vectors, false, text),
        one_(kernel, stage_, none_, false, text) {
    none_.loads.assign(stage_.nodes.size(), false);
    none_.stores.assign(stage_.statements.size(), false);
  }

  void emit() {
    text_.line("const i64 outer0 = 0;");
    if (flat_.chunks > 0)
      emit_chunk();
    else
      emit_access();
  }

 private:
  std::int64_t count() const { return flat_.vectors.count; }

  void emit_access() {
    const std::string first =
        fmt::format("(i64)at_block * {} + {}", round_.accesses(0), cuda_first(round_, 0));
    const std::int64_t units = flat_.extent / count();
    if (flat_.stays) {
      text_.line("#pragma unroll 2");
      text_.open("for (i64 unit = {}; unit < {}ll; unit += (i64)of_blocks * {}) {{", first, units,
                 round_.accesses(0));
    } else {
      text_.line("const i64 unit = {};", first);
      text_.open("if (unit < {}ll) {{", units);
    }
    emit_several();
    text_.close();
    const std::int64_t rest = flat_.extent % count();
    if (rest == 0) return;
    // The elements behind the last access.
    text_.open("if ({} == {}ll) {{", first, flat_.stays ? 0 : units);
    text_.open("for (i64 loop0 = {}ll; loop0 < {}ll; ++loop0) {{", flat_.extent - rest,
               flat_.extent);
    one_.emit_nodes({});
    for (const Statement& statement : stage_.statements) one_.emit_statement(statement, "");
    text_.close();
    text_.close();
  }

  void emit_several() {
    several_.emit_neighbours(0);
    several_.emit_nodes({});
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      const Statement& statement = stage_.statements[s];
      if (flat_.vectors.stores[s]) {
        several_.emit_vector_store(statement);
        continue;
      }
      for (const std::string& mark : several_.marks())
        if (is_sum(statement))
          text_.line("sum{0} = {1};", s,
                     several_.accumulated(statement, fmt::format("sum{}", s), mark));
        else
          several_.emit_statement(statement, mark);
    }
  }

  void emit_chunk() {
    text_.line("__shared__ ui64 room[{}];", CudaFlat::kThreads);
    text_.line("const i64 chunk = at_block;");
    for (const Stage& stage : phase_.begin)
      emit_cuda_stage(kernel_, phase_, stage, CudaFlat::kThreads, 1, {}, text_);
    const std::int64_t units = flat_.block / count(), last = flat_.extent / count();
    text_.line("const i64 begin = {0}ll * chunk / {1} * {2}ll;", flat_.blocks, flat_.chunks, units);
    text_.line("const i64 end = min({0}ll * (chunk + 1) / {1} * {2}ll, {3}ll);", flat_.blocks,
               flat_.chunks, units, last);
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      if (is_sum(stage_.statements[s])) {
        const Statement& statement = stage_.statements[s];
        const DType type = kernel_.buffers[statement.buffers[0]].dtype;
        text_.line("{0} sum{1} = h_constant<{0}>({2:#x}ull);", cuda_type(type), s,
                   neutral_bits(statement.combiner.op, type));
      }
    text_.line("#pragma unroll 2");
    text_.open("for (i64 unit = begin + {}; unit < end; unit += {}) {{", cuda_first(round_, 0),
               round_.accesses(0));
    emit_several();
    text_.close();
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      if (is_sum(stage_.statements[s])) emit_sum(s);
  }

  void emit_sum(std::size_t s) {
    const Statement& statement = stage_.statements[s];
    const std::string_view type = one_.type_of(statement, 0), op = name(statement.combiner.op);
    text_.line("TOGETHER({}, {}, h_{}, sum{}, room)", type, CudaFlat::kThreads, op, s);
    text_.open("if (threadIdx.x == 0) {{");
    text_.line("const i64 loop0 = 0;");
    one_.emit_nodes(nodes_for(stage_, statement.index));
    const std::string at = one_.element(statement.buffers[0], one_.node(statement.index, ""));
    text_.line("{0} = h_{1}(({2}){0}, sum{3});", at, op, type, s);
    text_.close();
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const CudaFlat& flat_;
  const Round round_;
  const Stage& stage_;
  IndentedText& text_;
  CudaVectors none_;
  CudaPoint several_;  // neighbours, by one access
  CudaPoint one_;
};

}  // namespace

void emit_cuda_flat(const Kernel& kernel, const Phase& phase, const CudaFlat& flat,
                    IndentedText& text) {
  FlatEmitter(kernel, phase, flat, text).emit();
}

}  // namespace heddle
