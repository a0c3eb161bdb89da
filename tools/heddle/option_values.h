// Values of options, and what the library says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/error.h"

namespace heddle::cli {

// For Option::check.
std::string wrong_size(const std::string& text);
std::string wrong_tolerance(const std::string& text);

// Of 16GB; nothing where nothing is said.
std::optional<std::int64_t> bytes_of_option(const std::string& text);

// The library does not know how its options are typed: a reason that begins with the name of one,
// "shard arg0=x: ...", becomes "--shard arg0=x: ...", and `steps` inside of it --steps.
std::string as_option(std::string reason);

template <typename T>
T of_option(Expected<T> expected) {
  if (!expected) throw Error(as_option(expected.reason()));
  return *std::move(expected);
}
// The same for work that throws.
template <typename Work>
auto with_option_names(Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(as_option(error.what()));
  }
}

}  // namespace heddle::cli
