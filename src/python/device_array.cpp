#include "python/device_array.h"

#include <fmt/format.h>

namespace heddle::python {

bool DeviceArray::gone() const {
  const std::lock_guard lock(mutex_);
  return !why_gone_.empty();
}

void DeviceArray::want_here() const {
  if (why_gone_.empty()) return;
  throw Error(
      fmt::format("this array of type {} {}: keep what came back instead", type_.str(), why_gone_));
}

Array DeviceArray::whole() const {
  const std::lock_guard lock(mutex_);
  want_here();
  if (!whole_)
    whole_ =
        (ranks_ == nullptr ? placed_->whole(parts_) : placed_->whole(parts_[0], *ranks_)).value();
  return *whole_;
}

std::vector<Array> DeviceArray::parts() const {
  const std::lock_guard lock(mutex_);
  want_here();
  return on_mesh() ? parts_ : std::vector<Array>{*whole_};
}

Array DeviceArray::take_whole(const std::string& why) {
  Array taken = whole();
  drop(why);
  return taken;
}

std::vector<Array> DeviceArray::take_parts(const std::string& why) {
  const std::lock_guard lock(mutex_);
  want_here();
  why_gone_ = why;
  whole_.reset();
  return std::move(parts_);
}

void DeviceArray::drop(const std::string& why) {
  const std::lock_guard lock(mutex_);
  why_gone_ = why;
  whole_.reset();
  parts_.clear();
}

std::string DeviceArray::layout() const {
  std::string words;
  for (std::size_t i = 0; i < type_.rank(); ++i) {
    if (i > 0) words += ",";
    std::string axes;
    if (on_mesh()) {
      const DimSplit& dim = placed_->split().dims[i];
      if (!dim.whole()) axes = axes_text(dim.axes(), placed_->mesh().mesh);
    }
    for (std::size_t at; (at = axes.find(", ")) != axes.npos;) axes.replace(at, 2, "+");
    words += axes.empty() ? "_" : axes;
  }
  return words;
}

bool lies_alike(const PlacedValue& a, const PlacedValue& b) {
  return a.type() == b.type() && a.split() == b.split() && a.lies_on_devices_of(b) &&
         a.mesh().mesh.str() == b.mesh().mesh.str() && a.mesh().device_ids == b.mesh().device_ids;
}

std::shared_ptr<const PlacedOn> mesh_from_words(const std::string& words) {
  auto on = std::make_shared<PlacedOn>();
  MeshDecl mesh;
  mesh.name = "mesh";
  mesh.mesh = Mesh::parse(words, on->axes).value();
  on->meshes.push_back(std::move(mesh));
  return on;
}

}  // namespace heddle::python
