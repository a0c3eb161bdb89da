#include "heddle/batches.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cctype>

#include "frontend/array_places.h"
#include "heddle/npy.h"

namespace heddle {

namespace fs = std::filesystem;
using frontend::ArrayPlace;

// The batches of one argument.
struct Batches::Stream {
  std::size_t argument = 0;
  Type type;
  std::string source;           // as the user named it
  std::vector<fs::path> files;  // one per batch, or one with all of them
  std::string array;            // its name in these files; empty in .npy files
  std::int64_t count = 0;
  std::optional<ArrayPlace> stack;  // of one file with all of them
};

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// By letters, but whole numbers by their values.
bool comes_before(const fs::path& left, const fs::path& right) {
  const std::string a = left.string(), b = right.string();
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    std::size_t m = i, n = j;
    while (m < a.size() && a[m] == '0') ++m;
    while (n < b.size() && b[n] == '0') ++n;
    i = m, j = n;
    while (i < a.size() && is_digit(a[i])) ++i;
    while (j < b.size() && is_digit(b[j])) ++j;
    if (i - m != j - n) return i - m < j - n;
    if (const int order = a.compare(m, i - m, b, n, j - n); order != 0) return order < 0;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

bool is_array_file(const fs::path& file) {
  return file.extension() == ".npy" || file.extension() == ".safetensors";
}

Expected<std::vector<fs::path>> sorted(std::vector<fs::path> files, const std::string& source) {
  std::erase_if(files, [](const fs::path& f) { return !is_array_file(f); });
  if (files.empty()) return reason("{}: there is no .npy or .safetensors file", source);
  std::ranges::sort(files, comes_before);
  for (const fs::path& file : files)
    if (file.extension() != files[0].extension())
      return reason("{}: {} and {} are of two kinds; a batch is one file", source,
                    files[0].string(), file.string());
  return files;
}

Expected<std::vector<fs::path>> files_of_folder(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  if (error) return reason("cannot read {}: {}", folder, error.message());
  return sorted(std::move(files), folder);
}

Expected<std::vector<fs::path>> files_like(const std::string& pattern) {
  glob_t found = {};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> files(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status == GLOB_NOMATCH) return reason("{}: no file has such a name", pattern);
  if (status != 0) return reason("{}: folders of it cannot be read", pattern);
  return sorted(std::move(files), pattern);
}

// The argument that an array is called after: in.3, or its name.
std::optional<std::size_t> argument_called(const std::string& array, std::size_t count,
                                           const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < count; ++i)
    if (array == fmt::format("in.{}", i) || (i < names.size() && array == names[i])) return i;
  return std::nullopt;
}

// One dimension more, the first.
Type stack_of(std::int64_t count, const Type& type) {
  Shape shape = type.shape;
  shape.insert(shape.begin(), count);
  return Type::tensor(type.dtype, std::move(shape));
}

// The array of the file for one argument.
Expected<ArrayPlace> place_for(const fs::path& file, const std::string& array) {
  HEDDLE_TRY(const auto places, frontend::array_places(file));
  for (const ArrayPlace& place : places)
    if (place.name == array) return place;
  return reason("{} has no array {}", file.string(), array);
}

// Which arrays of the first file are for which arguments.
Expected<std::vector<std::pair<std::size_t, ArrayPlace>>> meant(
    const fs::path& file, const BatchSource& source, std::size_t arguments,
    const std::vector<std::string>& names) {
  HEDDLE_TRY(auto places, frontend::array_places(file));
  std::vector<std::pair<std::size_t, ArrayPlace>> found;
  if (source.argument && places.size() == 1) {
    found.emplace_back(*source.argument, std::move(places[0]));
    return found;
  }
  for (ArrayPlace& place : places) {
    const auto argument = argument_called(place.name, arguments, names);
    if (argument && (!source.argument || *source.argument == *argument))
      found.emplace_back(*argument, std::move(place));
  }
  if (!found.empty()) return found;
  if (file.extension() == ".npy")
    return reason("{}: a .npy file does not say which argument it is for: name it, as in arg3={}",
                  file.string(), source.path);
  if (source.argument)
    return reason("{} has {} arrays, and none is called in.{}", file.string(), places.size(),
                  *source.argument);
  return reason("{}: no array is called in.0, in.1, ... or like an argument", file.string());
}

Verdict right_type(const std::string& file, const Type& actual, std::size_t argument,
                   const Type& expected, std::string_view stacked = "") {
  if (actual == expected) return yes();
  return reason("{} is {}, and {}argument {} is {}", file, actual.str(), stacked, argument,
                expected.str());
}

// "in.3 of x.safetensors"
std::string called(const std::string& array, const fs::path& file) {
  return array.empty() ? file.string() : fmt::format("{} of {}", array, file.string());
}

}  // namespace

