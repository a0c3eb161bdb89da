// The interface by which JAX drives a device (PJRT, C, version 0.113), as far as Heddle answers it:
// which entry stands where in the table, and what each is handed. Every struct begins with its size
// as the caller knows it; a field that was added later is read only where that size covers it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::pjrt {

struct Error;
struct EventHandle;
struct Client;
struct DeviceHandle;
struct DeviceDescription;
struct Memory;
struct Topology;
struct BufferHandle;
struct LoadedExecutable;
struct ExecutableInfo;
struct ExecuteContext;

inline constexpr int kMajorVersion = 0;
inline constexpr int kMinorVersion = 113;

enum class Code : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  not_found = 5,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
  internal = 13,
};

// The numbers of element types.
enum class ElementType : int {
  invalid,
  pred,
  s8,
  s16,
  s32,
  s64,
  u8,
  u16,
  u32,
  u64,
  f16,
  f32,
  f64,
  bf16,
  c64,
  c128,
  f8e5m2,
  f8e4m3fn,
  f8e4m3b11fnuz,
  f8e5m2fnuz,
  f8e4m3fnuz,
  s4,
  u4,
  token,
  s2,
  u2,
  f8e4m3,
  f8e3m4,
  f8e8m0fnu,
  f4e2m1fn,
  f6e2m3fn = 32,
  f6e3m2fn = 33,
};

enum class ExtensionKind : int { layouts = 4, ffi = 5, shardings = 19 };

struct Extension {
  std::size_t struct_size;
  ExtensionKind type;
  Extension* next;
};

// What all arguments begin with.
struct Args {
  std::size_t struct_size;
  Extension* extensions;
};

// A text that belongs to what it was asked of.
struct Text {
  const char* data;
  std::size_t size;
};

struct NamedValue : Args {
  enum class Kind : int { string, int64, int64_list, float32, boolean };
  Text name;
  Kind kind;
  union {
    const char* string;
    std::int64_t int64;
    const std::int64_t* int64_list;
    float float32;
    bool boolean;
  };
  std::size_t value_size;  // characters or elements; 1 for a scalar
};

// ---- errors, plugin, events

struct ErrorTable {
  std::size_t struct_size, instance_size;
  Extension* extensions;
  void (*destroy)(Error*);
  void (*message)(const Error*, const char**, std::size_t*);
  Code (*code)(const Error*);
  void (*for_each_payload)(const Error*, void*, void*);
};

struct ErrorArgs : Args {
  Error* error;
};
struct ErrorMessageArgs : Args {
  const Error* error;
  Text message;
};
struct ErrorCodeArgs : Args {
  const Error* error;
  Code code;
};
struct PluginAttributesArgs : Args {
  const NamedValue* attributes;
  std::size_t count;
};
struct EventArgs : Args {
  EventHandle* event;
};
struct EventIsReadyArgs : Args {
  EventHandle* event;
  bool is_ready;
};
using ReadyCallback = void (*)(Error* error, void* user);
struct EventOnReadyArgs : Args {
  EventHandle* event;
  ReadyCallback callback;
  void* user;
};
struct EventSetArgs : Args {
  EventHandle* event;
  Code code;
  Text message;
};

// ---- client, devices, memories, topology

