#include "kernel/emit_cuda_stage.h"

#include <algorithm>

#include "kernel/cuda_round.h"
#include "kernel/emit_cuda_stage_point.h"

namespace heddle {

namespace {

constexpr std::size_t kBareNodes = 12;     // of a sum of what is loaded, and nothing more
constexpr std::size_t kVeryFewNodes = 48;  // of points that a thread has several of at a time

class CudaStageEmitter {
 public:
  CudaStageEmitter(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                   int cluster, const std::vector<CudaStaged>& staged, IndentedText& text)
      : kernel_(kernel),
        phase_(phase),
        stage_(stage),
        threads_(threads),
        cluster_(cluster),
        share_(cluster > 1 ? cuda_share(kernel, phase, stage, threads) : CudaShare::all),
        mapping_(cuda_mapping(kernel, phase, stage, threads)),
        staged_(staged),
        text_(text),
        point_(kernel, stage, mapping_, staged, text) {}

  void emit() {
    text_.open("{{");
    for (std::size_t i = 0; i < stage_.loops.size(); ++i)
      text_.line("const {} size{} = {}{};", counter(), i, cuda_loop_size(phase_, stage_.loops[i]),
                 is_in_vectors(i) ? fmt::format(" / {}", mapping_.vectors.count)
                 : is_turned(i)   ? fmt::format(" / {}", mapping_.turn->width)
                                  : "");
    text_.line("const {} points = {};", counter(), product(true));
    if (mapping_.turn)
      emit_turned();
    else if (round().threads(kOthers) > 1)
      emit_groups();
    else if (round().size(kPoints, RoundAxis::reg) > 1)
      emit_several();
    else
      emit_one_by_one();
    text_.close();
    text_.line("__syncthreads();");
  }

 private:
  static constexpr std::size_t kPoints = CudaMapping::kPoints, kOthers = CudaMapping::kOthers;
  const Round& round() const { return mapping_.round; }

  // ---- ways to share

  // A thread has points by itself, and goes along the other loops in their order.
  void emit_one_by_one() {
    if (product(false) == "1" && stage_.nodes.size() <= kVeryFewNodes)
      text_.line("#pragma unroll 4");
    open_points("point");
    emit_positions("point", true, "");
    emit_accumulators();
    int opened = 0;
    for (std::size_t i = 0; i < stage_.loops.size(); ++i) {
      if (mapping_.shared[i]) continue;
      const std::string loop = is_in_vectors(i) ? "unit" : fmt::format("loop{}", i);
      text_.open("for (i64 {0} = 0; {0} < size{1}; ++{0}) {{", loop, i);
      if (is_in_vectors(i)) point_.emit_neighbours(i);
      ++opened;
    }
    emit_point();
    while (opened-- > 0) text_.close();
    emit_results("");
    text_.close();
  }

  // The points of a thread, which may have several at a time.
  void open_points(std::string_view name) {
    const int turn = round().accesses(kPoints);
    text_.open("for ({0} {1} = {2}{3}; {1} < points; {1} += {4}) {{", counter(), name,
               cuda_first(round(), kPoints), start(CudaShare::points, turn),
               step(CudaShare::points, turn));
  }

  // Neighbouring threads have tiles that are neighbours along the loop that is read, then along
  // the one that is written.
  void emit_turned() {
    open_points("point");
    text_.line("const i64 first = (i64)(point % size{}) * {};", mapping_.turn->loop,
               mapping_.turn->width);
    std::string rest = fmt::format("(point / size{})", mapping_.turn->loop);
    for (std::size_t i = stage_.loops.size(); i-- > 0;) {
      if (is_turned(i)) continue;
      text_.line("const i64 {} = {} % size{};",
                 is_in_vectors(i) ? "unit" : fmt::format("loop{}", i), rest, i);
      if (is_in_vectors(i)) point_.emit_neighbours(i);
      rest = fmt::format("({} / size{})", rest, i);
    }
    point_.emit_turned_variables();
    text_.open("{{");
    text_.line("const i64 loop{} = first;", mapping_.turn->loop);
    point_.emit_nodes(needed_for_turned());
    point_.emit_turned_loads();
    text_.close();
    text_.line("#pragma unroll");
    text_.open("for (int turned = 0; turned < {}; ++turned) {{", mapping_.turn->width);
    text_.line("const i64 loop{} = first + turned;", mapping_.turn->loop);
    emit_point();
    text_.close();
    text_.close();
  }
  bool is_turned(std::size_t loop) const { return mapping_.turn && mapping_.turn->loop == loop; }

