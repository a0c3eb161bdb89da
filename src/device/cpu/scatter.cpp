// scatter: index vectors in order, so that results are the same every time; workers share out the
// columns of the windows.
#include <algorithm>
#include <cstring>

#include "cost/fitted.h"
#include "cost/sharing.h"
#include "device/cpu/calls.h"
#include "device/cpu/places.h"
#include "device/scalar_region.h"
#include "heddle/op.h"
#include "ir/rules/index_dims.h"

namespace heddle::cpu {

namespace {

// How an update changes what is there.
enum class Combine : std::uint8_t { replace, add, region };

// Calls with a number of the type of sums; signs do not matter to those of integers.
template <typename Call>
void with_sum_type(DType dtype, Call call) {
  if (dtype == DType::f32) return call(float{});
  if (dtype == DType::f64) return call(double{});
  if (byte_size(dtype) == 4) return call(std::uint32_t{});
  call(std::uint64_t{});
}
bool has_sum_type(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::i64 ||
         dtype == DType::ui32 || dtype == DType::ui64;
}

std::int64_t read_integer(const std::byte* data, DType dtype) {
  std::uint64_t bits = 0;
  const int size = byte_size(dtype), unused = 64 - 8 * size;
  std::memcpy(&bits, data, static_cast<std::size_t>(size));
  if (dtype == DType::i1 || dtype >= DType::ui2)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

// A dimension of the updates: what it does to the place in the input and in the indices.
struct UpdateAxis {
  std::int64_t size = 1, step = 0;  // of the updates
  int input = -1;                   // the dimension of the input that it runs along
  std::int64_t indices_step = 0;    // 0 for a window dimension
};

class ScatterCall final : public LibraryCall {
 public:
  ScatterCall(const Program& program, const Op& op, const IndexDims& dims, ScalarRegion region)
      : region_(std::move(region)) {
    const auto operands = program.operands(op);
    input_ = program.type_of(operands[0]);
    indices_ = program.type_of(operands[1]);
    updates_ = program.type_of(operands[2]);
    set_axes(dims);
    set_combine();
  }

  std::string text() const override { return "scatter into " + input_.str(); }
  int in_place_operand() const override { return 0; }
  StepWork work() const override {
    StepWork all;
    all.alone.lanes = 2 * static_cast<double>(updates_.elements());
    all.alone.runs = static_cast<double>(indices_.elements());
    return all;
  }

  std::int64_t workspace_bytes() const override { return (copies() - 1) * input_.bytes(); }

  Verdict run(const CallFrame& frame) const override {
    if (frame.results[0] != frame.operands[0])
      std::memcpy(frame.results[0], frame.operands[0], static_cast<std::size_t>(input_.bytes()));
    if (copies() > 1) {
      indices_.dtype == DType::i32 ? add_in_copies<std::int32_t>(frame)
                                   : add_in_copies<std::int64_t>(frame);
      return yes();
    }
    std::int64_t bands = 1;
    if (updates_.elements() > cost::kSharedUpdates && columns_stay_apart())
      bands = std::min<std::int64_t>(frame.pool.threads(), columns() / cost::kLeastColumns);
    bands = std::max<std::int64_t>(bands, 1);
    frame.pool.parallel_for(bands, [&](std::int64_t band, int) {
      const std::int64_t first = columns() * band / bands, last = columns() * (band + 1) / bands;
      is_by_rows() ? run_rows(frame, first, last) : run_band(frame, first, last);
    });
    return yes();
  }

 private:
  std::int64_t columns() const {
    return column_ < 0 ? 1 : axes_[static_cast<std::size_t>(column_)].size;
  }

  // Whether what one column changes, no other does.
  bool columns_stay_apart() const {
    return column_ >= 0 && std::ranges::find(map_, axes_.back().input) == map_.end();
  }

  // Many numbers that are added to few: each part of them has sums of its own. How many parts there
  // are follows from sizes alone, so that the result is the same with any number of threads.
  std::int64_t copies() const {
    constexpr std::int64_t kMostCopies = 8, kUpdatesOfSum = 4;
    if (combine_ != Combine::add || column_ >= 0 || !is_by_rows()) return 1;
    if (updates_.elements() < cost::kScatterAlone) return 1;
    const std::int64_t sums = std::max<std::int64_t>(1, input_.elements());
    return std::clamp<std::int64_t>(updates_.elements() / (kUpdatesOfSum * sums), 1, kMostCopies);
  }

  template <typename Index>
  void add_in_copies(const CallFrame& frame) const {
    const auto* places = reinterpret_cast<const Index*>(frame.operands[1]);
    const std::int64_t parts = copies(), count = input_.elements(), updates = axes_[0].size;
    with_sum_type(input_.dtype, [&](auto tag) {
      using T = decltype(tag);
      auto* sums = reinterpret_cast<T*>(frame.results[0]);
      auto* others = reinterpret_cast<T*>(frame.workspace);
      const auto* numbers = reinterpret_cast<const T*>(frame.operands[2]);
      frame.pool.parallel_for(parts, [&](std::int64_t part, int) {
        T* mine = part == 0 ? sums : others + (part - 1) * count;
        // Of floats the number that changes none is -0.
        if (part > 0) std::fill_n(mine, count, static_cast<T>(-T(0)));
        const std::int64_t end = updates * (part + 1) / parts, to_place = axes_[0].indices_step,
                           to_number = axes_[0].step;
        for (std::int64_t i = updates * part / parts; i < end; ++i) {
          const auto at = static_cast<std::uint64_t>(places[i * to_place]);
          if (at < static_cast<std::uint64_t>(count)) mine[at] += numbers[i * to_number];
        }
      });
      for (std::int64_t part = 1; part < parts; ++part)
        add(sums, 1, others + (part - 1) * count, count);
    });
  }

  void set_axes(const IndexDims& dims) {
    const auto update_steps = steps_of(updates_.shape);
    Shape index_shape = indices_.shape;
    const auto index_steps = steps_of(index_shape);
    const auto vector_at = static_cast<std::size_t>(dims.vector);
    vector_step_ = vector_at < index_shape.size() ? index_steps[vector_at] : 0;
    map_.assign(dims.map.begin(), dims.map.end());
    std::vector<std::size_t> batch;  // dimensions of the indices without the vector
    for (std::size_t d = 0; d < index_shape.size(); ++d)
      if (d != vector_at) batch.push_back(d);
    const auto windows = window_axes(dims, input_.rank());
    std::size_t next_batch = 0, next_window = 0;
    for (std::size_t d = 0; d < updates_.rank(); ++d) {
      UpdateAxis axis{.size = updates_.shape[d], .step = update_steps[d]};
      if (std::ranges::find(dims.window, static_cast<std::int64_t>(d)) != dims.window.end()) {
        axis.input = static_cast<int>(windows[next_window++]);
      } else {
        const std::size_t at = batch[next_batch++];
        axis.indices_step = index_steps[at];
        for (std::size_t b = 0; b < dims.indices_batching.size(); ++b)
          if (dims.indices_batching[b] == static_cast<std::int64_t>(at))
            axis.input = static_cast<int>(dims.batching[b]);
      }
      axes_.push_back(axis);
    }
    input_steps_ = steps_of(input_.shape);
    if (!axes_.empty() && axes_.back().indices_step == 0 && axes_.back().input >= 0)
      column_ = static_cast<int>(axes_.size()) - 1;
  }

  void set_combine() {
    const std::size_t result = region_.results()[0];
    const ScalarRegion::Step* last = region_.maker(result);
    if (result == 1) combine_ = Combine::replace;
    if (last == nullptr || last->op != ScalarOp::add || region_.steps().size() != 1) return;
    if (last->in[0] + last->in[1] != 1) return;
    if (has_sum_type(input_.dtype)) combine_ = Combine::add;
  }

  // One number says where a row of updates goes, whole and dense: a table's rows, or counts.
  bool is_by_rows() const {
    const std::size_t loops = axes_.size() - (column_ < 0 ? 0 : 1);
    if (loops != 1 || axes_[0].input >= 0 || map_.size() != 1 || combine_ == Combine::region)
      return false;
    if (indices_.dtype != DType::i32 && indices_.dtype != DType::i64) return false;
    if (column_ < 0) return input_.rank() == 1;
    return input_.rank() == 2 && columns_stay_apart() && input_.shape[1] == columns() &&
           map_[0] == 0;
  }

  void run_rows(const CallFrame& frame, std::int64_t first, std::int64_t last) const {
    if (indices_.dtype == DType::i32) return rows<std::int32_t>(frame, first, last);
    rows<std::int64_t>(frame, first, last);
  }
  template <typename Index>
  void rows(const CallFrame& frame, std::int64_t first, std::int64_t last) const {
    const auto* places = reinterpret_cast<const Index*>(frame.operands[1]);
    // Where each row goes that goes anywhere, in their order.
    const auto each = [&](auto visit) {
      for (std::int64_t i = 0; i < axes_[0].size; ++i) {
        const auto at = static_cast<std::int64_t>(places[i * axes_[0].indices_step]);
        if (at >= 0 && at < input_.shape[0])
          visit(at * input_steps_[0] + first, i * axes_[0].step + first);
      }
    };
    if (combine_ == Combine::replace && (last - first != 1 || !has_sum_type(input_.dtype))) {
      const std::int64_t size = byte_size(input_.dtype);
      return each([&](std::int64_t to, std::int64_t from) {
        std::memcpy(frame.results[0] + to * size, frame.operands[2] + from * size,
                    static_cast<std::size_t>((last - first) * size));
      });
    }
    with_sum_type(input_.dtype, [&](auto tag) {
      using T = decltype(tag);
      auto* sums = reinterpret_cast<T*>(frame.results[0]);
      const auto* updates = reinterpret_cast<const T*>(frame.operands[2]);
      if (combine_ == Combine::replace)
        each([&](std::int64_t to, std::int64_t from) { sums[to] = updates[from]; });
      else if (last - first == 1)
        each([&](std::int64_t to, std::int64_t from) { sums[to] += updates[from]; });
      else
        each([&](std::int64_t to, std::int64_t from) {
          add(sums + to, 1, updates + from, last - first);
        });
    });
  }

  // Updates in row-major order, those columns only.
  void run_band(const CallFrame& frame, std::int64_t first, std::int64_t last) const {
    auto registers = region_.fresh_registers();
    const std::int64_t size = byte_size(input_.dtype), width = last - first;
    const std::int64_t runs = updates_.elements() / columns();
    std::vector<std::int64_t> place(input_.rank());
    for (std::int64_t run = 0; run < runs; ++run) {
      std::int64_t update = 0, index = 0, rest = run;
      std::ranges::fill(place, 0);
      const std::size_t loops = axes_.size() - (column_ < 0 ? 0 : 1);
      for (std::size_t d = loops; d-- > 0; rest /= axes_[d].size) {
        const std::int64_t i = rest % axes_[d].size;
        update += i * axes_[d].step;
        index += i * axes_[d].indices_step;
        if (axes_[d].input >= 0) place[static_cast<std::size_t>(axes_[d].input)] += i;
      }
      std::int64_t from = first, count = width;
      if (!locate(frame, index, place, from, count)) continue;
      std::int64_t at = 0;
      for (std::size_t d = 0; d < place.size(); ++d) at += place[d] * input_steps_[d];
      const std::int64_t step =
          column_ < 0 ? 1 : input_steps_[static_cast<std::size_t>(axes_.back().input)];
      combine(frame.results[0] + (at + from * step) * size, step,
              frame.operands[2] + (update + from) * size, count, registers);
    }
  }

  // Adds the index vector; keeps of the columns those that lie inside. False: none does.
  bool locate(const CallFrame& frame, std::int64_t index, std::vector<std::int64_t>& place,
              std::int64_t& from, std::int64_t& count) const {
    for (std::size_t k = 0; k < map_.size(); ++k) {
      const std::int64_t at = index + static_cast<std::int64_t>(k) * vector_step_;
      const std::int64_t start =
          read_integer(frame.operands[1] + at * byte_size(indices_.dtype), indices_.dtype);
      auto& along = place[static_cast<std::size_t>(map_[k])];
      if (__builtin_add_overflow(along, start, &along)) return false;
    }
    const int column = column_ < 0 ? -1 : axes_.back().input;
    for (std::size_t d = 0; d < place.size(); ++d) {
      const std::int64_t size = input_.shape[d];
      if (static_cast<int>(d) != column) {
        if (place[d] < 0 || place[d] >= size) return false;
        continue;
      }
      if (place[d] >= size || place[d] <= -columns()) return false;
      const std::int64_t low = std::max(from, -place[d]);
      const std::int64_t high = std::min(from + count, size - place[d]);
      if (low >= high) return false;
      from = low;
      count = high - low;
    }
    return true;
  }

  void combine(std::byte* to, std::int64_t step, const std::byte* from, std::int64_t count,
               ScalarRegion::Registers& registers) const {
    const std::int64_t size = byte_size(input_.dtype);
    if (combine_ == Combine::replace && step == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(count * size));
    } else if (combine_ == Combine::add) {
      with_sum_type(input_.dtype, [&](auto tag) {
        using T = decltype(tag);
        add(reinterpret_cast<T*>(to), step, reinterpret_cast<const T*>(from), count);
      });
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        std::byte* there = to + i * step * size;
        registers[0] = registers[1] = 0;
        std::memcpy(&registers[0], there, static_cast<std::size_t>(size));
        std::memcpy(&registers[1], from + i * size, static_cast<std::size_t>(size));
        region_.run(registers);
        std::memcpy(there, &registers[region_.results()[0]], static_cast<std::size_t>(size));
      }
    }
  }

