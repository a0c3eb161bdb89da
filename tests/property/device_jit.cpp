// Random kernels: machine code does what the kernel interpreter does.
#include <gtest/gtest.h>

#include "../unit/device_run.h"
#include "choices.h"

namespace heddle {
namespace {

int pick(int from, int to) { return *rc::gen::inRange(from, to + 1); }

std::int64_t pick_size() {
  return *rc::gen::element<std::int64_t>(1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 24, 31, 32, 33, 48, 64,
                                         65, 100, 128);
}

DType pick_type() {
  return *rc::gen::element(DType::f32, DType::f32, DType::f64, DType::i32, DType::i64, DType::i8,
                           DType::ui8, DType::bf16, DType::i1);
}

// Writes one stage whose points cover all blocks of the phase, with one store per point.
class RandomKernel {
 public:
  RandomKernel() : kernel_(named_kernel("random")) {
    const int outer = pick(0, 2);
    for (int i = 0; i < outer; ++i) phase_.outer.push_back({pick_size() % 20 + 1, pick(1, 5)});
    std::vector<StageLoop> loops;
    for (int i = 0; i < outer; ++i)
      if (phase_.outer[static_cast<std::size_t>(i)].block > 1)
        loops.push_back({phase_.outer[static_cast<std::size_t>(i)].block, i});
    const int inner = pick(0, 2);
    for (int i = 0; i < inner; ++i)
      loops.insert(loops.begin() + place(loops), {pick_size() % 70 + 1, -1});
    loops_ = loops;
  }

  Kernel make() {
    for (int i = pick(1, 3); i > 0; --i)
      add_buffer(kernel_, Reach::input, pick_type(), pick_size() * pick_size());
    StageBuilder s(kernel_, loops_);
    const NodeId point = flat_point(s);
    NodeId value = kNone;
    for (int i = pick(1, 4); i > 0; --i) {
      const NodeId loaded = random_load(s, point);
      value = value == kNone ? loaded : mixed(s, value, loaded);
    }
    switch (pick(0, 4)) {
      case 0:
        reduce(s, value);
        break;
      case 1:
        scatter(s, value, point);
        break;
      default:
        store(s, value, point);
    }
    phase_.stages.push_back(s.stage);
    if (s.stage.statements[0].kind == Statement::Kind::update) clear(s.stage.statements[0]);
    kernel_.phases.push_back(phase_);
    return kernel_;
  }

 private:
  // What is updated must be there before.
  void clear(const Statement& update) {
    const KernelBuffer& out = kernel_.buffers[update.buffers[0]];
    StageBuilder s(kernel_, {{out.elements, -1}});
    s.store(update.buffers[0], s.loop(0), s.number(1, out.dtype));
    kernel_.phases.emplace_back().stages.push_back(s.stage);
  }

  static std::ptrdiff_t place(const std::vector<StageLoop>& loops) {
    return pick(0, static_cast<int>(loops.size()));
  }

  // Positions along every dimension: outer loops (with their blocks), then the others.
  std::vector<std::pair<NodeId, std::int64_t>> positions(StageBuilder& s) {
    std::vector<std::pair<NodeId, std::int64_t>> result;
    for (std::uint32_t o = 0; o < phase_.outer.size(); ++o) {
      NodeId at = s.outer(o);
      for (std::uint32_t l = 0; l < loops_.size(); ++l)
        if (loops_[l].block_of == static_cast<int>(o)) at = s.add(at, s.loop(l));
      result.emplace_back(at, phase_.outer[o].extent);
    }
    for (std::uint32_t l = 0; l < loops_.size(); ++l)
      if (loops_[l].block_of < 0) result.emplace_back(s.loop(l), loops_[l].size);
    return result;
  }

  NodeId flat_point(StageBuilder& s) {
    NodeId at = s.index(0);
    points_ = 1;
    for (const auto& [position, size] : positions(s)) {
      at = s.add(s.scaled(at, size), position);
      points_ *= size;
    }
    return at;
  }

  // The same points with the dimensions the other way round.
  NodeId turned_point(StageBuilder& s) {
    NodeId at = s.index(0);
    std::int64_t size = 1;
    for (const auto& [position, extent] : positions(s)) {
      at = s.add(at, s.scaled(position, size));
      size *= extent;
    }
    return at;
  }

  // An index that lies in [0, limit): a point divided, cut, turned round or scaled.
  NodeId random_index(StageBuilder& s, NodeId point, std::int64_t limit) {
    NodeId at = point;
    std::int64_t most = points_;
    if (pick(0, 3) == 0) {
      const auto all = positions(s);
      if (!all.empty())
        std::tie(at, most) =
            all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
    }
    const std::int64_t by = *rc::gen::element<std::int64_t>(2, 3, 4, 16, 32, 64, 128);
    switch (pick(0, 5)) {
      case 0:
        at = s.op(ScalarOp::divide, at, s.index(by));
        break;
      case 1:
        at = s.op(ScalarOp::remainder, at, s.index(by));
        break;
      case 2:
        at = s.op(ScalarOp::subtract, s.index(most - 1), at);
        break;
      case 3:
        at = s.scaled(at, by);
        break;
      default:
        break;
    }
    return s.op(ScalarOp::remainder, at, s.index(limit));
  }

