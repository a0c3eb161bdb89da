#include "device/cuda/blas_library.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

namespace {

Expected<Blas> load_blas() {
  HEDDLE_TRY(const SharedLibrary library,
             SharedLibrary::open("cuBLASLt", cuda_library_candidates("libcublasLt.so", {13, 12})));
  Blas b;
  FunctionLookup find(library);
  find(b.create, "cublasLtCreate");
  find(b.version, "cublasLtGetVersion");
  find(b.create_product, "cublasLtMatmulDescCreate");
  find(b.set_product, "cublasLtMatmulDescSetAttribute");
  find(b.destroy_product, "cublasLtMatmulDescDestroy");
  find(b.create_matrix, "cublasLtMatrixLayoutCreate");
  find(b.set_matrix, "cublasLtMatrixLayoutSetAttribute");
  find(b.destroy_matrix, "cublasLtMatrixLayoutDestroy");
  find(b.create_wish, "cublasLtMatmulPreferenceCreate");
  find(b.set_wish, "cublasLtMatmulPreferenceSetAttribute");
  find(b.destroy_wish, "cublasLtMatmulPreferenceDestroy");
  find(b.ways, "cublasLtMatmulAlgoGetHeuristic");
  find(b.multiply, "cublasLtMatmul");
  b.path = library.path();
  if (!find.found_all()) return reason("{} is too old: CUDA 12 or later is needed", b.path);
  return b;
}

}  // namespace

Expected<const Blas*> blas_library() {
  static const Expected<Blas> loaded = load_blas();
  if (!loaded) return loaded.why();
  return &*loaded;
}

}  // namespace heddle::cuda
