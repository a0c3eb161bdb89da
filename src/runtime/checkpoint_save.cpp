#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "heddle/checkpoint.h"
#include "heddle/safetensors.h"
#include "heddle/transport.h"
#include "runtime/checkpoint_files.h"
#include "runtime/checkpoint_places.h"

namespace heddle {

using namespace runtime;
namespace fs = std::filesystem;

std::int64_t CheckpointMesh::rank_count() const { return ranks > 0 ? ranks : mesh.devices(); }

std::int64_t CheckpointMesh::position_of(std::int64_t rank) const {
  const auto found = std::ranges::find(device_ids, rank);
  return found == device_ids.end() ? rank : found - device_ids.begin();
}

Expected<Layout> whole_layout(const Type& type, const AxisRegistry& axes) {
  LayoutParts parts;
  std::int64_t stride = 1;
  parts.digits.resize(type.rank());
  for (std::size_t d = type.rank(); d-- > 0; stride *= type.shape[d]) {
    parts.dims.insert(parts.dims.begin(), DimInfo{.size = type.shape[d], .padded = type.shape[d]});
    parts.digits[d] = {type.shape[d], stride, axes.mem()};
  }
  return Layout::make(std::move(parts));
}

Expected<std::int64_t> local_elements(const Layout& layout, const AxisRegistry& axes) {
  HEDDLE_TRY(const Dim room, span(layout, axes.mem()));
  const Dim offset = layout.offset_on(axes.mem());
  if (!layout.concrete()) return reason("the layout has sizes that are not known yet");
  return room.factor() + offset.factor();
}

namespace {

// What the ranks tell each other of the files that they have written.
struct FileNote {
  std::uint64_t ok = 0;
  std::uint64_t data_bytes = 0, header_bytes = 0, header_hash = 0, piece_bytes = 0, piece_hash = 0;
};

struct RankFiles {
  std::string header;  // of the data file; then come the arrays
  NamedArrays arrays;
  std::uint64_t bytes = 0;  // of the arrays
  Json pieces = Json::object();
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Expected<Array> dense_piece(const CheckpointValue& value, const Array& part, const Box& box,
                            const AxisRegistry& axes) {
  HEDDLE_TRY(const Places source, memory_places(value.layout, box, axes));
  Shape shape;
  for (const StridedRun& run : box.dims) shape.push_back(run.count());
  const Places target = dense_places(box);
  const Type type = Type::tensor(value.type.dtype, shape);
  Array piece;
  if (source.base == 0 && !source.swizzle && source.dims == target.dims &&
      part.type().bytes() == type.bytes()) {
    piece = part.reinterpreted(type);  // it lies as it is saved
  } else {
    piece = Array(type);
    const auto copied = copy_places(part.bytes(), source, piece.mutable_bytes(), target,
                                    byte_size(value.type.dtype));
    if (!copied)
      return reason("value {}: its part is {}, but its layout needs more: {}", value.name,
                    part.type().str(), copied.reason());
  }
  if (is_file_dtype(value.type.dtype)) return piece;
  shape.push_back(byte_size(value.type.dtype));
  return piece.reinterpreted(Type::tensor(DType::ui8, shape));
}

Verdict check_value(const CheckpointValue& value, const CheckpointMesh& mesh) {
  if (!value.type.is_tensor()) return reason("value {} is no tensor", value.name);
  if (!value.layout.partials().empty())
    return reason("value {} has a sum pending over the mesh: reduce it before it is saved",
                  value.name);
  bool fits = value.layout.rank() == value.type.rank() && value.layout.concrete();
  for (std::size_t d = 0; fits && d < value.type.rank(); ++d)
    fits = value.layout.dims()[d].size.is(value.type.shape[d]);
  if (!fits) return reason("value {}: its layout is not one of {}", value.name, value.type.str());
  if (static_cast<std::int64_t>(value.parts.size()) != mesh.rank_count())
    return reason("value {} comes in {} parts, but the mesh has {} devices", value.name,
                  value.parts.size(), mesh.rank_count());
  return yes();
}

// As the mesh numbers a rank; none where that has nothing of the value.
std::optional<std::int64_t> number_of(const std::vector<int>& on, std::size_t rank) {
  if (on.empty()) return static_cast<std::int64_t>(rank);
  const auto at = std::ranges::find(on, static_cast<int>(rank));
  if (at == on.end()) return {};
  return at - on.begin();
}

// What a rank writes, piece by piece.
class RankWriter {
 public:
  RankWriter(const CheckpointMesh& mesh, std::size_t rank) : mesh_(mesh), rank_(rank) {}

