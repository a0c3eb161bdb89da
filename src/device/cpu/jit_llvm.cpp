// LLVM 19: text to module, a short run of passes, object file, linked into this process.
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "device/cpu/jit_backend.h"
#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

namespace orc = llvm::orc;

Reason failed(std::string_view doing, llvm::Error error) {
  return reason("[jit] {} failed: {}", doing, llvm::toString(std::move(error)));
}

// LLVM knows no way back from there, and would abort with a report of itself.
[[noreturn]] void end_without_memory(void*, const char*, bool) {
  std::fputs("heddle: there is not enough memory to compile a kernel\n", stderr);
  std::_Exit(1);
}

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler(end_without_memory);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

VectorTarget vectors_of(const llvm::Triple& triple, const llvm::StringMap<bool>& features) {
  auto has = [&](const char* feature) { return features.lookup(feature); };
  VectorTarget target;
  if (triple.isX86()) {
    const bool wide = has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq");
    const bool medium = has("avx2") && has("fma") && has("f16c");
    target.vector_bytes = wide ? 64 : medium ? 32 : 16;
    if (medium) target.family = VectorTarget::Family::x86;
    target.word_products = wide && has("avx512ifma") && has("avx512vbmi2");
  } else if (triple.isAArch64()) {
    target.family = VectorTarget::Family::arm;
  }
  return target;
}

void forbid_wide_vectors(const llvm::Triple& triple, int most, llvm::StringMap<bool>& features) {
  if (!triple.isX86()) return;
  for (auto& feature : features) {
    const llvm::StringRef name = feature.first();
    const bool wide = name.starts_with("avx512") || name == "evex512";
    const bool medium = name.starts_with("avx") || name == "fma" || name == "f16c" ||
                        name == "vaes" || name == "vpclmulqdq";
    if ((most < 64 && wide) || (most < 32 && (wide || medium))) feature.second = false;
  }
}

// What a kernel takes in memory beside its code: pages of its own, and LLVM's tables.
constexpr std::int64_t kLinkedBytes = 20'000;

class LlvmBackend : public JitBackend {
 public:
  static Expected<std::shared_ptr<JitBackend>> make(const CpuJitOptions& options) {
    initialise_llvm();
    auto result = std::make_shared<LlvmBackend>();
    HEDDLE_TRY_VOID(result->find_host(options));
    HEDDLE_TRY_VOID(result->start());
    return std::shared_ptr<JitBackend>(std::move(result));
  }

  const CpuTarget& target() const override { return target_; }

