// The files of src/report/page, as they stand there.
#pragma once

#include <string_view>

namespace heddle::report {

std::string_view page_frame();   // page.html, with places for the others
std::string_view page_style();   // page.css
std::string_view page_script();  // pipeline.js and page.js

}  // namespace heddle::report
