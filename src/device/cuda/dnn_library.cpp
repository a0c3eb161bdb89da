#include "device/cuda/dnn_library.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

Expected<const Dnn*> dnn_library() {
  return functions_of<Dnn>(CudaLibrary::dnn, [](FunctionLookup& find, Dnn& d) {
    find(d.create, "cudnnCreate");
    find(d.set_stream, "cudnnSetStream");
    find(d.version, "cudnnGetVersion");
    find(d.error, "cudnnGetErrorString");
    find(d.create_descriptor, "cudnnBackendCreateDescriptor");
    find(d.destroy_descriptor, "cudnnBackendDestroyDescriptor");
    find(d.finalize, "cudnnBackendFinalize");
    find(d.set, "cudnnBackendSetAttribute");
    find(d.get, "cudnnBackendGetAttribute");
    find(d.execute, "cudnnBackendExecute");
  });
}

Expected<std::string> find_dnn() {
  HEDDLE_TRY(const Dnn* dnn, dnn_library());
  const std::size_t version = dnn->version();
  return fmt::format("{} (cuDNN {}.{}.{})", dnn->path, version / 10000, version / 100 % 100,
                     version % 100);
}

}  // namespace heddle::cuda
