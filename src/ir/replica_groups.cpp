#include "ir/replica_groups.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_set>

#include "ir/attr_access.h"

namespace heddle {

namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

// sub_axis_info = (1)2, in whichever form it came: fields, a pair, or text.
Verdict read_sub_axis(const Attr& info, ShardingAxis& axis) {
  if (const auto* pair = info.get<Attr::Integers>(); pair && pair->size() == 2) {
    axis.pre_size = (*pair)[0];
    axis.size = (*pair)[1];
  } else if (struct_of(&info)) {
    axis.pre_size = integer_or(field(&info, "pre_size"), 1);
    axis.size = integer_or(field(&info, "size"), 0);
  } else if (const auto* text = info.get<std::string>()) {
    const std::size_t close = text->find(')');
    if (text->empty() || text->front() != '(' || close == std::string::npos)
      return reason("sub_axis_info must be (before)size, got \"{}\"", *text);
    const char* end = text->data() + text->size();
    std::from_chars(text->data() + 1, end, axis.pre_size);
    std::from_chars(text->data() + close + 1, end, axis.size);
  } else {
    return reason("sub_axis_info must be (before)size, got {}", describe(&info));
  }
  if (axis.pre_size < 1 || axis.size < 1)
    return reason("sub_axis_info has sizes {} and {}", axis.pre_size, axis.size);
  return yes();
}

Expected<ShardingAxis> axis_ref(const Attr& attr) {
  ShardingAxis axis;
  axis.name = text_or(field(&attr, "name"), text_or(&attr, ""));
  if (axis.name.empty()) return reason("an axis of replica_groups has no name");
  if (const Attr* info = field(&attr, "sub_axis_info")) HEDDLE_TRY_VOID(read_sub_axis(*info, axis));
  return axis;
}

// A mesh that is written out in the attribute.
Expected<MeshDecl> inline_mesh(const Attr& attr) {
  MeshDecl mesh;
  mesh.name = "(inline)";
  const Attr* axes = field(&attr, "axes");
  const auto* list = axes ? axes->get<Attr::List>() : nullptr;
  if (!list) return reason("mesh must name a mesh or list its axes");
  AxisSizes sizes;
  for (const Attr& a : *list)
    sizes.emplace_back(text_or(field(&a, "name"), ""), integer_or(field(&a, "size"), 0));
  AxisRegistry scratch;
  HEDDLE_TRY(mesh.mesh, make_mesh(sizes, scratch));
  HEDDLE_TRY(mesh.device_ids, integers(field(&attr, "device_ids")));
  return mesh;
}

Expected<MeshDecl> mesh_of(const Program& program, const Attr& groups) {
  const Attr* attr = field(&groups, "mesh");
  if (!attr) attr = field(&groups, "mesh_name");
  if (!attr) return reason("replica_groups names no mesh");
  if (struct_of(attr)) return inline_mesh(*attr);
  const std::string_view name = text_or(attr, "");
  if (const MeshDecl* mesh = program.find_mesh(name)) return *mesh;
  return reason("there is no mesh @{}", name);
}

// Groups along axes of a mesh, without a list of who is in them.
struct AlongAxes {
  MeshDecl mesh;
  std::int64_t devices = 1, members = 1;  // of each group
  std::vector<AxisSpan> spans;
};

// Each position is in one group: from the finest on, spans begin at multiples of where others end.
bool are_apart(std::vector<AxisSpan> spans) {
  std::ranges::sort(spans, {}, &AxisSpan::stride);
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].size > 1 && spans[i].stride % (spans[i - 1].stride * spans[i - 1].size) != 0)
      return false;
  return true;
}

Expected<AlongAxes> along_axes(const Program& program, const Attr& attr) {
  AlongAxes along;
  HEDDLE_TRY(along.mesh, mesh_of(program, attr));
  HEDDLE_TRY(along.devices, mesh_size(along.mesh));
  const Attr* list_attr = field(&attr, "axes");
  const auto* list = list_attr ? list_attr->get<Attr::List>() : nullptr;
  if (list)
    for (const Attr& item : *list) {
      HEDDLE_TRY(ShardingAxis axis, axis_ref(item));
      HEDDLE_TRY(AxisSpan span, axis_span(along.mesh, axis));
      if (span.size > along.devices / along.members)
        return reason("replica_groups uses an axis twice");
      along.members *= span.size;
      if (span.size > 1) along.spans.push_back(span);
    }
  if (!are_apart(along.spans)) return reason("replica_groups uses an axis twice");
  return along;
}

