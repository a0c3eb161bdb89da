// DeviceSchedule: steps that change how a per-device program computes and communicates, and none of
// its results. As text, one step to a line; docs/schedules.md explains each:
//
//   rs, ag = split all_reduce.0           # a reduce_scatter and an all_gather instead
//   new    = reorder * under ag           # what uses the gathered value is done on slices
//   as_slice arg1 result1                 # what is only used in slices lies in slices
//   fuse rs ag                            # what is computed between them goes into the collective
//   overlap dot_general.0 rs in 4         # a chunk is computed while the one before it travels
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/parallel.h"
#include "heddle/spmd.h"

namespace heddle {

struct ScheduleStep {
  enum class Kind : std::uint8_t { split, reorder, as_slice, dead, fuse, overlap };
  Kind kind = Kind::split;
  std::vector<std::string> names;   // that what it makes gets
  std::vector<std::string> values;  // that it is applied to; * is any number of characters
  std::string of;                   // reorder: the collective
  bool past = false;                // reorder: behind a reduce_scatter, not under an all_gather
  bool to_one = false;              // split: into reduce and broadcast
  int dim = -1;                     // split, overlap: along which dimension; -1: nobody says
  int chunks = 0;                   // overlap, fuse
  std::string by = {};              // fuse: direct, ring, tree
  std::string through = {};         // fuse: direct, bandwidth, latency
  int lanes = 0;                    // fuse: of a rank; 0: nobody says
  int line = 0;                     // of the text
  // The line is no part of what a step says.
  friend bool operator==(const ScheduleStep& a, const ScheduleStep& b);
};

struct DeviceSchedule {
  std::string file;  // for messages
  std::vector<ScheduleStep> steps;
  friend bool operator==(const DeviceSchedule& a, const DeviceSchedule& b) {
    return a.steps == b.steps;
  }
};

// "automatic": a tuner finds it.
inline constexpr std::string_view kAutomaticSchedule = "auto";

// A reason names the line, what stands there and what may stand there.
Expected<DeviceSchedule> parse_schedule(std::string_view text, std::string file);
Expected<DeviceSchedule> read_schedule(const std::string& file);
std::string text_of(const ScheduleStep& step);
// As parse_schedule reads it.
std::string text_of(const DeviceSchedule& schedule);

// What a step did, for reports.
struct StepTaken {
  std::string step;
  std::vector<std::string> said;
};

// Applies all steps to the program of each device, or none: a reason names the step and why it
// cannot be taken. What is carried to the next run must lie as that run takes it. The result is
// verified, and devices meet in one order.
Expected<std::vector<StepTaken>> apply_schedule(Spmd& spmd, const std::string& function,
                                                const DeviceSchedule& schedule,
                                                const std::vector<Carried>& carried = {});

// What steps call the values of a per-device program: the kind of op and its number among its kind.
struct ScheduleValue {
  std::string name;  // all_reduce.0
  std::string type;
  std::string from;  // where the text has it from; may be empty
};
std::vector<ScheduleValue> schedule_values(const Program& program, const Function& function);

}  // namespace heddle
