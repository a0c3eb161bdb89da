# One module per MPI that is found, each compiled by that MPI's own wrapper and loaded only where a
# run asks for it. Without any MPI everything else is built as usual.
option(HEDDLE_MPI "Build the modules for Open MPI and MPICH where they are found" ON)
set(HEDDLE_MPI_MODULES "" CACHE INTERNAL "")

# heddle_mpi_module(<openmpi|mpich> <names of the compiler wrapper...>)
function(heddle_mpi_module KIND)
  find_program(HEDDLE_MPICC_${KIND} NAMES ${ARGN})
  mark_as_advanced(HEDDLE_MPICC_${KIND})
  if(NOT HEDDLE_MPICC_${KIND})
    return()
  endif()
  set(module ${CMAKE_BINARY_DIR}/heddle_mpi_${KIND}.so)
  set(shim ${CMAKE_SOURCE_DIR}/src/comm/mpi/shim)
  add_custom_command(OUTPUT ${module}
    COMMAND ${HEDDLE_MPICC_${KIND}} -std=c11 -O2 -Wall -Wextra -fPIC -shared ${shim}.c -o ${module}
    DEPENDS ${shim}.c ${shim}.h COMMENT "Building the module for ${KIND}" VERBATIM)
  add_custom_target(heddle_mpi_${KIND} ALL DEPENDS ${module})
  message(STATUS "MPI: ${KIND} by ${HEDDLE_MPICC_${KIND}}")
  set(HEDDLE_MPI_MODULES ${HEDDLE_MPI_MODULES} heddle_mpi_${KIND} CACHE INTERNAL "")
endfunction()

if(HEDDLE_MPI)
  heddle_mpi_module(openmpi mpicc.openmpi)
  heddle_mpi_module(mpich mpicc.mpich)
  if(NOT HEDDLE_MPI_MODULES)
    heddle_mpi_module(default mpicc)
  endif()
endif()
# All of them, for who builds nothing else.
add_custom_target(heddle_mpi_modules)
if(HEDDLE_MPI_MODULES)
  add_dependencies(heddle_mpi_modules ${HEDDLE_MPI_MODULES})
endif()
if(NOT HEDDLE_MPI_MODULES)
  message(STATUS "MPI was not found or is not wanted: --transport mpi will say so")
endif()
