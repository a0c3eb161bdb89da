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

// Looks functions up one after the other, and knows whether all of them were there.
class FunctionLookup {
 public:
  explicit FunctionLookup(const SharedLibrary& library) : library_(library) {}
  template <typename Function>
  void operator()(Function*& function, const char* name) {
    found_all_ = library_.find(function, name) && found_all_;
  }
  bool found_all() const { return found_all_; }

 private:
  const SharedLibrary& library_;
  bool found_all_ = true;
};

}  // namespace heddle
