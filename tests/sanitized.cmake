# The part of `make asan` and `make tsan` that `make test` runs. Its programs are built in the folders of
# two other presets; the fuzzers' has the library with address and undefined behaviour sanitizers anyway.
set(sanitized_fuzz errors_frontend errors_layout)
set(sanitized_tsan unit_base)
# Programs at a limit of size take a minute there.
set(run_if_built "[ -x \"$0\" ] || exit 77; exec \"$0\" --gtest_filter=-Limit*")

add_custom_target(sanitized_tests)  # of the preset that is being built
if(HEDDLE_FUZZ)
  add_dependencies(sanitized_tests ${sanitized_fuzz})
elseif(HEDDLE_SANITIZE MATCHES "thread")
  add_dependencies(sanitized_tests ${sanitized_tsan})
elseif(NOT HEDDLE_SANITIZE)
  foreach(preset IN ITEMS fuzz tsan)
    string(REPLACE fuzz asan label ${preset})
    foreach(program IN LISTS sanitized_${preset})
      add_test(NAME ${label}.${program} COMMAND
        sh -c "${run_if_built}" ${CMAKE_SOURCE_DIR}/build/${preset}/tests/${program})
      set_tests_properties(${label}.${program} PROPERTIES
        LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 600)
    endforeach()
  endforeach()
endif()
