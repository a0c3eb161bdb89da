#include "pjrt/table.h"

#include <array>

#include "pjrt/entries.h"
#include "pjrt/error.h"

namespace heddle::pjrt {

namespace {

constexpr std::array kNames = {
#define HEDDLE_PJRT_ENTRY(name) #name,
    HEDDLE_PJRT_ENTRIES(HEDDLE_PJRT_ENTRY)
#undef HEDDLE_PJRT_ENTRY
};

template <int Id>
Error* not_there(Args*) {
  return Status{Code::unimplemented, fmt::format("Heddle has no PJRT_{}", kNames[Id])}.release();
}

template <int... Ids>
void fill(Table& table, std::integer_sequence<int, Ids...>) {
  (set_entry(table, static_cast<EntryId>(Ids), not_there<Ids>), ...);
}

// Callers ask these only where they are there, and take an error for a defect.
constexpr std::array kLeftOut = {EntryId::Device_GetAttributes, EntryId::Client_Load,
                                 EntryId::Buffer_Bitcast,
                                 EntryId::TopologyDescription_MakeCanonicalShapeForMemorySpace,
                                 EntryId::TopologyDescription_GetMemorySpaceKindIds};

Table make_table() {
  Table table = {};
  table.struct_size = sizeof(Table);
  table.version.struct_size = sizeof(Table::Version);
  table.version.major = kMajorVersion;
  table.version.minor = kMinorVersion;
  table.extensions = ffi_extension(shardings_extension(layouts_extension(nullptr)));
  fill(table, std::make_integer_sequence<int, static_cast<int>(EntryId::count)>());
  for (EntryId id : kLeftOut) table.entries[static_cast<int>(id)] = nullptr;
  set_event_entries(table);
  set_client_entries(table);
  set_buffer_entries(table);
  set_executable_entries(table);
  return table;
}

}  // namespace

const Table* table() {
  static const Table made = make_table();
  return &made;
}

}  // namespace heddle::pjrt

const heddle::pjrt::Table* GetPjrtApi() { return heddle::pjrt::table(); }
