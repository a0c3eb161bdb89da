// Compiled programs that give the reference's bits.
#pragma once

#include <algorithm>

#include "choices.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"

namespace heddle::property {

inline void require_same_bits(const Program& program, const std::vector<Array>& arguments,
                              bool machine_code) {
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  const auto reference = interpret(program, program.functions[0], arguments);
  require(reference.ok(), [&] { return shown(reference.reason()); });
  CompileOptions options;
  options.machine_code = machine_code;
  const auto executable = compile(program, options);
  require(executable.ok(), [&] { return shown(executable.reason()); });
  const auto got = executable->run(arguments);
  require(got.ok(), [&] { return shown(got.reason()); });
  for (std::size_t i = 0; i < got->size(); ++i)
    require(std::ranges::equal((*reference)[i].bytes(), (*got)[i].bytes()),
            [&] { return shown(fmt::format("result {} is not the reference's", i)); });
}

}  // namespace heddle::property