// One group per setting of the other axes; members go along the given axes, the last one fastest.
std::vector<Ids> groups_of(const AlongAxes& along) {
  // A position's group starts where all of its coordinates along the axes are zero.
  std::vector<Ids> groups;
  for (std::int64_t start = 0; start < along.devices; ++start) {
    const bool first = std::ranges::all_of(
        along.spans, [&](const AxisSpan& s) { return s.coordinate(start) == 0; });
    if (!first) continue;
    Ids& group = groups.emplace_back();
    for (std::int64_t i = 0; i < along.members; ++i) {
      std::int64_t position = start, rest = i;
      for (std::size_t s = along.spans.size(); s-- > 0; rest /= along.spans[s].size)
        position += rest % along.spans[s].size * along.spans[s].stride;
      group.push_back(device_at(along.mesh, position));
    }
  }
  return groups;
}

// Ids that have been seen; small ones, which nearly all are, by their bits.
class SeenIds {
 public:
  explicit SeenIds(std::size_t count) : few_(2 * count + 1) {}
  // Whether it is new.
  bool add(std::int64_t id) {
    if (id >= std::ssize(few_)) return others_.insert(id).second;
    const auto at = static_cast<std::size_t>(id);
    if (few_[at]) return false;
    few_[at] = true;
    return true;
  }

 private:
  std::vector<bool> few_;
  std::unordered_set<std::int64_t> others_;
};

Verdict no_id_twice(const std::vector<Ids>& groups) {
  std::size_t count = 0;
  for (const Ids& group : groups) count += group.size();
  SeenIds seen(count);
  for (const Ids& group : groups)
    for (std::int64_t id : group) {
      if (id < 0) return reason("replica_groups has the id {}", id);
      if (!seen.add(id)) return reason("replica_groups has the id {} twice", id);
    }
  return yes();
}

// Arrays that were found to be right. Programs for thousands of devices have few of them, each many
// times.
class KnownArrays {
 public:
  bool has(const Attr* attr) const {
    const auto* array = attr == nullptr ? nullptr : attr->get<Array>();
    return array != nullptr && std::ranges::any_of(known_, [&](const Array& known) {
             return known.type() == array->type() && same_bytes(known, *array);
           });
  }
  void add(const Attr* attr) {
    const auto* array = attr == nullptr ? nullptr : attr->get<Array>();
    if (array == nullptr || array->is_splat() || array->elements() < kLeastElements) return;
    if (known_.size() == kMost) known_.erase(known_.begin());
    known_.push_back(*array);
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::int64_t kLeastElements = 256;
  static bool same_bytes(const Array& a, const Array& b) {
    if (a.is_splat() != b.is_splat()) return false;
    const auto one = a.bytes(), other = b.bytes();
    return one.data() == other.data() ||
           (one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0);
  }
  std::vector<Array> known_;  // they share the memory of those that they came from
};

// Asks only of arrays that were not found right before.
template <typename Read>
Verdict check_once(KnownArrays& known, const Attr* attr, Read read) {
  if (known.has(attr)) return yes();
  if (const auto value = read(); !value) return value.why();
  known.add(attr);
  return yes();
}

}  // namespace

Verdict check_groups(const Program& program, const Op& op) {
  thread_local KnownArrays known;
  const Attr* attr = program.attr(op, "replica_groups");
  if (struct_of(attr)) {
    if (const auto along = along_axes(program, *attr); !along) return along.why();
    return yes();
  }
  return check_once(known, attr, [&] { return replica_groups(program, op); });
}

Verdict check_pairs(const Program& program, const Op& op) {
  thread_local KnownArrays known;
  return check_once(known, program.attr(op, "source_target_pairs"),
                    [&] { return source_target_pairs(program, op); });
}

std::int64_t channel_of(const Program& program, const Op& op) {
  return integer_or(field(program.attr(op, "channel_handle"), "handle"), 0);
}

GroupBy reduction_grouping(const Program& program, const Op& op) {
  if (flag_or(program.attr(op, "use_global_device_ids"), false)) return GroupBy::process;
  return channel_of(program, op) > 0 ? GroupBy::replica_and_partition : GroupBy::replica;
}

GroupBy exchange_grouping(const Program& program, const Op& op) {
  return channel_of(program, op) > 0 ? GroupBy::partition : GroupBy::replica;
}

Expected<std::vector<Ids>> replica_groups(const Program& program, const Op& op) {
  const Attr* attr = program.attr(op, "replica_groups");
  std::vector<Ids> groups;
  if (struct_of(attr)) {
    HEDDLE_TRY(const AlongAxes along, along_axes(program, *attr));
    return groups_of(along);
  }
  if (attr) {
    HEDDLE_TRY(groups, integer_rows(attr));
    for (Ids& group : groups) std::erase(group, -1);  // padding of shorter groups
    std::erase_if(groups, [](const Ids& group) { return group.empty(); });
  }
  HEDDLE_TRY_VOID(no_id_twice(groups));
  return groups;
}

