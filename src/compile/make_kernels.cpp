#include <algorithm>
#include <unordered_map>

#include "compile.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/thread_pool.h"
#include "ir/deciding.h"
#include "kernel/lower_group.h"
#include "kernel/wide_numbers.h"

namespace heddle {

using namespace runtime;

namespace {

// A group on its way to code.
struct Work {
  CompiledKernel* kernel = nullptr;
  std::string trouble;           // why there is no kernel
  std::string text;              // of the kernel: equal texts are equal code
  std::size_t first = SIZE_MAX;  // the first work with the same text

  // False where the other has no kernel, or one with other buffers than this should have.
  bool take(const Work& same) {
    const Kernel& whole = same.kernel->kernel;
    if (!same.trouble.empty() || whole.buffers.size() != kernel->values.size()) return false;
    kernel->kernel = whole;
    text = same.text;
    for (std::size_t b = 0; b < kernel->values.size(); ++b)
      kernel->kernel.buffers[b].value = kernel->values[b];
    return true;
  }
};

std::vector<Work> groups_of(CompiledProgram& compiled) {
  std::vector<RegionId> regions;
  for (const auto& [region, units] : compiled.regions) regions.push_back(region);
  std::ranges::sort(regions);
  std::vector<Work> work;
  for (RegionId region : regions)
    for (CompiledUnit& unit : compiled.regions[region])
      for (CompiledKernel& kernel : unit.kernels)
        work.push_back({.kernel = &kernel, .trouble = {}, .text = {}});
  return work;
}

// After the first ops that compute something: "exponential_add".
std::string name_of(const Program& program, const StitchGroup& group) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string_view> names;
  for (OpId id : group.ops) {
    const OpDef& def = *program.op(id).def;
    if (def.cls == OpClass::move && group.ops.size() > 1) continue;
    if (std::ranges::find(names, def.short_name()) == names.end())
      names.push_back(def.short_name());
  }
  if (names.empty() && !group.ops.empty())
    names.push_back(program.op(group.ops[0]).def->short_name());
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i > 0 ? "_" : "") + std::string(names[i]);
  return text;
}

bool decides(const StitchGroup& group, const std::vector<bool>& deciding) {
  return std::ranges::any_of(group.ops, [&](OpId id) { return deciding[id]; });
}

void lower(const CompiledProgram& compiled, Work& work, const MachineFigures& machine,
           const std::vector<bool>& deciding) {
  if (work.kernel->kernel.phases.empty()) {
    auto kernel = lower_group(compiled.program, work.kernel->group, machine);
    if (!kernel) {
      work.trouble = kernel.reason();
      return;
    }
    const bool rounds_late =
        compiled.device->rounds_late() && !decides(work.kernel->group, deciding);
    work.kernel->kernel = rounds_late ? with_wide_numbers(*std::move(kernel)) : *std::move(kernel);
    work.kernel->kernel.name = name_of(compiled.program, work.kernel->group);
    const Verdict sound = verify(work.kernel->kernel);
    HEDDLE_CHECK(sound, "kernel {}: {}", work.kernel->kernel.name, sound.reason());
  }
  work.text = print(work.kernel->kernel);
}

// The first work of every text.
std::vector<std::size_t> find_distinct(std::vector<Work>& all) {
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].trouble.empty()) continue;
    const auto [at, is_new] = seen.emplace(all[i].text, i);
    all[i].first = at->second;
    all[i].kernel->alike = static_cast<std::uint32_t>(at->second);
    if (is_new) distinct.push_back(i);
  }
  return distinct;
}

// A compiler that is there takes all kernels: what it refuses is a defect of ours, and slow.
void tell_refused(const Kernel& kernel, const std::string& reason) {
  const std::string_view first = std::string_view(reason).substr(0, reason.find('\n'));
  warn("the ops of kernel {} run by reference, since it cannot be compiled: {}{}", kernel.name,
       first, first.size() < reason.size() ? " (HEDDLE_LOG=3 has all of it)" : "");
  if (first.size() < reason.size()) log(kLogSources, "{}", reason);
}

