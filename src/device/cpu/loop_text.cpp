#include "device/cpu/loop_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "device/cpu/launch.h"
#include "device/cpu/library.h"
#include "kernel/emit_llvm_writer.h"

namespace heddle::cpu {

namespace {

constexpr std::int64_t kSmallBytes = 64;       // of a value on the function's stack
constexpr std::int64_t kMostScratch = 4096;    // of a kernel, there
constexpr std::int64_t kMostCopied = 1 << 12;  // bytes of a copy
constexpr std::int64_t kMostChunks = 4;        // of a phase
constexpr std::int64_t kMostRuns = 8;          // of an update of a slice
constexpr std::size_t kMostKernels = 24;       // of a loop: LLVM takes its time
constexpr double kMostEvaluations = 1 << 13;   // of nodes at a turn
constexpr double kUsualTurns = 100;

const CpuLaunch& mine(const Launch* launch) { return static_cast<const CpuLaunch&>(*launch); }

const SliceUpdate* slice_update_of(const LoopCall& call) {
  return static_cast<const LibraryCall&>(*call.call).slice_update();
}

// What all of a loop touches, and whether it is small.
class Survey {
 public:
  explicit Survey(const std::vector<std::int64_t>& slot_bytes) : slot_bytes_(slot_bytes) {}

  Verdict take(const LoopWork& loop, bool outermost) {
    HEDDLE_TRY_VOID(take(loop.condition));
    HEDDLE_TRY_VOID(take(loop.body));
    read(loop.predicate);
    for (const auto& [now, next] : loop.swaps) {
      touch(now);
      touch(next);
      if (!is_small(now) && !outermost) return reason("an inner loop exchanges large values");
      written_.insert(now);
    }
    for (std::uint32_t slot : loop.carried) read(slot);
    return yes();
  }

  bool is_small(std::uint32_t slot) const { return slot_bytes_[slot] <= kSmallBytes; }
  // Those that hold something when the loop begins.
  bool comes_from_outside(std::uint32_t slot) const { return !written_.contains(slot); }
  const std::set<std::uint32_t>& slots() const { return slots_; }
  std::size_t kernels() const { return kernels_; }
  double evaluations() const { return evaluations_; }

 private:
  Verdict take(const LoopParts& parts) {
    for (const LoopPart& part : parts)
      HEDDLE_TRY_VOID(std::visit([&](const auto& one) { return take_one(one); }, part));
    return yes();
  }

  Verdict take_one(const Launch* launch) {
    HEDDLE_TRY_VOID(mine(launch).fits_one_worker());
    evaluations_ += mine(launch).evaluations();
    for (const PlannedKernel& kernel : mine(launch).kernels()) {
      ++kernels_;
      for (const Phase& phase : kernel.kernel.phases)
        if (phase.chunks > kMostChunks) return reason("a kernel has many chunks");
      for (std::size_t b = 0; b < kernel.slots.size(); ++b) {
        if (kernel.slots[b] == kNone) continue;
        const bool is_input = kernel.kernel.buffers[b].reach == Reach::input;
        is_input ? read(kernel.slots[b]) : write(kernel.slots[b]);
      }
    }
    return yes();
  }
  Verdict take_one(const LoopCall& call) {
    const SliceUpdate* update = slice_update_of(call);
    if (update == nullptr) return reason("it calls a library");
    if (call.operands[0] != call.results[0]) return reason("it copies a whole array");
    if (update->runs() > kMostRuns || update->runs() * update->run_bytes > kMostCopied)
      return reason("it writes large slices");
    evaluations_ += static_cast<double>(update->runs() * (4 + update->run_bytes / 8));
    for (std::uint32_t slot : call.operands) read(slot);
    write(call.results[0]);
    return yes();
  }
  Verdict take_one(const LoopCopy& copy) {
    if (copy.bytes > kMostCopied) return reason("it copies large values");
    read(copy.from);
    write(copy.to);
    return yes();
  }
  // Nobody knows how often an inner loop goes round; a hundred times keeps a stop from being late.
  Verdict take_one(const std::shared_ptr<const LoopWork>& loop) {
    const double before = evaluations_;
    HEDDLE_TRY_VOID(take(*loop, false));
    evaluations_ += (evaluations_ - before) * kUsualTurns;
    return yes();
  }
  Verdict take_one(const std::shared_ptr<const LoopBranch>& branch) {
    read(branch->index);
    for (const LoopParts& parts : branch->branches) HEDDLE_TRY_VOID(take(parts));
    return yes();
  }

