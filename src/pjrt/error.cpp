#include "pjrt/error.h"

#include <new>

namespace heddle::pjrt {

namespace {

void delete_error(Error* error) { delete error; }

void message(const Error* error, const char** text, std::size_t* size) {
  *text = error->status.message.data();
  *size = error->status.message.size();
}

Code code(const Error* error) { return error->status.code; }

void without_payload(const Error*, void*, void*) {}

constexpr ErrorTable kTable = {
    sizeof(ErrorTable), sizeof(Error), nullptr, delete_error, message, code, without_payload};

}  // namespace

Error* Status::release() const {
  if (ok()) return nullptr;
  return std::make_unique<Error>(Error{&kTable, *this}).release();
}

Status current_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.status();
  } catch (const heddle::Error& error) {
    return {Code::invalid_argument, error.what()};
  } catch (const std::bad_alloc&) {
    return {Code::resource_exhausted, "there is not enough memory"};
  } catch (const std::exception& error) {
    return {Code::internal, error.what()};
  } catch (...) {
    return {Code::internal, "an unknown exception"};
  }
}

}  // namespace heddle::pjrt
