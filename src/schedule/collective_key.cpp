#include "schedule/collective_key.h"

#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

namespace {

// The op and the axes along which devices meet.
std::string axes_key(const Program& program, const Op& op) {
  const Attr* groups = program.attr(op, "replica_groups");
  const auto* along = groups == nullptr ? nullptr : groups->get<Attr::Struct>();
  if (along == nullptr) return "";
  std::string key(op.def->name);
  const Attr* axes = find_attr(along->fields, "axes");
  for (const Attr& axis : *axes->get<Attr::List>())
    for (const NamedAttr& field : axis.get<Attr::Struct>()->fields)
      key += " " + *field.value.get<std::string>();
  return key;
}

std::string with_numbers(const Program& program, const Op& op,
                         std::initializer_list<const char*> names) {
  std::string key = axes_key(program, op);
  for (const char* attr : names)
    if (!key.empty())
      key += fmt::format(" {}", program.attr(op, attr)->get<Attr::Integer>()->value);
  return key;
}

std::string sum_key(const Program& program, const Op& op,
                    std::initializer_list<const char*> names) {
  const std::string key = with_numbers(program, op, names);
  const auto kind = known_reduction(program, program.regions(op)[0]);
  if (key.empty() || !kind) return "";
  return fmt::format("{} {} {}", key, name(*kind), name(program.type_of(op.results).dtype));
}

// Who sends to whom.
std::string permute_key(const Program& program, const Op& op) {
  const Attr* pairs = program.attr(op, "source_target_pairs");
  const Array* array = pairs == nullptr ? nullptr : pairs->get<Array>();
  if (array == nullptr) return "";
  std::string key = fmt::format("{} {} {} ", op.def->name, array->type().str(),
                                static_cast<int>(exchange_grouping(program, op)));
  // There may be thousands of pairs: as they lie in memory.
  const auto bytes = array->bytes();
  return key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::string collective_key(const Program& program, const Op& op) {
  if (program.attr(op, kApartAttr) != nullptr) return "";
  switch (op.def->collective) {
    case CollectiveKind::permute:
      return permute_key(program, op);
    case CollectiveKind::all_gather:
      return with_numbers(program, op, {"all_gather_dim"});
    case CollectiveKind::all_to_all:
      return with_numbers(program, op, {"split_dimension", "concat_dimension", "split_count"});
    case CollectiveKind::all_reduce:
      return sum_key(program, op, {});
    case CollectiveKind::reduce_scatter:
      return sum_key(program, op, {"scatter_dimension"});
    default:
      return "";
  }
}

}  // namespace heddle
