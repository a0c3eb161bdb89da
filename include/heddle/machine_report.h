// What the machine has, what Heddle can do with it, and how fast it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/cluster.h"
#include "heddle/machine.h"
#include "heddle/style.h"

namespace heddle {

struct DoctorReport {
  struct Found {
    std::string name;  // "cores"
    bool found = false;
    std::string text;     // what there is, or why there is none
    std::string details;  // the same as JSON
  };
  struct Capability {
    bool works = false;
    std::string what, note;
  };
  // What a GPU's programs are compiled and computed with.
  struct Library {
    std::string name;  // NVRTC
    bool found = false;
    std::string version, path;
    std::string note;  // what it is for, and how it is installed
  };
  std::vector<Found> machine;
  std::vector<Capability> capabilities;
  std::vector<Library> libraries;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// Looks at the machine; what touches drivers does so in a process of its own.
DoctorReport doctor();

// What was measured of a device of its own, as a GPU.
struct DeviceFiguresReport {
  std::string name, model;  // "cuda:0", "NVIDIA H200"
  MachineFigures figures;   // that plans are made with
  struct Rate {
    std::string what, key, unit;
    double value = 0;
  };
  std::vector<Rate> rates;  // all of them, for people

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

struct MeasuredDevice;
DeviceFiguresReport device_figures(const MeasuredDevice& measured);

// The figures that plans are made with.
struct FiguresReport {
  MachineFigures figures;
  std::optional<Cluster> cluster = {};  // devices that share it, where they were measured
  // How many times as fast oneDNN is: "products", 1.2.
  std::vector<std::pair<std::string, double>> by_onednn = {};

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

}  // namespace heddle
