#include <algorithm>

#include "heddle/hash.h"
#include "pjrt/client.h"
#include "pjrt/entries.h"

namespace heddle::pjrt {

namespace {

// The version of StableHLO that programs are to come in; newer ones of JAX write it too.
const std::vector<std::int64_t> kStablehlo = {1, 13, 0};

const NamedValues& plugin_values() {
  static const NamedValues values = [] {
    NamedValues v;
    v.add("xla_version", std::int64_t{0});
    v.add("stablehlo_current_version", kStablehlo);
    v.add("stablehlo_minimum_version", std::vector<std::int64_t>{0, 9, 0});
    return v;
  }();
  return values;
}

Error* plugin_initialize(Args*) { return nullptr; }

Error* plugin_attributes(PluginAttributesArgs* args) {
  args->attributes = plugin_values().data();
  args->count = plugin_values().size();
  return nullptr;
}

// An option "devices" counts more than the environment.
Error* client_create(ClientCreateArgs* args) {
  return guarded([&] {
    int count = device_count_from_environment();
    for (std::size_t i = 0; i < args->option_count; ++i) {
      const NamedValue& option = args->options[i];
      if (string_of(option.name) == "devices" && option.kind == NamedValue::Kind::int64)
        count = static_cast<int>(std::clamp<std::int64_t>(option.int64, 1, 1024));
    }
    args->client = std::make_unique<Client>(count, device_from_environment()).release();
  });
}

Error* client_destroy(ClientArgs* args) {
  delete args->client;
  return nullptr;
}

Error* client_platform_name(ClientTextArgs* args) {
  args->text = text_of(platform_name());
  return nullptr;
}

Error* client_platform_version(ClientTextArgs* args) {
  args->text = text_of(platform_version());
  return nullptr;
}

Error* client_process_index(ClientIntArgs* args) {
  args->value = 0;
  return nullptr;
}

Error* client_devices(ClientDevicesArgs* args) {
  args->devices = args->client->device_list.data();
  args->count = args->client->device_list.size();
  return nullptr;
}

Error* client_lookup_device(LookupDeviceArgs* args) {
  return guarded([&] {
    const auto& list = args->client->device_list;
    if (args->id < 0 || args->id >= static_cast<int>(list.size()))
      throw Failure(Code::invalid_argument,
                    fmt::format("there is no device {}: there are {}", args->id, list.size()));
    args->device = list[static_cast<std::size_t>(args->id)];
  });
}

Error* client_memories(ClientMemoriesArgs* args) {
  args->memories = args->client->memories.data();
  args->count = args->client->memories.size();
  return nullptr;
}

Error* client_topology(ClientTopologyArgs* args) {
  args->topology = &args->client->topology;
  return nullptr;
}

Error* default_assignment(DefaultAssignmentArgs* args) {
  return guarded([&] {
    const int count = args->replicas * args->partitions;
    if (count > static_cast<int>(args->client->device_list.size()) ||
        static_cast<std::size_t>(count) > args->size)
      throw Failure(
          Code::invalid_argument,
          fmt::format("{} replicas of {} partitions need {} devices, and there are {}",
                      args->replicas, args->partitions, count, args->client->device_list.size()));
    for (int i = 0; i < count; ++i) args->assignment[i] = i;
  });
}

// ---- devices

Error* description_id(DescriptionIntArgs* args) {
  args->value = args->description->id;
  return nullptr;
}

Error* description_process(DescriptionIntArgs* args) {
  args->value = 0;
  return nullptr;
}

Error* description_attributes(DescriptionAttributesArgs* args) {
  args->attributes = args->description->attributes.data();
  args->count = args->description->attributes.size();
  return nullptr;
}

template <std::string DeviceDescription::* Field>
Error* description_text(DescriptionTextArgs* args) {
  args->text = text_of(args->description->*Field);
  return nullptr;
}

Error* device_description(DeviceDescriptionArgs* args) {
  args->description = &args->device->description;
  return nullptr;
}

Error* device_is_addressable(DeviceBoolArgs* args) {
  args->value = true;
  return nullptr;
}

Error* device_hardware_id(DeviceIntArgs* args) {
  args->value = args->device->description.id;
  return nullptr;
}

Error* device_memories(DeviceMemoriesArgs* args) {
  args->memories = args->device->memory_list.data();
  args->count = args->device->memory_list.size();
  return nullptr;
}

Error* device_default_memory(DeviceMemoryArgs* args) {
  args->memory = args->device->memory_list.front();
  return nullptr;
}

Error* device_memory_stats(MemoryStatsArgs* args) {
  clear_from(*args, &args->in_use);
  const DeviceHandle& device = *args->device;
  // Of a device of its own, all that this process has taken there.
  const std::int64_t taken = device.client->device.live_bytes();
  args->in_use = std::max(device.use->in_use(), taken);
  args->peak_in_use = {std::max(device.use->peak(), args->in_use), true};
  args->allocations = {device.use->allocations(), true};
  args->largest_allocation = {device.use->largest(), true};
  args->limit = args->reservable = {device.memory_limit, true};
  return nullptr;
}

Error* device_clear_memory_stats(DeviceArgs* args) {
  args->device->use->clear();
  return nullptr;
}

// ---- memories

Error* memory_id(MemoryIntArgs* args) {
  args->value = args->memory->id;
  return nullptr;
}

Error* memory_kind_id(MemoryIntArgs* args) {
  args->value = args->memory->kind;
  return nullptr;
}

template <std::string Memory::* Field>
Error* memory_text(MemoryTextArgs* args) {
  args->text = text_of(args->memory->*Field);
  return nullptr;
}

Error* memory_devices(MemoryDevicesArgs* args) {
  args->devices = args->memory->device->self.data();
  args->count = args->memory->device->self.size();
  return nullptr;
}

// ---- topology: all devices there are

Error* topology_platform_name(TopologyTextArgs* args) {
  args->text = text_of(platform_name());
  return nullptr;
}

Error* topology_platform_version(TopologyTextArgs* args) {
  args->text = text_of(platform_version());
  return nullptr;
}

Error* topology_devices(TopologyDevicesArgs* args) {
  args->descriptions = args->topology->descriptions.data();
  args->count = args->topology->descriptions.size();
  return nullptr;
}

Error* topology_attributes(TopologyAttributesArgs* args) {
  args->attributes = args->topology->attributes.data();
  args->count = args->topology->attributes.size();
  return nullptr;
}

Error* topology_fingerprint(TopologyFingerprintArgs* args) {
  args->fingerprint =
      hash_combine(hash_combine(0, platform_version()), args->topology->descriptions.size());
  return nullptr;
}

Error* topology_destroy(Args*) { return nullptr; }  // the client's own

}  // namespace

void set_client_entries(Table& table) {
  set_entry(table, EntryId::Plugin_Initialize, plugin_initialize);
  set_entry(table, EntryId::Plugin_Attributes, plugin_attributes);
  set_entry(table, EntryId::Client_Create, client_create);
  set_entry(table, EntryId::Client_Destroy, client_destroy);
  set_entry(table, EntryId::Client_PlatformName, client_platform_name);
  set_entry(table, EntryId::Client_PlatformVersion, client_platform_version);
  set_entry(table, EntryId::Client_ProcessIndex, client_process_index);
  set_entry(table, EntryId::Client_Devices, client_devices);
  set_entry(table, EntryId::Client_AddressableDevices, client_devices);
  set_entry(table, EntryId::Client_LookupDevice, client_lookup_device);
  set_entry(table, EntryId::Client_LookupAddressableDevice, client_lookup_device);
  set_entry(table, EntryId::Client_AddressableMemories, client_memories);
  set_entry(table, EntryId::Client_TopologyDescription, client_topology);
  set_entry(table, EntryId::Client_DefaultDeviceAssignment, default_assignment);
  set_entry(table, EntryId::DeviceDescription_Id, description_id);
  set_entry(table, EntryId::DeviceDescription_ProcessIndex, description_process);
  set_entry(table, EntryId::DeviceDescription_Attributes, description_attributes);
  set_entry(table, EntryId::DeviceDescription_Kind, description_text<&DeviceDescription::kind>);
  set_entry(table, EntryId::DeviceDescription_ToString, description_text<&DeviceDescription::text>);
  set_entry(table, EntryId::DeviceDescription_DebugString,
            description_text<&DeviceDescription::debug_text>);
  set_entry(table, EntryId::Device_GetDescription, device_description);
  set_entry(table, EntryId::Device_IsAddressable, device_is_addressable);
  set_entry(table, EntryId::Device_LocalHardwareId, device_hardware_id);
  set_entry(table, EntryId::Device_AddressableMemories, device_memories);
  set_entry(table, EntryId::Device_DefaultMemory, device_default_memory);
  set_entry(table, EntryId::Device_MemoryStats, device_memory_stats);
  set_entry(table, EntryId::Device_ClearMemoryStats, device_clear_memory_stats);
  set_entry(table, EntryId::Memory_Id, memory_id);
  set_entry(table, EntryId::Memory_Kind_Id, memory_kind_id);
  set_entry(table, EntryId::Memory_Kind, memory_text<&Memory::kind_name>);
  set_entry(table, EntryId::Memory_ToString, memory_text<&Memory::text>);
  set_entry(table, EntryId::Memory_DebugString, memory_text<&Memory::text>);
  set_entry(table, EntryId::Memory_AddressableByDevices, memory_devices);
  set_entry(table, EntryId::TopologyDescription_PlatformName, topology_platform_name);
  set_entry(table, EntryId::TopologyDescription_PlatformVersion, topology_platform_version);
  set_entry(table, EntryId::TopologyDescription_GetDeviceDescriptions, topology_devices);
  set_entry(table, EntryId::TopologyDescription_Attributes, topology_attributes);
  set_entry(table, EntryId::TopologyDescription_Fingerprint, topology_fingerprint);
  set_entry(table, EntryId::TopologyDescription_Destroy, topology_destroy);
}

}  // namespace heddle::pjrt
