// Plans on disk: which ops became one kernel, so that a program that comes again in another process
// is not searched again. They lie beside compiled code and share its bounds.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "device/code_cache.h"
#include "heddle/stitch.h"
#include "runtime/compiled.h"

namespace heddle {

// Smaller programs are searched faster than a file is read.
inline constexpr std::size_t kLeastOpsOfPlan = 64;

class PlanCache {
 public:
  explicit PlanCache(const std::filesystem::path& directory);
  // In cache_directory(); null where there is none.
  static const PlanCache* shared();

  // All that decides a plan: program, figures, switches, device and this build. None where plans
  // are not kept: of a few ops, with constants beyond all bounds, of devices that do not say what
  // they are, with notes for people.
  static std::optional<std::string> key_of(const runtime::CompiledProgram& compiled,
                                           const StitchOptions& options);

  // Fills in the units and says so, where a plan for an equal key is there. One that is damaged or
  // of another key is left alone.
  bool find(const std::string& key, runtime::CompiledProgram& compiled) const;
  void keep(const std::string& key, const runtime::CompiledProgram& compiled) const;

 private:
  CodeCache files_;
};

}  // namespace heddle