struct ClientCreateArgs : Args {
  const NamedValue* options;
  std::size_t option_count;
  void *get, *get_user, *put, *put_user;
  Client* client;
  void *try_get, *try_get_user;
};
struct ClientArgs : Args {
  Client* client;
};
struct ClientTextArgs : Args {
  Client* client;
  Text text;
};
struct ClientIntArgs : Args {
  Client* client;
  int value;
};
struct ClientTopologyArgs : Args {
  Client* client;
  Topology* topology;
};
struct ClientDevicesArgs : Args {
  Client* client;
  DeviceHandle* const* devices;
  std::size_t count;
};
struct ClientMemoriesArgs : Args {
  Client* client;
  Memory* const* memories;
  std::size_t count;
};
struct LookupDeviceArgs : Args {
  Client* client;
  int id;
  DeviceHandle* device;
};
struct DefaultAssignmentArgs : Args {
  Client* client;
  int replicas, partitions;
  std::size_t size;
  int* assignment;
};
struct DescriptionIntArgs : Args {
  DeviceDescription* description;
  int value;
};
struct DescriptionTextArgs : Args {
  DeviceDescription* description;
  Text text;
};
struct DescriptionAttributesArgs : Args {
  DeviceDescription* description;
  std::size_t count;
  const NamedValue* attributes;
};
struct DeviceDescriptionArgs : Args {
  DeviceHandle* device;
  DeviceDescription* description;
};
struct DeviceBoolArgs : Args {
  DeviceHandle* device;
  bool value;
};
struct DeviceIntArgs : Args {
  DeviceHandle* device;
  int value;
};
struct DeviceMemoriesArgs : Args {
  DeviceHandle* device;
  Memory* const* memories;
  std::size_t count;
};
struct DeviceMemoryArgs : Args {
  DeviceHandle* device;
  Memory* memory;
};
struct OptionalBytes {
  std::int64_t bytes;
  bool is_set;
};
struct MemoryStatsArgs : Args {
  DeviceHandle* device;
  std::int64_t in_use;
  OptionalBytes peak_in_use, allocations, largest_allocation, limit, reserved, peak_reserved,
      reservable, largest_free, pool, peak_pool;
};
struct DeviceArgs : Args {
  DeviceHandle* device;
};
struct MemoryIntArgs : Args {
  Memory* memory;
  int value;
};
struct MemoryTextArgs : Args {
  Memory* memory;
  Text text;
};
struct MemoryDevicesArgs : Args {
  Memory* memory;
  DeviceHandle* const* devices;
  std::size_t count;
};
struct TopologyTextArgs : Args {
  const Topology* topology;
  Text text;
};
struct TopologyDevicesArgs : Args {
  const Topology* topology;
  DeviceDescription* const* descriptions;
  std::size_t count;
};
struct TopologyAttributesArgs : Args {
  const Topology* topology;
  const NamedValue* attributes;
  std::size_t count;
};
struct TopologyFingerprintArgs : Args {
  const Topology* topology;
  std::uint64_t fingerprint;
};

// ---- programs and executables

struct ProgramText : Args {
  char* code;
  std::size_t code_size;
  Text format;
};
struct CompileArgs : Args {
  Client* client;
  const ProgramText* program;
  Text options;
  LoadedExecutable* executable;
};
struct OptimizedProgramArgs : Args {
  ExecutableInfo* executable;
  ProgramText* program;
};
struct LoadedArgs : Args {
  LoadedExecutable* executable;
};
struct LoadedBoolArgs : Args {
  LoadedExecutable* executable;
  bool value;
};
struct LoadedTextArgs : Args {
  LoadedExecutable* executable;
  Text text;
};
struct GetExecutableArgs : Args {
  LoadedExecutable* loaded;
  ExecutableInfo* executable;
};
struct LoadedDevicesArgs : Args {
  LoadedExecutable* executable;
  DeviceHandle* const* devices;
  std::size_t count;
};
struct LogicalId {
  int replica, partition;
};
struct LogicalIdsArgs : Args {
  LoadedExecutable* executable;
  LogicalId* ids;
  std::size_t count;
};
// Bytes with what holds them, and who frees that.
struct OwnedBytes {
  Text bytes;
  void* owner;
  void (*free)(void* owner);
};
struct LoadedBytesArgs : Args {
  LoadedExecutable* executable;
  OwnedBytes bytes;
};
struct InfoArgs : Args {
  ExecutableInfo* executable;
};
struct InfoTextArgs : Args {
  ExecutableInfo* executable;
  Text text;
};
struct InfoSizeArgs : Args {
  ExecutableInfo* executable;
  std::size_t value;
};
struct InfoBytesArgs : Args {
  const ExecutableInfo* executable;
  OwnedBytes bytes;
};
struct CostArgs : Args {
  ExecutableInfo* executable;
  std::size_t count;
  const NamedValue* properties;
};
struct MemoryKindsArgs : Args {
  ExecutableInfo* executable;
  std::size_t count;
  const char* const* kinds;
  const std::size_t* sizes;
};
struct ElementTypesArgs : Args {
  ExecutableInfo* executable;
  ElementType* types;
  std::size_t count;
};
struct DimensionsArgs : Args {
  ExecutableInfo* executable;
  std::size_t count;
  const std::int64_t* dims;  // of all outputs, one behind the other
  const std::size_t* ranks;
};
struct CompiledMemoryArgs : Args {
  ExecutableInfo* executable;
  std::int64_t code, arguments, outputs, aliased, temporary;
  std::int64_t host_code, host_arguments, host_outputs, host_aliased, host_temporary;
  std::int64_t peak;
};
struct DeserializeArgs : Args {
  Client* client;
  Text serialized;
  LoadedExecutable* executable;
  Text options;  // instead of those that were serialized; none: null
};
struct ExecuteOptions : Args {
  void *send_callbacks, *receive_callbacks;
  std::size_t send_count, receive_count;
  int launch_id;
  const std::int64_t* not_donated;
  std::size_t not_donated_count;
  ExecuteContext* context;
};
struct ExecuteArgs : Args {
  LoadedExecutable* executable;
  ExecuteOptions* options;
  BufferHandle* const* const* arguments;  // [device][number]
  std::size_t device_count, argument_count;
  BufferHandle** const* results;
  EventHandle** complete;  // one per device, or null
  DeviceHandle* device;    // instead of the executable's own
};
struct ContextArgs : Args {
  ExecuteContext* context;
};

