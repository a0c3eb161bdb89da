// Errors. A user's mistake is an `Error`; a broken invariant of ours is an `InternalError`.
// Functions that can say no return `Expected<T>`: a value, or a `Reason` in words.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <variant>

namespace heddle {

// A user's mistake: says where, what came in, what was expected and what to do.
class Error : public std::exception {
 public:
  explicit Error(std::string message, std::source_location raised = std::source_location::current())
      : message_(std::move(message)), raised_(raised) {}
  const char* what() const noexcept override { return message_.c_str(); }
  // The line of Heddle that raised it, for our own debugging.
  const std::source_location& raised() const noexcept { return raised_; }

 private:
  std::string message_;
  std::source_location raised_;
};

// A broken invariant of Heddle's own: never the user's fault, and the message says so.
class InternalError : public std::exception {
 public:
  InternalError(std::string_view condition, std::string_view detail,
                std::source_location raised = std::source_location::current());
  const char* what() const noexcept override { return message_.c_str(); }
  const std::source_location& raised() const noexcept { return raised_; }

 private:
  std::string message_;
  std::source_location raised_;
};

// Why an operation said no, in words that a user can act on.
struct Reason {
  std::string text;
};

template <typename... Args>
Reason reason(fmt::format_string<Args...> format, Args&&... args) {
  return Reason{fmt::format(format, std::forward<Args>(args)...)};
}

// A value, or the reason why there is none. Not a variant: a compiler takes several times as long
// for its tables of moves and destructors, in every batch of sources for every T.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Reason why) : why_(std::move(why)) {}

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  // The value; asking a `no` for its value throws its reason as an Error.
  const T& value(std::source_location at = std::source_location::current()) const& {
    if (!ok()) throw Error(why_.text, at);
    return *value_;
  }
  T value(std::source_location at = std::source_location::current()) && {
    if (!ok()) throw Error(why_.text, at);
    return *std::move(value_);
  }
  // A `no` here is a defect of ours, and throws.
  const T& operator*() const& { return value_.value(); }
  T& operator*() & { return value_.value(); }
  T&& operator*() && { return std::move(value_).value(); }
  const T* operator->() const { return &value_.value(); }
  T* operator->() { return &value_.value(); }

  // Only where !ok().
  const Reason& why() const { return why_; }
  const std::string& reason() const { return why_.text; }

 private:
  std::optional<T> value_;
  Reason why_;
};

// A `yes`, or the reason for a no.
using Verdict = Expected<std::monostate>;
inline Verdict yes() { return std::monostate{}; }

}  // namespace heddle

// An invariant of ours. Throws InternalError, never aborts.
#define HEDDLE_CHECK(condition, ...)                                            \
  do {                                                                          \
    if (!(condition)) [[unlikely]]                                              \
      throw ::heddle::InternalError(#condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

// Returns the reason from the enclosing function when `expression` says no.
#define HEDDLE_CONCAT_(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_(a, b)
#define HEDDLE_TRY(declaration, expression)                                                 \
  auto HEDDLE_CONCAT(expected_, __LINE__) = (expression);                                   \
  if (!HEDDLE_CONCAT(expected_, __LINE__)) return HEDDLE_CONCAT(expected_, __LINE__).why(); \
  declaration = *std::move(HEDDLE_CONCAT(expected_, __LINE__))
#define HEDDLE_TRY_VOID(expression) \
  if (auto verdict_ = (expression); !verdict_) return verdict_.why()
