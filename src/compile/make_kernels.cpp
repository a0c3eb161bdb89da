#include <algorithm>
#include <unordered_map>

#include "base/cache_directory.h"
#include "compile.h"
#include "heddle/op.h"
#include "heddle/thread_pool.h"
#include "kernel/lower_group.h"

namespace heddle {

using namespace runtime;

namespace {

// One for all programs: it keeps what it has compiled.
CpuJit& shared_jit() {
  static CpuJit jit(CpuJitOptions{.cache_directory = cache_directory()});
  return jit;
}

// A group on its way to code.
struct Work {
  CompiledKernel* kernel = nullptr;
  std::string trouble;           // why there is no kernel
  std::string text;              // of the kernel: equal texts are equal code
  std::size_t first = SIZE_MAX;  // the first work with the same text
};

std::vector<Work> groups_of(CompiledProgram& compiled) {
  std::vector<Work> work;
  for (auto& [region, units] : compiled.regions)
    for (CompiledUnit& unit : units)
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

void lower(const CompiledProgram& compiled, Work& work, const MachineFigures& machine) {
  auto kernel = lower_group(compiled.program, work.kernel->group, machine);
  if (!kernel) {
    work.trouble = kernel.reason();
    return;
  }
  work.kernel->kernel = *std::move(kernel);
  if (work.kernel->kernel.name.empty())
    work.kernel->kernel.name = name_of(compiled.program, work.kernel->group);
  work.text = print(work.kernel->kernel);
}

// Distinct kernels, each compiled once, several at a time.
void make_code(std::vector<Work>& all) {
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].trouble.empty()) continue;
    const auto [at, is_new] = seen.emplace(all[i].text, i);
    all[i].first = at->second;
    if (is_new) distinct.push_back(i);
  }
  ThreadPool::shared().parallel_for(static_cast<std::int64_t>(distinct.size()),
                                    [&](std::int64_t i, int) {
                                      Work& work = all[distinct[static_cast<std::size_t>(i)]];
                                      auto code = shared_jit().compile(work.kernel->kernel);
                                      if (code)
                                        work.kernel->code = *std::move(code);
                                      else
                                        work.trouble = code.reason();
                                    });
  for (Work& work : all)
    if (work.first != SIZE_MAX) {
      work.kernel->code = all[work.first].kernel->code;
      work.trouble = all[work.first].trouble;
    }
}

// For --dump; empty where there is no LLVM.
std::string code_of(const Kernel& kernel) {
  const auto target = shared_jit().target();
  const auto text = target ? emit_llvm(kernel, target->vectors) : Expected<std::string>("");
  return text ? *text : "";
}

// Groups without a kernel become their ops.
void take_apart(CompiledProgram& compiled,
                const std::unordered_map<const CompiledKernel*, std::string>& why) {
  for (auto& [region, units] : compiled.regions) {
    std::vector<CompiledUnit> made;
    for (CompiledUnit& unit : units) {
      if (unit.op != kNone) {
        made.push_back(std::move(unit));
        continue;
      }
      CompiledUnit launch;
      for (CompiledKernel& kernel : unit.kernels) {
        const auto found = why.find(&kernel);
        if (found == why.end()) {
          launch.kernels.push_back(std::move(kernel));
          continue;
        }
        for (OpId op : kernel.group.ops)
          made.push_back({.kernels = {}, .op = op, .note = found->second, .views = {}});
      }
      if (!launch.kernels.empty()) made.push_back(std::move(launch));
    }
    units = std::move(made);
  }
}

}  // namespace

Verdict make_kernels(CompiledProgram& compiled, const CompileOptions& options) {
  std::vector<Work> work = groups_of(compiled);
  ThreadPool::shared().parallel_for(
      static_cast<std::int64_t>(work.size()), [&](std::int64_t i, int) {
        lower(compiled, work[static_cast<std::size_t>(i)], options.stitch.machine);
      });
  if (options.machine_code) make_code(work);
  std::unordered_map<const CompiledKernel*, std::string> why;
  for (const Work& w : work) {
    if (!w.trouble.empty())
      why.emplace(w.kernel, w.trouble);
    else if (options.on_kernel && (w.first == SIZE_MAX || w.kernel == work[w.first].kernel))
      options.on_kernel(w.kernel->kernel, code_of(w.kernel->kernel));
  }
  if (!why.empty()) take_apart(compiled, why);
  return yes();
}

}  // namespace heddle