// By the first of those alike: the part that they have of the time that all are expected to take.
std::vector<double> shares_of(const std::vector<Work>& all) {
  std::vector<double> shares(all.size(), 0);
  double sum = 0;
  for (const Work& work : all) {
    if (work.first == SIZE_MAX) continue;
    shares[work.first] += work.kernel->group.seconds;
    sum += work.kernel->group.seconds;
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 1;
  return shares;
}

// Distinct kernels, each compiled once, several at a time: the longest first, so that none of them
// is left when the others are done.
void make_all(std::vector<Work>& all, std::vector<std::size_t> distinct, Device& device,
              const CompileOptions& options) {
  std::ranges::stable_sort(distinct, std::greater<>(),
                           [&](std::size_t i) { return all[i].text.size(); });
  const std::vector<double> shares = shares_of(all);
  CompileProgress* progress = options.progress;
  if (progress) progress->kernels = distinct.size();
  ThreadPool::shared().parallel_for(
      static_cast<std::int64_t>(distinct.size()), [&](std::int64_t i, int) {
        if (options.stop && options.stop()) return;  // the stage's end says so
        const std::size_t number = distinct[static_cast<std::size_t>(i)];
        Work& work = all[number];
        auto code = device.compile_for(work.kernel->kernel, shares[number]);
        if (code) {
          work.kernel->code = std::make_shared<LazyCode>(*std::move(code));
        } else {
          work.trouble = code.reason();
          if (device.can_compile()) tell_refused(work.kernel->kernel, work.trouble);
        }
        if (progress) ++progress->coded;
      });
}

// The same, later, on threads of their own.
std::shared_ptr<BackgroundCode> begin_all(std::vector<Work>& all,
                                          const std::vector<std::size_t>& distinct,
                                          Device& device) {
  std::vector<std::shared_ptr<LazyCode>> codes;
  for (std::size_t i : distinct) {
    all[i].kernel->code = std::make_shared<LazyCode>(all[i].kernel->kernel, device);
    codes.push_back(all[i].kernel->code);
  }
  const int threads = std::max(1, ThreadPool::shared().threads() / 2);
  return std::make_shared<BackgroundCode>(std::move(codes), threads);
}

// To whoever asked to see kernels and what is made of them.
void show_all(const std::vector<Work>& all, const std::vector<std::size_t>& distinct,
              const Device& device, const CompileOptions& options) {
  const bool is_logged = log_level() >= kLogSources;
  if (!options.on_kernel && !is_logged) return;
  for (std::size_t i : distinct) {
    if (!all[i].trouble.empty()) continue;
    const Kernel& kernel = all[i].kernel->kernel;
    const std::string source = device.source(kernel);
    if (options.on_kernel) options.on_kernel(kernel, source);
    if (is_logged) log(kLogSources, "kernel {}\n{}\n{}", kernel.name, all[i].text, source);
  }
}

void share_code(std::vector<Work>& all) {
  for (Work& work : all)
    if (work.first != SIZE_MAX) {
      work.kernel->code = all[work.first].kernel->code;
      work.trouble = all[work.first].trouble;
    }
}

StitchGroup group_of_one(const Program& program, OpId id) {
  const Op& op = program.op(id);
  StitchGroup group{.ops = {id}, .inputs = {}, .outputs = {}};
  for (ValueId v : program.operands(op))
    if (std::ranges::find(group.inputs, v) == group.inputs.end()) group.inputs.push_back(v);
  for (std::size_t i = 0; i < op.result_count; ++i) group.outputs.push_back(program.result(op, i));
  return group;
}

using Troubles = std::unordered_map<const CompiledKernel*, std::string>;

// Groups in trouble become groups of one op each, or ops where that is no way out.
void take_apart(CompiledProgram& compiled, const Troubles& troubles, bool into_ops) {
  for (auto& [region, units] : compiled.regions) {
    std::vector<CompiledUnit> made;
    for (CompiledUnit& unit : units) {
      if (unit.op != kNone) {
        made.push_back(std::move(unit));
        continue;
      }
      CompiledUnit launch;
      for (CompiledKernel& kernel : unit.kernels) {
        const auto found = troubles.find(&kernel);
        if (found == troubles.end()) {
          launch.kernels.push_back(std::move(kernel));
          continue;
        }
        const bool stays_op = into_ops || kernel.group.ops.size() == 1;
        for (OpId op : kernel.group.ops) {
          CompiledUnit one{.kernels = {}, .op = op, .note = found->second, .views = {}};
          if (!stays_op) {
            one.op = kNone;
            one.kernels.push_back({{}, group_of_one(compiled.program, op), {}});
          }
          made.push_back(std::move(one));
        }
      }
      if (!launch.kernels.empty()) made.push_back(std::move(launch));
    }
    units = std::move(made);
  }
}

Troubles troubles_of(const std::vector<Work>& all) {
  Troubles troubles;
  for (const Work& work : all)
    if (!work.trouble.empty()) troubles.emplace(work.kernel, work.trouble);
  return troubles;
}

// Writes kernels for those of the numbers.
void lower(const CompiledProgram& compiled, std::vector<Work>& all,
           const std::vector<std::size_t>& numbers, const MachineFigures& machine,
           const std::vector<bool>& deciding) {
  ThreadPool::shared().parallel_for(
      static_cast<std::int64_t>(numbers.size()), [&](std::int64_t i, int) {
        lower(compiled, all[numbers[static_cast<std::size_t>(i)]], machine, deciding);
      });
}

// Of those that a kept plan knows to be the same, the first is written and the others take it.
void lower_each(const CompiledProgram& compiled, std::vector<Work>& all,
                const MachineFigures& machine, const std::vector<bool>& deciding) {
  std::unordered_map<std::uint32_t, std::size_t> firsts;
  std::vector<std::size_t> first, others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t alike = all[i].kernel->alike;
    const bool is_first = alike == kNone || firsts.emplace(alike, i).second;
    (is_first ? first : others).push_back(i);
  }
  lower(compiled, all, first, machine, deciding);
  std::vector<std::size_t> left;
  for (std::size_t i : others)
    if (!all[i].take(all[firsts.at(all[i].kernel->alike)])) left.push_back(i);
  lower(compiled, all, left, machine, deciding);
}

