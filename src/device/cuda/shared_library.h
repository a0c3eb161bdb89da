// A library that is loaded at run time, so that Heddle runs without it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heddle/error.h"

namespace heddle {

class SharedLibrary {
 public:
  // The first of the names or paths that can be loaded; the reason lists what was tried.
  static Expected<SharedLibrary> open(std::string_view what,
                                      const std::vector<std::filesystem::path>& candidates);

  // Looks a function up; false where there is none.
  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }
  const std::string& path() const { return path_; }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* symbol(const char* name) const;

  void* handle_;  // stays loaded: code of it may still run when the program ends
  std::string path_;
};

}  // namespace heddle
