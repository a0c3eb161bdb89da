// Measures a device through its interface alone, so that plans are made for it as it is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heddle/device.h"
#include "heddle/machine.h"

namespace heddle {

struct MeasuredDevice {
  std::string name, model;                          // "cuda:0", "NVIDIA H200"
  MachineFigures figures;                           // that plans are made with
  double barrier_seconds = 0;                       // until the host knows that work is done
  double to_device_rate = 0, from_device_rate = 0;  // bytes a second, from and to host memory
  std::vector<std::pair<DType, double>> matrix_rates = {};  // of products, operations a second
};

// How much is measured; tests take less.
struct DeviceTrialSizes {
  std::int64_t bytes = 512LL << 20;  // that a copy reads, and writes
  std::int64_t matrix = 4096;        // rows and columns
  double seconds = 0.05;             // of a trial
};

// Takes about two seconds. A reason where it cannot compile, or has no room.
Expected<MeasuredDevice> calibrate_device(Device& device, DeviceTrialSizes sizes = {});

}  // namespace heddle
