#include "device/cuda/dnn_library.h"

#include "device/cuda/libraries.h"

namespace heddle::cuda {

namespace {

Expected<Dnn> load_dnn() {
  HEDDLE_TRY(const SharedLibrary library,
             SharedLibrary::open("cuDNN", cuda_library_candidates("libcudnn.so", {9})));
  Dnn d;
  FunctionLookup find(library);
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
  d.path = library.path();
  if (!find.found_all()) return reason("{} is too old: cuDNN 9 is needed", d.path);
  return d;
}

}  // namespace

Expected<const Dnn*> dnn_library() {
  static const Expected<Dnn> loaded = load_dnn();
  if (!loaded) return loaded.why();
  return &*loaded;
}

Expected<std::string> find_dnn() {
  HEDDLE_TRY(const Dnn* dnn, dnn_library());
  const std::size_t version = dnn->version();
  return fmt::format("{} (cuDNN {}.{}.{})", dnn->path, version / 10000, version / 100 % 100,
                     version % 100);
}

}  // namespace heddle::cuda
