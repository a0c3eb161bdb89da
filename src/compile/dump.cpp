#include "compile/dump.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "heddle/stablehlo.h"

namespace heddle {

Expected<Dump> Dump::open(std::string folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return reason("dump {}: {}", folder, error.message());
  return Dump(std::move(folder));
}

void Dump::write(std::string_view name, std::string_view ending, const std::string& text) {
  const std::string path = fmt::format("{}/{:03}-{}.{}", folder_, ++count_, name, ending);
  if (const Verdict written = write_file(path, text, Durability::cache); !written)
    throw Error(fmt::format("dump: {}", written.reason()));
}

void Dump::watch(CompileOptions& compile) {
  if (folder_.empty()) return;
  compile.on_program = [this](std::string_view stage, const Program& program) {
    write(stage, "mlir", print_stablehlo(program));
  };
  compile.on_kernel = [this](const Kernel& kernel, const std::string& llvm) {
    write(kernel.name, "kernel", print(kernel));
    if (!llvm.empty()) write(kernel.name, "ll", llvm);
  };
}

}  // namespace heddle
