# One static library per folder of src/, and the rule that a folder includes only from those above.

# heddle_library(NAME <folder> [PUBLIC_HEADERS a.h ...] [DEPENDS <folder> ...] [LINKS <target> ...]
#                [DEFINES <macro=value> ...])
# makes heddle::<folder> from src/<folder>, and from src/<folder>.cpp and .h where these are there. A
# folder without sources is skipped. A folder in another one is a library of its own where it is in
# HEDDLE_FOLDERS: src/device/cpu is heddle::device_cpu.
function(heddle_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "PUBLIC_HEADERS;DEPENDS;LINKS;DEFINES")
  string(REPLACE "/" "_" target heddle_${arg_NAME})
  list(FIND HEDDLE_FOLDERS ${arg_NAME} place)
  if(place LESS 0)
    message(FATAL_ERROR "src/${arg_NAME} is not in HEDDLE_FOLDERS: add it at its place")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    list(FIND HEDDLE_FOLDERS ${dependency} above)
    if(above LESS 0 OR NOT above LESS place)
      message(FATAL_ERROR "${arg_NAME} may not depend on ${dependency}: it is not above it")
    endif()
  endforeach()
  foreach(header IN LISTS arg_PUBLIC_HEADERS)
    set_property(GLOBAL APPEND PROPERTY HEDDLE_OWNERS "${header}=${arg_NAME}")
  endforeach()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${arg_NAME}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${arg_NAME}/*.h)
  foreach(inner IN LISTS HEDDLE_FOLDERS)
    if(inner MATCHES "^${arg_NAME}/")
      list(FILTER sources EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/src/${inner}/")
      list(FILTER headers EXCLUDE REGEX "^${CMAKE_SOURCE_DIR}/src/${inner}/")
    endif()
  endforeach()
  file(GLOB alone CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${arg_NAME}.cpp)
  list(APPEND sources ${alone})
  file(GLOB alone CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${arg_NAME}.h)
  list(APPEND headers ${alone})
  file(GLOB public_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/heddle/*.h)
  list(TRANSFORM arg_PUBLIC_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/include/heddle/)
  foreach(header IN LISTS public_headers)
    if(header IN_LIST arg_PUBLIC_HEADERS)
      list(APPEND headers ${header})
    endif()
  endforeach()
  if(NOT sources)
    message(STATUS "src/${arg_NAME} has no sources yet: skipped")
    return()
  endif()

  if(HEDDLE_BUILT)
    heddle_built_library(${target} "${arg_LINKS}" "${arg_DEPENDS}")
    return()
  endif()
  add_library(${target} STATIC ${sources} ${headers})
  string(REPLACE "heddle_" "heddle::" alias ${target})
  add_library(${alias} ALIAS ${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # Who uses an installed Heddle sees public headers only.
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINKS})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${target} PUBLIC heddle_${dependency})
  endforeach()
  if(arg_NAME MATCHES "^(base|layout|parallel/solver)$")
    heddle_pch(${target} base)
  else()
    heddle_pch(${target} ir)
  endif()
  # Words and tables, what each program passes once, and the host beside its kernels: compiling, planning and a
  # run of one step take as long as before (docs/benchmarks.md). Of other libraries some folders.
  if(arg_NAME MATCHES "^(frontend|spmd|stitch|device|comm|runtime)$")
    heddle_hardly_optimised(${target})
  elseif(arg_NAME MATCHES "^(schedule|kernel|device/cuda|compile|report)$")
    heddle_least_optimised(${target})
  endif()
  set_target_properties(${target} PROPERTIES HEDDLE_HARDLY_OPTIMISED "eval;lapack;parallel;pipeline;probe")
  if(arg_NAME STREQUAL "report")  # among the last to be compiled: for two cores
    heddle_batches(${target} 12)
  else()
    heddle_batches(${target} 24)
  endif()
  heddle_check_layering(${target} ${arg_NAME} ${sources} ${headers})
  set_property(GLOBAL APPEND PROPERTY HEDDLE_LIBRARIES ${target})
endfunction()

# The same from another build folder, HEDDLE_BUILT, where it has been compiled: a wheel for one more
# Python needs nothing but its module.
function(heddle_built_library TARGET LINKS DEPENDS)
  add_library(${TARGET} STATIC IMPORTED GLOBAL)
  set_target_properties(${TARGET} PROPERTIES IMPORTED_LOCATION ${HEDDLE_BUILT}/lib${TARGET}.a)
  target_include_directories(${TARGET} INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  target_compile_features(${TARGET} INTERFACE cxx_std_20)
  list(TRANSFORM DEPENDS REPLACE "/" "_")
  list(TRANSFORM DEPENDS PREPEND heddle_)
  target_link_libraries(${TARGET} INTERFACE ${LINKS} ${DEPENDS})
  set_property(GLOBAL APPEND PROPERTY HEDDLE_LIBRARIES ${TARGET})
endfunction()

# Checks the includes of one folder before any of it is compiled.
function(heddle_check_layering TARGET FOLDER)
  set(directory ${CMAKE_BINARY_DIR}/layering)
  set(script ${CMAKE_SOURCE_DIR}/cmake/check_layering.cmake)
  list(JOIN ARGN "\n" files)
  file(CONFIGURE OUTPUT ${directory}/${TARGET}.files CONTENT "@files@\n" @ONLY)
  add_custom_command(OUTPUT ${directory}/${TARGET}.stamp
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${FOLDER} -DROOT=${CMAKE_SOURCE_DIR}
      -DTABLE=${directory}/table.cmake -DFILES=${directory}/${TARGET}.files -P ${script}
    COMMAND ${CMAKE_COMMAND} -E touch ${directory}/${TARGET}.stamp
    DEPENDS ${ARGN} ${script} ${directory}/table.cmake ${directory}/${TARGET}.files
    COMMENT "Checking the includes of ${FOLDER}" VERBATIM)
  add_custom_target(${TARGET}_layering DEPENDS ${directory}/${TARGET}.stamp)
  add_dependencies(${TARGET} ${TARGET}_layering)
endfunction()

# Called once after the last library: writes who owns which public header; sets HEDDLE_LIBRARIES.
function(heddle_finish_libraries)
  get_property(OWNERS GLOBAL PROPERTY HEDDLE_OWNERS)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/layering/table.cmake @ONLY
    CONTENT "set(ORDER \"@HEDDLE_FOLDERS@\")\nset(OWNERS \"@OWNERS@\")\n")
  get_property(libraries GLOBAL PROPERTY HEDDLE_LIBRARIES)
  set(HEDDLE_LIBRARIES ${libraries} PARENT_SCOPE)
endfunction()
