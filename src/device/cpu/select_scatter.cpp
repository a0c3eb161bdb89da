// select_and_scatter: what a window chooses gets the source's element; the gradient of max pooling.
#include <algorithm>
#include <cstring>

#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "device/cpu/places.h"
#include "device/cpu/select_lanes.h"
#include "heddle/op.h"
#include "ir/eval/reduce_window.h"

namespace heddle::cpu {

namespace {

using reduction::WindowAxis;

class SelectScatterCall final : public LibraryCall {
 public:
  SelectScatterCall(const Type& operand, const Type& source, std::vector<WindowAxis> axes,
                    ScalarRegion select, ScalarRegion scatter)
      : operand_(operand),
        source_(source),
        axes_(std::move(axes)),
        select_(std::move(select)),
        scatter_(std::move(scatter)),
        strides_(reduction::strides_of(operand.shape)),
        lanes_(SelectLanes::of(operand, source, axes_, select_, scatter_)) {
    for (const WindowAxis& axis : axes_) window_.push_back(axis.window);
    // Windows of one element along a dimension leave its positions apart.
    const std::size_t most = lanes_ ? lanes_->outer() : axes_.size();
    while (apart_ < most && is_apart(axes_[apart_])) pieces_ *= source.shape[apart_++];
  }

  std::string text() const override { return "select and scatter into " + operand_.str(); }

  // Every element of a window is looked at, and one of them is changed.
  StepWork work() const override {
    double window = 1;
    for (const std::int64_t size : window_) window *= static_cast<double>(size);
    const double looks = (window + 1) * static_cast<double>(source_.elements());
    const bool alone = operand_.elements() < cost::kSharedWindows || pieces_ < 2;
    StepWork all{.launches = alone ? 0.0 : 1.0};
    KernelWork& work = alone ? all.alone : all.shared;
    // Accesses that a look is worth, as measured; without vectors a region is run for each.
    constexpr double kInRegion = 40, kWithVectors = 3;
    work.lanes = looks * (lanes_ ? kWithVectors : kInRegion);
    work.light = static_cast<double>(operand_.elements());
    return all;
  }

  Verdict run(const CallFrame& frame) const override {
    const std::int64_t each = source_.elements() / pieces_;
    const std::int64_t parts = operand_.elements() < cost::kSharedWindows
                                   ? 1
                                   : std::min(pieces_, std::int64_t{4} * frame.pool.threads());
    frame.pool.parallel_for(parts, [&](std::int64_t part, int) {
      const std::int64_t piece = pieces_ * part / parts, end = pieces_ * (part + 1) / parts;
      fill(frame, piece, end);
      if (lanes_) {
        const std::int64_t windows = each / lanes_->lanes();
        return lanes_->run(frame.operands[0], frame.operands[1], frame.results[0], piece * windows,
                           end * windows);
      }
      auto select = select_.fresh_registers(), scatter = scatter_.fresh_registers();
      for (std::int64_t at = piece * each; at < end * each; ++at)
        run_place(frame, at, select, scatter);
    });
    return yes();
  }

 private:
  // The initial value everywhere.
  void fill(const CallFrame& frame, std::int64_t piece, std::int64_t end) const {
    const std::int64_t size = byte_size(operand_.dtype), each = operand_.elements() / pieces_;
    std::byte* to = frame.results[0] + piece * each * size;
    const std::int64_t bytes = (end - piece) * each * size;
    if (bytes == 0) return;
    std::memcpy(to, frame.operands[2], static_cast<std::size_t>(size));
    for (std::int64_t done = size; done < bytes; done *= 2)
      std::memcpy(to + done, to, static_cast<std::size_t>(std::min(done, bytes - done)));
  }

  void run_place(const CallFrame& frame, std::int64_t at, ScalarRegion::Registers& select,
                 ScalarRegion::Registers& scatter) const {
    const std::int64_t size = byte_size(operand_.dtype);
    const auto place = reduction::position(source_.shape, at);
    std::vector<std::int64_t> inside(window_.size(), 0);
    std::int64_t chosen = -1;
    do {
      const std::int64_t next = reduction::window_source(axes_, strides_, place, inside);
      if (next < 0) continue;
      if (chosen >= 0) {
        select[0] = load_bits(frame.operands[0], chosen, size);
        select[1] = load_bits(frame.operands[0], next, size);
        select_.run(select);
        if ((select[select_.results()[0]] & 1) != 0) continue;
      }
      chosen = next;
    } while (advance(inside));
    if (chosen < 0) return;
    scatter[0] = load_bits(frame.results[0], chosen, size);
    scatter[1] = load_bits(frame.operands[1], at, size);
    scatter_.run(scatter);
    std::memcpy(frame.results[0] + chosen * size, &scatter[scatter_.results()[0]],
                static_cast<std::size_t>(size));
  }

  // The next position within the window, the last dimension fastest.
  bool advance(std::vector<std::int64_t>& inside) const {
    for (std::size_t d = inside.size(); d-- > 0;) {
      if (++inside[d] < window_[d]) return true;
      inside[d] = 0;
    }
    return false;
  }

  Type operand_, source_;
  std::vector<WindowAxis> axes_;
  ScalarRegion select_, scatter_;
  std::vector<std::int64_t> strides_;
  std::optional<SelectLanes> lanes_;
  Shape window_;
  std::size_t apart_ = 0;    // leading dimensions whose positions have nothing in common
  std::int64_t pieces_ = 1;  // positions of these
};

}  // namespace

std::unique_ptr<LibraryCall> select_scatter_call(const Program& program, const Op& op) {
  const Type& operand = program.type_of(program.operands(op)[0]);
  const Type& source = program.type_of(program.operands(op)[1]);
  const Type& result = program.type_of(program.result(op, 0));
  if (operand.elements() == 0 || source.elements() == 0) return nullptr;
  if (operand.dtype != source.dtype || operand.dtype != result.dtype) return nullptr;
  auto select = ScalarRegion::of(program, program.regions(op)[0]);
  auto scatter = ScalarRegion::of(program, program.regions(op)[1]);
  if (!select || !scatter) return nullptr;
  return std::make_unique<SelectScatterCall>(operand, source, reduction::window_of(program, op),
                                             *std::move(select), *std::move(scatter));
}

}  // namespace heddle::cpu