  void touch(std::uint32_t slot) { slots_.insert(slot); }
  void read(std::uint32_t slot) { touch(slot); }
  void write(std::uint32_t slot) {
    touch(slot);
    written_.insert(slot);
  }

  const std::vector<std::int64_t>& slot_bytes_;
  std::set<std::uint32_t> slots_, written_;
  std::size_t kernels_ = 0;
  double evaluations_ = 0;
};

Verdict survey(Survey& all, const LoopWork& loop) {
  HEDDLE_TRY_VOID(all.take(loop, true));
  if (all.kernels() > kMostKernels) return reason("a turn has {} kernels", all.kernels());
  if (all.evaluations() > kMostEvaluations) return reason("a turn takes long by itself");
  return yes();
}

class LoopWriter {
 public:
  LoopWriter(const LoopWork& loop, const Survey& all, const std::vector<std::int64_t>& slot_bytes,
             const VectorTarget& target)
      : loop_(loop), all_(all), slot_bytes_(slot_bytes), target_(target), w_(target) {}

  Expected<LoopText> write() {
    text_.slots.assign(all_.slots().begin(), all_.slots().end());
    for (const auto& [now, next] : loop_.swaps)
      if (!all_.is_small(now)) text_.moved.emplace_back(now, next);
    find_places();
    const std::string turn = w_.stack("i64"), over = w_.stack("i64");
    w_.put("store i64 0, ptr {}", turn);
    w_.put("store i64 1, ptr {}", over);
    HEDDLE_TRY_VOID(turns(loop_, &turn, over));
    leave(turn, over);
    w_.put("ret void");
    functions_ += w_.function(
        "define void @phase0(ptr noalias %buffers, i64 %most, i64 %unused, ptr %scratch, i64 "
        "%chunk) #0");
    declarations_.insert(w_.declarations().begin(), w_.declarations().end());
    text_.ir = llvm_text(functions_, declarations_, target_);
    return std::move(text_);
  }

 private:
  // ---- values: small ones in room on the stack, large ones by a variable with their address
  void find_places() {
    std::set<std::uint32_t> carried(loop_.carried.begin(), loop_.carried.end());
    for (std::size_t i = 0; i < text_.slots.size(); ++i) {
      const std::uint32_t slot = text_.slots[i];
      const std::string given = given_address(i);
      if (!all_.is_small(slot)) {
        place_[slot] = w_.stack("ptr");
        w_.put("store ptr {}, ptr {}", given, place_[slot]);
        continue;
      }
      place_[slot] = w_.stack(fmt::format("[{} x i8]", kSmallBytes), kSmallBytes);
      if (all_.comes_from_outside(slot) || carried.contains(slot))
        copy(given, place_[slot], slot_bytes_[slot]);
    }
  }

  std::string given_address(std::size_t i) {
    const std::string at = w_.set_at_entry("getelementptr ptr, ptr %buffers, i64 {}", i);
    return w_.set_at_entry("load ptr, ptr {}, !align !1", at);
  }

  std::string address(std::uint32_t slot) {
    return all_.is_small(slot) ? place_.at(slot)
                               : w_.set("load ptr, ptr {}, !align !1", place_.at(slot));
  }

  void copy(std::string_view from, std::string_view to, std::int64_t bytes) {
    if (bytes <= 0) return;
    w_.call_void("llvm.memcpy.p0.p0.i64",
                 fmt::format("ptr {}, ptr {}, i64 {}, i1 false", to, from, bytes));
  }

  void leave(const std::string& turn, const std::string& over) {
    for (std::size_t i = 0; i < text_.slots.size(); ++i) {
      const std::uint32_t slot = text_.slots[i];
      if (std::ranges::find(loop_.carried, slot) != loop_.carried.end() && all_.is_small(slot))
        copy(place_.at(slot), given_address(i), slot_bytes_[slot]);
    }
    const std::string said = given_address(text_.slots.size());
    w_.put("store i64 {}, ptr {}", w_.set("load i64, ptr {}", turn), said);
    const std::string second = w_.set("getelementptr i64, ptr {}, i64 1", said);
    w_.put("store i64 {}, ptr {}", w_.set("load i64, ptr {}", over), second);
  }

