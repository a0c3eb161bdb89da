#include "device/cpu/onednn.h"

#include <dlfcn.h>

#include <array>

#include "heddle/error.h"
#include "heddle/log.h"

namespace heddle::cpu::dnn {

namespace {

// The part of the C interface that is used. Enums are ints, and all objects are pointers; a
// description of memory is one since version 3, and was a structure before.
using Handle = void*;
using Md = const void*;
constexpr int kDone = 0, kCpu = 1, kDefaultStream = 1, kAnyTag = 1, kUserScratch = 1;
constexpr int kForwardTraining = 64, kDirect = 1, kSequential = 1, kOpenMp = 2;
constexpr int kQueryName = 8, kQueryWeights = 131, kQueryWeightGradient = 132, kQueryScratch = 136;
constexpr int kX = 1, kY = 17, kW = 33, kScratch = 80, kGradientX = 129, kGradientY = 145,
              kGradientW = 161;
constexpr std::size_t kMostDims = 12;
// Of structures of version 2, whose sizes are 696 and up to 5,976 bytes.
using OldMd = std::array<std::int64_t, 256>;
using OldOp = std::array<std::int64_t, 2048>;

struct Argument {
  int what;
  Handle memory;
};

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};

using Sizes = std::int64_t[kMostDims];

struct Library {
  const Version* (*version)() = nullptr;
  int (*engine_create)(Handle*, int, std::size_t) = nullptr;
  int (*stream_create)(Handle*, Handle, unsigned) = nullptr;
  int (*stream_destroy)(Handle) = nullptr;
  int (*attr_create)(Handle*) = nullptr;
  int (*attr_scratchpad)(Handle, int) = nullptr;
  int (*memory_create)(Handle*, Md, Handle, void*) = nullptr;
  int (*memory_destroy)(Handle) = nullptr;
  std::size_t (*md_bytes)(Md) = nullptr;
  Md (*query_md)(const void*, int, int) = nullptr;
  int (*query)(const void*, int, int, void*) = nullptr;
  int (*primitive_create)(Handle*, const void*) = nullptr;
  int (*primitive_destroy)(Handle) = nullptr;
  int (*description_destroy)(Handle) = nullptr;
  int (*execute)(const void*, Handle, int, const Argument*) = nullptr;
  int (*reorder)(Handle*, Md, Handle, Md, Handle, Handle) = nullptr;

  // Version 3.
  int (*md_strided)(Handle*, int, const std::int64_t*, int, const std::int64_t*) = nullptr;
  int (*md_tag)(Handle*, int, const std::int64_t*, int, int) = nullptr;
  int (*md_destroy)(Handle) = nullptr;
  using Window4 = const std::int64_t*;
  int (*forward)(Handle*, Handle, int, int, Md, Md, Md, Md, Window4, Window4, Window4, Window4,
                 Handle) = nullptr;
  int (*data_gradient)(Handle*, Handle, int, Md, Md, Md, Window4, Window4, Window4, Window4, Handle,
                       Handle) = nullptr;
  int (*weight_gradient)(Handle*, Handle, int, Md, Md, Md, Md, Window4, Window4, Window4, Window4,
                         Handle, Handle) = nullptr;
  int (*product)(Handle*, Handle, Md, Md, Md, Md, Handle) = nullptr;

  // Version 2.
  int (*old_md_strided)(void*, int, const std::int64_t*, int, const std::int64_t*) = nullptr;
  int (*old_md_tag)(void*, int, const std::int64_t*, int, int) = nullptr;
  int (*old_forward)(void*, int, int, Md, Md, Md, Md, Window4, Window4, Window4, Window4) = nullptr;
  int (*old_data_gradient)(void*, int, Md, Md, Md, Window4, Window4, Window4, Window4) = nullptr;
  int (*old_weight_gradient)(void*, int, Md, Md, Md, Md, Window4, Window4, Window4,
                             Window4) = nullptr;
  int (*old_product)(void*, Md, Md, Md, Md) = nullptr;
  int (*old_create)(Handle*, const void*, Handle, Handle, Handle) = nullptr;

  // OpenMP's, of the calling thread.
  void (*set_threads)(int) = nullptr;
  int (*threads)() = nullptr;

  Handle engine = nullptr, attributes = nullptr;
  bool is_new = false, is_there = false;

  static const Library& get() {
    static const Library library;
    return library;
  }

  Library() {
    for (const char* name : {"libdnnl.so.3", "libdnnl.so.2"}) {
      handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr && open()) {
        is_there = true;
        return;
      }
    }
    log(kLogSteps, "oneDNN was not found: convolutions are matrix products");
  }

