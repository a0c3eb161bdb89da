#include <algorithm>
#include <fstream>

#include "heddle/checkpoint.h"
#include "heddle/log.h"
#include "runtime/checkpoint_files.h"
#include "runtime/checkpoint_places.h"

namespace heddle {

using namespace runtime;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFileRanks = 1 << 20;

Expected<Json> parsed(const std::string& text, const fs::path& file) {
  Json json = parse_json(text);
  if (!json.is_object()) return reason("{} is torn: it is no correct JSON", file.string());
  return json;
}

Reason torn(const fs::path& file, std::uint64_t has, std::uint64_t saved) {
  return reason("{} is torn: it has {} bytes, and {} were saved", file.string(), has, saved);
}

Expected<std::uint64_t> checked_size(const fs::path& folder, const Json& note,
                                     const std::string& name) {
  if (text_in(note, "file") != name)
    return reason("{} does not list {}", (folder / kIndexFile).string(), name);
  const std::uint64_t bytes = number_in(note, "bytes");
  std::error_code error;
  const auto has = fs::file_size(folder / name, error);
  if (error) return reason("{} is missing or cannot be read", (folder / name).string());
  if (has != bytes) return torn(folder / name, has, bytes);
  return bytes;
}

// The content of a file of the checkpoint, as it was saved.
Expected<std::string> checked_content(const fs::path& folder, const Json& note,
                                      const std::string& name) {
  const fs::path file = folder / name;
  HEDDLE_TRY(const std::uint64_t bytes, checked_size(folder, note, name));
  HEDDLE_TRY(std::string content, read_all(file));
  if (content.size() != bytes) return torn(file, content.size(), bytes);
  if (content_hash(content) != number_in(note, "hash"))
    return reason("{} is damaged: its bytes are not those that were saved", file.string());
  return content;
}

Expected<std::string> read_range(const fs::path& file, std::uint64_t at, std::uint64_t bytes) {
  std::ifstream stream(file, std::ios::binary);
  std::string content(bytes, '\0');
  stream.seekg(static_cast<std::streamoff>(at));
  stream.read(content.data(), static_cast<std::streamsize>(bytes));
  if (!stream) return reason("{} is missing or cannot be read", file.string());
  return content;
}

// Of a data file, for others that read it; its pieces have hashes of their own.
Verdict check_header(const fs::path& file, const Json& note, std::uint64_t bytes) {
  HEDDLE_TRY(const std::string header,
             read_range(file, 0, std::min(bytes, number_in(note, "header"))));
  if (content_hash(header) == number_in(note, "hash")) return yes();
  return reason("{} is damaged: its bytes are not those that were saved", file.string());
}

// By name, where numbers count as numbers: step-90 before step-100.
bool is_before(const fs::path& a, const fs::path& b) {
  const auto number = [](const fs::path& p) {
    const std::string text = p.filename().string();
    std::size_t at = text.size();
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') --at;
    const std::string digits = text.substr(at);
    return std::pair(text.substr(0, at), digits.empty() || digits.size() > 18
                                             ? std::int64_t{-1}
                                             : std::int64_t{std::stoll(digits)});
  };
  return number(a) < number(b);
}

// step-100
bool is_named_as_one(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string::npos && last + 1 < name.size() && name[last] == '-';
}

}  // namespace

Expected<Checkpoint> Checkpoint::open(const fs::path& folder, CheckpointCheck check) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return reason("there is no checkpoint {}", folder.string());
  const fs::path index_file = folder / kIndexFile;
  HEDDLE_TRY(const std::string text, read_all(index_file));
  HEDDLE_TRY(const Json index, parsed(text, index_file));
  if (number_in(index, "format") != kCheckpointFormat)
    return reason("{} is of format {}, and this version reads {}", index_file.string(),
                  number_in(index, "format"), kCheckpointFormat);
  if (index_hash(index) != number_in(index, "hash"))
    return reason("{} is damaged: it does not say what was saved", index_file.string());
  if (number_in(index, "step") > INT64_MAX || !index.contains("step") ||
      !index["step"].is_number_unsigned())
    return reason("{} is damaged: it has no step of at least 0", index_file.string());
  const std::size_t ranks = number_in(index, "ranks");
  if (ranks == 0 || ranks > kMostFileRanks || !index.contains("files") ||
      !index["files"].is_array() || index["files"].size() != 2 * ranks)
    return reason("{} is torn: it does not list the files of {} ranks", index_file.string(), ranks);
  Checkpoint made;
  made.folder_ = folder;
  made.step_ = static_cast<std::int64_t>(number_in(index, "step"));
  for (std::size_t r = 0; r < ranks; ++r) {
    const Json &data = index["files"][2 * r], &pieces = index["files"][2 * r + 1];
    HEDDLE_TRY(const std::uint64_t bytes, checked_size(folder, data, data_file(r)));
    HEDDLE_TRY_VOID(check_header(folder / data_file(r), data, bytes));
    HEDDLE_TRY(const std::string text_of_pieces, checked_content(folder, pieces, piece_file(r)));
    HEDDLE_TRY_VOID(made.read_rank(r, text_of_pieces, bytes));
  }
  for (const auto& [name, value] : made.values_)
    for (const Piece& piece : value.pieces)
      if (check == CheckpointCheck::all) HEDDLE_TRY_VOID(made.read_piece(piece, name));
  return made;
}

bool Checkpoint::is_one(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kIndexFile, error) || fs::exists(folder / data_file(0), error);
}