  // ---- what is done
  // `turn`: a counter that ends the loop early at %most; null for inner loops.
  Verdict turns(const LoopWork& loop, const std::string* turn, const std::string& over) {
    const std::string head = w_.label(), asked = w_.label(), inside = w_.label(),
                      enough = w_.label(), after = w_.label();
    w_.branch(head);
    w_.place(head);
    if (turn != nullptr) {
      const std::string now = w_.set("load i64, ptr {}", *turn);
      w_.branch(w_.set("icmp slt i64 {}, %most", now), asked, enough);
      w_.place(enough);
      w_.put("store i64 0, ptr {}", over);
      w_.branch(after);
      w_.place(asked);
    }
    HEDDLE_TRY_VOID(write(loop.condition));
    const std::string truth = w_.set("load i8, ptr {}", address(loop.predicate));
    w_.branch(w_.set("icmp ne i8 {}, 0", truth), inside, after);
    w_.place(inside);
    HEDDLE_TRY_VOID(write(loop.body));
    for (const auto& [now, next] : loop.swaps) exchange(now, next);
    if (turn != nullptr) {
      const std::string now = w_.set("load i64, ptr {}", *turn);
      w_.put("store i64 {}, ptr {}", w_.set("add nsw i64 {}, 1", now), *turn);
    }
    w_.branch(head);
    w_.place(after);
    return yes();
  }

  void exchange(std::uint32_t now, std::uint32_t next) {
    if (all_.is_small(now)) return copy(place_.at(next), place_.at(now), slot_bytes_[now]);
    const std::string a = address(now), b = address(next);
    w_.put("store ptr {}, ptr {}", b, place_.at(now));
    w_.put("store ptr {}, ptr {}", a, place_.at(next));
  }

  Verdict write(const LoopParts& parts) {
    for (const LoopPart& part : parts)
      HEDDLE_TRY_VOID(std::visit([&](const auto& one) { return write_one(one); }, part));
    return yes();
  }

  Verdict write_one(const Launch* launch) {
    std::vector<std::pair<std::string, const PlannedKernel*>> called;
    for (const PlannedKernel& kernel : mine(launch).kernels()) {
      const std::string prefix = fmt::format("k{}_", count_++);
      HEDDLE_TRY(const std::string phases,
                 emit_llvm_parts(kernel.kernel, prefix, target_, declarations_));
      functions_ += phases;
      called.emplace_back(prefix, &kernel);
    }
    // As a launch does it: a phase of all kernels, then the next one.
    std::size_t levels = 0;
    for (const auto& [prefix, kernel] : called)
      levels = std::max(levels, kernel->kernel.phases.size());
    std::vector<std::string> tables, scratches;
    for (const auto& [prefix, kernel] : called) {
      tables.push_back(table_of(*kernel));
      scratches.push_back(scratch_of(kernel->kernel));
    }
    for (std::size_t level = 0; level < levels; ++level)
      for (std::size_t k = 0; k < called.size(); ++k)
        if (level < called[k].second->kernel.phases.size())
          call(called[k].first, called[k].second->kernel.phases[level], level, tables[k],
               scratches[k]);
    return yes();
  }

  void call(std::string_view prefix, const Phase& phase, std::size_t level, std::string_view table,
            std::string_view scratch) {
    const std::int64_t blocks = phase.blocks(), chunks = std::max<std::int64_t>(1, phase.chunks);
    for (std::int64_t c = 0; c < chunks; ++c)
      w_.put("call void @{}phase{}(ptr {}, i64 {}, i64 {}, ptr {}, i64 {})", prefix, level, table,
             blocks * c / chunks, blocks * (c + 1) / chunks, scratch, c);
  }

  std::string table_of(const PlannedKernel& kernel) {
    const std::string table = w_.stack(fmt::format("[{} x ptr]", kernel.slots.size()));
    for (std::size_t b = 0; b < kernel.slots.size(); ++b) {
      if (kernel.slots[b] == kNone) continue;
      std::string at = address(kernel.slots[b]);
      if (kernel.shift[b] != 0)
        at = w_.set("getelementptr i8, ptr {}, i64 {}", at, kernel.shift[b]);
      const std::string cell = w_.set("getelementptr ptr, ptr {}, i64 {}", table, b);
      w_.put("store ptr {}, ptr {}", at, cell);
    }
    return table;
  }