  // Streams know nothing of their threads, but no two may share one.
  Handle stream() const {
    thread_local Stream own;
    if (own.handle == nullptr) check(stream_create(&own.handle, engine, kDefaultStream));
    return own.handle;
  }

  static void check(int status) {
    if (status != kDone) throw Error(fmt::format("oneDNN gave up with status {}", status));
  }

 private:
  // Goes with its thread.
  struct Stream {
    Handle handle = nullptr;
    Stream() = default;
    ~Stream() {
      if (handle != nullptr) get().stream_destroy(handle);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
  };

  template <typename Function>
  bool find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
    return function != nullptr;
  }

  bool open() {
    if (!find("dnnl_version", version)) return false;
    is_new = version()->major >= 3;
    const unsigned runtime = version()->cpu_runtime;
    // Its own threads are for nobody; of other runtimes it is not known how to do without.
    if (runtime == kOpenMp) {
      if (!find("omp_set_num_threads", set_threads) || !find("omp_get_max_threads", threads))
        return false;
    } else if (runtime != kSequential) {
      return false;
    }
    return find_common() && (is_new ? find_new() : find_old()) &&
           engine_create(&engine, kCpu, 0) == kDone && attr_create(&attributes) == kDone &&
           attr_scratchpad(attributes, kUserScratch) == kDone;
  }

  bool find_common() {
    return find("dnnl_engine_create", engine_create) && find("dnnl_stream_create", stream_create) &&
           find("dnnl_stream_destroy", stream_destroy) &&
           find("dnnl_primitive_attr_create", attr_create) &&
           find("dnnl_primitive_attr_set_scratchpad_mode", attr_scratchpad) &&
           find("dnnl_memory_create", memory_create) &&
           find("dnnl_memory_destroy", memory_destroy) &&
           find("dnnl_memory_desc_get_size", md_bytes) &&
           find("dnnl_primitive_desc_query_md", query_md) &&
           find("dnnl_primitive_desc_query", query) &&
           find("dnnl_primitive_create", primitive_create) &&
           find("dnnl_primitive_destroy", primitive_destroy) &&
           find("dnnl_primitive_desc_destroy", description_destroy) &&
           find("dnnl_primitive_execute", execute) &&
           find("dnnl_reorder_primitive_desc_create", reorder);
  }
  bool find_new() {
    return find("dnnl_memory_desc_create_with_strides", md_strided) &&
           find("dnnl_memory_desc_create_with_tag", md_tag) &&
           find("dnnl_memory_desc_destroy", md_destroy) &&
           find("dnnl_convolution_forward_primitive_desc_create", forward) &&
           find("dnnl_convolution_backward_data_primitive_desc_create", data_gradient) &&
           find("dnnl_convolution_backward_weights_primitive_desc_create", weight_gradient) &&
           find("dnnl_matmul_primitive_desc_create", product);
  }
  bool find_old() {
    return find("dnnl_memory_desc_init_by_strides", old_md_strided) &&
           find("dnnl_memory_desc_init_by_tag", old_md_tag) &&
           find("dnnl_dilated_convolution_forward_desc_init", old_forward) &&
           find("dnnl_dilated_convolution_backward_data_desc_init", old_data_gradient) &&
           find("dnnl_dilated_convolution_backward_weights_desc_init", old_weight_gradient) &&
           find("dnnl_matmul_desc_init", old_product) &&
           find("dnnl_primitive_desc_create", old_create);
  }

  void* handle_ = nullptr;
};

// Keeps OpenMP to this thread for a while, and leaves the thread as it was.
class Alone {
 public:
  Alone() : library_(Library::get()) {
    if (library_.set_threads == nullptr) return;
    before_ = library_.threads();
    if (before_ != 1) library_.set_threads(1);
  }
  ~Alone() {
    if (before_ > 1) library_.set_threads(before_);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const Library& library_;
  int before_ = 1;
};

int type_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 1;
    case DType::bf16:
      return 2;
    case DType::f32:
      return 3;
    case DType::i32:
      return 4;
    case DType::i8:
      return 5;
    case DType::ui8:
      return 6;
    default:
      return 0;
  }
}

struct WindowSizes {
  Sizes stride = {}, dilation = {}, before = {}, behind = {};

  explicit WindowSizes(const Window& window) {
    for (std::size_t s = 0; s < window.stride.size(); ++s) {
      stride[s] = window.stride[s];
      dilation[s] = window.dilation[s] - 1;
      before[s] = window.padding[s];
      behind[s] = window.padding_behind[s];
    }
  }
};

