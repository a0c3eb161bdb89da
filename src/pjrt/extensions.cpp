#include "pjrt/buffer.h"
#include "pjrt/callbacks.h"
#include "pjrt/elements.h"
#include "pjrt/entries.h"
#include "pjrt/executable.h"

namespace heddle::pjrt {

// How an array lies in memory, as text: "{1,0}" is row-major.
struct LayoutHandle {
  std::string text;
};

namespace {

// ---- layouts: row-major, unless the user asked for another

LayoutHandle* new_layout(const std::string& asked, std::size_t rank) {
  LayoutHandle layout{asked.empty() ? row_major_text(rank) : asked};
  return std::make_unique<LayoutHandle>(std::move(layout)).release();
}

Error* layout_destroy(LayoutArgs* args) {
  delete args->layout;
  return nullptr;
}

Error* layout_serialize(LayoutBytesArgs* args) {
  return guarded([&] {
    auto owner = std::make_unique<std::string>(args->layout->text);
    args->bytes.bytes = text_of(*owner);
    args->bytes.owner = owner.release();
    args->bytes.free = [](void* held) { delete static_cast<std::string*>(held); };
  });
}

Error* default_layout(DefaultLayoutArgs* args) {
  return guarded([&] { args->layout = new_layout("", args->rank); });
}

Error* buffer_layout(BufferLayoutHandleArgs* args) {
  return guarded(
      [&] { args->layout = new_layout(args->buffer->layout, args->buffer->type.rank()); });
}

// The caller frees each layout, and the list lives as long as the executable.
template <std::vector<Boundary> Compiled::* Field>
Error* executable_layouts(ExecutableLayoutsArgs* args) {
  return guarded([&] {
    const std::vector<Boundary>& boundaries = (*args->executable->compiled).*Field;
    auto& lists = args->executable->layout_lists;
    std::vector<LayoutHandle*>& list = lists.emplace_back();
    for (const Boundary& b : boundaries) list.push_back(new_layout(b.layout, b.type.rank()));
    args->layouts = list.data();
    args->count = list.size();
  });
}

struct LayoutsExtension : Extension {
  Entry destroy, serialize, client_default, of_buffer, topology_default, of_results, of_arguments;
};

// ---- shardings

template <Compiled::Texts Compiled::* Field>
Error* shardings(ShardingsArgs* args) {
  const Compiled& compiled = *args->executable->compiled;
  const Compiled::Texts& texts = compiled.*Field;
  args->count = texts.data.size();
  args->shardings = compiled.request.count() == 1 ? nullptr : texts.data.data();
  args->sizes = compiled.request.count() == 1 ? nullptr : texts.sizes.data();
  return nullptr;
}

struct ShardingsExtension : Extension {
  Entry of_arguments, of_results;
};

// ---- foreign functions: Python functions that come with a run

// The type under which jaxlib hands over its list of callbacks.
constexpr std::int64_t kCallbacksType = 7357244197867843242;

Error* add_user_data(UserDataArgs* args) {
  if (args->type_id == kCallbacksType)
    args->context->callbacks = static_cast<const CallbackList*>(args->data);
  return nullptr;
}

Error* not_here(Args*) {
  return Status{
      Code::unimplemented,
      "Heddle calls no foreign functions but Python's own (jax.pure_callback and the like)"}
      .release();
}

struct FfiExtension : Extension {
  Entry register_type, add_data, register_handler;
};

template <typename Arguments>
Entry entry(Error* (*function)(Arguments*)) {
  return reinterpret_cast<Entry>(function);
}

}  // namespace

Extension* layouts_extension(Extension* next) {
  static LayoutsExtension extension;
  extension = {{sizeof extension, ExtensionKind::layouts, next},
               entry(layout_destroy),
               entry(layout_serialize),
               entry(default_layout),
               entry(buffer_layout),
               entry(default_layout),
               entry(executable_layouts<&Compiled::results>),
               entry(executable_layouts<&Compiled::arguments>)};
  return &extension;
}

Extension* shardings_extension(Extension* next) {
  static ShardingsExtension extension;
  extension = {{sizeof extension, ExtensionKind::shardings, next},
               entry(shardings<&Compiled::argument_shardings>),
               entry(shardings<&Compiled::result_shardings>)};
  return &extension;
}

Extension* ffi_extension(Extension* next) {
  static FfiExtension extension;
  extension = {{sizeof extension, ExtensionKind::ffi, next},
               entry(not_here),
               entry(add_user_data),
               entry(not_here)};
  return &extension;
}

}  // namespace heddle::pjrt