  std::string scratch_of(const Kernel& kernel) {
    if (kernel.scratch_bytes <= kMostScratch)
      return w_.stack(fmt::format("[{} x i8]", std::max<std::int64_t>(1, kernel.scratch_bytes)),
                      kSmallBytes);
    text_.scratch_bytes = std::max(text_.scratch_bytes, kernel.scratch_bytes);
    return "%scratch";
  }

  Verdict write_one(const LoopCall& one) {
    const SliceUpdate& update = *slice_update_of(one);
    std::string to = address(one.results[0]);
    for (std::size_t d = 0; d < update.steps.size(); ++d) {
      if (update.last_starts[d] == 0) continue;
      const std::string start = start_of(one.operands[2 + d], update.index, update.last_starts[d]);
      const std::string bytes = w_.set("mul nsw i64 {}, {}", start, update.steps[d]);
      to = w_.set("getelementptr i8, ptr {}, i64 {}", to, bytes);
    }
    const std::string from = address(one.operands[1]);
    for (std::int64_t r = 0; r < update.runs(); ++r) {
      const std::string source =
          w_.set("getelementptr i8, ptr {}, i64 {}", from, r * update.run_bytes);
      copy(source, w_.set("getelementptr i8, ptr {}, i64 {}", to, update.offset_of(r)),
           update.run_bytes);
    }
    return yes();
  }

  // A start as the op means it: no further than the last one.
  std::string start_of(std::uint32_t slot, DType type, std::int64_t last) {
    const bool is_signed = type < DType::ui2;
    const int bits = 8 * byte_size(type);
    std::string start = w_.set("load i{}, ptr {}", bits, address(slot));
    if (bits < 64) start = w_.set("{} i{} {} to i64", is_signed ? "sext" : "zext", bits, start);
    if (is_signed) start = w_.call("i64", "llvm.smax.i64", fmt::format("i64 {}, i64 0", start));
    return w_.call("i64", "llvm.umin.i64", fmt::format("i64 {}, i64 {}", start, last));
  }

  Verdict write_one(const LoopCopy& one) {
    copy(address(one.from), address(one.to), one.bytes);
    return yes();
  }

  Verdict write_one(const std::shared_ptr<const LoopWork>& inner) {
    return turns(*inner, nullptr, "");
  }

  Verdict write_one(const std::shared_ptr<const LoopBranch>& branch) {
    const std::string after = w_.label();
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < branch->branches.size(); ++i) labels.push_back(w_.label());
    if (branch->is_case) {
      const std::string number = w_.set("load i32, ptr {}", address(branch->index));
      std::string cases;
      for (std::size_t i = 0; i + 1 < labels.size(); ++i)
        cases += fmt::format(" i32 {}, label %{}", i, labels[i]);
      w_.put("switch i32 {}, label %{} [{} ]", number, labels.back(), cases);
    } else {
      const std::string truth = w_.set("load i8, ptr {}", address(branch->index));
      w_.branch(w_.set("icmp ne i8 {}, 0", truth), labels[0], labels[1]);
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      w_.place(labels[i]);
      HEDDLE_TRY_VOID(write(branch->branches[i]));
      w_.branch(after);
    }
    w_.place(after);
    return yes();
  }

  const LoopWork& loop_;
  const Survey& all_;
  const std::vector<std::int64_t>& slot_bytes_;
  const VectorTarget& target_;
  LlvmWriter w_;
  LoopText text_;
  std::map<std::uint32_t, std::string> place_;
  std::string functions_;
  std::set<std::string> declarations_;
  std::size_t count_ = 0;
};

}  // namespace

Verdict may_be_text(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes) {
  Survey all(slot_bytes);
  return survey(all, loop);
}

double evaluations_of_turn(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes) {
  Survey all(slot_bytes);
  (void)all.take(loop, true);
  return all.evaluations();
}

Expected<LoopText> loop_text(const LoopWork& loop, const std::vector<std::int64_t>& slot_bytes,
                             const VectorTarget& target) {
  Survey all(slot_bytes);
  HEDDLE_TRY_VOID(survey(all, loop));
  return LoopWriter(loop, all, slot_bytes, target).write();
}

}  // namespace heddle::cpu
