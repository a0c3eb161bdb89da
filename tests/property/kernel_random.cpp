// Laws of random kernels.
#include "choices.h"
#include "kernel/emit_cuda.h"
#include "random_kernel.h"

namespace heddle::property {
namespace {

void require_yes(const Verdict& verdict, const Kernel& kernel) {
  require(verdict.ok(), [&] { return verdict.reason() + "\n" + print(kernel); });
}

HEDDLE_LAW(RandomKernel, KeepsTheRulesAndRuns) {
  const Kernel kernel = random_kernel(choices);
  require_yes(verify(kernel), kernel);
  KernelData once(kernel);
  fill_inputs(kernel, once, choices);
  KernelData twice = once;
  require_yes(once.run(kernel), kernel);
  require_yes(twice.run(kernel), kernel);
  require(once.bytes == twice.bytes, [&] { return "runs differ\n" + print(kernel); });
}

HEDDLE_LAW(RandomKernel, TextIsStableAndTellsAll) {
  const Kernel kernel = random_kernel(choices);
  Kernel copy = kernel;
  copy.name = "other";
  for (KernelBuffer& buffer : copy.buffers) buffer.value = 5;
  require(print(kernel) == print(copy) && hash(kernel) == hash(copy),
          [&] { return "a copy has another text\n" + print(kernel); });
  Stage& stage = copy.phases.back().stages.back();
  stage.nodes[static_cast<std::size_t>(choices.below(static_cast<int>(stage.nodes.size())))]
      .number += 1;
  const bool same_nodes = stage.nodes == kernel.phases.back().stages.back().nodes;
  // The number of a constant or an operation says nothing.
  const bool counts = [&] {
    for (std::size_t i = 0; i < stage.nodes.size(); ++i) {
      const Node& before = kernel.phases.back().stages.back().nodes[i];
      if (stage.nodes[i] == before) continue;
      return before.kind != NodeKind::constant && before.kind != NodeKind::scalar;
    }
    return false;
  }();
  require(same_nodes || !counts || print(kernel) != print(copy),
          [&] { return "another kernel has the same text\n" + print(kernel); });
}

HEDDLE_LAW(RandomKernel, CudaTextIsThere) {
  const Kernel kernel = random_kernel(choices);
  const std::string text = emit_cuda(kernel);
  const CudaPlan launch = cuda_plan(kernel);
  require(launch.phases.size() == kernel.phases.size(), [&] { return print(kernel); });
  for (const CudaPhase& phase : launch.phases)
    require(text.find("__global__ void " + phase.function + "(") != std::string::npos,
            [&] { return phase.function + " is missing\n" + print(kernel); });
}

}  // namespace
}  // namespace heddle::property
