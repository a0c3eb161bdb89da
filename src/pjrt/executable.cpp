#include "pjrt/executable.h"

#include <algorithm>

#include "base/watched.h"
#include "heddle/hash.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "ir/attr_access.h"
#include "pjrt/compile_for.h"
#include "pjrt/cost_analysis.h"
#include "pjrt/elements.h"
#include "pjrt/interrupts.h"
#include "pjrt/op_sharding.h"
#include "pjrt/python.h"
#include "pjrt/quick.h"
#include "pjrt/whole_calls.h"
#include "pjrt/wire.h"

namespace heddle::pjrt {

namespace {

int memory_kind(const AttrDict& attrs) {
  const std::string_view wanted = text_or(find_attr(attrs, "mhlo.memory_kind"), kMemoryKinds[0]);
  const auto found = std::ranges::find(kMemoryKinds, wanted);
  if (found == kMemoryKinds.end())
    throw Failure(Code::invalid_argument, fmt::format("there is no memory of kind \"{}\"", wanted));
  return static_cast<int>(found - kMemoryKinds.begin());
}

// The order of dimensions that the user wants of an argument or result. It is only told: memory is
// row-major all the same, which nobody sees, since arrays that lie otherwise are never looked at in
// place.
std::string asked_layout(const AttrDict& attrs, std::size_t rank) {
  const std::string_view text = text_or(find_attr(attrs, "mhlo.layout_mode"), "default");
  if (text == "default" || text == "auto" || text == row_major_text(rank)) return "";
  if (text.find(':') != std::string_view::npos)
    throw Failure(Code::unimplemented, fmt::format("Heddle has no tiled layouts, as {}", text));
  return std::string(text);
}

// With a plan of ours JAX still sees whole arrays on one device.
Boundary boundary(const PlacedValue& value, bool one_device) {
  Boundary b;
  b.type = one_device ? value.type() : value.part_type();
  if (!one_device) b.sharding = op_sharding(value.split(), value.mesh());
  return b;
}

// Tokens at their places among the rest.
std::vector<Boundary> with_tokens(std::vector<Boundary> rest, const std::vector<bool>& tokens) {
  std::vector<Boundary> all;
  auto next = std::make_move_iterator(rest.begin());
  for (bool token : tokens) {
    if (!token) {
      all.push_back(*next++);
      continue;
    }
    Boundary& b = all.emplace_back();
    b.type = Type::token();
    b.token = true;
  }
  return all;
}

void take_boundaries(Compiled& compiled, const Function& main, const OrderTokens& tokens) {
  const Placement& placement = compiled.executable.placement();
  const bool one_device = compiled.request.count() == 1 || !placement.on_mesh();
  const std::vector<bool> donated = donated_arguments(main);
  for (std::size_t i = 0; i < placement.arguments.size(); ++i) {
    Boundary b = boundary(placement.arguments[i], one_device);
    b.donated = donated[i];
    b.memory_kind = memory_kind(main.arg_attrs[i]);
    b.layout = asked_layout(main.arg_attrs[i], b.type.rank());
    compiled.arguments.push_back(std::move(b));
  }
  for (std::size_t i = 0; i < placement.results.size(); ++i) {
    Boundary b = boundary(placement.results[i], one_device);
    b.memory_kind = memory_kind(main.result_attrs[i]);
    b.layout = asked_layout(main.result_attrs[i], b.type.rank());
    compiled.results.push_back(std::move(b));
  }
  compiled.arguments = with_tokens(std::move(compiled.arguments), tokens.arguments);
  compiled.results = with_tokens(std::move(compiled.results), tokens.results);
}

void list_texts(const std::vector<Boundary>& boundaries, Compiled::Texts& kinds,
                Compiled::Texts& shardings) {
  for (const Boundary& b : boundaries) {
    kinds.data.push_back(kMemoryKinds[static_cast<std::size_t>(b.memory_kind)]);
    kinds.sizes.push_back(std::string_view(kinds.data.back()).size());
    shardings.data.push_back(b.sharding.data());
    shardings.sizes.push_back(b.sharding.size());
  }
}

void make_lists(Compiled& compiled) {
  for (const Boundary& result : compiled.results) {
    compiled.result_elements.push_back(element_type_of(result.type));
    compiled.result_ranks.push_back(result.type.rank());
    for (std::int64_t size : result.type.shape) compiled.result_dims.push_back(size);
  }
  list_texts(compiled.arguments, compiled.argument_kinds, compiled.argument_shardings);
  list_texts(compiled.results, compiled.result_kinds, compiled.result_shardings);
}

bool calls_host(const Program& program) {
  for (OpId id = 0; id < program.op_count(); ++id)
    if (program.op(id).def->form == Form::custom_call) return true;
  return false;
}

std::shared_ptr<ThreadMesh> threads_for(Client& client, const Compiled& compiled) {
  const Placement& placement = compiled.executable.placement();
  const std::int64_t count = placement.on_mesh() ? placement.devices() : compiled.request.count();
  if (compiled.request.count() > 1 && count != compiled.request.count())
    throw Failure(Code::invalid_argument,
                  fmt::format("the program's mesh has {} devices, and {} are assigned to it", count,
                              compiled.request.count()));
  return count == 1 ? nullptr : client.threads(static_cast<int>(count));
}

std::unique_ptr<LoadedExecutable> loaded(Client& client, CompiledRef compiled) {
  auto executable = std::make_unique<LoadedExecutable>();
  executable->client = &client;
  const CompileRequest& request = compiled->request;
  for (std::size_t i = 0; i < request.devices.size(); ++i) {
    const int id = request.devices[i];
    if (id < 0 || id >= static_cast<int>(client.device_list.size()))
      throw Failure(Code::invalid_argument,
                    fmt::format("the program is for device {}, and there are {}: HEDDLE_DEVICES "
                                "sets how many",
                                id, client.device_list.size()));
    executable->devices.push_back(client.device_list[static_cast<std::size_t>(id)]);
    const auto at = static_cast<std::int64_t>(i);
    executable->ids.push_back(
        {static_cast<int>(at / request.partitions), static_cast<int>(at % request.partitions)});
  }
  executable->compiled = std::move(compiled);
  return executable;
}

}  // namespace

namespace {

// Knows no client: who has called may be gone before it is over.
std::shared_ptr<Compiled> compile_here(std::string text, std::string options, Device& device,
                                       const std::stop_token& stop) {
  const CompileRequest request = read_compile_options(options);
  OrderTokens tokens;
  Program program =
      want(read_stablehlo(text, "program", {.keep_callbacks = true, .tokens = &tokens}));
  if (calls_host(program)) program = want(mark_whole_calls(program));
  const Function* main = program.find_function("main");
  if (main == nullptr || main->body == kNone)
    throw Failure(Code::invalid_argument, "the program has no function @main");
  auto compiled = std::make_shared<Compiled>(compile_for(program, *main, request, device, stop));
  compiled->name = program.name.empty() ? "main" : program.name;
  compiled->request = request;
  compiled->fingerprint =
      fmt::format("{:016x}{:016x}", hash_combine(0, text), hash_combine(1, options));
  compiled->text = std::move(text);
  compiled->options = std::move(options);
  take_boundaries(*compiled, *main, tokens);
  make_lists(*compiled);
  add_cost(program, compiled->executable, compiled->cost);
  compiled->calls_host = calls_host(program);
  compiled->quick = !compiled->calls_host && is_quick(compiled->executable);
  return compiled;
}

}  // namespace

LoadedExecutable* compile_program(Client& client, std::string text, std::string options) {
  const UnderWay under_way;
  auto done = run_watched(
      [text = std::move(text), options = std::move(options),
       &device = client.device](const std::stop_token& stop) mutable {
        return compile_here(std::move(text), std::move(options), device, stop);
      },
      [&] { return signal_raised() || under_way.is_stopped(); });
  if (!done.valid()) throw Failure(Code::cancelled, "compiling was stopped by a signal");
  const std::shared_ptr<Compiled> compiled = done.get();
  compiled->threads = threads_for(client, *compiled);
  return loaded(client, compiled).release();
}

namespace {

// What is kept of an executable: the program and its options. Machine code has a cache of its own.
constexpr int kBuild = 1, kText = 2, kOptions = 3;

}  // namespace

std::string serialize(const Compiled& compiled) {
  WireWriter writer;
  writer.bytes(kBuild, platform_version());
  writer.bytes(kText, compiled.text);
  writer.bytes(kOptions, compiled.options);
  return writer.text();
}

LoadedExecutable* deserialize(Client& client, std::string_view bytes, std::string options) {
  std::string build, text, kept;
  const bool fits = read_fields(bytes, [&](const WireField& field) {
    if (field.number == kBuild) build = field.bytes;
    if (field.number == kText) text = field.bytes;
    if (field.number == kOptions) kept = field.bytes;
  });
  if (!fits || text.empty())
    throw Failure(Code::invalid_argument, "these bytes are no executable of Heddle's");
  if (build != platform_version())
    throw Failure(Code::invalid_argument, fmt::format("the executable is of {}, and this is {}",
                                                      build, platform_version()));
  return compile_program(client, std::move(text), options.empty() ? kept : std::move(options));
}

std::string device_assignment(const LoadedExecutable& executable) {
  const CompileRequest& request = executable.compiled->request;
  WireWriter writer;
  writer.number(1, static_cast<std::uint64_t>(request.replicas));
  writer.number(2, static_cast<std::uint64_t>(request.partitions));
  for (std::int64_t p = 0; p < request.partitions; ++p) {
    std::vector<std::int64_t> ids;
    for (std::int64_t r = 0; r < request.replicas; ++r)
      ids.push_back(request.devices[static_cast<std::size_t>(r * request.partitions + p)]);
    WireWriter inner;
    inner.packed(1, ids);
    writer.bytes(3, inner.text());
  }
  return writer.text();
}

}  // namespace heddle::pjrt