  template <typename T>
  static void add(T* to, std::int64_t step, const T* from, std::int64_t count) {
    if (step == 1)
      for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
    else
      for (std::int64_t i = 0; i < count; ++i) to[i * step] += from[i];
  }

  ScalarRegion region_;
  Type input_, indices_, updates_;
  std::vector<UpdateAxis> axes_;
  std::vector<std::int64_t> input_steps_, map_;
  std::int64_t vector_step_ = 0;
  int column_ = -1;  // the last dimension of the updates, where it runs within a window
  Combine combine_ = Combine::region;
};

}  // namespace

std::unique_ptr<LibraryCall> scatter_call(const Program& program, const Op& op) {
  if (op.operand_count != 3) return nullptr;
  const Type& input = program.type_of(program.operands(op)[0]);
  const Type& updates = program.type_of(program.operands(op)[2]);
  if (input.elements() == 0 || updates.elements() == 0 || !is_kernel_type(input.dtype))
    return nullptr;
  if (program.type_of(program.result(op, 0)).dtype != input.dtype) return nullptr;
  auto region = ScalarRegion::of(program, program.regions(op)[0]);
  const auto dims = scatter_dims(program, op);
  if (!region || !dims) return nullptr;
  return std::make_unique<ScatterCall>(program, op, *dims, *std::move(region));
}

}  // namespace heddle::cpu