  Verdict add(const CheckpointValue& value) {
    HEDDLE_TRY_VOID(check_value(value, mesh_));
    if (files_.pieces.contains(value.name)) return reason("value {} is given twice", value.name);
    files_.pieces[value.name] = to_json(value.type);
    files_.pieces[value.name]["pieces"] = Json::array();
    if (value.rows.empty()) return add_part(value, value.on, {});
    for (const CheckpointValue::Rows& rows : value.rows) {
      CheckpointValue some{value.name, value.type, rows.layout, value.parts};
      some.type.shape[0] = 0;
      for (const RowRange& range : rows.rows) some.type.shape[0] += range.count();
      HEDDLE_TRY_VOID(add_part(some, rows.on, rows.rows));
    }
    return yes();
  }

  Expected<RankFiles> finish() {
    HEDDLE_TRY(files_.header, safetensors_header(files_.arrays));
    for (Json& entry : files_.pieces)
      for (Json& piece : entry["pieces"])
        piece["at"] = piece["at"].get<std::uint64_t>() + files_.header.size();
    return std::move(files_);
  }

 private:
  // What these ranks have: all of the value, or these rows of it.
  Verdict add_part(const CheckpointValue& value, const std::vector<int>& on,
                   const std::vector<RowRange>& rows) {
    const auto number = number_of(on, rank_);
    if (!number) return yes();
    const Coord coord = coord_of(mesh_.mesh, mesh_.position_of(*number));
    HEDDLE_TRY(const auto boxes, footprint(value.layout, coord, mesh_.axes));
    HEDDLE_TRY(const bool saves, is_first_holder(value.layout, coord, boxes, mesh_.axes));
    for (std::size_t b = 0; saves && b < boxes.size(); ++b) {
      if (boxes[b].count() == 0) continue;
      const Array& part = value.parts[rank_];
      if (part.dtype() != value.type.dtype)
        return reason("value {} is {}, but part {} is {}", value.name, value.type.str(), rank_,
                      part.type().str());
      HEDDLE_TRY(Array piece, dense_piece(value, part, boxes[b], mesh_.axes));
      if (rows.empty())
        add_piece(value.name, std::move(piece), boxes[b], boxes.size() == 1);
      else
        add_rows(value.name, piece, boxes[b], rows);
    }
    return yes();
  }

  // Ranges of rows that lie behind each other go to where they belong.
  void add_rows(const std::string& name, const Array& all, const Box& box,
                const std::vector<RowRange>& rows) {
    Shape shape = all.shape();
    const std::size_t row = all.bytes().size() / static_cast<std::size_t>(shape[0]);
    std::size_t at = 0;
    for (const RowRange& range : rows) {
      shape[0] = range.count();
      const std::size_t bytes = row * static_cast<std::size_t>(range.count());
      Box there = box;
      there.dims[0] = {range.begin, {{range.count(), 1}}, range.begin, range.end};
      add_piece(name, Array(Type::tensor(all.dtype(), shape), all.bytes().subspan(at, bytes)),
                there, false);
      at += bytes;
    }
  }

  void add_piece(const std::string& value, Array piece, const Box& box, bool is_only) {
    Json& pieces = files_.pieces[value]["pieces"];
    const std::string name = is_only ? value : fmt::format("{}#{}", value, pieces.size());
    pieces.push_back({{"entry", name},
                      {"box", to_json(box)},
                      {"at", files_.bytes},
                      {"hash", content_hash(text_of(piece.bytes()))}});
    files_.bytes += piece.bytes().size();
    files_.arrays.emplace_back(name, std::move(piece));
  }

