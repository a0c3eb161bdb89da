#include "plan_pictures.h"

#include <fmt/format.h>

#include "layout/picture.h"

namespace heddle::cli {
namespace {

struct Alike {
  Type type;
  Split split;
  std::string names;
};

// "arg1, arg2, result0", in the order of their first one.
std::vector<Alike> alike_ones(const SpmdFunction& f) {
  std::vector<Alike> all;
  auto add = [&](const char* word, const std::vector<Type>& types,
                 const std::vector<Split>& splits) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!types[i].is_tensor() || types[i].elements() == 0 || splits[i].is_whole()) continue;
      const std::string name = fmt::format("{}{}", word, i);
      bool known = false;
      for (Alike& one : all)
        if (one.type == types[i] && one.split == splits[i]) {
          one.names += ", " + name;
          known = true;
          break;
        }
      if (!known) all.push_back({types[i], splits[i], name});
    }
  };
  add("arg", f.argument_types, f.arguments);
  add("result", f.result_types, f.results);
  return all;
}

}  // namespace

std::string boundary_pictures(const SpmdFunction& function, const Program& program,
                              const Style& style) {
  constexpr std::size_t kMostPictures = 8, kMostNames = 72;
  constexpr std::int64_t kRows = 8;
  const Mesh& mesh = program.meshes[function.mesh].mesh;
  const std::vector<Alike> all = alike_ones(function);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == kMostPictures) {
      text += fmt::format("\n{} other layouts are not drawn; heddle layout show draws any\n",
                          all.size() - i);
      break;
    }
    const auto layout = layout_of(all[i].split, mesh, program.axes.mem());
    if (!layout) continue;
    const auto picture = draw(*layout, program.axes, {{}, kRows, style.columns()});
    if (!picture) continue;
    std::string names = all[i].names;
    if (names.size() > kMostNames) names = names.substr(0, names.rfind(',', kMostNames)) + ", ...";
    text += fmt::format("\n{}  {}\n", style.bold(names), all[i].type.str());
    text += picture_text(*picture, {style.colour(), style.unicode(), style.columns()});
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace heddle::cli
