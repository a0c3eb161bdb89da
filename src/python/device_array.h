// heddle.Array: a value on the devices of a mesh, or on one. It stays there between calls; its
// whole is put together when somebody asks for it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "heddle/device_value.h"
#include "heddle/placement.h"

namespace heddle::python {

class DeviceArray {
 public:
  // On one device.
  explicit DeviceArray(DeviceValue whole) : type_(whole.type()) {
    parts_.push_back(std::move(whole));
  }
  // One part per device of the mesh; one in all where each device is a rank, which `ranks`
  // connects.
  DeviceArray(std::shared_ptr<const PlacedValue> placed, std::vector<DeviceValue> parts,
              Transport* ranks = nullptr)
      : type_(placed->type()),
        placed_(std::move(placed)),
        parts_(std::move(parts)),
        ranks_(ranks) {}

  const Type& type() const { return type_; }
  const PlacedValue* placed() const { return placed_.get(); }
  const std::shared_ptr<const PlacedValue>& placement() const { return placed_; }
  Transport* ranks() const { return ranks_; }
  bool on_mesh() const { return placed_ != nullptr; }
  bool gone() const;

  // All of these throw Error where the array was donated or deleted.
  // In host memory, copied there where it lies elsewhere.
  Array whole() const;
  std::vector<Array> host_parts() const;
  // Where they lie: one for each device.
  std::vector<DeviceValue> parts() const;
  // The one of one device.
  DeviceValue value() const;
  // The same for a call on a device in host memory, which wants aligned memory: what Python has
  // lent may lie anywhere, and is copied with the first call, not with every one.
  Array whole_for_call() const;
  // Until it holds what it is to hold.
  void wait() const;
  // "cpu", "cuda:0".
  std::string device() const;
  // The device whose memory it is in; null: the host's.
  const Device* memory_of() const;

  // The same, and nobody can use it any more: the memory is the taker's.
  DeviceValue take_value(const std::string& why);
  std::vector<DeviceValue> take_parts(const std::string& why);
  void drop(const std::string& why);

  // "_,tp": a word per dimension; "" for a number; "whole" axes are _.
  std::string layout() const;

 private:
  void want_here() const;

  Type type_;
  std::shared_ptr<const PlacedValue> placed_;
  std::vector<DeviceValue> parts_;
  Transport* ranks_ = nullptr;
  mutable std::optional<Array> whole_;    // of a mesh, once somebody has asked
  mutable std::optional<Array> aligned_;  // a copy of it, where it is not
  std::string why_gone_;
  mutable std::mutex mutex_;
};

// Whether what lies as `a` can be taken for what lies as `b`, part by part.
bool lies_alike(const PlacedValue& a, const PlacedValue& b);

// A mesh of its own, from words: "dp=2,tp=4".
std::shared_ptr<const PlacedOn> mesh_from_words(const std::string& words);

}  // namespace heddle::python