// Kernels for all groups; those that have none are taken apart until all have.
std::vector<Work> lower_all(CompiledProgram& compiled, const MachineFigures& machine) {
  const std::vector<bool> deciding = deciding_ops(compiled.program);
  while (true) {
    std::vector<Work> work = groups_of(compiled);
    lower_each(compiled, work, machine, deciding);
    const Troubles troubles = troubles_of(work);
    if (troubles.empty()) return work;
    take_apart(compiled, troubles, false);
  }
}

}  // namespace

Verdict make_kernels(CompiledProgram& compiled, const CompileOptions& options,
                     const MachineFigures& machine, const std::function<void()>& on_lowered) {
  Device& device = *compiled.device;
  std::vector<Work> work = lower_all(compiled, machine);
  const std::vector<std::size_t> distinct = find_distinct(work);
  on_lowered();
  // Without a compiler, ops are better off by reference than kernels by interpreter.
  if (options.machine_code && options.async && device.can_compile())
    compiled.background = begin_all(work, distinct, device);
  else if (options.machine_code)
    make_all(work, distinct, device, options);
  share_code(work);
  if (options.report) {
    options.report->kernels = work.size();
    options.report->distinct_kernels = distinct.size();
  }
  show_all(work, distinct, device, options);
  if (const Troubles troubles = troubles_of(work); !troubles.empty())
    take_apart(compiled, troubles, true);
  return yes();
}

}  // namespace heddle
