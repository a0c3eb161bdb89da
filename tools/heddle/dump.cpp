#include "dump.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "heddle/stablehlo.h"

namespace heddle::cli {

Dump::Dump(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::create_directories(folder_, error);
  if (error) throw Error(fmt::format("--dump {}: {}", folder_, error.message()));
}

void Dump::write(std::string_view name, std::string_view ending, const std::string& text) {
  if (folder_.empty()) return;
  const std::string path = fmt::format("{}/{:03}-{}.{}", folder_, ++count_, name, ending);
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error(fmt::format("--dump: {} cannot be written", path));
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

}  // namespace heddle::cli
