// Lets tests find the Python packages that scripts/python_env.sh installed.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace heddle {

// Test programs lie in build/<preset>/tests, the environment in build/venv.
inline void use_build_environment() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return;
  const auto environment = program.parent_path().parent_path().parent_path() / "venv";
  if (std::filesystem::is_directory(environment, failed))
    setenv("VIRTUAL_ENV", environment.c_str(), 0);
}

}  // namespace heddle