Expected<Batches> Batches::open(const std::vector<BatchSource>& sources,
                                const std::vector<Type>& types,
                                const std::vector<std::string>& names, bool cycle) {
  Batches batches;
  batches.cycle_ = cycle;
  for (const BatchSource& source : sources) {
    std::error_code error;
    const bool is_folder = fs::is_directory(source.path, error);
    const bool is_file = !is_folder && fs::exists(source.path, error);
    const bool is_pattern = source.path.find_first_of("*?[") != std::string::npos;
    if (!is_folder && !is_file && !is_pattern)
      return reason("{}: there is no such file or folder", source.path);
    std::vector<fs::path> files = {source.path};
    if (!is_file) {
      HEDDLE_TRY(files, is_folder ? files_of_folder(source.path) : files_like(source.path));
    }
    HEDDLE_TRY(const auto arrays, meant(files[0], source, types.size(), names));
    for (const auto& [argument, place] : arrays) {
      if (argument >= types.size())
        return reason("{}: there is no argument {}, only {}", source.path, argument, types.size());
      Stream stream{.argument = argument,
                    .type = types[argument],
                    .source = source.path,
                    .files = files,
                    .array = place.name,
                    .count = static_cast<std::int64_t>(files.size()),
                    .stack = std::nullopt};
      const std::string file = called(place.name, files[0]);
      if (is_file) {
        if (place.type == stream.type)
          return reason(
              "{} is {}, one array for argument {}, which does not change: batches have one "
              "dimension more, as {}",
              file, place.type.str(), argument, stack_of(8, stream.type).str());
        const bool counts = place.type.rank() == stream.type.rank() + 1;
        stream.count = counts ? place.type.shape[0] : 0;
        HEDDLE_TRY_VOID(right_type(file, place.type, argument,
                                   counts ? stack_of(stream.count, stream.type) : stream.type,
                                   counts ? "a stack of " : ""));
        stream.stack = place;
      } else {
        HEDDLE_TRY_VOID(right_type(file, place.type, argument, stream.type));
      }
      for (const auto& other : batches.streams_)
        if (other->argument == argument)
          return reason("argument {} has batches of {} already: it cannot have those of {} too",
                        argument, other->source, source.path);
      batches.streams_.push_back(std::make_shared<const Stream>(std::move(stream)));
    }
  }
  std::ranges::sort(batches.streams_, {}, [](const auto& stream) { return stream->argument; });
  return batches;
}

std::vector<std::size_t> Batches::arguments() const {
  std::vector<std::size_t> all;
  for (const auto& stream : streams_) all.push_back(stream->argument);
  return all;
}

std::int64_t Batches::count() const {
  std::int64_t least = streams_.empty() ? 0 : INT64_MAX;
  for (const auto& stream : streams_) least = std::min(least, stream->count);
  return least;
}

Verdict Batches::check(std::int64_t first_step, std::int64_t last_step) const {
  for (const auto& stream : streams_) {
    if (stream->count == 0) return reason("{} has no batch at all", stream->source);
    if (cycle_ && stream->count != streams_[0]->count)
      return reason("{} has {} batches and {} has {}: they would not stay together in cycles",
                    streams_[0]->source, streams_[0]->count, stream->source, stream->count);
    if (!cycle_ && stream->count < last_step)
      return reason("{} has {} batches, one for each step, and the last step is {}", stream->source,
                    stream->count, last_step);
    if (stream->stack) continue;
    const std::int64_t steps = std::min(last_step - first_step + 1, stream->count);
    for (std::int64_t i = 0; i < steps; ++i) {
      const fs::path& file =
          stream->files[static_cast<std::size_t>((first_step - 1 + i) % stream->count)];
      HEDDLE_TRY(const ArrayPlace place, place_for(file, stream->array));
      HEDDLE_TRY_VOID(
          right_type(called(place.name, file), place.type, stream->argument, stream->type));
    }
  }
  return yes();
}

Expected<Array> Batches::read(std::size_t argument, std::int64_t step) const {
  const auto found = std::ranges::find_if(
      streams_, [&](const auto& stream) { return stream->argument == argument; });
  HEDDLE_CHECK(found != streams_.end() && step > 0, "only what has batches is read");
  const Stream& stream = **found;
  if (stream.count == 0 || (step > stream.count && !cycle_))
    return reason("{} has no batch for step {}", stream.source, step);
  const std::int64_t number = (step - 1) % stream.count;
  const fs::path& file = stream.files[stream.stack ? 0 : static_cast<std::size_t>(number)];
  const auto skip = static_cast<std::uint64_t>(stream.stack ? number * stream.type.bytes() : 0);
  ArrayPlace place;
  if (stream.stack) {
    place = *stream.stack;
  } else {
    HEDDLE_TRY(place, place_for(file, stream.array));
    HEDDLE_TRY_VOID(right_type(called(place.name, file), place.type, argument, stream.type));
  }
  if (place.plain) return frontend::read_part(file, place, stream.type, skip);
  HEDDLE_TRY(const Array whole, read_npy(file));
  if (!stream.stack) return whole;
  return Array(stream.type,
               whole.bytes().subspan(skip, static_cast<std::size_t>(stream.type.bytes())));
}

}  // namespace heddle
