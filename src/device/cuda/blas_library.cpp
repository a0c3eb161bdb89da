#include "device/cuda/blas_library.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

Expected<const Blas*> blas_library() {
  return functions_of<Blas>(CudaLibrary::blas, [](FunctionLookup& find, Blas& b) {
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
  });
}

}  // namespace heddle::cuda
