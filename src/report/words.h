// Words of reports.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::report {

std::string bytes_text(std::int64_t bytes);  // "64.0 MB"

// At most `columns` of a name, whose end says more than its beginning: ...[0]['qkv_b'].
std::string end_of(const std::string& name, std::size_t columns);

// Breaks a text between words; lines after the first are indented. A number such as 1 024 is one
// word.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

}  // namespace heddle::report
