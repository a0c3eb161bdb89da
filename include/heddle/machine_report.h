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
  std::vector<Found> machine;
  std::vector<Capability> capabilities;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// Looks at the machine; what touches drivers does so in a process of its own.
DoctorReport doctor();

// The figures that plans are made with.
struct FiguresReport {
  MachineFigures figures;
  std::optional<Cluster> cluster = {};  // devices that share it, where they were measured

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

}  // namespace heddle
