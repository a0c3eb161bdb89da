#include "mesh_request.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heddle/inline.h"
#include "heddle/lower.h"
#include "heddle/simplify.h"

namespace heddle::cli {
namespace {

std::vector<std::string> parts(std::string_view text, char between) {
  std::vector<std::string> list(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c == between && depth == 0)
      list.emplace_back();
    else if (c != ' ')
      list.back() += c;
  }
  return list;
}

// "x", x, "x":(1)2
ShardingAxis axis_of(std::string text, const std::string& whole) {
  ShardingAxis axis;
  const std::size_t colon = text.find(":(");
  if (colon != std::string::npos) {
    const std::size_t close = text.find(')', colon);
    try {
      axis.pre_size = std::stoll(text.substr(colon + 2));
      axis.size = std::stoll(text.substr(close == std::string::npos ? text.size() : close + 1));
    } catch (const std::exception&) {
      throw Error(fmt::format("--shard {}: {} is no part of an axis; write x:(1)2", whole, text));
    }
    text.resize(colon);
  }
  std::erase(text, '"');
  axis.name = text;
  if (text.empty()) throw Error(fmt::format("--shard {}: an axis has no name", whole));
  return axis;
}

// [{"x"}, {}] as sdy has it, or dp+tp,_ for short: a word per dimension.
Sharding sharding_of(std::string text, const std::string& mesh, const std::string& whole) {
  Sharding sharding;
  sharding.mesh = mesh;
  std::erase(text, ' ');
  const bool long_form = text.starts_with("[");
  if (long_form) {
    if (!text.ends_with("]")) throw Error(fmt::format("--shard {}: ] is missing", whole));
    text = text.substr(1, text.size() - 2);
  }
  if (text.empty()) return sharding;
  for (std::string word : parts(text, ',')) {
    ShardingDim dim;
    if (long_form) {
      if (!word.starts_with("{") || !word.ends_with("}"))
        throw Error(fmt::format("--shard {}: {} stands where {{...}} was expected", whole, word));
      word = word.substr(1, word.size() - 2);
    }
    if (word == "_" || word == "-") word.clear();
    for (const std::string& axis :
         word.empty() ? std::vector<std::string>{} : parts(word, long_form ? ',' : '+')) {
      if (axis == "?")
        dim.open = true;
      else
        dim.axes.push_back(axis_of(axis, whole));
    }
    sharding.dims.push_back(std::move(dim));
  }
  return sharding;
}

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && pattern[0] == text[0] && matches(pattern.substr(1), text.substr(1));
}

// arg3-7: from 3 to 7.
bool in_range(std::string_view pattern, std::string_view word, std::size_t index) {
  const std::size_t dash = pattern.find('-');
  if (!pattern.starts_with(word) || dash == std::string_view::npos) return false;
  std::size_t first = 0, last = 0;
  const char* end = pattern.data() + pattern.size();
  const auto a = std::from_chars(pattern.data() + word.size(), end, first);
  const auto b = std::from_chars(pattern.data() + dash + 1, end, last);
  return a.ec == std::errc{} && b.ec == std::errc{} && b.ptr == end && first <= index &&
         index <= last;
}

// What an argument or result may be called: arg3, its type, and the name that JAX gave it.
std::vector<std::string> names_of(const AttrDict& attrs, std::string_view word, std::size_t index,
                                  const Type& type) {
  std::vector<std::string> names{fmt::format("{}{}", word, index),
                                 fmt::format("%{}{}", word, index), type.str()};
  for (const char* key : {"jax.arg_info", "jax.result_info"})
    if (const Attr* a = find_attr(attrs, key))
      if (const auto* text = a->get<std::string>()) names.push_back(*text);
  return names;
}

// value:TYPE, for all values of that type between arguments and results.
void lay_out_values(Program& program, std::string_view pattern, const Sharding& sharding,
                    const std::string& shard) {
  bool any = false;
  for (ValueId v = 0; v < program.value_count(); ++v) {
    const Type type = program.type_of(v);
    if (!type.is_tensor() || !matches(pattern, type.str())) continue;
    auto layout = program.add_layout(sharding, type);
    if (!layout) throw Error(fmt::format("--shard {}: {}", shard, layout.reason()));
    program.set_layout(v, *layout);
    any = true;
  }
  if (!any) throw Error(fmt::format("--shard {}: no value has the type {}", shard, pattern));
}

