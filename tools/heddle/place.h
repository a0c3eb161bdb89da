// Where a function runs: on one device or on those of a mesh, compiled or interpreted; and how its
// arguments and results lie there.
#pragma once

#include "execute.h"
#include "mesh_devices.h"

namespace heddle::cli {

class Place {
 public:
  virtual ~Place() = default;

  // One run, from the parts of the devices that are in this process to theirs.
  virtual DeviceParts run(DeviceParts arguments, const RunOptions& options) = 0;

  virtual std::size_t devices_here() const { return 1; }
  virtual std::int64_t rank_of(std::size_t) const { return 0; }
  virtual std::vector<Array> parts_of(const Array& whole, std::size_t) const { return {whole}; }
  virtual Type part_type(std::size_t argument) const = 0;
  virtual Array whole(const DeviceParts& results, std::size_t result) = 0;

  // For checkpoints: how an argument lies, and who saves it together with this process.
  virtual Layout layout(std::size_t argument) const = 0;
  virtual CheckpointMesh mesh() const = 0;
  virtual Transport* savers() const { return nullptr; }

  // What it became: steps, memory, the time to compile.
  virtual void describe(Execution& done) const = 0;
};

std::unique_ptr<Place> place_on_one_device(const Program& program, const Function& function,
                                           const ExecuteRequest& request,
                                           const InterpretOptions& options);
// `spmd` and `function` must live longer.
std::unique_ptr<Place> place_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                                     const ExecuteRequest& request,
                                     const InterpretOptions& options);

}  // namespace heddle::cli
