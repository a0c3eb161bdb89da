# The part of `make tsan` that `make test` runs: tests of what has threads, built in the folder of its preset.
# The part of `make asan` is the fuzzers, which have address and undefined behaviour sanitizers.
add_custom_target(sanitized_tests)  # of the preset that is being built
if(HEDDLE_SANITIZE MATCHES "thread")
  set(sources "")
  foreach(what IN ITEMS log thread_pool trace watched)
    list(APPEND sources unit/base_${what}.cpp)
  endforeach()
  heddle_test(NAME threads_of_base SOURCES ${sources} LIBS heddle_base LABELS unit WHOLE)
  add_dependencies(sanitized_tests threads_of_base)
elseif(NOT HEDDLE_SANITIZE AND NOT HEDDLE_FUZZ)
  add_test(NAME tsan.threads_of_base COMMAND sh -c "[ -x \"$0\" ] || exit 77; exec \"$0\""
    ${CMAKE_SOURCE_DIR}/build/tsan/tests/threads_of_base)
  set_tests_properties(tsan.threads_of_base PROPERTIES LABELS tsan SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