void add_seeds(Program& program, const std::string& mesh, const std::string& shard,
               std::vector<Seed>& seeds) {
  const std::size_t cut = shard.rfind('=');
  if (cut == std::string::npos || cut == 0)
    throw Error(fmt::format("--shard {}: write NAME=SHARDING, as in arg0=dp,_", shard));
  const std::string name = shard.substr(0, cut);
  const Sharding sharding = sharding_of(shard.substr(cut + 1), mesh, shard);
  if (constexpr std::string_view kValue = "value:"; name.starts_with(kValue))
    return lay_out_values(program, std::string_view(name).substr(kValue.size()), sharding, shard);
  bool any = false;
  for (const Function& f : program.functions) {
    if (f.is_private || f.body == kNone) continue;
    auto look = [&](bool result, std::size_t i, const Type& type, const AttrDict& attrs) {
      const std::string_view word = result ? "result" : "arg";
      const std::vector<std::string> known = names_of(attrs, word, i, type);
      for (const std::string& part : parts(name, '&'))
        if (!in_range(part, word, i) &&
            std::ranges::none_of(known, [&](const std::string& k) { return matches(part, k); }))
          return;
      any = true;
      std::erase_if(seeds, [&](const Seed& s) { return s.is_result == result && s.index == i; });
      seeds.push_back({result, i, sharding});
    };
    const auto& args = program.region(f.body).args;
    static const AttrDict none;
    for (std::size_t i = 0; i < args.size(); ++i)
      look(false, i, program.type_of(args[i]), i < f.arg_attrs.size() ? f.arg_attrs[i] : none);
    for (std::size_t i = 0; i < f.results.size(); ++i)
      look(true, i, program.type(f.results[i]),
           i < f.result_attrs.size() ? f.result_attrs[i] : none);
  }
  if (!any)
    throw Error(
        fmt::format("--shard {}: no argument or result is called {}; they are arg0, arg1, "
                    "..., result0, ..., or named by their types, with * for anything",
                    shard, name));
}

MeshRequest with_plan(MeshRequest request) {
  if (request.plan.empty()) return request;
  std::ifstream file(request.plan);
  if (!file.is_open())
    throw Error(fmt::format("--plan {}: {}", request.plan, std::strerror(errno)));
  const auto plan = nlohmann::ordered_json::parse(file, nullptr, false);
  if (!plan.is_object())
    throw Error(
        fmt::format("{} is no plan: a JSON object with \"mesh\" and \"shard\"", request.plan));
  if (request.mesh.empty() && plan.contains("mesh") && plan["mesh"].is_string())
    request.mesh = plan["mesh"];
  std::vector<std::string> shards;
  if (plan.contains("shard") && plan["shard"].is_object())
    for (const auto& [name, where] : plan["shard"].items())
      if (where.is_string()) shards.push_back(name + "=" + where.get<std::string>());
  shards.insert(shards.end(), request.shards.begin(), request.shards.end());
  request.shards = std::move(shards);
  return request;
}

// The mesh of the command line under a name of its own, or the program's that is the same.
std::string enter_mesh(Program& program, const std::string& text) {
  if (text.empty()) return "";
  if (text[0] == '@') {
    if (program.find_mesh(text.substr(1)) != nullptr) return text.substr(1);
    throw Error(fmt::format("--mesh {}: the program has no such mesh", text));
  }
  AxisRegistry scratch = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse(text, scratch).value();
  AxisSizes sizes;
  for (const MeshAxis& axis : mesh.axes()) sizes.emplace_back(axis.name, axis.size);
  for (const MeshDecl& known : program.meshes) {
    AxisSizes other;
    for (const MeshAxis& axis : known.mesh.axes()) other.emplace_back(axis.name, axis.size);
    if (other == sizes) return known.name;
  }
  std::string name = "mesh";
  while (program.find_mesh(name) != nullptr) name += "_";
  (void)program.add_mesh(name, sizes).value();
  std::vector<MeshAxis> axes = program.meshes.back().mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) axes[a].link = mesh.axes()[a].link;
  program.meshes.back().mesh = Mesh::make(std::move(axes), mesh.local_bandwidth()).value();
  return name;
}

}  // namespace

void add_mesh_options(CLI::App& command, MeshRequest& request) {
  command.add_option("--mesh", request.mesh,
                     "Devices to run on, as dp=2,tp=4, or @NAME for a mesh of the program");
  command
      .add_option("--shard", request.shards,
                  "NAME=SHARDING of arguments, results: arg0=dp,_ or arg1=[{}, {\"tp\"}];\n"
                  "NAME may be a range (arg2-5) or a type; * is anything, & joins two")
      ->allow_extra_args(false);
  command.add_option("--plan", request.plan,
                     "JSON file with \"mesh\" and \"shard\": {NAME: SHARDING}");
  command.add_flag("--closed", request.closed,
                   "Arguments and results of which nothing is said stay whole");
}

Spmd partition_for(Program program, const MeshRequest& asked, const std::string& carrying,
                   const std::vector<Carried>& carried) {
  const MeshRequest request = with_plan(asked);
  program = inline_calls(program).value();
  program = lower_chlo(program).value();
  SpmdOptions options;
  options.mesh = enter_mesh(program, request.mesh);
  options.closed_boundary = request.closed;
  options.carrying = carrying;
  options.carried = carried;
  if (!request.shards.empty()) {
    std::string mesh = options.mesh;
    if (mesh.empty() && !program.meshes.empty()) mesh = program.meshes[0].name;
    if (mesh.empty()) throw Error("--shard needs a mesh: give one, as in --mesh dp=2,tp=4");
    options.mesh = mesh;
    for (const std::string& shard : request.shards) add_seeds(program, mesh, shard, options.seeds);
  }
  return partition(program, options).value();
}

const SpmdFunction& function_on_mesh(const Spmd& spmd, const std::string& name) {
  const SpmdFunction* found = spmd.find(name);
  if (found == nullptr || found->mesh == kNone)
    throw Error(
        fmt::format("nothing says on which mesh @{} runs: name one, as in --mesh dp=2,tp=2", name));
  return *found;
}

}  // namespace heddle::cli