  const CheckpointMesh& mesh_;
  const std::size_t rank_;
  RankFiles files_;
};

Expected<RankFiles> files_of(const std::vector<CheckpointValue>& values, const CheckpointMesh& mesh,
                             std::size_t rank) {
  RankWriter writer(mesh, rank);
  for (const CheckpointValue& value : values) HEDDLE_TRY_VOID(writer.add(value));
  return writer.finish();
}

Expected<FileNote> write_rank(const fs::path& folder, const std::vector<CheckpointValue>& values,
                              const CheckpointMesh& mesh, std::size_t rank) {
  HEDDLE_TRY(const RankFiles files, files_of(values, mesh, rank));
  const std::string pieces = print_json(files.pieces, 1);
  // Straight from where the values lie: there may be no room for another copy of all.
  std::vector<std::string_view> parts{files.header};
  for (const auto& [name, array] : files.arrays) parts.push_back(text_of(array.bytes()));
  HEDDLE_TRY_VOID(write_file_parts(folder / data_file(rank), parts));
  HEDDLE_TRY_VOID(write_file(folder / piece_file(rank), pieces));
  return FileNote{1,
                  files.header.size() + files.bytes,
                  files.header.size(),
                  content_hash(files.header),
                  pieces.size(),
                  content_hash(pieces)};
}

Verdict write_index(const fs::path& folder, const std::vector<FileNote>& notes, std::int64_t step) {
  Json index = {{"format", kCheckpointFormat},
                {"step", step},
                {"ranks", notes.size()},
                {"files", Json::array()}};
  for (std::size_t r = 0; r < notes.size(); ++r) {
    const FileNote& n = notes[r];
    index["files"].push_back({{"file", data_file(r)},
                              {"bytes", n.data_bytes},
                              {"header", n.header_bytes},
                              {"hash", n.header_hash}});
    index["files"].push_back(
        {{"file", piece_file(r)}, {"bytes", n.piece_bytes}, {"hash", n.piece_hash}});
  }
  index["hash"] = index_hash(index);
  return write_file(folder / kIndexFile, print_json(index, 1));
}

// The new folder takes the name; what had it before goes.
Verdict put_in_place(const fs::path& made, const fs::path& folder) {
  sync_folder(made);
  std::error_code error;
  if (!fs::exists(folder)) {
    if (::rename(made.c_str(), folder.c_str()) != 0)
      return reason("{} cannot be made: {}", folder.string(), std::strerror(errno));
  } else {
    if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0)
      return reason("{} cannot be replaced: {}; name another folder", folder.string(),
                    std::strerror(errno));
    fs::remove_all(made, error);
  }
  sync_folder(folder.has_parent_path() ? folder.parent_path() : ".");
  return yes();
}

fs::path temporary_beside(const fs::path& folder) {
  fs::path made = folder;
  made.replace_filename("." + folder.filename().string() + ".saving");
  return made;
}

// ---- several ranks

// Everyone's note, for all.
Expected<std::vector<FileNote>> share_notes(Transport& transport, const FileNote& mine,
                                            std::string_view what) {
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<int>(r);
  HEDDLE_TRY(const GroupId group, transport.group(ranks));
  std::vector<FileNote> all(ranks.size());
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, sizeof mine};
  c.what = what;
  HEDDLE_TRY_VOID(run_collective(transport, c));
  return all;
}

// What went wrong here, or else which rank says that it went wrong there.
Verdict all_well(Transport& transport, const Verdict& mine, FileNote note, std::string_view what,
                 std::vector<FileNote>* notes = nullptr) {
  note.ok = mine.ok() ? 1 : 0;
  HEDDLE_TRY(const auto all, share_notes(transport, note, what));
  if (!mine) return mine.why();
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].ok == 0) return reason("rank {} failed in {}: its own message says why", r, what);
  if (notes != nullptr) *notes = all;
  return yes();
}

Verdict make_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);  // what an earlier attempt has left
  if (!fs::create_directory(folder, error))
    return reason("{} cannot be made: {}", folder.string(),
                  error ? error.message() : "it is there already");
  return yes();
}

Verdict save_with_others(const fs::path& folder, const std::vector<CheckpointValue>& values,
                         const CheckpointMesh& mesh, Transport& transport, std::int64_t step) {
  if (transport.size() != mesh.rank_count())
    return reason("the mesh has {} devices, but {} ranks save a checkpoint", mesh.rank_count(),
                  transport.size());
  const fs::path made = temporary_beside(folder);
  const bool first = transport.rank() == 0;
  HEDDLE_TRY_VOID(all_well(transport, first ? make_folder(made) : yes(), {}, "making a folder"));
  const auto note = write_rank(made, values, mesh, static_cast<std::size_t>(transport.rank()));
  std::vector<FileNote> notes;
  Verdict saved = all_well(transport, note ? yes() : Verdict(note.why()), note ? *note : FileNote{},
                           "writing its part of the checkpoint", &notes);
  if (saved && first) {
    saved = write_index(made, notes, step);
    if (saved) saved = put_in_place(made, folder);
  }
  std::error_code error;
  // Nobody writes any more when all have said so.
  if (!saved && first) fs::remove_all(made, error);
  const Verdict end = all_well(transport, saved, {}, "completing the checkpoint");
  return saved ? end : saved;
}

}  // namespace

Verdict save_checkpoint(const fs::path& folder, const std::vector<CheckpointValue>& values,
                        const CheckpointMesh& mesh, Transport* transport, std::int64_t step) {
  if (folder.filename().empty()) return reason("the checkpoint has no name");
  if (step < 0) return reason("there is no step {} to save: steps are at least 0", step);
  if (transport != nullptr && transport->size() > 1)
    return save_with_others(folder, values, mesh, *transport, step);
  const fs::path made = temporary_beside(folder);
  HEDDLE_TRY_VOID(make_folder(made));
  const auto save = [&]() -> Verdict {
    std::vector<FileNote> notes;
    for (std::int64_t r = 0; r < mesh.rank_count(); ++r) {
      HEDDLE_TRY(const FileNote note, write_rank(made, values, mesh, static_cast<std::size_t>(r)));
      notes.push_back(note);
    }
    HEDDLE_TRY_VOID(write_index(made, notes, step));
    return put_in_place(made, folder);
  };
  const Verdict saved = save();
  std::error_code error;
  if (!saved) fs::remove_all(made, error);
  return saved;
}

}  // namespace heddle
