#include "heddle/saving.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "heddle/ranks.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& prefix) {
  const fs::path parent = fs::path(prefix).parent_path();
  return parent.empty() ? "." : parent;
}

// Steps of the checkpoints that are there, smallest first.
std::vector<std::int64_t> steps_there(const std::string& prefix) {
  std::vector<std::int64_t> steps;
  const std::string start = fs::path(prefix).filename().string() + "-";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(prefix), error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    if (!name.starts_with(start) || !entry.is_directory(error)) continue;
    const auto [at, problem] = std::from_chars(name.data() + start.size(), end, step);
    if (problem == std::errc{} && at == end) steps.push_back(step);
  }
  std::ranges::sort(steps);
  return steps;
}

Expected<std::string> newest_of(const std::string& folder, std::vector<std::string>* warn_of) {
  const auto found = last_good_checkpoint(folder, warn_of);
  if (!found)
    return reason("restore {}: {}\n  leave it out to start from the beginning", folder,
                  found.reason());
  return found->string();
}

Verdict check_name(const std::string& prefix) {
  const std::string name = fs::path(prefix).filename().string();
  if (name.empty() || name[0] == '.')
    return reason("save {}: give a folder and what checkpoints in it are called, as in run/step",
                  prefix);
  return yes();
}

Verdict make_folder(const std::string& prefix) {
  const fs::path folder = folder_of(prefix);
  std::error_code error;
  if (!fs::exists(folder, error)) fs::create_directory(folder, error);
  if (!fs::is_directory(folder, error))
    return reason("save {}: {} is no folder, and cannot be made one", prefix, folder.string());
  const fs::path probe = folder / fmt::format(".heddle-{}", ::getpid());
  fs::create_directory(probe, error);
  if (error)
    return reason("save {}: nothing can be written into {}: {}", prefix, folder.string(),
                  error.message());
  fs::remove(probe, error);
  return yes();
}

// What runs that were killed have left of checkpoints they were writing or removing.
void remove_halves(const std::string& prefix) {
  const std::string start = "." + fs::path(prefix).filename().string() + "-";
  std::error_code error;
  std::vector<fs::path> halves;
  for (const auto& entry : fs::directory_iterator(folder_of(prefix), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && (name.ends_with(".saving") || name.ends_with(".removed")))
      halves.push_back(entry.path());
  }
  for (const fs::path& half : halves) fs::remove_all(half, error);
}

}  // namespace

std::string checkpoint_name(const std::string& prefix, std::int64_t step) {
  return fmt::format("{}-{}", prefix, step);
}

std::string value_name(std::size_t argument) { return fmt::format("arg{}", argument); }

Expected<std::string> checkpoint_to_restore(const std::string& path, Transport* ranks,
                                            std::vector<std::string>* warn_of) {
  std::error_code error;
  if (Checkpoint::is_one(path)) return path;
  if (!fs::is_directory(path, error))
    return reason("restore {}: there is no such checkpoint, nor a folder of them", path);
  std::string found;
  if (ranks == nullptr || ranks->rank() == 0) {
    HEDDLE_TRY(found, newest_of(path, warn_of));
  }
  if (ranks == nullptr) return found;
  HEDDLE_TRY(const std::vector<std::string> all, gather_texts(*ranks, found));
  return all[0];
}

Verdict check_saving(const SaveRequest& request, std::int64_t from, std::int64_t bytes,
                     bool restored_newest) {
  HEDDLE_TRY_VOID(check_name(request.prefix));
  HEDDLE_TRY_VOID(make_folder(request.prefix));
  remove_halves(request.prefix);
  const std::vector<std::int64_t> there = steps_there(request.prefix);
  // Later steps of another run would be taken for the newest of this one.
  if (!restored_newest && !there.empty() && there.back() > from) {
    const std::string newest = checkpoint_name(request.prefix, there.back());
    return reason(
        "save {}: there is {} already, which is later than step {}, where this run begins\n"
        "  restore that one to go on from it, save under another name, or remove it",
        request.prefix, newest, from);
  }
  struct statvfs disk = {};
  if (::statvfs(folder_of(request.prefix).c_str(), &disk) != 0) return yes();
  const double room = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (room < static_cast<double>(bytes))
    return reason("save {}: a checkpoint takes {}, and the disk has room for {}", request.prefix,
                  format_bytes(static_cast<double>(bytes)), format_bytes(room));
  return yes();
}

void remove_old(const SaveRequest& request, std::int64_t step) {
  if (request.keep == 0) return;
  std::vector<std::int64_t> there = steps_there(request.prefix);
  std::erase_if(there, [&](std::int64_t s) { return s > step; });
  for (std::size_t i = 0; i + static_cast<std::size_t>(request.keep) < there.size(); ++i) {
    // Half of one that is being removed must not look like one.
    const fs::path old = checkpoint_name(request.prefix, there[i]);
    const fs::path gone = old.parent_path() / ("." + old.filename().string() + ".removed");
    std::error_code error;
    fs::rename(old, gone, error);
    if (!error) fs::remove_all(gone, error);
  }
}

Expected<std::vector<bool>> restored_arguments(const Checkpoint& checkpoint,
                                               const std::string& name,
                                               const std::vector<Type>& arguments,
                                               const std::vector<Carried>& carried) {
  std::vector<bool> given(arguments.size(), false);
  const std::vector<std::string> names = checkpoint.names();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type* type = checkpoint.type(value_name(i));
    if (type == nullptr) {
      if (std::ranges::any_of(carried, [&](const Carried& c) { return c.argument == i; }) &&
          arguments[i].elements() > 0)
        return reason(
            "{} has no {}, {}, which this program carries: it is of another "
            "program",
            name, value_name(i), arguments[i].str());
      continue;
    }
    if (!(*type == arguments[i]))
      return reason("{} has {} as {}, and this program takes {}: it is of another program", name,
                    value_name(i), type->str(), arguments[i].str());
    given[i] = true;
  }
  const auto taken = std::ranges::count(given, true);
  if (static_cast<std::size_t>(taken) < names.size())
    return reason(
        "{} has {}, but this program takes only {} of them: it is of another "
        "program",
        name, counted(names.size(), "value"), taken);
  return given;
}

}  // namespace heddle
