# Flags for all of Heddle's code.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(heddle_options INTERFACE)
target_compile_options(heddle_options INTERFACE
  -Wall -Wextra $<$<BOOL:${HEDDLE_WERROR}>:-Werror>
  # libstdc++ 12 uses what it calls deprecated, and clang says so wherever std::stable_sort is used.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  # g++ may leave more garbage lie before it looks for it: a tenth less time.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>
  # Messages name files from the root of the source tree, on every machine alike.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

# With sanitizers frames stay visible, and the first finding ends the run.
set(sanitizers ${HEDDLE_SANITIZE})
if(HEDDLE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HEDDLE_FUZZ needs clang: use the preset `fuzz`, or turn HEDDLE_FUZZ off")
  endif()
  set(sanitizers fuzzer-no-link,address,undefined)
  set(unwatched ${CMAKE_SOURCE_DIR}/tests/fuzz/unwatched.txt)
  target_compile_options(heddle_options INTERFACE
    -fsanitize-ignorelist=${unwatched} -fsanitize-coverage-ignorelist=${unwatched})
endif()
if(sanitizers)
  target_compile_options(heddle_options INTERFACE
    -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # g++ warns of bounds inside its own headers, and of counters of loops as of variables that are
    # never set, once a sanitizer has rearranged them.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized>)
  target_link_options(heddle_options INTERFACE -fsanitize=${sanitizers})
  # Checks before every access, a third of the time to compile: an access through null ends a fuzzer
  # anyway, and `make asan` has them all. Before a function clang looks for its type, which compiled
  # kernels do not have.
  if(HEDDLE_FUZZ)
    target_compile_options(heddle_options INTERFACE -fno-sanitize=null,alignment,vptr,function)
  endif()
endif()

# Where it is there, as it is beside g++ on Debian: a program is linked in a third of the time. It warns of
# symbols of sanitizers, and a wheel asks for more than it was tried with.
find_program(HEDDLE_GOLD ld.gold)
mark_as_advanced(HEDDLE_GOLD)
if(HEDDLE_GOLD AND NOT sanitizers AND NOT HEDDLE_PYTHON_BUNDLE)
  add_link_options(-fuse-ld=gold)
endif()

find_program(HEDDLE_CCACHE ccache)
mark_as_advanced(HEDDLE_CCACHE)
if(HEDDLE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the sloppiness, ccache gives up on every file that uses a precompiled header. With paths
  # from the source tree on, what was built in one folder serves in every other. The compiler says which
  # headers it read, so that they need not be read once more to find out.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    ${HEDDLE_CCACHE})
  target_compile_options(heddle_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Compiles the sources of TARGET, folder by folder, in batches of up to SIZE: what headers and templates
# cost is paid once a batch. Sources of one folder may then not define a name twice, not even in unnamed
# namespaces. CMake's own batches name sources by whole paths, so that ccache would know none of another
# folder's; these name them from the root of the tree.
function(heddle_batches TARGET SIZE)
  if(NOT HEDDLE_BATCHES)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  set(kept "")
  set(folders "")
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(header ${source} HEADER_FILE_ONLY)
    get_source_file_property(alone ${source} HEDDLE_ALONE)
    if(NOT source MATCHES "\\.cpp$" OR options OR header OR alone)
      list(APPEND kept ${source})
      continue()
    endif()
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    list(APPEND folders ${folder})
    list(APPEND sources_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  get_target_property(hardly_optimised ${TARGET} HEDDLE_HARDLY_OPTIMISED)
  foreach(folder IN LISTS folders)
    set(batch 0)
    while(sources_${folder})
      list(SUBLIST sources_${folder} 0 ${SIZE} taken)
      list(REMOVE_ITEM sources_${folder} ${taken})
      set(text "")
      foreach(source IN LISTS taken)
        file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
        string(APPEND text "#include \"${name}\"\n")
      endforeach()
      set(file ${CMAKE_BINARY_DIR}/batches/${TARGET}/${folder}_${batch}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND kept ${file})
      if(folder IN_LIST hardly_optimised)
        set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${HEDDLE_HARDLY_OPTIMISED}")
      endif()
      math(EXPR batch "${batch} + 1")
    endwhile()
  endforeach()
  set_property(TARGET ${TARGET} PROPERTY SOURCES ${kept})
  target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR})
  # g++ takes sources in a batch for headers, which should not give types of unnamed namespaces to others.
  target_compile_options(${TARGET} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Of what takes hardly any time when it runs: a fifth to a third less time to compile. g++ from 13 on takes no
# precompiled header of another level. At this level g++ 12 does not see which member of a variant there is.
set(HEDDLE_HARDLY_OPTIMISED "")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(HEDDLE_HARDLY_OPTIMISED $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
# A whole target. Single folders of one are its property HEDDLE_HARDLY_OPTIMISED, before heddle_batches.
function(heddle_hardly_optimised TARGET)
  target_compile_options(${TARGET} PRIVATE ${HEDDLE_HARDLY_OPTIMISED})
endfunction()
# What only reads options and prints: a fifth less again. Without any level g++ takes no precompiled header.
function(heddle_least_optimised TARGET)
  string(REPLACE "-O1" "-Og" options "${HEDDLE_HARDLY_OPTIMISED}")
  target_compile_options(${TARGET} PRIVATE ${options})
endfunction()

# One precompiled header serves all targets of a kind, cmake/pch/heddle_<KIND>.h:
#   base  what needs no program; position independent, as is `ir`
#   ir    what knows programs
#   exe   programs without more: `base` for what is no library
#   test  GoogleTest, hardly optimised; test_run  tests that share templates with what they run
#   property  RapidCheck as well
function(heddle_pch TARGET KIND)
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:heddle_options>)
  if(KIND STREQUAL "exe")
    set(KIND base)
    target_compile_options(${TARGET} PRIVATE -fPIC)
  endif()
  # What takes time in tests is mostly in the library.
  set(optimised "")
  if(KIND STREQUAL "test")
    set(optimised $<$<CONFIG:Release>:-O0>)
  elseif(KIND MATCHES "^(test_run|property)$")
    set(optimised $<$<CONFIG:Release>:-O1>)
  endif()
  target_compile_options(${TARGET} PRIVATE ${optimised})
  if(NOT HEDDLE_PCH)
    return()
  endif()
  if(NOT TARGET heddle_pch_${KIND})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${KIND}.cpp
      CONTENT "// Carries the precompiled header.\n")
    add_library(heddle_pch_${KIND} OBJECT ${CMAKE_BINARY_DIR}/pch/${KIND}.cpp)
    target_link_libraries(heddle_pch_${KIND} PRIVATE heddle_options fmt::fmt Threads::Threads ${ARGN})
    target_compile_options(heddle_pch_${KIND} PRIVATE ${optimised})
    if(KIND MATCHES "^(base|ir)$")
      set_target_properties(heddle_pch_${KIND} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    # By name, not by path: the header that CMake writes is then the same in every folder.
    target_include_directories(heddle_pch_${KIND} PRIVATE
      ${CMAKE_SOURCE_DIR}/cmake/pch ${CMAKE_SOURCE_DIR}/include)
    target_precompile_headers(heddle_pch_${KIND} PRIVATE <heddle_${KIND}.h>)
  endif()
  target_precompile_headers(${TARGET} REUSE_FROM heddle_pch_${KIND})
endfunction()

# What `heddle --version` calls this build.
string(TOLOWER "${CMAKE_BUILD_TYPE}" HEDDLE_BUILD_KIND)
if(HEDDLE_FUZZ)
  set(HEDDLE_BUILD_KIND fuzz)
elseif(HEDDLE_SANITIZE MATCHES "address")
  set(HEDDLE_BUILD_KIND asan)
elseif(HEDDLE_SANITIZE MATCHES "thread")
  set(HEDDLE_BUILD_KIND tsan)
endif()
