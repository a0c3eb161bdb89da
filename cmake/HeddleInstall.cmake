# What `cmake --install` puts where: the tool, the libraries and their public headers, the package for
# find_package(heddle), and the MPI modules beside them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Called once after the last target.
function(heddle_install)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
  # All of Heddle under one name.
  add_library(heddle_heddle INTERFACE)
  add_library(heddle::heddle ALIAS heddle_heddle)
  target_link_libraries(heddle_heddle INTERFACE ${HEDDLE_LIBRARIES})

  set(libraries ${HEDDLE_LIBRARIES} heddle_heddle)
  foreach(library IN LISTS libraries ITEMS heddle_llvm)
    if(TARGET ${library})
      string(REPLACE "heddle_" "" short ${library})
      set_target_properties(${library} PROPERTIES EXPORT_NAME ${short})
    endif()
  endforeach()
  if(TARGET heddle_llvm)
    list(APPEND libraries heddle_llvm)
  endif()
  install(TARGETS ${libraries} EXPORT heddle ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS heddle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN *.h)
  foreach(module IN LISTS HEDDLE_MPI_MODULES)
    install(FILES ${CMAKE_BINARY_DIR}/${module}.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
  endforeach()

  install(EXPORT heddle NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION ${package})
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/heddleConfig.cmake.in
    ${CMAKE_BINARY_DIR}/heddleConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/heddleConfig.cmake ${CMAKE_BINARY_DIR}/heddleConfigVersion.cmake
    DESTINATION ${package})
endfunction()
