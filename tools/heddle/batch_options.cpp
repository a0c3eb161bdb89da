#include "batch_options.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "heddle/value_names.h"
#include "program_commands.h"

namespace heddle::cli {
namespace {

// By its number, arg3, or by the name that the program gives it.
std::optional<std::size_t> argument_called(const std::string& name,
                                           const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i] || name == fmt::format("arg{}", i) || name == fmt::format("%arg{}", i))
      return i;
  return std::nullopt;
}

Error unknown_name(const std::string& option, std::size_t cut, const Function& function,
                   const std::vector<std::string>& names) {
  const std::string name = option.substr(0, cut);
  return Error(
      fmt::format("--batch {}: no argument of @{} is called {}{}\n  they are arg0 to "
                  "arg{}, or have the names that `heddle plan` lists",
                  option, function.name, name, did_you_mean(name, names), names.size() - 1));
}

// Names may have = in them, and paths too: the first that ends a name counts.
BatchSource source_of(const std::string& option, const Function& function,
                      const std::vector<std::string>& names) {
  for (std::size_t cut = option.find('='); cut != option.npos; cut = option.find('=', cut + 1))
    if (const auto argument = argument_called(option.substr(0, cut), names))
      return {option.substr(cut + 1), argument};
  std::error_code error;
  const std::size_t cut = option.find('=');
  if (cut == option.npos || std::filesystem::exists(option, error)) return {option, {}};
  throw unknown_name(option, cut, function, names);
}

}  // namespace

Batches open_batch_options(const Program& program, const Function& function,
                           const std::vector<std::string>& options, bool cycle) {
  const std::vector<Type> types = argument_types(program, function);
  std::vector<std::string> names(types.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::string(argument_name(function, i));
  std::vector<BatchSource> sources;
  for (const std::string& option : options) sources.push_back(source_of(option, function, names));
  auto batches = Batches::open(sources, types, names, cycle);
  if (!batches) throw Error(fmt::format("--batch {}", batches.reason()));
  return *std::move(batches);
}

}  // namespace heddle::cli
