// Whatever meshes a program speaks by, every device has the same elements once all is on one mesh.
#include "choices.h"
#include "heddle/spmd.h"
#include "heddle/stablehlo.h"
#include "ir/replica_groups.h"
#include "parallel/one_mesh.h"

namespace heddle::property {
namespace {

// The factors of a number of devices, some next to each other taken together.
AxisSizes random_axes(Choices& choices, const std::vector<std::int64_t>& factors,
                      const std::string& letter) {
  AxisSizes axes;
  for (std::int64_t factor : factors) {
    if (!axes.empty() && choices.one_in(2))
      axes.back().second *= factor;
    else
      axes.emplace_back(letter + std::to_string(axes.size()), factor);
    if (choices.one_in(6)) axes.emplace_back(letter + std::to_string(axes.size()), 1);
  }
  return axes;
}

std::string mesh_text(const std::string& name, const AxisSizes& axes, std::int64_t devices,
                      bool reversed) {
  std::string text, ids;
  for (const auto& [axis, size] : axes)
    text += fmt::format("{}\"{}\"={}", text.empty() ? "" : ", ", axis, size);
  for (std::int64_t d = devices; reversed && d-- > 0;)
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ", d);
  return fmt::format("sdy.mesh @{} = <[{}]{}>\n", name, text,
                     reversed ? ", device_ids=[" + ids + "]" : "");
}

// Axes along the dimensions, in any order; some along none, halves of some.
std::string random_sharding(Choices& choices, const std::string& mesh, const AxisSizes& axes) {
  std::vector<std::string> dims(2);
  AxisSizes left = axes;
  while (!left.empty()) {
    const auto at = static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(left.size())));
    const auto [name, size] = left[at];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    if (choices.one_in(4)) continue;
    std::string& dim = dims[static_cast<std::size_t>(choices.below(2))];
    const bool half = size % 4 == 0 && choices.one_in(3);
    dim += fmt::format("{}\"{}\"{}", dim.empty() ? "" : ", ", name, half ? ":(2)2" : "");
  }
  return fmt::format("{{sdy.sharding = #sdy.sharding<@{}, [{{{}}}, {{{}}}]>}}", mesh, dims[0],
                     dims[1]);
}

Array numbered(const Type& type) {
  Array array(type);
  auto* data = reinterpret_cast<std::int32_t*>(array.mutable_bytes().data());
  for (std::int64_t i = 0; i < type.elements(); ++i) data[i] = static_cast<std::int32_t>(i + 1);
  return array;
}

// What each device, by its number, has of an argument.
std::vector<Array> parts(const Program& program, std::size_t argument) {
  const ValueId value = program.region(program.functions[0].body).args[argument];
  const ValueLayout& layout = *program.layout_of(value);
  const MeshDecl& mesh = program.meshes[layout.mesh];
  const Split split = split_of(layout.layout, mesh.mesh).value();
  std::vector<Array> all(static_cast<std::size_t>(mesh.mesh.devices()));
  for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p)
    all[static_cast<std::size_t>(device_at(mesh, p))] =
        part_of(numbered(program.type_of(value)), split, mesh, p);
  return all;
}

HEDDLE_LAW(OneMesh, DevicesKeepTheirElements) {
  std::vector<std::int64_t> factors;
  std::int64_t devices = 1;
  for (std::int64_t i = 0; i <= 1 + choices.below(3); ++i) {
    factors.push_back(choices.one_in(4) ? 3 : 2);
    devices *= factors.back();
  }
  const AxisSizes a = random_axes(choices, factors, "a"), b = random_axes(choices, factors, "b");
  const std::string type =
      fmt::format("tensor<{}x{}xi32>", 1 + choices.below(20), 1 + choices.below(20));
  const std::string text =
      fmt::format("{}{}func.func @main(%x: {} {}, %y: {} {}) {{\n  return\n}}\n",
                  mesh_text("m", a, devices, false), mesh_text("n", b, devices, choices.one_in(3)),
                  type, random_sharding(choices, "m", a), type, random_sharding(choices, "n", b));
  const auto read = read_stablehlo(text, "t.mlir");
  require(read.ok(), [&] { return text + read.reason(); });
  Program program = *read;
  const auto name = put_on_one_mesh(program, choices.one_in(2) ? "m" : "n");
  if (!name) {  // a half that no axis of the others has
    require(text.find(":(2)2") != std::string::npos, [&] { return text + name.reason(); });
    return;
  }
  const auto& args = program.region(program.functions[0].body).args;
  require(program.meshes[program.layout_of(args[0])->mesh].mesh ==
              program.meshes[program.layout_of(args[1])->mesh].mesh,
          [&] { return text + print_stablehlo(program); });
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Array> before = parts(*read, i), after = parts(program, i);
    for (std::size_t d = 0; d < before.size(); ++d)
      require(before[d] == after[d], [&] { return text + print_stablehlo(program); });
  }
}

}  // namespace
}  // namespace heddle::property
