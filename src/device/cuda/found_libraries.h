// Which of CUDA's libraries are there, for people.
#pragma once

#include <string>
#include <vector>

namespace heddle::cuda {

struct FoundLibrary {
  std::string name;           // NVRTC
  std::string version, path;  // empty where it was not found
  std::string use;            // what it is for
  std::string package;        // that brings it: nvidia-cuda-nvrtc
};

// Opens each of them, so that it is better done in a process of its own.
std::vector<FoundLibrary> find_libraries();

}  // namespace heddle::cuda