Expected<GroupAxes> axes_of_groups(const Program& program, const Op& op) {
  const Attr* attr = program.attr(op, "replica_groups");
  const Attr* list_attr = struct_of(attr) ? field(attr, "axes") : nullptr;
  const auto* list = list_attr ? list_attr->get<Attr::List>() : nullptr;
  if (!list) return reason("its groups are lists of devices, not axes of a mesh");
  HEDDLE_TRY(const MeshDecl mesh, mesh_of(program, *attr));
  GroupAxes along{mesh.name, {}};
  for (const Attr& item : *list) {
    HEDDLE_TRY(ShardingAxis axis, axis_ref(item));
    along.axes.push_back(std::move(axis));
  }
  return along;
}

Expected<std::vector<Ids>> source_target_pairs(const Program& program, const Op& op) {
  const Attr* attr = program.attr(op, "source_target_pairs");
  if (!attr) return std::vector<Ids>{};
  HEDDLE_TRY(std::vector<Ids> pairs, integer_rows(attr));
  SeenIds sources(pairs.size()), targets(pairs.size());
  for (const Ids& pair : pairs) {
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0)
      return reason("source_target_pairs has {}, which is no pair of ids", list_text(pair));
    if (!sources.add(pair[0]))
      return reason("{} is the source of two source_target_pairs", pair[0]);
    if (!targets.add(pair[1]))
      return reason("{} is the target of two source_target_pairs", pair[1]);
  }
  return pairs;
}

Expected<Ids> group_of(const std::vector<Ids>& groups, GroupBy by, std::int64_t replicas,
                       std::int64_t partitions, const Process& process) {
  const std::int64_t process_id = process.replica * partitions + process.partition;
  std::int64_t range = replicas, mine = process.replica;
  if (by == GroupBy::partition) range = partitions, mine = process.partition;
  if (by == GroupBy::process) range = replicas * partitions, mine = process_id;

  Ids chosen;
  for (const Ids& group : groups)
    for (std::int64_t id : group) {
      if (id >= range)
        return reason(
            "the groups have the id {}, but this run has {} of them ({} replicas of "
            "{} partitions)",
            id, range, replicas, partitions);
      if (id == mine) chosen = group;
    }
  if (groups.empty())  // none given: all of them in one
    for (std::int64_t id = 0; id < range; ++id) chosen.push_back(id);

  Ids members;
  switch (by) {
    case GroupBy::process:
      return chosen;
    case GroupBy::replica:
      for (std::int64_t id : chosen) members.push_back(id * partitions + process.partition);
      break;
    case GroupBy::partition:
      for (std::int64_t id : chosen) members.push_back(process.replica * partitions + id);
      break;
    case GroupBy::replica_and_partition:
      for (std::int64_t p = 0; p < partitions; ++p)
        for (std::int64_t id : chosen) members.push_back(id * partitions + p);
      break;
  }
  return members;
}

Expected<std::int64_t> mesh_size(const MeshDecl& mesh) {
  std::int64_t size = 1;
  for (const MeshAxis& axis : mesh.mesh.axes()) {
    if (axis.size > kMostDevices / size)
      return reason("mesh @{} has more than {} devices: its axis \"{}\" has size {}", mesh.name,
                    kMostDevices, axis.name, axis.size);
    size *= axis.size;
  }
  Ids ids = mesh.device_ids;
  if (mesh.mesh.axes().empty()) return size;  // one device, whichever it is
  std::sort(ids.begin(), ids.end());
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] != static_cast<std::int64_t>(i) || ids.size() != static_cast<std::size_t>(size))
      return reason("the device ids of mesh @{} must be 0 to {} in some order", mesh.name,
                    size - 1);
  return size;
}

std::int64_t device_at(const MeshDecl& mesh, std::int64_t position) {
  if (mesh.device_ids.empty() || mesh.mesh.axes().empty()) return position;
  return mesh.device_ids[static_cast<std::size_t>(position)];
}

std::vector<std::int64_t> positions_of_devices(const MeshDecl& mesh) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(mesh.mesh.devices()));
  for (std::int64_t p = 0; p < mesh.mesh.devices(); ++p)
    positions[static_cast<std::size_t>(device_at(mesh, p))] = p;
  return positions;
}

Expected<AxisSpan> axis_span(const MeshDecl& mesh, const ShardingAxis& axis) {
  std::int64_t stride = 1;
  const auto& axes = mesh.mesh.axes();
  for (std::size_t i = axes.size(); i-- > 0; stride *= axes[i].size) {
    if (axes[i].name != axis.name) continue;
    HEDDLE_TRY(AxisPart part, axis_part(axes[i].size, axis));
    return AxisSpan{part.size, stride * part.stride};
  }
  return reason("mesh @{} has no axis \"{}\"", mesh.name, axis.name);
}

}  // namespace heddle
