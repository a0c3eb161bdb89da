// The tuner: which schedule of a program is the fastest on the devices at hand.
//
// Legal schedules are made from the collectives of the program of each device: sums split with what
// follows them on slices, state in slices, products and collectives in chunks or as one; those for
// one collective that promise something are put together with others. Each is priced by the cost
// model; the best few are timed beside the program as it is, and of the best of these what is
// inside of its collectives by every algorithm and protocol, on lanes, and in other chunks. In the
// end the fastest takes turns with the program as it is, which stays where it is not faster beyond
// noise. What was found is kept in the cache directory.
#pragma once

#include <functional>

#include "heddle/target.h"

namespace heddle {

class Transport;

struct ScheduleTrial {
  std::string name;  // "split, reorder"
  DeviceSchedule schedule;
  double predicted = 0;         // seconds of a run, by the cost model
  std::optional<double> timed;  // seconds of a run on devices of this machine
  std::string refused;          // why it cannot be taken; empty: it can
};

struct TunedSchedule {
  DeviceSchedule schedule;           // without steps where the program stays as it is
  std::vector<ScheduleTrial> tried;  // the program as it is first
  std::size_t taken = 0;             // of these
  bool remembered = false;           // it was found before, in this process or another
  std::string why;                   // it was taken, in words
  std::string text() const;          // a table of what was tried
};

struct TuneOptions {
  std::size_t most_timed = 3;                                // beside the program as it is
  double noise = 0.03;                                       // by so much it must be faster
  std::function<void(const std::string&)> on_progress = {};  // a line for people
  bool keep = true;                                          // in the cache directory
  // This process is one of these: all of them tune together, and find the same.
  Transport* ranks = nullptr;
};

// On devices that are threads, or on ranks; the target's own schedule does not count. What was
// found before for a program of the same ops whose dimensions lie between the same powers of two,
// on the same mesh, machine and transport, is taken where it is legal.
Expected<TunedSchedule> tune_schedule(const Program& program, const Target& target,
                                      const TuneOptions& options = {});

// The legal schedules that a tuner looks at, for the program of each device; the first is empty.
std::vector<ScheduleTrial> candidate_schedules(const Spmd& spmd, const std::string& function,
                                               const std::vector<Carried>& carried);

// What a run takes by the cost model, ops one by one: a collective goes on beside work until it is
// waited for. `ordered` is what schedule() has left.
double predicted_seconds(const Program& ordered, const Function& function);

}  // namespace heddle
