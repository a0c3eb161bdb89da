// The files of a checkpoint.
#pragma once

#include <filesystem>

#include "base/json.h"
#include "heddle/layout.h"
#include "heddle/type.h"

namespace heddle::runtime {

inline constexpr std::uint64_t kCheckpointFormat = 3;
std::string data_file(std::size_t rank);   // rank-3.safetensors
std::string piece_file(std::size_t rank);  // rank-3.json
inline constexpr std::string_view kIndexFile = "index.json";

// Files have no types of less than a byte, nor all of the others: those are kept as bytes.
bool is_file_dtype(DType dtype);

// Of files that may be anything: 0 or "" where there is no such entry.
std::uint64_t number_in(const Json& json, const char* key);
std::string text_in(const Json& json, const char* key);

std::uint64_t content_hash(std::string_view content);
// Of all that an index says but its own hash.
std::uint64_t index_hash(Json index);

Json to_json(const Box& box);
Expected<Box> box_from(const Json& json, const Type& type);
Json to_json(const Type& type);
Expected<Type> type_from(const Json& json);

Expected<std::string> read_all(const std::filesystem::path& file);
// Makes what was renamed or made in a folder last.
void sync_folder(const std::filesystem::path& folder);

}  // namespace heddle::runtime
