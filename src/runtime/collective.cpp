#include "runtime/collective.h"

#include <algorithm>

#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rules/rule_builder.h"
#include "runtime/packed.h"
#include "schedule/fused_attr.h"

namespace heddle::runtime {

namespace {

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

// (accumulator, next) -> accumulator, element by element, as a program for the interpreter.
std::shared_ptr<const Program> combiner_of(const Program& from, const Op& op, const Type& operand,
                                           const Type& result) {
  auto program = std::make_shared<Program>();
  program->file = from.file;
  const RegionId body = program->add_region();
  // A reduce_scatter combines before it scatters.
  const Type wide = Type::tensor(result.dtype, operand.shape);
  const TypeId type = program->intern(Type(wide));
  const ValueId sum = program->add_arg(body, type);
  const ValueId next = program->add_arg(body, program->intern(Type(operand)));
  const auto convert = [&](ValueId v) {
    const ValueId in[] = {v};
    const TypeId out[] = {type};
    return program->result(
        program->op(program->add_op(body, *find_op("stablehlo.convert"), in, out)), 0);
  };
  std::vector<std::int64_t> dims(operand.rank());
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<std::int64_t>(d);
  ValueMap values;
  const RegionId inner = clone_region(*program, from, from.regions(op)[0], values);
  const ValueId in[] = {sum, convert(next)};
  const TypeId out[] = {type};
  const RegionId inners[] = {inner};
  const AttrDict attrs = {{"dimensions", Attr{Attr::Integers(dims)}}};
  const OpId map = program->add_op(body, *find_op("stablehlo.map"), in, out, attrs, inners);
  const ValueId results[] = {program->result(program->op(map), 0)};
  program->add_op(body, *find_op("func.return"), results, {});
  Function main;
  main.name = "main";
  main.body = body;
  main.results = {type};
  main.arg_attrs.resize(2);
  main.result_attrs.resize(1);
  program->functions.push_back(std::move(main));
  return program;
}

Verdict set_reduction(const Program& program, const Op& op, CollectiveOp& made) {
  if (op.region_count == 0) return yes();  // cross-replica-sum
  if (!captured_values(program, op).empty())
    return reason("its computation takes values from around it");
  const auto plain = known_reduction(program, program.regions(op)[0]);
  bool same = true;
  for (std::size_t i = 0; i < made.results.size(); ++i)
    same = same && made.operands[i].dtype == made.results[i].dtype;
  if (plain && same && can_reduce(*plain, made.results[0].dtype)) {
    made.reduce = *plain;
    return yes();
  }
  if (made.operands.size() > 1)
    return reason("its computation is none that devices know, and it has several operands");
  made.combiner = combiner_of(program, op, made.operands[0], made.results[0]);
  return yes();
}

// The pairs of a permute or transfer as groups: everyone who takes part, for each who does.
Ids everyone_in(const std::vector<Ids>& pairs) {
  Ids ids;
  for (const Ids& pair : pairs) ids.insert(ids.end(), pair.begin(), pair.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

int place_of(std::span<const std::int64_t> ids, std::int64_t id) {
  const auto at = std::ranges::find(ids, id);
  return at == ids.end() ? -1 : static_cast<int>(at - ids.begin());
}

Verdict check_shapes(const CollectiveOp& op, std::int64_t members) {
  const auto along = [&](const Type& small, const Type& large, std::size_t dim) -> Verdict {
    if (small.shape[dim] * members == large.shape[dim]) return yes();
    return reason("{}: dimension {} of {} is not {} times that of {}, for a group of {} ranks",
                  op.label, dim, large.str(), members, small.str(), members);
  };
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (op.kind == CollectiveKind::all_gather)
      HEDDLE_TRY_VOID(along(op.operands[i], op.results[i], op.dim));
    if (op.kind == CollectiveKind::reduce_scatter)
      HEDDLE_TRY_VOID(along(op.results[i], op.operands[i], op.dim));
  }
  if (op.kind == CollectiveKind::all_to_all && op.split_count != members)
    return reason("{}: split_count is {}, but the group has {} ranks", op.label, op.split_count,
                  members);
  return yes();
}

struct Place {
  Process process;
  std::int64_t id = 0;  // what pairs count: the partition or the replica
};

Place place_in(const CollectiveOp& op, const Transport& transport, const RankGrid& grid) {
  Place place;
  const std::int64_t number = grid.number_of(transport.rank());
  place.process.replica = number / grid.partitions;
  place.process.partition = number % grid.partitions;
  const bool by_partition =
      op.by == GroupBy::partition && (op.kind == CollectiveKind::permute || grid.partitions > 1);
  place.id = by_partition ? place.process.partition : place.process.replica;
  return place;
}

std::vector<int> as_ranks(const Ids& ids, const RankGrid& grid) {
  std::vector<int> ranks;
  for (std::int64_t id : ids) ranks.push_back(grid.rank_of(id));
  return ranks;
}

// Of a send or recv: source and target make up a group of their own.
Expected<ResolvedCollective> resolve_transfer(const CollectiveOp& op, Transport& transport,
                                              const RankGrid& grid) {
  ResolvedCollective made{.done = true};
  const bool sends = op.kind == CollectiveKind::send;
  const Place place = place_in(op, transport, grid);
  int source = -1, target = -1;
  for (const Ids& pair : op.groups) {
    if (pair[sends ? 0 : 1] != place.id) continue;
    const bool by_partition = op.by == GroupBy::partition && grid.partitions > 1;
    const auto rank_of = [&](std::int64_t id) {
      return static_cast<int>(by_partition ? place.process.replica * grid.partitions + id
                                           : id * grid.partitions + place.process.partition);
    };
    source = rank_of(pair[0]);
    target = rank_of(pair[1]);
  }
  if (op.groups.empty()) {
    for (const ChannelEnds& ends : grid.channels)
      if (ends.channel == op.channel) source = ends.from, target = ends.to;
    if (transport.size() == 2 && source < 0) {
      source = sends ? transport.rank() : 1 - transport.rank();
      target = 1 - source;
    }
    if ((sends ? source : target) != transport.rank())
      return reason(
          "{}: it has no source_target_pairs, so that among {} ranks nobody knows who sends to "
          "whom",
          op.label, transport.size());
  }
  if (source < 0) return made;
  const int ranks[] = {source, target};
  made.member = true;
  made.from = 0;
  made.to = 1;
  made.me = sends ? 0 : 1;
  made.size = 2;
  // Apart from collectives of the same ranks.
  HEDDLE_TRY(made.group, transport.group(ranks, op.channel * 2 + 1));
  return made;
}

}  // namespace

std::int64_t RankGrid::number_of(int rank) const {
  return ranks.empty() ? rank : std::ranges::find(ranks, rank) - ranks.begin();
}
int RankGrid::rank_of(std::int64_t number) const {
  return ranks.empty() ? static_cast<int>(number) : ranks[static_cast<std::size_t>(number)];
}

FusedMark fused_mark(const Program& program, const Op& op) {
  FusedMark mark{.number = integer_or(program.attr(op, kFusedAttr), -1),
                 .chunk_count = integer_or(program.attr(op, kFusedChunksAttr), 0)};
  mark.lanes = static_cast<int>(integer_or(program.attr(op, kFusedLanesAttr), 1));
  const std::string_view by = text_or(program.attr(op, kFusedByAttr), "");
  if (by == "ring") mark.by = chunks::Algorithm::ring;
  if (by == "tree") mark.by = chunks::Algorithm::tree;
  const std::string_view through = text_or(program.attr(op, kFusedThroughAttr), "");
  if (through == "bandwidth") mark.through = chunks::Protocol::bandwidth;
  if (through == "latency") mark.through = chunks::Protocol::latency;
  return mark;
}

Expected<CollectiveOp> collective_op(const Program& program, const Op& op) {
  CollectiveOp made;
  made.fused = fused_mark(program, op);
  const CollectiveKind kind = op.def->collective;
  if (kind == CollectiveKind::none) return reason("devices do not know it");
  made.kind = kind;
  for (ValueId v : program.operands(op)) made.operands.push_back(program.type_of(v));
  for (std::size_t i = 0; i < op.result_count; ++i)
    made.results.push_back(program.type_of(program.result(op, i)));
  made.channel = channel_of(program, op);
  const bool paired = kind == CollectiveKind::permute || kind == CollectiveKind::send ||
                      kind == CollectiveKind::receive;
  const bool exchanges =
      paired || kind == CollectiveKind::broadcast || kind == CollectiveKind::all_to_all;
  made.by = exchanges ? exchange_grouping(program, op) : reduction_grouping(program, op);
  if (kind == CollectiveKind::partition_id || kind == CollectiveKind::replica_id) return made;
  HEDDLE_TRY(made.groups, paired ? source_target_pairs(program, op) : replica_groups(program, op));
  const auto number = [&](std::string_view attr) { return integer_or(program.attr(op, attr), 0); };
  if (kind == CollectiveKind::all_gather)
    made.dim = static_cast<std::size_t>(number("all_gather_dim"));
  if (kind == CollectiveKind::reduce_scatter)
    made.dim = static_cast<std::size_t>(number("scatter_dimension"));
  if (kind == CollectiveKind::all_to_all) {
    made.dim = static_cast<std::size_t>(number("split_dimension"));
    made.concat_dim = static_cast<std::size_t>(number("concat_dimension"));
    made.split_count = number("split_count");
  }
  made.dynamic_root = flag_or(program.attr(op, "has_dynamic_root"), false);
  if (reduces(kind)) HEDDLE_TRY_VOID(set_reduction(program, op, made));
  made.packs = packs_of(made);
  return made;
}

Expected<ResolvedCollective> resolve(const CollectiveOp& op, Transport& transport,
                                     const RankGrid& grid) {
  ResolvedCollective made{.done = true};
  if (op.kind == CollectiveKind::partition_id || op.kind == CollectiveKind::replica_id) return made;
  if (op.kind == CollectiveKind::send || op.kind == CollectiveKind::receive)
    return resolve_transfer(op, transport, grid);
  const Place place = place_in(op, transport, grid);
  const bool permutes = op.kind == CollectiveKind::permute;
  const Ids everyone = permutes ? everyone_in(op.groups) : Ids{};
  if (permutes && everyone.empty()) return made;
  Ids members;
  if (auto found = group_of(permutes ? std::vector<Ids>{everyone} : op.groups, op.by, grid.replicas,
                            grid.partitions, place.process))
    members = *std::move(found);
  else
    return reason("{}: {}", op.label, found.reason());
  made.me = place_of(members, grid.number_of(transport.rank()));
  made.size = static_cast<std::int64_t>(members.size());
  made.member = made.me >= 0;
  const bool may_miss =
      permutes || op.kind == CollectiveKind::broadcast || op.kind == CollectiveKind::reduce;
  if (!made.member) {
    if (may_miss) return made;
    return reason("{}: rank {} is in none of the replica_groups", op.label, transport.rank());
  }
  HEDDLE_TRY_VOID(check_shapes(op, made.size));
  for (const Ids& pair : op.groups) {
    if (!permutes) break;
    if (pair[1] == place.id) made.from = place_of(everyone, pair[0]);
    if (pair[0] == place.id) made.to = place_of(everyone, pair[1]);
  }
  HEDDLE_TRY(made.group, transport.group(as_ranks(members, grid)));
  return made;
}

}  // namespace heddle::runtime
