// Which argument takes a new array at every step, and from where, in words.
#include <fmt/format.h>

#include <filesystem>

#include "base/nearest.h"
#include "heddle/batches.h"
#include "heddle/signature.h"
#include "heddle/value_names.h"

namespace heddle {
namespace {

// By its number, arg3, or by the name that the program gives it.
std::optional<std::size_t> argument_called(const std::string& name,
                                           const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i] || name == fmt::format("arg{}", i) || name == fmt::format("%arg{}", i))
      return i;
  return std::nullopt;
}

Reason unknown_name(const std::string& option, std::size_t cut, const Function& function,
                    const std::vector<std::string>& names) {
  const std::string name = option.substr(0, cut);
  return reason(
      "batch {}: no argument of @{} is called {}{}\n  they are arg0 to arg{}, or have the names "
      "that `heddle plan` lists",
      option, function.name, name, did_you_mean(name, names), names.size() - 1);
}

// Names may have = in them, and paths too: the first that ends a name counts.
Expected<BatchSource> source_of(const std::string& option, const Function& function,
                                const std::vector<std::string>& names) {
  for (std::size_t cut = option.find('='); cut != option.npos; cut = option.find('=', cut + 1))
    if (const auto argument = argument_called(option.substr(0, cut), names))
      return BatchSource{option.substr(cut + 1), argument};
  std::error_code error;
  const std::size_t cut = option.find('=');
  if (cut == option.npos || std::filesystem::exists(option, error)) return BatchSource{option, {}};
  return unknown_name(option, cut, function, names);
}

}  // namespace

Expected<Batches> Batches::open(const std::vector<std::string>& words, const Program& program,
                                const Function& function, bool cycle) {
  const std::vector<Type> types = argument_types(program, function);
  std::vector<std::string> names(types.size());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::string(argument_name(function, i));
  std::vector<BatchSource> sources;
  for (const std::string& word : words) {
    HEDDLE_TRY(BatchSource source, source_of(word, function, names));
    sources.push_back(std::move(source));
  }
  auto batches = open(sources, types, names, cycle);
  if (!batches) return reason("batch {}", batches.reason());
  return batches;
}

}  // namespace heddle
