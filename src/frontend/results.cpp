#include "heddle/results.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "heddle/inputs.h"
#include "heddle/npy.h"
#include "heddle/safetensors.h"

namespace heddle {

namespace {

namespace fs = std::filesystem;

std::string file_name(std::size_t index) { return fmt::format("out.{}", index); }

bool is_one_file(const std::string& target) { return target.ends_with(".safetensors"); }

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? "." : parent;
}

// The folder that files are written to; "a/" is "a".
fs::path output_folder(const std::string& target) {
  if (is_one_file(target)) return parent_of(target);
  const fs::path folder = target;
  return folder.has_filename() || !folder.has_parent_path() ? folder : folder.parent_path();
}

}  // namespace

Verdict check_output(const std::string& target) {
  if (target.ends_with(".npy"))
    return reason(
        "output {}: give a folder, which gets out.0.npy, out.1.npy, ..., or a "
        "file x.safetensors",
        target);
  const fs::path folder = output_folder(target);
  const fs::path around = parent_of(folder);
  std::error_code ignored;
  const bool there = fs::is_directory(folder, ignored);
  if (!there && fs::exists(folder, ignored))
    return reason("output {}: {} is no folder", target, folder.string());
  if (!there && !fs::is_directory(around, ignored))
    return reason("output {}: there is no folder {}: make it first", target, around.string());
  const Verdict can =
      there && is_one_file(target) ? can_write(target) : can_write_into(there ? folder : around);
  if (!can) return reason("output {}: {}", target, can.reason());
  return yes();
}

Verdict check_output(const std::string& target, const std::vector<Type>& types) {
  HEDDLE_TRY_VOID(check_output(target));
  const fs::path folder = output_folder(target);
  std::error_code ignored;
  double bytes = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].is_tensor()) bytes += static_cast<double>(types[i].bytes());
    if (is_one_file(target) || !fs::is_directory(folder, ignored)) continue;
    const Verdict can = can_write(folder / (file_name(i) + ".npy"));
    if (!can) return reason("output {}: {}", target, can.reason());
  }
  const auto room = room_in(fs::is_directory(folder, ignored) ? folder : parent_of(folder));
  if (room && *room < bytes)
    return reason("output {}: the results take {}, and the disk has room for {}", target,
                  format_bytes(bytes), format_bytes(*room));
  return yes();
}

Expected<std::string> write_results(const std::string& target, const std::vector<Array>& results) {
  HEDDLE_TRY_VOID(check_output(target));
  const fs::path folder = output_folder(target);
  std::error_code problem;
  fs::create_directory(folder, problem);
  if (problem) return reason("cannot make folder {}: {}", folder.string(), problem.message());
  const std::string count = counted(results.size(), "result");
  if (is_one_file(target)) {
    NamedArrays named;
    for (std::size_t i = 0; i < results.size(); ++i) named.emplace_back(file_name(i), results[i]);
    HEDDLE_TRY_VOID(write_safetensors(target, named));
    return fmt::format("wrote {} to {}", count, target);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    HEDDLE_TRY_VOID(write_npy(folder / (file_name(i) + ".npy"), results[i]));
  return fmt::format("wrote {} to {}", count,
                     (folder / (results.size() == 1 ? "out.0.npy" : "out.*.npy")).string());
}

Expected<std::vector<Array>> recorded_results(const std::string& file,
                                              const std::vector<Type>& types,
                                              const std::string& function) {
  HEDDLE_TRY(const NamedArrays recorded, read_safetensors(file));
  std::vector<Array> results;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Array* found = find_array(recorded, fmt::format("out.{}", i));
    if (found == nullptr) return reason("{} has no out.{} to compare result {} with", file, i, i);
    if (types[i].is_tensor() && found->type() != types[i])
      return reason("{} has out.{} as {}, and result {} of {} is {}", file, i, found->type().str(),
                    i, function, types[i].str());
    results.push_back(*found);
  }
  if (find_array(recorded, fmt::format("out.{}", types.size())) != nullptr)
    return reason("{} has out.{}, but {} gives only {}", file, types.size(), function,
                  counted(types.size(), "result"));
  return results;
}

}  // namespace heddle