  std::vector<bool> needed_for_turned() const {
    std::vector<bool> needed(stage_.nodes.size(), false);
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (mapping_.turn->loads[i]) needed[stage_.nodes[i].in[0]] = true;
      if (!needed[i]) continue;
      for (NodeId in : stage_.nodes[i].in)
        if (in != kNone) needed[in] = true;
    }
    return needed;
  }

  // Loads of several points are under way together.
  void emit_several() {
    const int several = round().size(kPoints, RoundAxis::reg), apart = round().apart(kPoints);
    open_points("first");
    for (int u = 0; u < several; ++u) {
      const std::string mark = fmt::format("_{}", u);
      text_.line("const bool here{} = first + {} < points;", mark, u * apart);
      text_.line("const {0} point{1} = here{1} ? first + {2} : points - 1;", counter(), mark,
                 u * apart);
      emit_positions("point" + mark, true, mark);
      for (std::size_t i = 0; i < stage_.nodes.size(); ++i) point_.emit_node(i, mark);
    }
    for (int u = 0; u < several; ++u) {
      const std::string mark = fmt::format("_{}", u);
      text_.open("if (here{}) {{", mark);
      for (const Statement& statement : stage_.statements) point_.emit_statement(statement, mark);
      text_.close();
    }
    text_.close();
  }

  // Threads of a group deal out the other loops of a point, and put together what they have.
  void emit_groups() {
    const int group = round().threads(kOthers), turn = round().threads(kPoints);
    text_.open("for ({0} first = 0{1}; first < points; first += {2}) {{", counter(),
               start(CudaShare::points, turn), step(CudaShare::points, turn));
    const bool by_points = mapping_.shared.back();
    text_.line("const int who = {}, part = {};", cuda_first(round(), kPoints),
               cuda_first(round(), kOthers));
    text_.line("const {} mine = first + who;", counter());
    text_.line(
        "const bool here = mine < points{};",
        turn * group < threads_ ? fmt::format(" && who < {} && part < {}", turn, group) : "");
    text_.line("const {} point = mine < points ? mine : points - 1;", counter());
    emit_positions("point", true, "");
    emit_accumulators();
    text_.open("if (here) {{");
    text_.line("const {} others = {};", counter(), product(false));
    text_.line("#pragma unroll {}", stage_.nodes.size() <= kBareNodes ? 8 : 4);
    text_.open("for ({0} along = part{1}; along < others; along += {2}) {{", counter(),
               start(CudaShare::others, group), step(CudaShare::others, group));
    emit_positions("along", false, "");
    emit_point();
    text_.close();
    if (mapping_.vectors.tail > 0) emit_tail();
    text_.close();
    if (by_points && turn < kCudaWarp)
      emit_across_warps(turn);
    else
      for (const Sum& sum : sums())
        if (by_points)
          text_.line("ACROSS({}, {}, {}, h_{}, {}, room)", sum.type, turn, group, sum.op, sum.name);
        else
          text_.line("TOGETHER({}, {}, h_{}, {}, room)", sum.type, group, sum.op, sum.name);
    if (share_ == CudaShare::others) emit_cluster_sums(turn);
    emit_results("here && part == 0");
    text_.close();
  }