// Descriptions of a primitive; null where the library has none.
Handle forward_description(const Tensors& of, const WindowSizes& w) {
  const Library& lib = Library::get();
  Handle made = nullptr;
  if (lib.is_new) {
    lib.forward(&made, lib.engine, kForwardTraining, kDirect, of.x.get(), of.w.get(), nullptr,
                of.y.get(), w.stride, w.dilation, w.before, w.behind, lib.attributes);
    return made;
  }
  OldOp op;
  if (lib.old_forward(&op, kForwardTraining, kDirect, of.x.get(), of.w.get(), nullptr, of.y.get(),
                      w.stride, w.dilation, w.before, w.behind) == kDone)
    lib.old_create(&made, &op, lib.attributes, lib.engine, nullptr);
  return made;
}

Handle data_description(const Tensors& of, const WindowSizes& w, Handle hint) {
  const Library& lib = Library::get();
  Handle made = nullptr;
  if (lib.is_new) {
    lib.data_gradient(&made, lib.engine, kDirect, of.x.get(), of.w.get(), of.y.get(), w.stride,
                      w.dilation, w.before, w.behind, hint, lib.attributes);
    return made;
  }
  OldOp op;
  if (lib.old_data_gradient(&op, kDirect, of.x.get(), of.w.get(), of.y.get(), w.stride, w.dilation,
                            w.before, w.behind) == kDone)
    lib.old_create(&made, &op, lib.attributes, lib.engine, hint);
  return made;
}

Handle weight_description(const Tensors& of, const WindowSizes& w, Handle hint) {
  const Library& lib = Library::get();
  Handle made = nullptr;
  if (lib.is_new) {
    lib.weight_gradient(&made, lib.engine, kDirect, of.x.get(), of.w.get(), nullptr, of.y.get(),
                        w.stride, w.dilation, w.before, w.behind, hint, lib.attributes);
    return made;
  }
  OldOp op;
  if (lib.old_weight_gradient(&op, kDirect, of.x.get(), of.w.get(), nullptr, of.y.get(), w.stride,
                              w.dilation, w.before, w.behind) == kDone)
    lib.old_create(&made, &op, lib.attributes, lib.engine, hint);
  return made;
}

bool fits(const Dims& dims) { return !dims.empty() && dims.size() <= kMostDims; }

}  // namespace

bool is_there() { return Library::get().is_there; }
bool has_type(DType dtype) { return is_there() && type_of(dtype) != 0; }

std::optional<Desc> Desc::strided(DType dtype, const Dims& dims, const Dims& strides) {
  const Library& lib = Library::get();
  if (!has_type(dtype) || !fits(dims)) return {};
  const int count = static_cast<int>(dims.size());
  if (lib.is_new) {
    Handle made = nullptr;
    if (lib.md_strided(&made, count, dims.data(), type_of(dtype), strides.data()) != kDone)
      return {};
    return Desc(std::shared_ptr<const void>(made, [](void* md) { Library::get().md_destroy(md); }));
  }
  auto made = std::make_shared<OldMd>();
  if (lib.old_md_strided(made.get(), count, dims.data(), type_of(dtype), strides.data()) != kDone)
    return {};
  return Desc(made);
}

std::optional<Desc> Desc::any(DType dtype, const Dims& dims) {
  const Library& lib = Library::get();
  if (!has_type(dtype) || !fits(dims)) return {};
  const int count = static_cast<int>(dims.size());
  if (lib.is_new) {
    Handle made = nullptr;
    if (lib.md_tag(&made, count, dims.data(), type_of(dtype), kAnyTag) != kDone) return {};
    return Desc(std::shared_ptr<const void>(made, [](void* md) { Library::get().md_destroy(md); }));
  }
  auto made = std::make_shared<OldMd>();
  if (lib.old_md_tag(made.get(), count, dims.data(), type_of(dtype), kAnyTag) != kDone) return {};
  return Desc(made);
}

std::int64_t Desc::bytes() const {
  return static_cast<std::int64_t>(Library::get().md_bytes(held_.get()));
}

Memory::Memory(const Desc& desc, const std::byte* data) {
  const Library& lib = Library::get();
  const Alone alone;
  Library::check(lib.memory_create(&memory_, desc.get(), lib.engine, const_cast<std::byte*>(data)));
}
Memory::~Memory() { Library::get().memory_destroy(memory_); }

