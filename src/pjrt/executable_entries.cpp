#include <algorithm>

#include "heddle/stablehlo.h"
#include "pjrt/callbacks.h"
#include "pjrt/entries.h"
#include "pjrt/executable.h"
#include "pjrt/hlo_words.h"
#include "pjrt/python.h"

namespace heddle::pjrt {

namespace {

Error* compile(CompileArgs* args) {
  return guarded([&] {
    const std::string_view code(args->program->code, args->program->code_size);
    args->executable =
        compile_program(*args->client, program_text(code, string_of(args->program->format)),
                        string_of(args->options));
  });
}

Error* load(DeserializeArgs* args) {
  return guarded([&] {
    args->executable = deserialize(*args->client, {args->serialized.data, args->serialized.size},
                                   string_of(args->options));
  });
}

// ---- loaded

Error* loaded_destroy(LoadedArgs* args) {
  delete args->executable;
  return nullptr;
}

Error* loaded_delete(LoadedArgs* args) {
  args->executable->deleted = true;
  return nullptr;
}

Error* loaded_is_deleted(LoadedBoolArgs* args) {
  args->value = args->executable->deleted;
  return nullptr;
}

Error* loaded_get(GetExecutableArgs* args) {
  return guarded([&] {
    args->executable =
        std::make_unique<ExecutableInfo>(ExecutableInfo{args->loaded->compiled}).release();
  });
}

Error* loaded_devices(LoadedDevicesArgs* args) {
  args->devices = args->executable->devices.data();
  args->count = args->executable->devices.size();
  return nullptr;
}

Error* loaded_ids(LogicalIdsArgs* args) {
  args->ids = args->executable->ids.data();
  args->count = args->executable->ids.size();
  return nullptr;
}

Error* loaded_fingerprint(LoadedTextArgs* args) {
  args->text = text_of(args->executable->compiled->fingerprint);
  return nullptr;
}

OwnedBytes owned(std::string text) {
  auto owner = std::make_unique<std::string>(std::move(text));
  const Text bytes = text_of(*owner);
  return {bytes, owner.release(), [](void* held) { delete static_cast<std::string*>(held); }};
}

Error* loaded_assignment(LoadedBytesArgs* args) {
  return guarded([&] { args->bytes = owned(device_assignment(*args->executable)); });
}

Error* run(ExecuteArgs* args) {
  return guarded([&] { execute(*args); });
}

// ---- what is known of an executable

Error* info_destroy(InfoArgs* args) {
  delete args->executable;
  return nullptr;
}

Error* info_name(InfoTextArgs* args) {
  args->text = text_of(args->executable->compiled->name);
  return nullptr;
}

Error* info_fingerprint(InfoTextArgs* args) {
  args->text = text_of(args->executable->compiled->fingerprint);
  return nullptr;
}

Error* info_replicas(InfoSizeArgs* args) {
  args->value = static_cast<std::size_t>(args->executable->compiled->request.replicas);
  return nullptr;
}

Error* info_partitions(InfoSizeArgs* args) {
  args->value = static_cast<std::size_t>(args->executable->compiled->request.partitions);
  return nullptr;
}

Error* info_outputs(InfoSizeArgs* args) {
  args->value = args->executable->compiled->results.size();
  return nullptr;
}

Error* info_code_size(InfoSizeArgs* args) {
  args->value = 0;  // shared by all executables of one process
  return nullptr;
}

Error* info_cost(CostArgs* args) {
  args->properties = args->executable->compiled->cost.data();
  args->count = args->executable->compiled->cost.size();
  return nullptr;
}

template <Compiled::Texts Compiled::* Field>
Error* info_kinds(MemoryKindsArgs* args) {
  const Compiled::Texts& texts = (*args->executable->compiled).*Field;
  args->kinds = texts.data.data();
  args->sizes = texts.sizes.data();
  args->count = texts.data.size();
  return nullptr;
}

Error* info_element_types(ElementTypesArgs* args) {
  const Compiled& compiled = *args->executable->compiled;
  args->types = const_cast<ElementType*>(compiled.result_elements.data());
  args->count = compiled.result_elements.size();
  return nullptr;
}

Error* info_dimensions(DimensionsArgs* args) {
  const Compiled& compiled = *args->executable->compiled;
  args->dims = compiled.result_dims.data();
  args->ranks = compiled.result_ranks.data();
  args->count = compiled.result_ranks.size();
  return nullptr;
}

Error* info_memory(CompiledMemoryArgs* args) {
  const Compiled& compiled = *args->executable->compiled;
  clear_from(*args, &args->code);
  for (const Boundary& argument : compiled.arguments) {
    args->arguments += argument.type.bytes();
    if (argument.donated) args->aliased += argument.type.bytes();
  }
  for (const Boundary& result : compiled.results) args->outputs += result.type.bytes();
  const std::int64_t peak = compiled.executable.peak_bytes();
  args->temporary = std::max<std::int64_t>(0, peak - args->outputs);
  if (has_field(*args, args->peak)) args->peak = args->arguments + peak;
  return nullptr;
}

// Asked twice: for the size, and for the bytes into memory of the caller's.
Error* info_program(OptimizedProgramArgs* args) {
  return guarded([&] {
    static constexpr std::string_view kFormat = "mlir";
    std::string& text = args->executable->program;
    if (text.empty()) {
      const Program& compiled = args->executable->compiled->executable.program();
      text = only_hlo(print_stablehlo(want(in_hlo_words(compiled))));
    }
    ProgramText& program = *args->program;
    program.format = {kFormat.data(), kFormat.size()};
    if (program.code != nullptr) std::memcpy(program.code, text.data(), text.size());
    program.code_size = text.size();
  });
}

Error* info_serialize(InfoBytesArgs* args) {
  return guarded([&] { args->bytes = owned(serialize(*args->executable->compiled)); });
}

Error* info_options(InfoBytesArgs* args) {
  return guarded([&] { args->bytes = owned(args->executable->compiled->options); });
}

// ---- contexts

Error* context_create(ContextArgs* args) {
  return guarded([&] { args->context = std::make_unique<ExecuteContext>().release(); });
}

Error* context_destroy(ContextArgs* args) {
  delete args->context;
  return nullptr;
}

}  // namespace

void set_executable_entries(Table& table) {
  set_entry(table, EntryId::Client_Compile, compile);
  set_entry(table, EntryId::Executable_DeserializeAndLoad, load);
  set_entry(table, EntryId::LoadedExecutable_Destroy, loaded_destroy);
  set_entry(table, EntryId::LoadedExecutable_Delete, loaded_delete);
  set_entry(table, EntryId::LoadedExecutable_IsDeleted, loaded_is_deleted);
  set_entry(table, EntryId::LoadedExecutable_GetExecutable, loaded_get);
  set_entry(table, EntryId::LoadedExecutable_AddressableDevices, loaded_devices);
  set_entry(table, EntryId::LoadedExecutable_AddressableDeviceLogicalIds, loaded_ids);
  set_entry(table, EntryId::LoadedExecutable_Fingerprint, loaded_fingerprint);
  set_entry(table, EntryId::LoadedExecutable_GetDeviceAssignment, loaded_assignment);
  set_entry(table, EntryId::LoadedExecutable_Execute, run);
  set_entry(table, EntryId::Executable_Destroy, info_destroy);
  set_entry(table, EntryId::Executable_Name, info_name);
  set_entry(table, EntryId::Executable_Fingerprint, info_fingerprint);
  set_entry(table, EntryId::Executable_NumReplicas, info_replicas);
  set_entry(table, EntryId::Executable_NumPartitions, info_partitions);
  set_entry(table, EntryId::Executable_NumOutputs, info_outputs);
  set_entry(table, EntryId::Executable_SizeOfGeneratedCodeInBytes, info_code_size);
  set_entry(table, EntryId::Executable_GetCostAnalysis, info_cost);
  set_entry(table, EntryId::Executable_OutputMemoryKinds, info_kinds<&Compiled::result_kinds>);
  set_entry(table, EntryId::Executable_ParameterMemoryKinds, info_kinds<&Compiled::argument_kinds>);
  set_entry(table, EntryId::Executable_OutputElementTypes, info_element_types);
  set_entry(table, EntryId::Executable_OutputDimensions, info_dimensions);
  set_entry(table, EntryId::Executable_GetCompiledMemoryStats, info_memory);
  set_entry(table, EntryId::Executable_OptimizedProgram, info_program);
  set_entry(table, EntryId::Executable_Serialize, info_serialize);
  set_entry(table, EntryId::Executable_GetCompileOptions, info_options);
  set_entry(table, EntryId::ExecuteContext_Create, context_create);
  set_entry(table, EntryId::ExecuteContext_Destroy, context_destroy);
}

}  // namespace heddle::pjrt
