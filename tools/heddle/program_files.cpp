#include "program_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "frontend/array_file.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"

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

std::string function_names(const std::vector<Program>& programs) {
  constexpr std::size_t kMost = 8;
  std::string names;
  std::size_t n = 0;
  for (const Program& p : programs)
    for (const Function& f : p.functions)
      if (n++ < kMost) names += (names.empty() ? "" : ", ") + f.name;
  return n > kMost ? names + ", ..." : names;
}

Error no_function(const std::vector<Program>& programs, const std::string& file,
                  const std::string& name) {
  std::vector<std::string> known;
  for (const Program& p : programs)
    for (const Function& f : p.functions) known.push_back(f.name);
  const std::string near = did_you_mean(name, known);
  return Error(fmt::format("{} has no function {}{}", file, name,
                           near.empty() ? "; it has " + function_names(programs) : near));
}

}  // namespace heddle::cli
