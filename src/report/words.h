// Words of reports.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::report {

std::string bytes_text(std::int64_t bytes);  // "64.0 MB"

// Three digits, of which plans for many devices are compared.
std::string exact_bytes(std::int64_t bytes);
std::string exact_seconds(double seconds);

// At most `columns` of a name, whose end says more than its beginning: ...[0]['qkv_b'].
std::string end_of(const std::string& name, std::size_t columns);

// Without the folders of files in it: "add at f.mlir:3:5" of "add at /a/b/f.mlir:3:5".
std::string without_folders(const std::string& text);

// Breaks a text between words; lines after the first are indented. A number such as 1 024 is one
// word.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent);

// "and no plan takes less than 3 us (gap 2 %)", or what is to be said where there is no bound.
std::string bound_words(std::string_view whose, double bound, double gap, std::string_view none);

}  // namespace heddle::report
