# Checks one FILE of fixture/ and compares: it must fail with EXPECTED, or pass where that is empty.
cmake_minimum_required(VERSION 3.25)
set(root ${CMAKE_CURRENT_LIST_DIR}/fixture)
file(WRITE ${SCRATCH}/files "${root}/${FILE}\n")
file(WRITE ${SCRATCH}/table.cmake
  "set(ORDER \"upper;lower;upper/deep;last\")\nset(OWNERS \"upper.h=upper;lower.h=lower\")\n")
execute_process(
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${FOLDER} -DROOT=${root} -DTABLE=${SCRATCH}/table.cmake
    -DFILES=${SCRATCH}/files -P ${SCRIPT}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(EXPECTED STREQUAL "")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "should have passed, but:\n${output}")
  endif()
  return()
endif()
string(FIND "${output}" "${EXPECTED}: a folder may include only from folders above it" place)
if(status EQUAL 0 OR place LESS 0)
  message(FATAL_ERROR "should have failed with\n${EXPECTED}\nstatus ${status}, output:\n${output}")
endif()
