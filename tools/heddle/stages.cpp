#include "stages.h"

#include <array>
#include <utility>

#include "heddle/inline.h"
#include "heddle/lower.h"
#include "heddle/simplify.h"

namespace heddle::cli {
namespace {

struct Stage {
  const char* name;
  Expected<Program> (*run)(const Program&);
};

constexpr std::array kStages = {
    Stage{"read", nullptr},
    Stage{"inline", [](const Program& p) { return inline_calls(p); }},
    Stage{"lower", [](const Program& p) { return lower_chlo(p); }},
    Stage{"simplify", simplify},
};

}  // namespace

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Stage& stage : kStages) all.emplace_back(stage.name);
    return all;
  }();
  return names;
}

Program after_stage(Program program, const std::string& last) {
  for (const Stage& stage : kStages) {
    if (stage.run) program = stage.run(program).value();
    if (last == stage.name) break;
  }
  return program;
}

}  // namespace heddle::cli
