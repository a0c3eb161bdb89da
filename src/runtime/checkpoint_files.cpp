#include "runtime/checkpoint_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "heddle/hash.h"

namespace heddle::runtime {

std::string data_file(std::size_t rank) { return fmt::format("rank-{}.safetensors", rank); }
std::string piece_file(std::size_t rank) { return fmt::format("rank-{}.json", rank); }

bool is_file_dtype(DType dtype) {
  switch (dtype) {
    case DType::i1:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::ui8:
    case DType::ui16:
    case DType::ui32:
    case DType::ui64:
    case DType::f8e4m3fn:
    case DType::f8e5m2:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
      return true;
    default:
      return false;
  }
}

std::uint64_t number_in(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_in(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Four words at a time, so that the processor can work on all of them.
std::uint64_t content_hash(std::string_view content) {
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + 32 <= content.size(); at += 32)
    for (std::size_t lane = 0; lane < 4; ++lane) {
      std::uint64_t word = 0;
      std::memcpy(&word, content.data() + at + lane * 8, 8);
      lanes[lane] = (lanes[lane] ^ word) * 0x9e3779b97f4a7c15ULL;
      lanes[lane] ^= lanes[lane] >> 29;
    }
  std::uint64_t hash = hash_combine(content.size(), content.substr(at));
  for (std::uint64_t lane : lanes) hash = hash_combine(hash, lane);
  return hash;
}

std::uint64_t index_hash(Json index) {
  index.erase("hash");
  return content_hash(print_json(index, -1, true));
}

// Per dimension [start, lo, hi, [count, step], …].
Json to_json(const Box& box) {
  Json dims = Json::array();
  for (const StridedRun& run : box.dims) {
    Json one = {run.start, run.lo, run.hi};
    for (const StridedRun::Level& level : run.levels) one.push_back({level.count, level.step});
    dims.push_back(std::move(one));
  }
  return dims;
}

Expected<Box> box_from(const Json& json, const Type& type) {
  const Reason wrong = reason("a piece of {} is not written as one", type.str());
  if (!json.is_array() || json.size() != type.rank()) return wrong;
  Box box;
  for (std::size_t d = 0; d < type.rank(); ++d) {
    const Json& one = json[d];
    if (!one.is_array() || one.size() < 3) return wrong;
    StridedRun run;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const bool level = i >= 3;
      if (level ? !one[i].is_array() || one[i].size() != 2 || !one[i][0].is_number_integer() ||
                      !one[i][1].is_number_integer()
                : !one[i].is_number_integer())
        return wrong;
      if (level)
        run.levels.push_back({one[i][0].get<std::int64_t>(), one[i][1].get<std::int64_t>()});
    }
    run.start = one[0].get<std::int64_t>();
    run.lo = one[1].get<std::int64_t>();
    run.hi = one[2].get<std::int64_t>();
    if (run.lo < 0 || run.hi > type.shape[d] || run.count() > type.shape[d]) return wrong;
    box.dims.push_back(std::move(run));
  }
  return box;
}

Json to_json(const Type& type) { return {{"dtype", name(type.dtype)}, {"shape", type.shape}}; }

Expected<Type> type_from(const Json& json) {
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array())
    return reason("a value has no type");
  HEDDLE_TRY(const DType dtype, parse_dtype(json["dtype"].get<std::string>()));
  Shape shape;
  for (const Json& size : json["shape"]) {
    if (!size.is_number_integer() || size.get<std::int64_t>() < 0)
      return reason("a value has a shape of {}", print_json(size));
    shape.push_back(size.get<std::int64_t>());
  }
  return Type::tensor(dtype, shape);
}

Expected<std::string> read_all(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string content;
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!stream || error) return reason("{} is missing or cannot be read", file.string());
  content.resize(size);
  stream.read(content.data(), static_cast<std::streamsize>(size));
  if (stream.gcount() != static_cast<std::streamsize>(size))
    return reason("{} cannot be read to its end", file.string());
  return content;
}

void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace heddle::runtime