  Expected<std::string> compile(const std::string& ir, bool joins) override {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(ir, diagnostic, context);
    if (!module) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      diagnostic.print("kernel", stream, false);
      return reason("[jit] LLVM does not understand the kernel, which is Heddle's own mistake: {}",
                    text);
    }
    HEDDLE_TRY(auto machine, make_machine());
    module->setTargetTriple(triple_.str());
    module->setDataLayout(machine->createDataLayout());
    HEDDLE_TRY_VOID(optimise(*module, *machine, joins ? kJoinedPasses : kPasses));
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream stream(object);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
      return reason("[jit] LLVM writes no object files for {}", triple_.str());
    passes.run(*module);
    return std::string(object.data(), object.size());
  }

  Expected<CpuKernel> load(const std::string& object, std::size_t phases) override {
    static std::atomic<std::uint64_t> counter = 0;
    // A bare one: kernels have nothing to do at start or exit, and what does that takes 24 kB each.
    orc::JITDylib& library =
        jit_->getExecutionSession().createBareJITDylib(fmt::format("kernel{}", counter++));
    library.addToLinkOrder(*support_);
    // Freed with the last kernel that uses it.
    std::shared_ptr<const void> code(&library, [jit = jit_](const void* dylib) {
      auto* owned = static_cast<orc::JITDylib*>(const_cast<void*>(dylib));
      llvm::consumeError(jit->getExecutionSession().removeJITDylib(*owned));
    });
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernel");
    if (auto error = jit_->addObjectFile(library, std::move(buffer)))
      return failed("loading", std::move(error));
    CpuKernel kernel;
    for (std::size_t p = 0; p < phases; ++p) {
      auto address = jit_->lookup(library, fmt::format("phase{}", p));
      if (!address) return failed("linking", address.takeError());
      kernel.phases.push_back(address->toPtr<PhaseFunction>());
    }
    kernel.code = std::move(code);
    kernel.code_bytes = kLinkedBytes + static_cast<std::int64_t>(object.size());
    return kernel;
  }

 private:
  Verdict find_host(const CpuJitOptions& options) {
    triple_ = llvm::Triple(llvm::sys::getProcessTriple());
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    forbid_wide_vectors(triple_, options.vector_bytes, features);
    std::vector<std::string> names;
    for (const auto& feature : features)
      names.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::sort(names.begin(), names.end());
    target_.vectors = vectors_of(triple_, features);
    target_.vectors.fast_math = options.fast_math;
    target_.cpu = llvm::sys::getHostCPUName().str();
    target_.features = fmt::format("{}", fmt::join(names, ","));
    target_.compiler = "LLVM " LLVM_VERSION_STRING;
    return yes();
  }

  Expected<std::unique_ptr<llvm::TargetMachine>> make_machine() const {
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple_.str(), error);
    if (target == nullptr) return reason("[jit] LLVM has no target {}: {}", triple_.str(), error);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
        triple_.str(), target_.cpu, target_.features, options, llvm::Reloc::PIC_, std::nullopt,
        llvm::CodeGenOptLevel::Default, true));
    if (!machine) return reason("[jit] LLVM makes no code for {}", target_.cpu);
    return machine;
  }

  // The text is vectorised and hoisted already: what is left is registers for stack slots, common
  // parts and simpler forms. By LLVM's interface for C: that for C++ takes seconds to compile.
  static constexpr const char* kPasses =
      "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
      "loop-mssa(loop-rotate,licm))";
  // Addresses in tables first, then what lies there, then loops of one turn.
  static constexpr const char* kJoinedPasses =
      "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sroa,"
      "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
      "loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,dse)";

  static Verdict optimise(llvm::Module& module, llvm::TargetMachine& machine, const char* passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(llvm::wrap(&module), passes,
                                       reinterpret_cast<LLVMTargetMachineRef>(&machine), options);
    LLVMDisposePassBuilderOptions(options);
    if (error != nullptr) return failed("optimising", llvm::unwrap(error));
    return yes();
  }

  Verdict start() {
    orc::LLJITBuilder builder;
    orc::JITTargetMachineBuilder machine(triple_);
    machine.setCPU(target_.cpu);
    builder.setJITTargetMachineBuilder(std::move(machine));
    auto jit = builder.create();
    if (!jit) return failed("starting LLVM", jit.takeError());
    jit_ = std::move(*jit);
    support_ = &jit_->getExecutionSession().createBareJITDylib("support");
    if (auto error = support_->define(orc::absoluteSymbols(tables())))
      return failed("naming tables", std::move(error));
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    if (target_.vectors.family != VectorTarget::Family::generic && !add_library(prefix))
      target_.vectors.family = VectorTarget::Family::generic;
    auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
    if (!process) return failed("looking into this process", process.takeError());
    support_->addGenerator(std::move(*process));
    return yes();
  }

  orc::SymbolMap tables() {
    orc::SymbolMap symbols;
    for (const CodeTable& table : code_tables())
      symbols[jit_->mangleAndIntern(table.name)] = {orc::ExecutorAddr::fromPtr(table.rows.data()),
                                                    llvm::JITSymbolFlags::Exported};
    return symbols;
  }

  bool add_library(char prefix) {
    for (const char* file : {"libsleef.so.3", "libsleef.so"}) {
      auto library = orc::DynamicLibrarySearchGenerator::Load(file, prefix);
      if (library) {
        support_->addGenerator(std::move(*library));
        return true;
      }
      llvm::consumeError(library.takeError());
    }
    return false;
  }

  llvm::Triple triple_;
  CpuTarget target_;
  std::shared_ptr<orc::LLJIT> jit_;
  orc::JITDylib* support_ = nullptr;
};

}  // namespace

Expected<std::shared_ptr<JitBackend>> make_jit_backend(const CpuJitOptions& options) {
  return LlvmBackend::make(options);
}

}  // namespace heddle
