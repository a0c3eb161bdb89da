// Reading programs for the commands that work on them.
#include <fmt/format.h>

#include "frontend/array_file.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "program_commands.h"

namespace heddle::cli {

std::vector<Program> read_programs(const std::string& file) {
  const std::string text =
      frontend::read_bytes(file == "-" ? std::string("/dev/stdin") : file).value();
  return read_stablehlo_all(text, file == "-" ? "standard input" : file).value();
}

std::vector<Program> load_programs(const std::string& file) {
  std::vector<Program> programs = read_programs(file);
  for (const Program& program : programs) (void)verify(program).value();
  return programs;
}

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace heddle::cli