  // What whole accesses leave of the last loop, an element to a thread.
  void emit_tail() {
    CudaMapping mapping;
    mapping.shared = mapping_.shared;
    mapping.accumulated = mapping_.accumulated;
    StagePoint point(kernel_, stage_, mapping, staged_, text_);
    const std::size_t last = stage_.loops.size() - 1;
    text_.open("if (part{} < {}) {{", start(CudaShare::others, round().threads(kOthers)),
               mapping_.vectors.tail);
    text_.line("const i64 loop{0} = (i64)size{0} * {1} + part;", last, mapping_.vectors.count);
    point.emit_nodes({});
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) emit_accumulation(point, s, "");
    text_.close();
  }

  // What is put together, and how.
  struct Sum {
    std::string name;
    std::string_view type, op;
  };
  std::vector<Sum> sums() const {
    std::vector<Sum> all;
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      if (!mapping_.accumulated[s]) continue;
      const Statement& statement = stage_.statements[s];
      for (const std::string& mark : sum_marks()) {
        all.push_back({fmt::format("sum{}{}", s, mark), point_.type_of(statement, 0),
                       name(statement.combiner.op)});
        if (statement.guard != kNone)
          all.push_back({fmt::format("any{}{}", s, mark), "ui32", "or"});
      }
    }
    return all;
  }

  // Threads `apart` from each other have the same point: those of a warp by shuffles, then warps,
  // as many sums at a time as there is room for.
  void emit_across_warps(int apart) {
    const auto all = sums();
    const std::size_t places =
        static_cast<std::size_t>(threads_) / kCudaWarp * static_cast<std::size_t>(apart);
    const std::size_t at_once = static_cast<std::size_t>(threads_) / places;
    for (const Sum& sum : all)
      text_.line("ACROSS_WARP({}, {}, h_{}, {})", sum.type, apart, sum.op, sum.name);
    for (std::size_t begin = 0; begin < all.size(); begin += at_once) {
      const std::size_t end = std::min(begin + at_once, all.size());
      text_.line("__syncthreads();");
      for (std::size_t k = begin; k < end; ++k)
        text_.line("PUT_WARP({}, {}, {}, room + {})", all[k].type, apart, all[k].name,
                   (k - begin) * places);
      text_.line("__syncthreads();");
      for (std::size_t k = begin; k < end; ++k)
        text_.line("GET_WARPS({}, {}, h_{}, {}, room + {})", all[k].type, apart, all[k].op,
                   all[k].name, (k - begin) * places);
    }
  }

  // Where a block of a cluster begins, and how far it goes at a time.
  std::string start(CudaShare kind, int turn) const {
    return share_ == kind ? fmt::format(" + (int)cluster_rank() * {}", turn) : "";
  }
  int step(CudaShare kind, int turn) const { return share_ == kind ? turn * cluster_ : turn; }

  // Every block of the cluster puts together what all of them have, in the same order.
  void emit_cluster_sums(int turn) {
    std::vector<std::pair<std::string, const Statement*>> sums;
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      for (const std::string& mark : sum_marks())
        sums.emplace_back(fmt::format("sum{}{}", s, mark), &stage_.statements[s]);
    text_.line("__shared__ ui64 far[{}];", turn * static_cast<int>(sums.size()));
    for (std::size_t k = 0; k < sums.size(); ++k)
      text_.line("if (part == 0) *({}*)&far[who * {} + {}] = {};",
                 point_.type_of(*sums[k].second, 0), sums.size(), k, sums[k].first);
    text_.line("cluster_barrier();");
    text_.open("if (part == 0) {{");
    for (std::size_t k = 0; k < sums.size(); ++k)
      for (int block = 0; block < cluster_; ++block) {
        const std::string other =
            fmt::format("get_far<{}>(&far[who * {} + {}], {})", point_.type_of(*sums[k].second, 0),
                        sums.size(), k, block);
        if (block == 0)
          text_.line("{} = {};", sums[k].first, other);
        else
          text_.line("{0} = h_{1}({0}, {2});", sums[k].first, name(sums[k].second->combiner.op),
                     other);
      }
    text_.close();
    text_.line("cluster_barrier();");
  }

  // ---- positions

  // Positions are counted in 32 bits where that is enough: dividing 64 takes long.
  std::string_view counter() const {
    const bool is_large = points_of(stage_, mapping_.shared, true) > kMostCounted ||
                          points_of(stage_, mapping_.shared, false) > kMostCounted;
    return is_large ? "i64" : "int";
  }

  std::string product(bool shared) const {
    std::string text;
    for (std::size_t i = 0; i < stage_.loops.size(); ++i)
      if (mapping_.shared[i] == shared)
        text += fmt::format("{}size{}", text.empty() ? "" : " * ", i);
    return text.empty() ? "1" : text;
  }

  // Of the loops that are shared, or of the others, from a number that counts all their points.
  void emit_positions(std::string_view number, bool shared, std::string_view mark) {
    std::vector<std::size_t> loops;
    for (std::size_t i = stage_.loops.size(); i-- > 0;)
      if (mapping_.shared[i] == shared) loops.push_back(i);
    std::string rest(number);
    for (std::size_t k = 0; k < loops.size(); ++k) {
      const bool is_last = k + 1 == loops.size();
      const std::string loop =
          is_in_vectors(loops[k]) ? "unit" : fmt::format("loop{}{}", loops[k], mark);
      if (is_last)
        text_.line("const i64 {} = {};", loop, rest);
      else
        text_.line("const i64 {} = {} % size{};", loop, rest, loops[k]);
      if (is_in_vectors(loops[k])) point_.emit_neighbours(loops[k]);
      rest = fmt::format("({} / size{})", rest, loops[k]);
    }
  }

  bool is_in_vectors(std::size_t loop) const { return point_.is_in_vectors(loop); }

  // ---- a point, or several neighbours

  void emit_point() {
    point_.emit_nodes({});
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      if (mapping_.vectors.count > 1 && mapping_.vectors.stores[s]) {
        point_.emit_vector_store(stage_.statements[s]);
        continue;
      }
      for (const std::string& mark : point_.marks())
        if (mapping_.accumulated[s])
          emit_accumulation(point_, s, mark);
        else
          point_.emit_statement(stage_.statements[s], mark);
    }
  }

  // ---- updates that are kept in registers

  void emit_accumulators() {
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      if (!mapping_.accumulated[s]) continue;
      const Statement& statement = stage_.statements[s];
      const DType type = kernel_.buffers[statement.buffers[0]].dtype;
      for (const std::string& mark : sum_marks()) {
        text_.line("{0} sum{1}{3} = h_constant<{0}>({2:#x}ull);", cuda_type(type), s,
                   neutral_bits(statement.combiner.op, type), mark);
        if (statement.guard != kNone) text_.line("ui32 any{}{} = 0;", s, mark);
      }
    }
  }

  // Neighbours have sums of their own where the last loop is shared, else one together.
  bool sums_are_marked() const { return mapping_.vectors.count > 1 && mapping_.shared.back(); }
  std::vector<std::string> sum_marks() const {
    return sums_are_marked() ? point_.marks() : std::vector<std::string>{""};
  }

  void emit_accumulation(const StagePoint& point, std::size_t s, std::string_view mark) {
    const Statement& statement = stage_.statements[s];
    const std::string guard = point.guard(statement, mark);
    const std::string own = fmt::format("{}{}", s, sums_are_marked() ? mark : std::string_view());
    text_.line("{}sum{} = {};", guard, own,
               point.accumulated(statement, fmt::format("sum{}", own), mark));
    if (!guard.empty()) text_.line("{}any{} = 1;", guard, own);
  }

  // Their elements do not depend on the loops that are not shared.
  void emit_results(const std::string& who) {
    if (std::ranges::count(mapping_.accumulated, true) == 0) return;
    text_.open("{}{{", who.empty() ? "" : fmt::format("if ({}) ", who));
    for (std::size_t i = 0; i < stage_.loops.size(); ++i) {
      if (mapping_.shared[i]) continue;
      if (is_in_vectors(i)) {
        text_.line("const i64 unit = 0;");
        point_.emit_neighbours(i);
      } else {
        text_.line("const i64 loop{} = 0;", i);
      }
    }
    point_.emit_nodes(needed_for_results());
    for (std::size_t s = 0; s < stage_.statements.size(); ++s) {
      if (!mapping_.accumulated[s]) continue;
      const Statement& statement = stage_.statements[s];
      for (const std::string& mark : sum_marks()) {
        const std::string at =
            point_.node(statement.index, mark.empty() ? point_.marks()[0] : mark);
        text_.line("{}b{}[{}] = h_{}({}, sum{}{});",
                   statement.guard == kNone ? "" : fmt::format("if (any{}{}) ", s, mark),
                   statement.buffers[0], at, name(statement.combiner.op),
                   accumulated_element(statement, at), s, mark);
      }
    }
    text_.close();
  }

  // As the type that is combined.
  std::string accumulated_element(const Statement& statement, std::string_view at) const {
    return fmt::format("({}){}", point_.type_of(statement, 0),
                       point_.element(statement.buffers[0], at));
  }

  std::vector<bool> needed_for_results() const {
    std::vector<bool> needed(stage_.nodes.size(), false);
    for (std::size_t s = 0; s < stage_.statements.size(); ++s)
      if (mapping_.accumulated[s]) needed[stage_.statements[s].index] = true;
    for (std::size_t i = needed.size(); i-- > 0;)
      if (needed[i])
        for (NodeId in : stage_.nodes[i].in)
          if (in != kNone) needed[in] = true;
    return needed;
  }

  static constexpr std::int64_t kMostCounted = 1LL << 30;

  const Kernel& kernel_;
  const Phase& phase_;
  const Stage& stage_;
  const int threads_, cluster_;
  const CudaShare share_;
  const CudaMapping mapping_;
  const std::vector<CudaStaged>& staged_;
  IndentedText& text_;
  StagePoint point_;
};

}  // namespace

