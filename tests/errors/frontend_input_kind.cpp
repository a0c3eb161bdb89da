// Other forms of a program than StableHLO text: what each is, and how to get text.
#include "heddle/stablehlo.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<std::vector<Program>> read(std::string_view text) { return read_stablehlo_all(text, "f"); }

// Beginnings as JAX writes them; those of bytes end in the middle.
constexpr char kBytecode[] = "ML\xefR\rStableHLO_v1.15.0\0\1\x1f";
constexpr char kExported[] = "<\0\0\0\x38\0`\0^\0ML\xefR\rStableHLO_v1.15.0\0\1";
constexpr char kProto[] = "\n\x0bjit__lambda\x12\6main.1\x1a\x93\3\n\6main.1\x12\x34\n\3x.1";

template <std::size_t n>
constexpr std::string_view bytes(const char (&text)[n]) {
  return {text, n - 1};
}

WRONG_USE(InputKind, Bytecode, read(bytes(kBytecode)), "f: this is MLIR bytecode",
          "jax.jit(f).lower(x).as_text(debug_info=True)", "exported.mlir_module()",
          "stablehlo-translate --deserialize", "reads StableHLO as text")
WRONG_USE(InputKind, ASerializedExport, read(bytes(kExported)), "f: this is a function serialized",
          "jax.export", "jax.export.deserialize(blob).mlir_module()")
WRONG_USE(InputKind, AnHloProto, read(bytes(kProto)), "f: this is an HLO proto",
          "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, OtherBytes, read(std::string_view("\x93NUMPY\1\0v\0", 10)),
          "f: this is an array of NumPy", "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, ASafetensorsFile, read(std::string_view("\2\0\0\0\0\0\0\0{}", 10)),
          "f: this is a file of arrays", "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, UnknownBytes, read(std::string_view("\x80\4\x95\0\0", 5)),
          "f: this is no text", "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, CompressedBytes, read(std::string_view("\x1f\x8b\x08\0\0", 5)),
          "f: this is compressed by gzip", "gunzip")
WRONG_USE(InputKind, Python, read("#!/usr/bin/env python3\nimport jax\n"), "f: this is Python",
          "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(
    InputKind, HloText,
    read("HloModule jit_f, entry_computation_layout={(f32[3]{0})->f32[3]{0}}\n\nENTRY main {"),
    "f: this is HLO text", "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, AJaxpr, read("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }"),
          "f: this is a jaxpr", "jax.jit(f).lower(x).as_text(debug_info=True)")
WRONG_USE(InputKind, AJaxprWithFunctions,
          read("let relu = { lambda ; a:f32[3]. let b:f32[3] = max a 0.0:f32[] in (b,) } in\n{ "
               "lambda ; c:f32[3]. let"),
          "f: this is a jaxpr")
WRONG_USE(InputKind, HloTextAfterAComment, read("// of a dump\nHloModule jit_f\n"),
          "f: this is HLO text")
WRONG_USE(InputKind, APrintedExport, read("Exported(fun_name=<lambda>, ...)"),
          "f: this is a printed jax.export.Exported", "exported.mlir_module()")
// A mistake in what is meant as StableHLO stays a mistake with its place.
WRONG_USE(InputKind, AMistakeInText, read("func.func @main() { \x01 }"), "f:1:21")

}  // namespace
}  // namespace heddle
