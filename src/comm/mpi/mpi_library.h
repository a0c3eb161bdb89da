// Finds and loads the module for the MPI of this run.
#pragma once

#include <string>

#include "comm/mpi/shim.h"
#include "heddle/error.h"

namespace heddle::comm {

// Loaded once; stays. A reason says where was looked, and for what.
Expected<const HeddleMpi*> mpi_library();

// Which launcher started this process, by its environment: openmpi, mpich, or nothing.
std::string mpi_launcher();

// The module to be loaded and where it was found, for `heddle doctor`; empty where there is none.
std::string mpi_module_path();

}  // namespace heddle::comm
