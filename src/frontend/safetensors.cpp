#include "heddle/safetensors.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "frontend/array_file.h"
#include "frontend/array_places.h"

namespace heddle {
namespace {

struct Word {
  DType dtype;
  std::string_view word;
};
constexpr Word kWords[] = {
    {DType::i1, "BOOL"},          {DType::i8, "I8"},          {DType::i16, "I16"},
    {DType::i32, "I32"},          {DType::i64, "I64"},        {DType::ui8, "U8"},
    {DType::ui16, "U16"},         {DType::ui32, "U32"},       {DType::ui64, "U64"},
    {DType::f8e4m3fn, "F8_E4M3"}, {DType::f8e5m2, "F8_E5M2"}, {DType::f16, "F16"},
    {DType::bf16, "BF16"},        {DType::f32, "F32"},        {DType::f64, "F64"},
    {DType::c64, "C64"}};

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::size_t begin = 0, end = 0;
};

// The parser calls itself for nothing, but destroying deep JSON would.
constexpr int kMaxDepth = 8;

Expected<Json> parse_header(std::string_view text) {
  std::set<std::string> names;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw Error("it is nested too deeply");
    if (event == Json::parse_event_t::key && depth == 1) {
      const auto& name = parsed.get_ref<const std::string&>();
      if (!names.insert(name).second) throw Error(fmt::format("it has '{}' twice", name));
    }
    return true;
  };
  try {
    Json header = parse_json(text, watch);
    if (header.is_discarded()) return reason("the header is no correct JSON");
    if (!header.is_object()) return reason("the header is no JSON object");
    return header;
  } catch (const Error& error) {
    return reason("the header cannot be read: {}", error.what());
  }
}

// A list of integers of at least 0.
Expected<std::vector<std::int64_t>> sizes(const Json& entry, const char* key) {
  std::vector<std::int64_t> list;
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return reason("it has no list '{}'", key);
  for (const Json& size : *found) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > INT64_MAX)
      return reason("'{}' must be integers of at least 0", key);
    list.push_back(size.get<std::int64_t>());
  }
  return list;
}

Expected<Entry> read_entry(const std::string& name, const Json& json, std::size_t bytes) {
  if (!json.is_object()) return reason("it is described by no JSON object");
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) return reason("it has no 'dtype'");
  const auto& word = dtype->get_ref<const std::string&>();
  const auto* known = std::ranges::find(kWords, word, &Word::word);
  if (known == std::end(kWords)) return reason("elements of kind '{}' cannot be read", word);
  HEDDLE_TRY(Shape shape, sizes(json, "shape"));
  HEDDLE_TRY(const auto offsets, sizes(json, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return reason("'data_offsets' must be a begin and an end");
  const auto begin = static_cast<std::size_t>(offsets[0]);
  const auto end = static_cast<std::size_t>(offsets[1]);
  if (end > bytes)
    return reason("its data ends at byte {} of {}: is the file cut off?", end, bytes);
  HEDDLE_TRY(Type type, frontend::sized_type(known->dtype, std::move(shape), end - begin));
  return Entry{name, type.dtype, type.shape, begin, end};
}

// Arrays must follow each other without gap or overlap.
Verdict check_places(const std::vector<Entry>& entries, std::size_t bytes) {
  std::size_t at = 0;
  for (const Entry& e : entries) {
    if (e.begin != at)
      return reason("'{}' begins at byte {} of the data instead of {}", e.name, e.begin, at);
    at = e.end;
  }
  if (at != bytes) return reason("{} bytes of data belong to no array", bytes - at);
  return yes();
}

std::string_view word_of(DType dtype) {
  const auto* found = std::ranges::find(kWords, dtype, &Word::dtype);
  return found == std::end(kWords) ? std::string_view() : found->word;
}

}  // namespace

Expected<std::vector<frontend::ArrayPlace>> frontend::places_in_safetensors(std::string_view start,
                                                                            std::size_t bytes) {
  if (start.size() < 8) return reason("the file is too short for safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), 8);
  if (length > start.size() - 8)
    return reason("the header should have {} bytes, but the file has only {} more", length,
                  bytes - 8);
  HEDDLE_TRY(const Json header, parse_header(start.substr(8, length)));
  const std::size_t data = bytes - 8 - length;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__") continue;
    auto entry = read_entry(name, json, data);
    if (!entry) return reason("'{}': {}", name, entry.reason());
    entries.push_back(*std::move(entry));
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  HEDDLE_TRY_VOID(check_places(entries, data));
  std::vector<ArrayPlace> places;
  for (const Entry& e : entries)
    places.push_back({.name = e.name,
                      .type = Type::tensor(e.dtype, e.shape),
                      .offset = 8 + length + e.begin,
                      .plain = true});
  return places;
}

Expected<NamedArrays> parse_safetensors(std::string_view content) {
  HEDDLE_TRY(const auto places, frontend::places_in_safetensors(content, content.size()));
  NamedArrays arrays;
  for (const frontend::ArrayPlace& p : places)
    arrays.emplace_back(
        p.name, frontend::array_of(
                    p.type, content.substr(p.offset, static_cast<std::size_t>(p.type.bytes()))));
  return arrays;
}

Expected<std::string> safetensors_header(const NamedArrays& arrays) {
  Json header = Json::object();
  std::size_t at = 0;
  for (const auto& [name, array] : arrays) {
    const std::string_view word = word_of(array.dtype());
    if (word.empty()) return reason("'{}': safetensors has no {}", name, array.type().str());
    if (header.contains(name)) return reason("'{}' is there twice", name);
    const auto bytes = static_cast<std::size_t>(array.type().bytes());
    header[name] = {{"dtype", word}, {"shape", array.shape()}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = print_json(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t length = text.size();
  std::string content(8, '\0');
  std::memcpy(content.data(), &length, 8);
  return content + text;
}

Expected<std::string> format_safetensors(const NamedArrays& arrays) {
  HEDDLE_TRY(std::string content, safetensors_header(arrays));
  for (const auto& [name, array] : arrays) {
    const auto bytes = array.bytes();
    content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return content;
}

Expected<NamedArrays> read_safetensors(const std::filesystem::path& file) {
  HEDDLE_TRY(const std::string content, frontend::read_bytes(file));
  auto arrays = parse_safetensors(content);
  if (!arrays) return reason("{}: {}", file.string(), arrays.reason());
  return arrays;
}

Verdict write_safetensors(const std::filesystem::path& file, const NamedArrays& arrays) {
  HEDDLE_TRY(const std::string content, format_safetensors(arrays));
  return write_file(file, content);
}

}  // namespace heddle
