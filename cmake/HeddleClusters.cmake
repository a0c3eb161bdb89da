# The files of clusters/ as a source of the library, so that a name is enough to find one.
function(heddle_cluster_source output)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/clusters/*.json)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file STEM name)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"json(${text})json\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "parallel/shipped_clusters.h"

namespace heddle {

std::span<const ShippedCluster> shipped_clusters() {
  static constexpr ShippedCluster all[] = {
@entries@  };
  return all;
}

}  // namespace heddle
]])
endfunction()