  NodeId random_load(StageBuilder& s, NodeId point) {
    const auto buffer =
        static_cast<std::uint32_t>(pick(0, static_cast<int>(kernel_.buffers.size()) - 1));
    const std::int64_t elements = kernel_.buffers[buffer].elements;
    if (points_ <= elements && pick(0, 1) == 0) return s.load(buffer, point);
    if (points_ <= elements && pick(0, 1) == 0) return s.load(buffer, turned_point(s));
    if (pick(0, 1) == 0) return s.load(buffer, random_index(s, point, elements));
    // As a pad or a slice of a concatenation has it: outside wherever the guard is false.
    const NodeId from = s.op(ScalarOp::subtract, point, s.index(pick(0, 2) * 16 + pick(0, 1)));
    const NodeId inside = s.op(ScalarOp::bit_and, s.op(ScalarOp::greater_equal, from, s.index(0)),
                               s.op(ScalarOp::less, from, s.index(elements)));
    const NodeId instead = pick(0, 1) == 0 ? kNone : s.number(1, kernel_.buffers[buffer].dtype);
    return s.load(buffer, from, inside, instead);
  }

  NodeId mixed(StageBuilder& s, NodeId a, NodeId b) {
    const DType type = s.stage.nodes[a].type;
    if (s.stage.nodes[b].type != type) b = s.cast(b, type);
    switch (pick(0, 3)) {
      case 0:
        return s.op(ScalarOp::maximum, a, b);
      case 1:
        return s.op(ScalarOp::select, s.op(ScalarOp::less, a, b), a, b);
      default:
        return s.add(a, b);
    }
  }

  void store(StageBuilder& s, NodeId value, NodeId point) {
    const DType type = s.stage.nodes[value].type;
    const auto out = add_buffer(kernel_, Reach::output, type, points_ + 32);
    kernel_.buffers[out].streamed = pick(0, 1) == 0;
    const NodeId guard =
        pick(0, 3) == 0 ? s.op(ScalarOp::less, point, s.index(points_ * 2 / 3)) : kNone;
    s.store(out, pick(0, 2) == 0 ? s.add(point, s.index(16)) : point, value, guard);
  }

  // Over the loops that are not part of a block, in any order or not.
  void reduce(StageBuilder& s, NodeId value) {
    std::int64_t elements = 1;
    NodeId at = s.index(0);
    for (std::uint32_t o = 0; o < phase_.outer.size(); ++o) {
      NodeId position = s.outer(o);
      for (std::uint32_t l = 0; l < loops_.size(); ++l)
        if (loops_[l].block_of == static_cast<int>(o)) position = s.add(position, s.loop(l));
      at = s.add(s.scaled(at, phase_.outer[o].extent), position);
      elements *= phase_.outer[o].extent;
    }
    const DType type = s.stage.nodes[value].type;
    const auto out = add_buffer(kernel_, Reach::output, type, elements);
    const ScalarOp op = *rc::gen::element(ScalarOp::add, ScalarOp::maximum, ScalarOp::minimum);
    const bool exact = type != DType::bf16 || op != ScalarOp::add;
    s.update(out, at, exact ? op : ScalarOp::maximum, value).any_order = pick(0, 3) != 0;
  }

  // All points of a block to few places, by one worker.
  void scatter(StageBuilder& s, NodeId value, NodeId point) {
    if (!phase_.outer.empty()) return store(s, value, point);
    const DType type = s.stage.nodes[value].type;
    const auto out = add_buffer(kernel_, Reach::output, type, 24);
    s.update(out, random_index(s, point, 24), ScalarOp::maximum, value).any_order = pick(0, 1) == 0;
  }

  Kernel kernel_;
  Phase phase_;
  std::vector<StageLoop> loops_;
  std::int64_t points_ = 1;
};

HEDDLE_PROPERTY(DeviceJit, RandomKernelsRunAsInterpreted) {
  if (!test_jit().target()) return;  // built without LLVM
  RandomKernel random;
  const Kernel kernel = random.make();
  RC_LOG() << print(kernel);
  const KernelData start = random_data(kernel);
  KernelData want = start, got = start;
  const Verdict legal = verify(kernel);
  if (!legal) RC_LOG() << legal.reason();
  RC_ASSERT(legal.ok());
  const Verdict ran = want.run(kernel);
  if (!ran) RC_LOG() << ran.reason();
  RC_ASSERT(ran.ok());
  const int vector_bytes = *rc::gen::element(64, 64, 32, 16);
  const auto code = test_jit(vector_bytes).compile(kernel);
  if (!code) RC_LOG() << code.reason();
  RC_ASSERT(code.ok());
  run_compiled(**code, kernel, got);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) RC_ASSERT(got.bytes[b] == want.bytes[b]);
}

}  // namespace
}  // namespace heddle
