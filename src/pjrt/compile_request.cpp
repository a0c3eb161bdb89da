#include "pjrt/compile_request.h"

#include "pjrt/error.h"
#include "pjrt/python.h"
#include "pjrt/wire.h"

namespace heddle::pjrt {

namespace {

// Numbers of fields in JAX's compile options.
constexpr int kBuildOptions = 3, kOverrides = 7;
constexpr int kReplicas = 4, kPartitions = 5, kAssignment = 9;
constexpr int kAssignmentOfPartition = 3, kDevicesOfReplicas = 1;

// One list of devices per partition, each with a device per replica.
void read_assignment(std::string_view message, CompileRequest& request) {
  std::vector<std::vector<std::int64_t>> partitions;
  read_fields(message, [&](const WireField& field) {
    if (field.number != kAssignmentOfPartition) return;
    std::vector<std::int64_t>& ids = partitions.emplace_back();
    read_fields(field.bytes, [&](const WireField& inner) {
      if (inner.number == kDevicesOfReplicas) add_numbers(inner, ids);
    });
  });
  if (partitions.empty()) return;
  request.devices.clear();
  for (std::size_t replica = 0; replica < partitions[0].size(); ++replica)
    for (const std::vector<std::int64_t>& ids : partitions)
      if (replica < ids.size()) request.devices.push_back(static_cast<int>(ids[replica]));
}

bool is_bytecode(std::string_view code) { return code.starts_with("ML\xefR"); }

}  // namespace

CompileRequest read_compile_options(std::string_view options) {
  CompileRequest request;
  bool overrides = false;  // what a user has given as compiler_options
  const bool fits = read_fields(options, [&](const WireField& field) {
    overrides = overrides || field.number == kOverrides;
    if (field.number != kBuildOptions) return;
    read_fields(field.bytes, [&](const WireField& inner) {
      const auto number = static_cast<std::int64_t>(inner.value);
      if (inner.number == kReplicas) request.replicas = std::max<std::int64_t>(1, number);
      if (inner.number == kPartitions) request.partitions = std::max<std::int64_t>(1, number);
      if (inner.number == kAssignment) read_assignment(inner.bytes, request);
    });
  });
  if (!fits) throw Failure(Code::invalid_argument, "the compile options cannot be read");
  if (const std::string trouble = overrides ? trouble_with_options(options) : ""; !trouble.empty())
    throw Failure(Code::invalid_argument, trouble);
  if (request.devices.empty())
    for (int id = 0; id < request.count(); ++id) request.devices.push_back(id);
  if (static_cast<std::int64_t>(request.devices.size()) != request.count())
    throw Failure(Code::invalid_argument,
                  fmt::format("{} devices are assigned to {} replicas of {} partitions",
                              request.devices.size(), request.replicas, request.partitions));
  return request;
}

std::string program_text(std::string_view code, std::string_view format) {
  if (format != "mlir")
    throw Failure(
        Code::unimplemented,
        fmt::format("Heddle reads programs in format \"mlir\" (StableHLO), not \"{}\"", format));
  if (signal_raised()) throw Failure(Code::cancelled, "compiling was stopped by a signal");
  return is_bytecode(code) ? decode_bytecode(code) : std::string(code);
}

}  // namespace heddle::pjrt
