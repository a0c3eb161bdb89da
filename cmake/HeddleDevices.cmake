# LLVM, where there is one: HEDDLE_LLVM_LIBRARIES is what the device library links to. Without it a
# stub takes the place of the compiler.
set(HEDDLE_LLVM_LIBRARIES "")
if(NOT HEDDLE_LLVM STREQUAL "OFF")
  find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19)
  if(HEDDLE_LLVM STREQUAL "ON" AND NOT LLVM_FOUND)
    message(FATAL_ERROR "HEDDLE_LLVM is ON, but LLVM 19 was not found: install llvm-19-dev, or name "
      "its cmake folder with -DLLVM_DIR=...")
  endif()
endif()
set(jit ${CMAKE_SOURCE_DIR}/src/device/cpu)
# Headers of LLVM are for one file only.
set_source_files_properties(${jit}/jit_llvm.cpp PROPERTIES HEDDLE_ALONE ON)
if(LLVM_FOUND AND NOT HEDDLE_LLVM STREQUAL "OFF")
  message(STATUS "Kernels are compiled with LLVM ${LLVM_PACKAGE_VERSION}")
  add_library(heddle_llvm INTERFACE)
  target_include_directories(heddle_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  if(HEDDLE_LLVM_STATIC)
    # The archives alone: LLVM's own targets would drag in all that it was built with.
    execute_process(
      COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles
              native orcjit asmparser passes
      OUTPUT_VARIABLE archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(archives)
    find_library(HEDDLE_ZLIB NAMES z REQUIRED)
    find_library(HEDDLE_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
    target_link_libraries(heddle_llvm INTERFACE ${archives} ${HEDDLE_ZLIB} ${HEDDLE_ZSTD}
      Threads::Threads ${CMAKE_DL_LIBS})
  else()
    # Only the name, for the same reason.
    find_library(HEDDLE_LLVM_LIBRARY NAMES LLVM-19 LLVM HINTS ${LLVM_LIBRARY_DIR} REQUIRED
      NO_DEFAULT_PATH)
    target_link_libraries(heddle_llvm INTERFACE ${HEDDLE_LLVM_LIBRARY})
  endif()
  set(HEDDLE_LLVM_LIBRARIES heddle_llvm)
  set_source_files_properties(${jit}/jit_none.cpp PROPERTIES HEADER_FILE_ONLY ON)
else()
  message(STATUS "LLVM 19 was not found or is not wanted: kernels are not compiled")
  set_source_files_properties(${jit}/jit_llvm.cpp PROPERTIES HEADER_FILE_ONLY ON)
endif()
