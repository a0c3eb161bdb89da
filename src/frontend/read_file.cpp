#include "frontend/array_file.h"
#include "heddle/stablehlo.h"

namespace heddle {

Expected<Program> read_stablehlo_file(const std::string& file) {
  HEDDLE_TRY(const std::string text, frontend::read_bytes(file));
  return read_stablehlo(text, file);
}

}  // namespace heddle
