# The files of src/report/page as a source of the library, so that a page needs nothing beside it.
function(heddle_page_source output)
  foreach(name page.html page.css pipeline.js page.js)
    set(file ${CMAKE_SOURCE_DIR}/src/report/page/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} ${name})
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
#include "report/page_files.h"

namespace heddle::report {

std::string_view page_frame() { return R"page(@page.html@)page"; }
std::string_view page_style() { return R"page(@page.css@)page"; }
std::string_view page_script() { return R"page(@pipeline.js@@page.js@)page"; }

}  // namespace heddle::report
]])
endfunction()
