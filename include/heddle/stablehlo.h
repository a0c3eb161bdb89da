// StableHLO text, pretty and generic: in and out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// Tokens among the arguments and results of @main, which JAX passes to keep effects in order. They
// are left out: what is read begins with tokens of its own.
struct OrderTokens {
  std::vector<bool> arguments, results;  // as the text has them
};

struct ReadOptions {
  // Custom calls into Python without results (jax.debug.print) stay, for those who can call Python;
  // else they are left out, with a warning.
  bool keep_callbacks = false;
  OrderTokens* tokens = nullptr;  // filled in where it is given
};

// Reads one module, or functions without a module around them. Reasons give file:line:column, the
// line, a caret and what was expected.
Expected<Program> read_stablehlo(std::string_view text, const std::string& file = "",
                                 const ReadOptions& options = {});
Expected<Program> read_stablehlo_file(const std::string& file);
// Programs separated by lines "// -----".
Expected<std::vector<Program>> read_stablehlo_all(std::string_view text,
                                                  const std::string& file = "");

enum class TextForm : std::uint8_t { pretty, generic };
// What stands under an op, as a comment of one line; nothing where it is empty.
using OpComment = std::function<std::string(const Op&)>;
struct PrintOptions {
  TextForm form = TextForm::pretty;
  OpComment comment = {};
  bool locations = false;  // behind each op and function, what it came from: loc("model.py":57:0)
};
std::string print_stablehlo(const Program& program, const PrintOptions& options);
std::string print_stablehlo(const Program& program, TextForm form = TextForm::pretty);

}  // namespace heddle
