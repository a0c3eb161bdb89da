// One wrong use per test: the library says no, in words that tell what to do.
//
//   WRONG_USE(Suite, Name, expression, "word", "other word")
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "heddle/view.h"

namespace heddle {

// A registry with a mesh, fresh for each use.
struct MeshMachine {
  AxisRegistry axes = AxisRegistry::standard();
  explicit MeshMachine(std::string_view mesh = "node=2,gpu=8,tp=4") {
    (void)Mesh::parse(mesh, axes).value();
  }
  AxisId operator[](std::string_view name) const { return axes.require(name).value(); }
};

template <typename T>
std::string why_not(const Expected<T>& answer) {
  return answer ? "it says yes" : answer.reason();
}

inline Expected<Layout> parsed(std::string_view text) {
  MeshMachine machine;
  return parse_layout(text, machine.axes);
}

// What `heddle layout` does with a text: reads it, then insists on a valid layout.
inline std::string why_not_valid(std::string_view text) {
  MeshMachine machine;
  const auto layout = parse_layout(text, machine.axes);
  return layout ? why_not(validate(*layout, machine.axes))
                : "it does not parse: " + layout.reason();
}

inline Layout layout_of(std::string_view text) { return parsed(text).value(); }

// Fails unless the message has all the words.
inline void expect_words(const std::string& message,
                         std::initializer_list<std::string_view> words) {
  EXPECT_NE(message, "it says yes");
  for (const std::string_view word : words)
    EXPECT_THAT(message, ::testing::HasSubstr(std::string(word)));
}

}  // namespace heddle

#define WRONG_USE(suite, name, expression, ...) \
  TEST(suite, name) { ::heddle::expect_words(::heddle::why_not(expression), {__VA_ARGS__}); }