// ---- buffers

struct MemoryLayout : Args {
  struct Tiled : Args {
    const std::int64_t* minor_to_major;
    std::size_t rank;
    const std::int64_t* tile_dims;
    const std::size_t* tile_ranks;
    std::size_t tiles;
  };
  struct Strides : Args {
    const std::int64_t* bytes;
    std::size_t rank;
  };
  enum class Kind : int { tiled, strides };
  union {
    Tiled tiled;
    Strides strides;
  };
  Kind kind;
};
enum class HostMemory : int { during_call, until_copied, zero_copy, mutable_zero_copy };
struct FromHostArgs : Args {
  Client* client;
  const void* data;
  ElementType type;
  const std::int64_t* dims;
  std::size_t rank;
  const std::int64_t* strides;
  std::size_t stride_count;
  HostMemory semantics;
  DeviceHandle* device;
  Memory* memory;
  MemoryLayout* layout;
  EventHandle* done_with_host;
  BufferHandle* buffer;
};
struct ViewArgs : Args {
  Client* client;
  void* data;
  const std::int64_t* dims;
  std::size_t rank;
  ElementType type;
  MemoryLayout* layout;
  DeviceHandle* device;
  void (*on_delete)(void* data, void* user);
  void* user;
  std::intptr_t stream;
  BufferHandle* buffer;
  Memory* memory;
};
struct ErrorBufferArgs : Args {
  Client* client;
  Code code;
  Text message;
  const std::int64_t* dims;
  std::size_t rank;
  ElementType type;
  MemoryLayout* layout;
  Memory* memory;
  BufferHandle* buffer;
};
struct UninitializedArgs : Args {
  Client* client;
  const std::int64_t* dims;
  std::size_t rank;
  ElementType type;
  MemoryLayout* layout;
  DeviceHandle* device;
  Memory* memory;
  BufferHandle* buffer;
};
struct BufferArgs : Args {
  BufferHandle* buffer;
};
struct BufferTypeArgs : Args {
  BufferHandle* buffer;
  ElementType type;
};
struct BufferDimsArgs : Args {
  BufferHandle* buffer;
  const std::int64_t* dims;
  std::size_t rank;
};
struct BufferDynamicDimsArgs : Args {
  BufferHandle* buffer;
  const std::size_t* dims;
  std::size_t count;
};
struct ToHostArgs : Args {
  BufferHandle* buffer;
  MemoryLayout* layout;  // null: the buffer's own
  void* to;              // null: only the size is asked for
  std::size_t size;
  EventHandle* event;
};
struct CopyRawArgs : Args {
  BufferHandle* buffer;
  void* to;
  std::int64_t offset, size;
  EventHandle* event;
};
struct BufferSizeArgs : Args {
  BufferHandle* buffer;
  std::size_t bytes;
};
struct BufferBoolArgs : Args {
  BufferHandle* buffer;
  bool value;
};
struct BufferDeviceArgs : Args {
  BufferHandle* buffer;
  DeviceHandle* device;
};
struct BufferMemoryArgs : Args {
  BufferHandle* buffer;
  Memory* memory;
};
struct CopyToDeviceArgs : Args {
  BufferHandle* buffer;
  DeviceHandle* device;
  BufferHandle* copy;
};
struct CopyToMemoryArgs : Args {
  BufferHandle* buffer;
  Memory* memory;
  BufferHandle* copy;
};
struct BufferEventArgs : Args {
  BufferHandle* buffer;
  EventHandle* event;
};
struct BufferPointerArgs : Args {
  BufferHandle* buffer;
  void* pointer;
};