Verdict Checkpoint::read_rank(std::size_t rank, const std::string& text, std::uint64_t file_bytes) {
  const fs::path file = folder_ / piece_file(rank);
  HEDDLE_TRY(const Json json, parsed(text, file));
  for (const auto& [name, entry] : json.items()) {
    HEDDLE_TRY(const Type type, type_from(entry));
    auto [at, is_new] = values_.emplace(name, Value{type, {}});
    if (!(at->second.type == type))
      return reason("{}: value {} is {} here and {} elsewhere", file.string(), name, type.str(),
                    at->second.type.str());
    if (!entry.contains("pieces") || !entry["pieces"].is_array()) continue;
    for (const Json& piece : entry["pieces"]) {
      if (!piece.is_object()) return reason("{} lists no pieces of {}", file.string(), name);
      Piece made;
      made.rank = rank;
      made.at = number_in(piece, "at");
      made.hash = number_in(piece, "hash");
      HEDDLE_TRY(made.box, box_from(piece.value("box", Json()), type));
      made.bytes = static_cast<std::uint64_t>(made.box.count() * byte_size(type.dtype));
      if (made.at > file_bytes || made.bytes > file_bytes - made.at)
        return reason("{} has no room for {} elements of value {}",
                      (folder_ / data_file(rank)).string(), made.box.count(), name);
      at->second.pieces.push_back(std::move(made));
    }
  }
  return yes();
}

Expected<std::string> Checkpoint::read_piece(const Piece& piece, const std::string& name) const {
  const fs::path file = folder_ / data_file(piece.rank);
  HEDDLE_TRY(std::string content, read_range(file, piece.at, piece.bytes));
  if (content_hash(content) != piece.hash)
    return reason("{} is damaged: its bytes of value {} are not those that were saved",
                  file.string(), name);
  return content;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> all;
  for (const auto& [name, value] : values_) all.push_back(name);
  return all;
}

const Type* Checkpoint::type(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second.type;
}

Expected<Array> Checkpoint::read(const std::string& name, const Layout& layout,
                                 const CheckpointMesh& mesh, std::int64_t rank) const {
  if (rank < 0 || rank >= mesh.mesh.devices())
    return reason("there is no rank {} on a mesh of {} devices", rank, mesh.mesh.devices());
  return gather(name, layout, coord_of(mesh.mesh, mesh.position_of(rank)), mesh.axes);
}

Expected<Array> Checkpoint::read_whole(const std::string& name) const {
  const Type* wanted = type(name);
  if (wanted == nullptr) return reason("checkpoint {} has no value {}", folder_.string(), name);
  const AxisRegistry axes = AxisRegistry::standard();
  HEDDLE_TRY(const Layout layout, whole_layout(*wanted, axes));
  HEDDLE_TRY(const Array flat, gather(name, layout, {}, axes));
  return flat.reinterpreted(*wanted);
}

Expected<Array> Checkpoint::gather(const std::string& name, const Layout& layout,
                                   const Coord& coord, const AxisRegistry& axes) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    return reason("checkpoint {} has no value {}", folder_.string(), name);
  const Value& value = found->second;
  if (!layout.partials().empty())
    return reason("value {} is wanted with a sum pending, which no checkpoint holds", name);
  bool fits = layout.rank() == value.type.rank() && layout.concrete();
  for (std::size_t d = 0; fits && d < value.type.rank(); ++d)
    fits = layout.dims()[d].size.is(value.type.shape[d]);
  if (!fits) return reason("value {} is {}, for which the layout is not", name, value.type.str());
  HEDDLE_TRY(const std::int64_t room, local_elements(layout, axes));
  Array local(Type::tensor(value.type.dtype, {room}));
  if (value.type.elements() == 0) return local;
  HEDDLE_TRY(const auto boxes, footprint(layout, coord, axes));
  const int size = byte_size(value.type.dtype);
  std::int64_t wanted = 0, got = 0;
  for (const Box& box : boxes) {
    HEDDLE_TRY(const Places target, memory_places(layout, box, axes));
    wanted += box.count();
    for (const Piece& piece : value.pieces) {
      const auto both = shared(piece.box, dense_places(piece.box), box, target);
      if (!both) continue;
      std::int64_t count = 1;
      for (const auto& dim : both->a.dims) count *= static_cast<std::int64_t>(dim.size());
      got += count;
      HEDDLE_TRY(const std::string content, read_piece(piece, name));
      HEDDLE_TRY_VOID(copy_places(std::as_bytes(std::span(content)), both->a, local.mutable_bytes(),
                                  both->b, size));
    }
  }
  if (got != wanted)
    return reason("checkpoint {} has {} of the {} elements of value {} that are wanted",
                  folder_.string(), got, wanted, name);
  return local;
}

Expected<fs::path> last_good_checkpoint(const fs::path& folder, std::vector<std::string>* warn_of) {
  std::error_code error;
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory() && entry.path().filename().string()[0] != '.')
      all.push_back(entry.path());
  if (error) return reason("{} cannot be read: {}", folder.string(), error.message());
  std::ranges::sort(all, is_before);
  for (std::size_t i = all.size(); i-- > 0;) {
    const auto checkpoint = Checkpoint::open(all[i]);
    if (checkpoint) return all[i];
    // Folders of other things need no word.
    const bool was_one = fs::exists(all[i] / kIndexFile, error) || is_named_as_one(all[i]);
    if (warn_of != nullptr && was_one) warn_of->push_back(checkpoint.reason());
  }
  return reason("there is no whole checkpoint in {}", folder.string());
}

}  // namespace heddle
