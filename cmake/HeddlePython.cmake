# The Python package: the extension module heddle/_core, which holds all of Heddle and its PJRT plugin,
# and the Python files around it. In a build folder it lies in python/, ready for PYTHONPATH; the wheel
# is made by scikit-build-core (pyproject.toml).
set(HEDDLE_PYTHON AUTO CACHE STRING
  "Build the Python package: ON, OFF, or AUTO (where build/venv has nanobind, as after `make test`)")

# Sets HEDDLE_PYTHON_FOUND, and all that nanobind_add_module needs.
macro(heddle_find_python)
  set(HEDDLE_PYTHON_FOUND OFF)
  if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
    set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
  endif()
  set(wanted "")
  if(HEDDLE_PYTHON STREQUAL "ON")
    set(wanted REQUIRED)
  endif()
  find_package(Python 3.11 ${wanted} QUIET COMPONENTS Interpreter Development.Module
    OPTIONAL_COMPONENTS Development.SABIModule)
  if(Python_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_DIR
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(nanobind CONFIG ${wanted} QUIET)
  endif()
  if(Python_FOUND AND nanobind_FOUND)
    set(HEDDLE_PYTHON_FOUND ON)
  else()
    message(STATUS "Python with nanobind was not found: the Python package is not built")
  endif()
endmacro()

# The files of python/heddle beside the module, as links: a change needs no build.
function(heddle_link_package FOLDER)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python
    ${CMAKE_SOURCE_DIR}/python/heddle/*.py ${CMAKE_SOURCE_DIR}/python/heddle/*.pyi
    ${CMAKE_SOURCE_DIR}/python/heddle/py.typed)
  foreach(file IN LISTS files)
    get_filename_component(inside ${FOLDER}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${inside})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/${file} ${FOLDER}/${file} SYMBOLIC)
  endforeach()
  # What pip would write: JAX finds the plugin by its entry point.
  set(info ${FOLDER}/heddle-${PROJECT_VERSION}.dist-info)
  file(CONFIGURE OUTPUT ${info}/METADATA
    CONTENT "Metadata-Version: 2.1\nName: heddle\nVersion: ${PROJECT_VERSION}\n")
  file(CONFIGURE OUTPUT ${info}/entry_points.txt
    CONTENT "[jax_plugins]\nheddle = heddle.jax_plugin\n")
endfunction()

# Puts the libraries of this machine beside the module, for machines that do not have them. An RPATH of
# the module finds those that it opens by name, but not what these need in turn: so it needs that itself.
function(heddle_bundle)
  set(libraries libopenblas.so.0 libgfortran.so.5 libquadmath.so.0 libsleef.so.3 libfmt.so.9
    libz.so.1)
  if(HEDDLE_LLVM_STATIC)
    list(APPEND libraries libzstd.so.1)
  endif()
  foreach(library IN LISTS libraries)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library}
      OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT IS_ABSOLUTE ${file})
      message(FATAL_ERROR "${library} was not found: `scripts/install_packages.sh build` installs it")
    endif()
    file(REAL_PATH ${file} file)
    install(PROGRAMS ${file} DESTINATION heddle/libs RENAME ${library} COMPONENT python)
    if(library MATCHES "gfortran|quadmath")
      list(APPEND of_openblas ${file})
    endif()
  endforeach()
  target_link_libraries(heddle_core PRIVATE
    -Wl,--push-state,--no-as-needed ${of_openblas} -Wl,--pop-state)
  target_link_options(heddle_core PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(heddle_core PROPERTIES INSTALL_RPATH "$ORIGIN/libs")
endfunction()

# Called once after the last library. A macro: tests ask for the interpreter.
macro(heddle_python_module)
  # Python itself would have to be built with a sanitizer, too.
  if(NOT HEDDLE_PYTHON STREQUAL "OFF" AND NOT HEDDLE_SANITIZE AND NOT HEDDLE_FUZZ)
    heddle_find_python()
    if(HEDDLE_PYTHON_FOUND)
      message(STATUS "Python package for ${Python_EXECUTABLE} (${Python_VERSION})")
      heddle_add_core()
    endif()
  endif()
endmacro()

# nanobind itself as the one source that comes with it, which takes a third of the time.
function(heddle_combine_nanobind)
  foreach(library IN ITEMS nanobind-static nanobind-static-abi3)
    if(NOT TARGET ${library})
      continue()
    endif()
    get_target_property(sources ${library} SOURCES)
    list(FILTER sources INCLUDE REGEX "/nb_func.cpp$")
    string(REPLACE nb_func nb_combined combined "${sources}")
    if(EXISTS "${combined}")
      set_property(TARGET ${library} PROPERTY SOURCES ${combined})
    endif()
  endforeach()
endfunction()

function(heddle_add_core)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/python/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/python/*.h)
  nanobind_add_module(heddle_core NB_STATIC STABLE_ABI NOMINSIZE ${sources} ${headers})
  heddle_combine_nanobind()
  heddle_batches(heddle_core 12)  # for two cores
  set_target_properties(heddle_core PROPERTIES OUTPUT_NAME _core
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/heddle)
  target_link_libraries(heddle_core PRIVATE ${HEDDLE_LIBRARIES} $<BUILD_INTERFACE:heddle_options>)
  # Only what Python and JAX look for is seen from outside: other users of LLVM in the process have
  # their own.
  set(exports ${CMAKE_SOURCE_DIR}/src/python/exports.map)
  # Nothing of the module itself asks for the plugin.
  target_link_options(heddle_core PRIVATE -Wl,--version-script=${exports} -Wl,--gc-sections
    -Wl,-u,GetPjrtApi -Wl,-u,heddle_pjrt_set_hooks -Wl,-u,heddle_pjrt_end)
  set_target_properties(heddle_core PROPERTIES LINK_DEPENDS ${exports})
  heddle_check_layering(heddle_core python ${sources} ${headers})

  if(HEDDLE_PYTHON_ONLY)
    install(TARGETS heddle_core LIBRARY DESTINATION heddle COMPONENT python)
    foreach(module IN LISTS HEDDLE_MPI_MODULES)
      install(FILES ${CMAKE_BINARY_DIR}/${module}.so DESTINATION heddle COMPONENT python)
    endforeach()
    if(HEDDLE_PYTHON_BUNDLE)
      heddle_bundle()
    endif()
  endif()
  if(NOT SKBUILD)
    heddle_link_package(${CMAKE_BINARY_DIR}/python)
  endif()
endfunction()
