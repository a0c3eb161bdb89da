#include <cstring>

#include "pjrt/buffer.h"
#include "pjrt/elements.h"
#include "pjrt/entries.h"

namespace heddle::pjrt {

namespace {

Error* from_host(FromHostArgs* args) {
  return guarded([&] {
    Memory& memory = place_of(args->memory, args->device);
    const EventRef done = new_event();
    args->buffer = new_buffer(memory, value_from_host(memory, *args, done));
    args->done_with_host = handle_of(done);
  });
}

// Somebody else's memory, for as long as the buffer lives.
Error* view(ViewArgs* args) {
  return guarded([&] {
    Memory& memory = place_of(args->memory, args->device);
    const Type type = type_of(args->type, args->dims, args->rank);
    std::shared_ptr<void> owner(args->data,
                                [on_delete = args->on_delete, user = args->user](void* data) {
                                  if (on_delete != nullptr) on_delete(data, user);
                                });
    if (type.bytes() == 0) {
      args->buffer = new_buffer(memory, value_of(memory, Array(type)));
      return;
    }
    auto block = Block::view(static_cast<const std::byte*>(args->data),
                             static_cast<std::size_t>(type.bytes()));
    args->buffer =
        new_buffer(memory, value_of(memory, Array(type, std::move(block)), std::move(owner)));
  });
}

Error* error_buffer(ErrorBufferArgs* args) {
  return guarded([&] {
    Memory& memory = place_of(args->memory, nullptr);
    ValueRef value = new_value(memory, type_of(args->type, args->dims, args->rank), new_event());
    value->ready()->set({args->code, string_of(args->message)});
    args->buffer = new_buffer(memory, std::move(value));
  });
}

Error* uninitialized(UninitializedArgs* args) {
  return guarded([&] {
    Memory& memory = place_of(args->memory, args->device);
    args->buffer =
        new_buffer(memory, value_of(memory, Array(type_of(args->type, args->dims, args->rank))));
  });
}

Error* destroy(BufferArgs* args) {
  delete args->buffer;
  return nullptr;
}

Error* element_type(BufferTypeArgs* args) {
  return guarded([&] { args->type = element_type_of(args->buffer->type); });
}

Error* dimensions(BufferDimsArgs* args) {
  args->dims = args->buffer->type.shape.data();
  args->rank = args->buffer->type.rank();
  return nullptr;
}

Error* dynamic_dimensions(BufferDynamicDimsArgs* args) {
  args->dims = nullptr;
  args->count = 0;
  return nullptr;
}

Error* size(BufferSizeArgs* args) {
  args->bytes = static_cast<std::size_t>(args->buffer->type.bytes());
  return nullptr;
}

Error* device(BufferDeviceArgs* args) {
  args->device = args->buffer->memory->device;
  return nullptr;
}

Error* memory(BufferMemoryArgs* args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

Error* remove(BufferArgs* args) {
  args->buffer->remove();
  return nullptr;
}

Error* is_deleted(BufferBoolArgs* args) {
  args->value = args->buffer->is_deleted();
  return nullptr;
}

Error* is_on_cpu(BufferBoolArgs* args) {
  args->value = args->buffer->memory->in_host_memory();
  return nullptr;
}

// Never waits: it may be called where the work that it would wait for needs the caller.
Error* to_host(ToHostArgs* args) {
  return guarded([&] {
    const ValueRef value = args->buffer->value();
    if (args->to == nullptr) {
      args->size = static_cast<std::size_t>(value->type().bytes());
      return;
    }
    const EventRef done = new_event();
    // The caller's layout lives only during the call.
    std::vector<std::int64_t> order;
    const bool in_order = args->layout == nullptr;
    if (!in_order && args->layout->kind == MemoryLayout::Kind::tiled)
      order.assign(args->layout->tiled.minor_to_major,
                   args->layout->tiled.minor_to_major + args->layout->tiled.rank);
    else if (!in_order)
      order.assign(args->layout->strides.bytes,
                   args->layout->strides.bytes + args->layout->strides.rank);
    MemoryLayout layout = in_order ? MemoryLayout{} : *args->layout;
    value->ready()->then([=, to = args->to, size = args->size](const Status& status) mutable {
      if (!status.ok()) return done->set(status);
      if (!in_order && layout.kind == MemoryLayout::Kind::tiled)
        layout.tiled.minor_to_major = order.data();
      else if (!in_order)
        layout.strides.bytes = order.data();
      try {
        copy_to_host(*value, in_order ? nullptr : &layout, to, size);
        done->set();
      } catch (...) {
        done->set(current_failure());
      }
    });
    args->event = handle_of(done);
  });
}

Error* copy_raw(CopyRawArgs* args) {
  return guarded([&] {
    const ValueRef value = args->buffer->value();
    const std::int64_t bytes = value->type().bytes();
    if (args->offset < 0 || args->size < 0 || args->offset + args->size > bytes)
      throw Failure(Code::invalid_argument,
                    fmt::format("bytes {} to {} of a buffer of {}", args->offset,
                                args->offset + args->size, bytes));
    const EventRef done = new_event();
    value->ready()->then(
        [=, to = args->to, at = args->offset, size = args->size](const Status& status) {
          if (!status.ok()) return done->set(status);
          try {
            value->read(at, {static_cast<std::byte*>(to), static_cast<std::size_t>(size)});
            done->set();
          } catch (...) {
            done->set(current_failure());
          }
        });
    args->event = handle_of(done);
  });
}

Error* copy_to_memory(CopyToMemoryArgs* args) {
  return guarded([&] {
    args->copy = new_buffer(*args->memory, copy_to(*args->memory, *args->buffer));
    args->copy->layout = args->buffer->layout;
  });
}

Error* copy_to_device(CopyToDeviceArgs* args) {
  return guarded([&] {
    Memory& to = place_of(nullptr, args->device);
    args->copy = new_buffer(to, copy_to(to, *args->buffer));
  });
}

Error* ready_event(BufferEventArgs* args) {
  return guarded([&] {
    if (!args->buffer->is_deleted()) {
      args->event = handle_of(args->buffer->value()->ready());
      return;
    }
    const EventRef failed = new_event();
    failed->set({Code::invalid_argument, "the buffer has been deleted or donated"});
    args->event = handle_of(failed);
  });
}

Error* hold(BufferArgs* args) {
  return guarded([&] { args->buffer->hold(); });
}

Error* let_go(BufferArgs* args) {
  return guarded([&] {
    if (!args->buffer->let_go())
      throw Failure(Code::failed_precondition, "nobody holds the buffer's memory");
  });
}

Error* pointer(BufferPointerArgs* args) {
  return guarded([&] {
    const ValueRef value = args->buffer->value();
    if (const Status& status = value->ready()->wait(); !status.ok())
      throw Failure(status.code, status.message);
    args->pointer = args->buffer->address(*value);
  });
}

}  // namespace

void set_buffer_entries(Table& table) {
  set_entry(table, EntryId::Client_BufferFromHostBuffer, from_host);
  set_entry(table, EntryId::Client_CreateViewOfDeviceBuffer, view);
  set_entry(table, EntryId::Client_CreateErrorBuffer, error_buffer);
  set_entry(table, EntryId::Client_CreateUninitializedBuffer, uninitialized);
  set_entry(table, EntryId::Buffer_Destroy, destroy);
  set_entry(table, EntryId::Buffer_ElementType, element_type);
  set_entry(table, EntryId::Buffer_Dimensions, dimensions);
  set_entry(table, EntryId::Buffer_UnpaddedDimensions, dimensions);
  set_entry(table, EntryId::Buffer_DynamicDimensionIndices, dynamic_dimensions);
  set_entry(table, EntryId::Buffer_OnDeviceSizeInBytes, size);
  set_entry(table, EntryId::Buffer_Device, device);
  set_entry(table, EntryId::Buffer_Memory, memory);
  set_entry(table, EntryId::Buffer_Delete, remove);
  set_entry(table, EntryId::Buffer_IsDeleted, is_deleted);
  set_entry(table, EntryId::Buffer_IsOnCpu, is_on_cpu);
  set_entry(table, EntryId::Buffer_ToHostBuffer, to_host);
  set_entry(table, EntryId::Buffer_CopyRawToHost, copy_raw);
  set_entry(table, EntryId::Buffer_CopyToMemory, copy_to_memory);
  set_entry(table, EntryId::Buffer_CopyToDevice, copy_to_device);
  set_entry(table, EntryId::Buffer_ReadyEvent, ready_event);
  set_entry(table, EntryId::Buffer_IncreaseExternalReferenceCount, hold);
  set_entry(table, EntryId::Buffer_DecreaseExternalReferenceCount, let_go);
  set_entry(table, EntryId::Buffer_OpaqueDeviceMemoryDataPointer, pointer);
  set_entry(table, EntryId::Buffer_UnsafePointer, pointer);
}

}  // namespace heddle::pjrt
