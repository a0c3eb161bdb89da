// OpenBLAS, with the LAPACK that is inside of it: opened when it is first asked for.
#pragma once

namespace heddle {

class OpenBlas {
 public:
  static const OpenBlas& get();

  // Whether it was found.
  explicit operator bool() const { return handle_ != nullptr; }
  // An address, or null: "cblas_sgemm", "spotrf_".
  void* symbol(const char* name) const;

  template <typename Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

 private:
  OpenBlas();

  void* handle_ = nullptr;
};

}  // namespace heddle
