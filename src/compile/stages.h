// What passes between the stages of compile().
#pragma once

#include <chrono>
#include <string>

#include "heddle/compile.h"
#include "heddle/spmd.h"
#include "runtime/assemble.h"

namespace heddle {

// Says what each stage took, and looks at what it left.
class Stages {
 public:
  explicit Stages(const CompileOptions& options) : options_(options) {}
  void done(std::string_view stage);
  // Throws InternalError where the program is not sound: that is the stage's fault.
  void done(std::string_view stage, const Program& program);

 private:
  const CompileOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What one device runs, and where its arguments and results lie.
struct Local {
  Program program;
  Placement placement;
  std::int64_t memory_limit = INT64_MAX;  // for values
  std::string interpreted_because = {};   // empty: it is compiled
};

// Only the entry is public, so that nothing else is compiled.
Expected<Program> with_entry_only(const Program& program, const std::string& entry);

// As a mesh gets it: verified, without calls, and of client ops with those alone that stay whole.
Expected<Program> program_to_deal(const Program& source, const Target& target, Stages& stages);

// All of it on one device.
Local on_one_device(const Program& program, const Target& target);
// What a device of the mesh has of it.
Local on_mesh(const Spmd& spmd, const SpmdFunction& function);

// Whether a mesh is asked for; the program's own may turn out to be none.
bool names_mesh(const Program& program, const Target& target);

// The device that is asked for, or the default one.
Device& device_of(const Target& target);

// The one rule of what stays whole on its way to a device: what the device computes as it is, and
// what can be dealt out as it is.
bool stays_whole(const OpDef& def, const DeviceCalls& device);

// How the steps are put together. What is carried may be overwritten too: the result takes its
// place.
runtime::AssembleOptions assembly(const Local& local, const Target& target);
// All of it for the interpreter.
Expected<Executable> interpreted(const Local& local, const Target& target);

}  // namespace heddle
