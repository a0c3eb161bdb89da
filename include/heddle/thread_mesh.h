// ThreadMesh: devices as threads of this process, with nothing to install.
#pragma once

#include <memory>
#include <vector>

#include "heddle/executable.h"
#include "heddle/transport.h"

namespace heddle {

struct ThreadMeshOptions {
  // Workers of each device; 0: an equal part of the cores.
  int workers = 0;
  WatchdogOptions watchdog = default_watchdog();
};

class ThreadMesh {
 public:
  using Arrays = std::vector<Array>;
  using Values = std::vector<DeviceValue>;

  // Throws Error where the system has no more threads.
  explicit ThreadMesh(int devices, const ThreadMeshOptions& options = {});
  ~ThreadMesh();
  ThreadMesh(const ThreadMesh&) = delete;
  ThreadMesh& operator=(const ThreadMesh&) = delete;

  int devices() const;

  // Runs one program on all devices: each on its own arguments, for its own results. A reason names
  // the rank that failed first. `times` are those of rank 0.
  Expected<std::vector<Arrays>> run(const Executable& executable, std::vector<Arrays> arguments,
                                    const RunOptions& options = {});
  // As above, each device with a program of its own.
  Expected<std::vector<Arrays>> run(const std::vector<Executable>& executables,
                                    std::vector<Arrays> arguments, const RunOptions& options = {});
  // As above, on values where they lie (Executable::run_values).
  Expected<std::vector<Values>> run_values(const std::vector<Executable>& executables,
                                           std::vector<Values> arguments,
                                           const RunOptions& options = {});

 private:
  template <typename Value, typename One>
  Expected<std::vector<std::vector<Value>>> run_all(const std::vector<Executable>& executables,
                                                    std::vector<std::vector<Value>> arguments,
                                                    const RunOptions& options, One one);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle
