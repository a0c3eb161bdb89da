// Finds and loads the module for the MPI of this run.
#pragma once

#include <string>
#include <vector>

#include "comm/mpi/shim.h"
#include "heddle/error.h"

namespace heddle::comm {

// Loaded once; stays. A reason says where was looked, and for what.
Expected<const HeddleMpi*> mpi_library();

// Which launcher started this process, by its environment: openmpi, mpich, or nothing.
std::string mpi_launcher();

// The modules that were found, for `heddle doctor`; the first one is that to be loaded.
std::vector<std::string> mpi_module_paths();

}  // namespace heddle::comm
