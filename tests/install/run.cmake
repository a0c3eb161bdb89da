# cmake -DBUILD=<build tree> -DSOURCE=<source tree> -DCOMPILER=<c++> -DGENERATOR=<name> -DSANITIZE=<list or nothing> -P this
cmake_minimum_required(VERSION 3.25)
set(prefix ${BUILD}/tests/install/prefix)
set(example ${BUILD}/tests/install/example)
file(REMOVE_RECURSE ${prefix} ${example})

# Runs a command and gives what it wrote; anything but success ends the test.
function(run RESULT)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${text}${errors}ended with ${status}")
  endif()
  set(${RESULT} "${text}" PARENT_SCOPE)
endfunction()

run(log ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# What is linked to a library under a sanitizer has to be under it too.
set(sanitized "")
if(SANITIZE)
  set(sanitized -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
# Headers of the source tree must not be found by chance.
run(log ${CMAKE_COMMAND} -S ${SOURCE}/examples/cpp -B ${example} -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} ${sanitized})
file(STRINGS ${prefix}/lib/cmake/heddle/heddleTargets.cmake leaks REGEX "${SOURCE}")
if(leaks)
  message(FATAL_ERROR "the package names the source tree: ${leaks}")
endif()
run(log ${CMAKE_COMMAND} --build ${example})

run(text ${example}/three_steps ${SOURCE}/examples/fit/step.mlir)
foreach(wanted IN ITEMS
    "argument 1: tensor<256x32xf32>, tensor<128x16xf32> each"
    "step 1: loss [0-9.]+\nstep 2: loss [0-9.]+\nstep 3: loss [0-9.]+\n"
    "weights: tensor<32x8xf32>")
  if(NOT text MATCHES "${wanted}")
    message(FATAL_ERROR "three_steps wrote\n${text}without ${wanted}")
  endif()
endforeach()

# The tool that was installed finds the same losses on one device.
run(report ${prefix}/bin/heddle run ${SOURCE}/examples/fit/step.mlir --input random:1 --steps 3 --json)
foreach(step RANGE 2)
  string(JSON loss GET "${report}" functions 0 steps_run history ${step} loss)
  string(REGEX MATCH "^[0-9]+\\.[0-9]?[0-9]?" start ${loss})
  math(EXPR number "${step} + 1")
  if(NOT text MATCHES "step ${number}: loss ${start}")
    message(FATAL_ERROR "step ${number}: heddle run has loss ${loss}, and three_steps wrote\n${text}")
  endif()
endforeach()

# The page about it shows the same code.
file(READ ${SOURCE}/docs/cpp.md page)
file(READ ${SOURCE}/examples/cpp/three_steps.cpp code)
string(FIND "${page}" "${code}" at)
if(at LESS 0)
  message(FATAL_ERROR "docs/cpp.md does not show examples/cpp/three_steps.cpp as it is")
endif()
