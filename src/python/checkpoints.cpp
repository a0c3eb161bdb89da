// Checkpoints of values by name, onto and from any mesh.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "heddle/checkpoint.h"
#include "heddle/saving.h"
#include "heddle/shards.h"
#include "heddle/transport.h"
#include "python/bindings.h"
#include "python/device_array.h"
#include "python/host_array.h"

namespace heddle::python {

namespace {

// The mesh of the first value that has one; one device where none has.
std::string common_mesh(const std::vector<const DeviceArray*>& values) {
  std::string mesh;
  for (const DeviceArray* value : values) {
    if (!value->on_mesh()) continue;
    const std::string own = value->placed()->mesh().mesh.str();
    if (!mesh.empty() && own != mesh)
      throw Error(fmt::format(
          "values lie on the mesh {} and on {}: save those of one mesh at a time", mesh, own));
    mesh = own;
  }
  return mesh.empty() ? "device=1" : mesh;
}

// Of the mesh, or of all stages of a pipeline.
std::int64_t all_devices(const std::vector<const DeviceArray*>& values) {
  for (const DeviceArray* value : values)
    if (value->on_mesh()) return value->placed()->all_devices();
  return 1;
}

CheckpointValue saved_value(const std::string& name, const DeviceArray& value, const PlacedOn& on,
                            std::size_t devices) {
  const Mesh& mesh = on.meshes[0].mesh;
  const Split split = value.on_mesh() ? value.placed()->split() : Split::whole(value.type());
  CheckpointValue saved{name, value.type(), layout_of(split, mesh, on.axes.mem()).value(), {}};
  saved.parts = value.host_parts();
  if (value.on_mesh()) saved.on = value.placed()->stage_devices();
  if (value.on_mesh()) saved.rows = value.placed()->rows_by_stage(mesh, on.axes.mem()).value();
  if (!value.on_mesh()) saved.parts.resize(devices, saved.parts[0]);
  // In a pipeline whole values are as good as those of the first stage.
  if (saved.on.empty()) {
    saved.on.resize(static_cast<std::size_t>(mesh.devices()));
    std::iota(saved.on.begin(), saved.on.end(), 0);
  }
  if (value.ranks() == nullptr) return saved;
  std::vector<Array> own = std::move(saved.parts);
  saved.parts.assign(devices, {});
  saved.parts[static_cast<std::size_t>(value.ranks()->rank())] = own[0];
  return saved;
}

void save(const std::string& folder, const std::vector<std::string>& names, const nb::list& values,
          std::int64_t step) {
  std::vector<const DeviceArray*> arrays;
  for (nb::handle value : values) arrays.push_back(nb::cast<const DeviceArray*>(value));
  const nb::gil_scoped_release free;
  const auto on = mesh_from_words(common_mesh(arrays));
  const std::int64_t devices = all_devices(arrays);
  std::vector<CheckpointValue> saved;
  Transport* ranks = nullptr;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    saved.push_back(saved_value(names[i], *arrays[i], *on, static_cast<std::size_t>(devices)));
    if (arrays[i]->ranks() != nullptr) ranks = arrays[i]->ranks();
  }
  save_checkpoint(folder, saved, {on->meshes[0].mesh, on->axes, {}, devices}, ranks, step).value();
}

// How a value of this type lies when it is laid out so in words; whole where nothing is said.
Split split_from_words(const Type& type, const std::string& words, const PlacedOn& on,
                       const std::string& name) {
  if (words.empty()) return Split::whole(type);
  Program program;
  AxisSizes axes;
  for (const MeshAxis& axis : on.meshes[0].mesh.axes()) axes.emplace_back(axis.name, axis.size);
  program.add_mesh("mesh", axes).value();
  const std::string source = fmt::format("layouts[{}]", name);
  const Sharding sharding = parse_sharding(words, "mesh", source).value();
  const auto layout = program.add_layout(sharding, type);
  if (!layout) throw Error(fmt::format("{}: {}", source, layout.reason()));
  return split_of(program.layout(*layout)->layout, program.meshes[0].mesh).value();
}

DeviceArray* restore_value(const Checkpoint& checkpoint, const std::string& name,
                           const std::string& mesh, const std::string& layout) {
  const nb::gil_scoped_release free;
  const Type* type = checkpoint.type(name);
  if (type == nullptr) throw Error(fmt::format("the checkpoint has no value called {}", name));
  if (mesh.empty())
    return new DeviceArray(checkpoint.read_whole(name).value().reinterpreted(*type));
  const auto on = mesh_from_words(mesh);
  auto placed = std::make_shared<const PlacedValue>(
      name, *type, split_from_words(*type, layout, *on, name), on, 0);
  const Layout where = placed->layout().value();
  std::vector<DeviceValue> parts;
  for (std::int64_t d = 0; d < placed->devices(); ++d)
    parts.emplace_back(checkpoint.read(name, where, {on->meshes[0].mesh, on->axes}, d)
                           .value()
                           .reinterpreted(placed->part_type()));
  return new DeviceArray(std::move(placed), std::move(parts));
}

}  // namespace

void add_checkpoints(nb::module_& module) {
  module.def("save_checkpoint", save, nb::arg("folder"), nb::arg("names"), nb::arg("values"),
             nb::arg("step") = 0,
             nb::sig("def save_checkpoint(folder: str, names: list[str], values: list[Array], "
                     "step: int = 0) -> None"));
  nb::class_<Checkpoint>(module, "Checkpoint", "A checkpoint on the disk.")
      .def_static(
          "open",
          [](const std::string& path) {
            const nb::gil_scoped_release free;
            const std::string folder = checkpoint_to_restore(path, nullptr).value();
            return new Checkpoint(Checkpoint::open(folder, CheckpointCheck::sizes).value());
          },
          nb::arg("path"), nb::rv_policy::take_ownership)
      .def_prop_ro("step", &Checkpoint::step)
      .def_prop_ro("names", &Checkpoint::names)
      .def("restore", restore_value, nb::arg("name"), nb::arg("mesh") = "", nb::arg("layout") = "",
           nb::rv_policy::take_ownership);
}

}  // namespace heddle::python
