#include "frontend/input_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::frontend {

namespace {

constexpr std::string_view kBytecode = "ML\xefR";
constexpr std::string_view kFromFunction =
    "write jax.jit(f).lower(x).as_text(debug_info=True) to a file (with the names of arguments)";

// From the first word on: without spaces and lines that are comments.
std::string_view without_space(std::string_view text) {
  while (true) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    if (!text.starts_with("//")) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

// `{ lambda ; a:f32[3]. let … }`, or first the functions that it calls: `let f = { lambda … } in
// …`.
bool is_jaxpr(std::string_view begin) {
  if (begin.starts_with("{ lambda")) return true;
  return begin.starts_with("let ") &&
         begin.substr(0, begin.find('\n')).find("= { lambda") != begin.npos;
}

// No program begins so.
bool is_python(std::string_view begin) {
  return begin.starts_with("import ") || begin.starts_with("from ") || begin.starts_with("def ") ||
         begin.starts_with("#!") || begin.starts_with("\"\"\"");
}

// No text has zero bytes.
bool is_binary(std::string_view text) {
  return text.substr(0, 4096).find('\0') != std::string_view::npos;
}

// Field 1 is the module's name, field 2 that of its entry: 0a LENGTH NAME 12 LENGTH NAME.
bool is_hlo_proto(std::string_view text) {
  if (text.size() < 4 || text[0] != '\x0a') return false;
  const std::size_t name = static_cast<unsigned char>(text[1]);
  return name < 128 && text.size() > name + 2 && text[name + 2] == '\x12';
}

struct Kind {
  std::string_view what;
  std::string instead;
};

Kind binary_kind(std::string_view text) {
  if (text.starts_with(kBytecode))
    return {"MLIR bytecode",
            fmt::format("{}, of an exported function exported.mlir_module(); without the Python, "
                        "`stablehlo-translate --deserialize` makes text of the file",
                        kFromFunction)};
  if (text.find(kBytecode) != std::string_view::npos)
    return {"a function serialized by jax.export",
            "write jax.export.deserialize(blob).mlir_module() to a file"};
  if (is_hlo_proto(text)) return {"an HLO proto of XLA", std::string(kFromFunction)};
  if (text.starts_with("\x1f\x8b")) return {"compressed by gzip", "unpack it with gunzip"};
  if (text.starts_with("\x93NUMPY"))
    return {"an array of NumPy, which is no program but an input", std::string(kFromFunction)};
  if (text.size() > 8 && text[8] == '{' && text[7] == '\0')
    return {"a file of arrays, which is no program but inputs", std::string(kFromFunction)};
  return {"no text", std::string(kFromFunction)};
}

Kind kind_of(std::string_view text) {
  const std::string_view begin = without_space(text);
  if (is_binary(text) || is_hlo_proto(text)) return binary_kind(text);
  if (begin.starts_with("HloModule")) return {"HLO text of XLA", std::string(kFromFunction)};
  if (is_jaxpr(begin)) return {"a jaxpr", std::string(kFromFunction)};
  if (is_python(begin)) return {"Python", std::string(kFromFunction)};
  if (begin.starts_with("Exported("))
    return {"a printed jax.export.Exported, without its program",
            "write exported.mlir_module() to a file"};
  return {};
}

}  // namespace

std::string foreign_input(std::string_view text) {
  const Kind kind = kind_of(text);
  if (kind.what.empty()) return "";
  return fmt::format("this is {}; Heddle reads StableHLO as text: {}", kind.what, kind.instead);
}

}  // namespace heddle::frontend
