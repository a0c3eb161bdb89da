// A shared library that may or may not be there.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace heddle {

// Opens the first of the names that can be opened. Stays open until the process ends.
class Library {
 public:
  Library(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      handle_ = ::dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
      if (handle_ == nullptr) continue;
      name_ = name;
      break;
    }
  }
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }

  // The function of that name, or null.
  template <typename Function>
  Function* function(const char* name) const {
    if (handle_ == nullptr) return nullptr;
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace heddle
