#include "device/cuda/fft_library.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

Expected<const Fft*> fft_library() {
  return functions_of<Fft>(CudaLibrary::fft, [](FunctionLookup& find, Fft& f) {
    find(f.create, "cufftCreate");
    find(f.destroy, "cufftDestroy");
    find(f.allocate_itself, "cufftSetAutoAllocation");
    find(f.make, "cufftMakePlanMany64");
    find(f.set_workspace, "cufftSetWorkArea");
    find(f.set_stream, "cufftSetStream");
    find(f.complex_f32, "cufftExecC2C");
    find(f.complex_f64, "cufftExecZ2Z");
    find(f.real_f32, "cufftExecR2C");
    find(f.real_f64, "cufftExecD2Z");
  });
}

}  // namespace heddle::cuda