// ---- extensions

struct ShardingsArgs : Args {
  ExecutableInfo* executable;
  std::size_t count;
  const char* const* shardings;  // OpSharding, in protobuf's coding
  const std::size_t* sizes;
};
struct LayoutHandle;
struct LayoutArgs : Args {
  LayoutHandle* layout;
};
struct LayoutBytesArgs : Args {
  LayoutHandle* layout;
  OwnedBytes bytes;
};
struct BufferLayoutHandleArgs : Args {
  BufferHandle* buffer;
  LayoutHandle* layout;
};
struct DefaultLayoutArgs : Args {
  void* of;  // a client or a topology
  ElementType type;
  const std::int64_t* dims;
  std::size_t rank;
  LayoutHandle* layout;
};
struct ExecutableLayoutsArgs : Args {
  ExecutableInfo* executable;
  std::size_t count;
  LayoutHandle** layouts;
};
struct UserDataArgs : Args {
  ExecuteContext* context;
  std::int64_t type_id;
  void* data;
};

// ---- the table

using Entry = void (*)();

// clang-format off
// All entries, in the order of the table.
#define HEDDLE_PJRT_ENTRIES(X) \
  X(Error_Destroy) X(Error_Message) X(Error_GetCode) X(Plugin_Initialize) X(Plugin_Attributes) \
  X(Event_Destroy) X(Event_IsReady) X(Event_Error) X(Event_Await) X(Event_OnReady) \
  X(Client_Create) X(Client_Destroy) X(Client_PlatformName) X(Client_ProcessIndex) \
  X(Client_PlatformVersion) X(Client_Devices) X(Client_AddressableDevices) \
  X(Client_LookupDevice) X(Client_LookupAddressableDevice) X(Client_AddressableMemories) \
  X(Client_Compile) X(Client_DefaultDeviceAssignment) X(Client_BufferFromHostBuffer) \
  X(DeviceDescription_Id) X(DeviceDescription_ProcessIndex) X(DeviceDescription_Attributes) \
  X(DeviceDescription_Kind) X(DeviceDescription_DebugString) X(DeviceDescription_ToString) \
  X(Device_GetDescription) X(Device_IsAddressable) X(Device_LocalHardwareId) \
  X(Device_AddressableMemories) X(Device_DefaultMemory) X(Device_MemoryStats) X(Memory_Id) \
  X(Memory_Kind) X(Memory_DebugString) X(Memory_ToString) X(Memory_AddressableByDevices) \
  X(Executable_Destroy) X(Executable_Name) X(Executable_NumReplicas) X(Executable_NumPartitions) \
  X(Executable_NumOutputs) X(Executable_SizeOfGeneratedCodeInBytes) \
  X(Executable_GetCostAnalysis) X(Executable_OutputMemoryKinds) X(Executable_OptimizedProgram) \
  X(Executable_Serialize) X(LoadedExecutable_Destroy) X(LoadedExecutable_GetExecutable) \
  X(LoadedExecutable_AddressableDevices) X(LoadedExecutable_Delete) \
  X(LoadedExecutable_IsDeleted) X(LoadedExecutable_Execute) X(Executable_DeserializeAndLoad) \
  X(LoadedExecutable_Fingerprint) X(Buffer_Destroy) X(Buffer_ElementType) X(Buffer_Dimensions) \
  X(Buffer_UnpaddedDimensions) X(Buffer_DynamicDimensionIndices) X(Buffer_GetMemoryLayout) \
  X(Buffer_OnDeviceSizeInBytes) X(Buffer_Device) X(Buffer_Memory) X(Buffer_Delete) \
  X(Buffer_IsDeleted) X(Buffer_CopyToDevice) X(Buffer_ToHostBuffer) X(Buffer_IsOnCpu) \
  X(Buffer_ReadyEvent) X(Buffer_UnsafePointer) X(Buffer_IncreaseExternalReferenceCount) \
  X(Buffer_DecreaseExternalReferenceCount) X(Buffer_OpaqueDeviceMemoryDataPointer) \
  X(CopyToDeviceStream_Destroy) X(CopyToDeviceStream_AddChunk) X(CopyToDeviceStream_TotalBytes) \
  X(CopyToDeviceStream_GranuleSize) X(CopyToDeviceStream_CurrentBytes) \
  X(TopologyDescription_Create) X(TopologyDescription_Destroy) \
  X(TopologyDescription_PlatformName) X(TopologyDescription_PlatformVersion) \
  X(TopologyDescription_GetDeviceDescriptions) X(TopologyDescription_Serialize) \
  X(TopologyDescription_Attributes) X(Compile) X(Executable_OutputElementTypes) \
  X(Executable_OutputDimensions) X(Buffer_CopyToMemory) X(Client_CreateViewOfDeviceBuffer) \
  X(Executable_Fingerprint) X(Client_TopologyDescription) X(Executable_GetCompiledMemoryStats) \
  X(Memory_Kind_Id) X(ExecuteContext_Create) X(ExecuteContext_Destroy) X(Buffer_CopyRawToHost) \
  X(AsyncHostToDeviceTransferManager_Destroy) X(AsyncHostToDeviceTransferManager_TransferData) \
  X(Client_CreateBuffersForAsyncHostToDevice) X(AsyncHostToDeviceTransferManager_RetrieveBuffer) \
  X(AsyncHostToDeviceTransferManager_Device) X(AsyncHostToDeviceTransferManager_BufferCount) \
  X(AsyncHostToDeviceTransferManager_BufferSize) \
  X(AsyncHostToDeviceTransferManager_SetBufferError) \
  X(AsyncHostToDeviceTransferManager_AddMetadata) X(Client_DmaMap) X(Client_DmaUnmap) \
  X(Client_CreateUninitializedBuffer) X(Client_UpdateGlobalProcessInfo) \
  X(TopologyDescription_Deserialize) X(Client_CreateAliasBuffer) X(Client_FulfillAliasBuffer) \
  X(LoadedExecutable_GetDeviceAssignment) X(Client_CreateErrorBuffer) \
  X(AsyncHostToDeviceTransferManager_TransferLiteral) X(Buffer_CopyRawToHostFuture) \
  X(Device_PoisonExecution) X(Device_CreateAsyncTrackingEvent) X(AsyncTrackingEvent_Destroy) \
  X(Executable_GetCompileOptions) X(Buffer_DonateWithControlDependency) X(Event_Create) \
  X(Event_Set) X(Device_GetAttributes) X(Client_Load) \
  X(LoadedExecutable_AddressableDeviceLogicalIds) X(Buffer_Bitcast) X(Error_ForEachPayload) \
  X(TopologyDescription_Fingerprint) X(Executable_ParameterMemoryKinds) \
  X(Device_ClearMemoryStats) X(TopologyDescription_MakeCanonicalShapeForMemorySpace) \
  X(TopologyDescription_GetMemorySpaceKindIds)
// clang-format on

enum class EntryId : int {
#define HEDDLE_PJRT_ENTRY(name) name,
  HEDDLE_PJRT_ENTRIES(HEDDLE_PJRT_ENTRY)
#undef HEDDLE_PJRT_ENTRY
      count
};

struct Table {
  std::size_t struct_size;
  Extension* extensions;
  struct Version : Args {
    int major, minor;
  } version;
  Entry entries[static_cast<int>(EntryId::count)];
};

// Sizes that callers have shown; a field in the wrong place would change them.
static_assert(static_cast<int>(EntryId::count) == 138);
static_assert(sizeof(Table) == 1144);
static_assert(sizeof(NamedValue) == 56);
static_assert(sizeof(MemoryLayout) == 80);

}  // namespace heddle::pjrt