std::optional<Primitive> Primitive::made(Kind kind, void* description, const Desc& weights) {
  if (description == nullptr) return {};
  const Library& lib = Library::get();
  Primitive p(kind, weights);
  p.description_ =
      std::shared_ptr<void>(description, [](void* d) { Library::get().description_destroy(d); });
  // Plain loops, and convolutions as products of copies, are no better than what is here.
  const std::string name = p.implementation();
  if (kind != Kind::reorder && name.starts_with("ref")) return {};
  const bool is_product = kind == Kind::product || kind == Kind::reorder;
  if (!is_product && name.starts_with("gemm")) return {};
  // What is asked of a description lives as long as it does.
  const auto part = [&](int what) {
    return std::shared_ptr<const void>(p.description_, lib.query_md(description, what, 0));
  };
  if (kind == Kind::forward || kind == Kind::data_gradient) p.weights_.held_ = part(kQueryWeights);
  if (kind == Kind::weight_gradient) p.weights_.held_ = part(kQueryWeightGradient);
  if (const auto scratch = part(kQueryScratch); scratch != nullptr) p.scratch_ = Desc(scratch);
  void* primitive = nullptr;
  if (lib.primitive_create(&primitive, description) != kDone) return {};
  p.primitive_ =
      std::shared_ptr<void>(primitive, [](void* it) { Library::get().primitive_destroy(it); });
  return p;
}

std::optional<Primitive> Primitive::convolution(Kind kind, const Tensors& of,
                                                const Window& window) {
  if (!is_there() || window.stride.size() > kMostDims) return {};
  const Alone alone;
  const WindowSizes sizes(window);
  Handle forward = forward_description(of, sizes);
  if (kind == Kind::forward || forward == nullptr) return made(kind, forward, of.w);
  Handle description = kind == Kind::data_gradient ? data_description(of, sizes, forward)
                                                   : weight_description(of, sizes, forward);
  Library::get().description_destroy(forward);
  return made(kind, description, of.w);
}

std::optional<Primitive> Primitive::forward(const Tensors& of, const Window& window) {
  return convolution(Kind::forward, of, window);
}
std::optional<Primitive> Primitive::data_gradient(const Tensors& of, const Window& window) {
  return convolution(Kind::data_gradient, of, window);
}
std::optional<Primitive> Primitive::weight_gradient(const Tensors& of, const Window& window) {
  return convolution(Kind::weight_gradient, of, window);
}

std::optional<Primitive> Primitive::product(const Tensors& of) {
  if (!is_there()) return {};
  const Library& lib = Library::get();
  const Alone alone;
  Handle description = nullptr;
  if (lib.is_new) {
    lib.product(&description, lib.engine, of.x.get(), of.w.get(), nullptr, of.y.get(),
                lib.attributes);
  } else {
    OldOp op;
    if (lib.old_product(&op, of.x.get(), of.w.get(), nullptr, of.y.get()) == kDone)
      lib.old_create(&description, &op, lib.attributes, lib.engine, nullptr);
  }
  return made(Kind::product, description, of.w);
}

std::optional<Primitive> Primitive::reorder(const Desc& from, const Desc& to) {
  if (!is_there()) return {};
  const Library& lib = Library::get();
  const Alone alone;
  Handle description = nullptr;
  lib.reorder(&description, from.get(), lib.engine, to.get(), lib.engine, lib.attributes);
  return made(Kind::reorder, description, to);
}

std::string Primitive::implementation() const {
  const char* name = nullptr;
  Library::get().query(description_.get(), kQueryName, 0, static_cast<void*>(&name));
  return name == nullptr ? "" : name;
}

void Primitive::run(const Memory& first, const Memory* second, const Memory& result,
                    std::byte* scratch) const {
  const Library& lib = Library::get();
  std::array<Argument, 4> arguments;
  std::size_t count = 0;
  const auto add = [&](int what, const Memory& memory) {
    arguments[count++] = {what, memory.get()};
  };
  switch (kind_) {
    case Kind::forward:
    case Kind::product:
      add(kX, first), add(kW, *second), add(kY, result);
      break;
    case Kind::data_gradient:
      add(kGradientY, first), add(kW, *second), add(kGradientX, result);
      break;
    case Kind::weight_gradient:
      add(kX, first), add(kGradientY, *second), add(kGradientW, result);
      break;
    case Kind::reorder:
      add(kX, first), add(kY, result);
      break;
  }
  const Alone alone;
  std::optional<Memory> room;
  if (scratch_bytes() > 0) add(kScratch, room.emplace(*scratch_, scratch));
  Library::check(
      lib.execute(primitive_.get(), lib.stream(), static_cast<int>(count), arguments.data()));
}

}  // namespace heddle::cpu::dnn
