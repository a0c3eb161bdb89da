#include "python/device_array.h"

#include <fmt/format.h>

#include "python/places.h"

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
  if (!on_mesh()) return download(parts_[0]);
  if (!whole_) {
    std::vector<Array> parts;
    for (const DeviceValue& part : parts_) parts.push_back(download(part));
    whole_ =
        (ranks_ == nullptr ? placed_->whole(parts) : placed_->whole(parts[0], *ranks_)).value();
  }
  return *whole_;
}

std::vector<Array> DeviceArray::host_parts() const {
  std::vector<Array> arrays;
  for (const DeviceValue& part : parts()) arrays.push_back(download(part));
  return arrays;
}

std::vector<DeviceValue> DeviceArray::parts() const {
  const std::lock_guard lock(mutex_);
  want_here();
  return parts_;
}

DeviceValue DeviceArray::value() const {
  const std::lock_guard lock(mutex_);
  want_here();
  HEDDLE_CHECK(!on_mesh());
  return parts_[0];
}

Array DeviceArray::whole_for_call() const {
  Array lent = whole();
  const auto at = reinterpret_cast<std::uintptr_t>(lent.bytes().data());
  if (at % Block::kAlignment == 0) return lent;
  const std::lock_guard lock(mutex_);
  want_here();
  if (!aligned_) aligned_ = Array(type_, Block::copy_of(lent.bytes()));
  return *aligned_;
}

void DeviceArray::wait() const {
  for (const DeviceValue& part : parts()) part.ready().wait().value();
}

std::string DeviceArray::device() const {
  const Device* device = memory_of();
  return device == nullptr ? "cpu" : std::string(device->name());
}

const Device* DeviceArray::memory_of() const {
  const std::lock_guard lock(mutex_);
  want_here();
  // In a pipeline not every device has a part.
  for (const DeviceValue& part : parts_)
    if (!part.in_host_memory()) return part.buffer().device;
  return nullptr;
}

DeviceValue DeviceArray::take_value(const std::string& why) {
  return std::move(take_parts(why)[0]);
}

std::vector<DeviceValue> DeviceArray::take_parts(const std::string& why) {
  const std::lock_guard lock(mutex_);
  want_here();
  why_gone_ = why;
  whole_.reset();
  aligned_.reset();
  return std::move(parts_);
}

void DeviceArray::drop(const std::string& why) {
  const std::lock_guard lock(mutex_);
  why_gone_ = why;
  whole_.reset();
  aligned_.reset();
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
