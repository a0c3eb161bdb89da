// The entries of the table, by what they are about.
#pragma once

#include <cstring>

#include "pjrt/c_api.h"

namespace heddle::pjrt {

template <typename Arguments>
void set_entry(Table& table, EntryId id, Error* (*entry)(Arguments*)) {
  table.entries[static_cast<int>(id)] = reinterpret_cast<Entry>(entry);
}

// Callers do not clear what they ask for, and one of another version has more or fewer fields than
// we know: all that it has, from one on, become zero.
inline void clear_from(Args& args, void* first) {
  const auto before =
      static_cast<std::size_t>(static_cast<char*>(first) - reinterpret_cast<char*>(&args));
  if (before < args.struct_size) std::memset(first, 0, args.struct_size - before);
}
// Whether the caller knows a field.
template <typename Field>
bool has_field(const Args& args, const Field& field) {
  const auto* end = reinterpret_cast<const char*>(&field + 1);
  return end <= reinterpret_cast<const char*>(&args) + args.struct_size;
}

void set_event_entries(Table& table);   // errors too
void set_client_entries(Table& table);  // devices, memories, topology
void set_buffer_entries(Table& table);
void set_executable_entries(Table& table);

// Extensions, each followed by the one that it is given.
Extension* layouts_extension(Extension* next);
Extension* shardings_extension(Extension* next);
Extension* ffi_extension(Extension* next);

}  // namespace heddle::pjrt