std::string cuda_loop_size(const Phase& phase, const StageLoop& loop) {
  if (loop.block_of < 0) return fmt::format("{}", loop.size);
  const OuterLoop& outer = phase.outer[static_cast<std::size_t>(loop.block_of)];
  if (outer.extent % outer.block == 0) return fmt::format("{}", loop.size);
  return fmt::format("(int)min({}ll, {}ll - outer{})", loop.size, outer.extent, loop.block_of);
}

void emit_cuda_stage(const Kernel& kernel, const Phase& phase, const Stage& stage, int threads,
                     int cluster, const std::vector<CudaStaged>& staged, IndentedText& text) {
  const bool is_plain =
      staged.empty() && !cuda_mapping(kernel, phase, stage, threads).turn.has_value();
  if (const CudaMapping mapping = cuda_mapping(kernel, phase, stage, threads); mapping.is_scan)
    return emit_cuda_row_scan(kernel, stage, threads, mapping, text);
  if (is_plain && emit_cuda_columns(kernel, phase, stage, threads, cluster, text)) return;
  if (is_plain && emit_cuda_column_scan(kernel, phase, stage, threads, cluster, text)) return;
  CudaStageEmitter(kernel, phase, stage, threads, cluster, staged, text).emit();
}

void emit_cuda_tile(const Kernel& kernel, const CudaStaged& tile, int threads, IndentedText& text) {
  const std::string_view type = cuda_memory_type(kernel.buffers[tile.buffer].dtype);
  std::string base = fmt::format("{}ll", tile.base.constant);
  for (std::size_t o = 0; o < tile.base.outer.size(); ++o)
    if (tile.base.outer[o] != 0) base += fmt::format(" + outer{} * {}ll", o, tile.base.outer[o]);
  text.line("const i64 base{} = {};", tile.buffer, base);
  text.line("{0}* const tile{1} = ({0}*)(scratch + {2}ll);", type, tile.buffer, tile.offset);
  text.line("bring_tile<{}, {}, {}, {}, {}>(tile{}, b{} + base{});", type, tile.rows, tile.stride,
            tile.accesses(), threads, tile.buffer, tile.buffer, tile.buffer);
}

}  // namespace heddle
