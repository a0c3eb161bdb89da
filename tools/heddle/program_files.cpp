// Reading programs for the commands that work on them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/array_file.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "program_commands.h"

namespace heddle::cli {

std::vector<Program> read_programs(const std::string& file) {
  const bool from_input = file == "-";
  const std::string name = from_input ? "standard input" : file;
  const std::string text =
      (from_input ? frontend::read_standard_input() : frontend::read_bytes(file)).value();
  std::vector<Program> programs = read_stablehlo_all(text, name).value();
  const bool any =
      std::ranges::any_of(programs, [](const Program& p) { return !p.functions.empty(); });
  if (!any)
    throw Error(fmt::format("{}: no functions in it{}: a program has at least one func.func", name,
                            text.find_first_not_of(" \t\r\n") == text.npos ? ", it is empty" : ""));
  return programs;
}

std::vector<Program> load_programs(const std::string& file) {
  std::vector<Program> programs = read_programs(file);
  for (const Program& program : programs) (void)verify(program).value();
  return programs;
}

}  // namespace heddle::cli
