// Errors as JAX gets them, and the way from what Heddle throws or says to them.
#pragma once

#include <memory>
#include <string>

#include "heddle/error.h"
#include "pjrt/c_api.h"

namespace heddle::pjrt {

// Why something failed, to be handed out as often as it is asked for.
struct Status {
  Code code = Code::ok;
  std::string message = {};

  bool ok() const { return code == Code::ok; }
  // A new object that the caller frees; null where all is well.
  Error* release() const;
};

struct Error {
  const ErrorTable* table;
  Status status;
};

// A mistake that ends an entry; anything else that is thrown is told apart by its type.
class Failure : public std::exception {
 public:
  Failure(Code code, std::string message) : status_{code, std::move(message)} {}
  const char* what() const noexcept override { return status_.message.c_str(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Of the exception that is being handled.
Status current_failure();

// Runs an entry; what it throws becomes the error that it returns.
template <typename Body>
Error* guarded(Body body) {
  try {
    body();
    return nullptr;
  } catch (...) {
    return current_failure().release();
  }
}

// The value, or its reason as a Failure.
template <typename T>
T want(Expected<T> value, Code code = Code::invalid_argument) {
  if (!value) throw Failure(code, value.reason());
  return *std::move(value);
}
inline void want(const Verdict& verdict, Code code = Code::invalid_argument) {
  if (!verdict) throw Failure(code, verdict.reason());
}

inline Text text_of(const std::string& text) { return {text.data(), text.size()}; }
inline std::string string_of(Text text) {
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

}  // namespace heddle::pjrt
