#include "schedule/joined_permutes.h"

#include <algorithm>
#include <unordered_set>

#include "heddle/op.h"

namespace heddle {

namespace {

class JoinedPermutes {
 public:
  JoinedPermutes(Program& out, RegionId at, LocId loc) : out_(out), at_(at), loc_(loc) {}

  std::vector<std::vector<ValueId>> write(std::span<const PermutePart> parts, AttrDict attrs) {
    find_roles(parts);
    const ValueId me =
        op("stablehlo.convert", {op("stablehlo.partition_id", {}, Type::tensor(DType::ui32, {}))},
           kNumber);
    const ValueId sends = entry(sender_of_, me), gets = entry(receiver_of_, me);
    std::vector<ValueId> sent = parts[0].operands;
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const ValueId mine = is(sends, p);
      for (std::size_t i = 0; i < sent.size(); ++i)
        sent[i] = op("stablehlo.select", {mine, parts[p].operands[i], sent[i]}, type(sent[i]));
    }
    const std::vector<ValueId> got = permuted(parts, sent, std::move(attrs));
    std::vector<std::vector<ValueId>> results;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const ValueId mine = is(gets, p);
      std::vector<ValueId>& list = results.emplace_back();
      for (ValueId v : got) {
        const ValueId nothing = constant(Array(type(v)));
        list.push_back(op("stablehlo.select", {mine, v, nothing}, type(v)));
      }
    }
    return results;
  }

 private:
  // By partition: the part in which it sends and the one in which it gets something.
  void find_roles(std::span<const PermutePart> parts) {
    std::int64_t last = 0;
    for (const PermutePart& part : parts)
      for (const Ids& pair : part.pairs) last = std::max({last, pair[0], pair[1]});
    sender_of_.assign(static_cast<std::size_t>(last) + 1, -1);
    receiver_of_ = sender_of_;
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const Ids& pair : parts[p].pairs) {
        sender_of_[static_cast<std::size_t>(pair[0])] = static_cast<std::int64_t>(p);
        receiver_of_[static_cast<std::size_t>(pair[1])] = static_cast<std::int64_t>(p);
      }
    // Partitions beyond the last one take its entry.
    sender_of_.push_back(-1);
    receiver_of_.push_back(-1);
  }

  std::vector<ValueId> permuted(std::span<const PermutePart> parts,
                                const std::vector<ValueId>& operands, AttrDict attrs) {
    std::vector<std::int64_t> numbers;
    for (const PermutePart& part : parts)
      for (const Ids& pair : part.pairs) numbers.insert(numbers.end(), pair.begin(), pair.end());
    const auto count = static_cast<std::int64_t>(numbers.size() / 2);
    for (NamedAttr& attr : attrs)
      if (attr.name == "source_target_pairs")
        attr.value =
            Attr{Array(Type::tensor(DType::i64, {count, 2}), std::as_bytes(std::span(numbers)))};
    std::vector<TypeId> types;
    for (ValueId v : operands) types.push_back(out_.value(v).type);
    const OpId made = out_.add_op(at_, *find_op("stablehlo.collective_permute"), operands, types,
                                  std::move(attrs), {}, loc_);
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < operands.size(); ++i)
      results.push_back(out_.result(out_.op(made), i));
    return results;
  }

  // The entry of a table for this partition.
  ValueId entry(const std::vector<std::int64_t>& table, ValueId me) {
    const auto size = static_cast<std::int64_t>(table.size());
    const ValueId all =
        constant(Array(Type::tensor(DType::i64, {size}), std::as_bytes(std::span(table))));
    const ValueId one = op("stablehlo.dynamic_slice", {all, me}, Type::tensor(DType::i64, {1}),
                           {{"slice_sizes", Attr{Attr::Integers{1}}}});
    return op("stablehlo.reshape", {one}, kNumber);
  }

  ValueId is(ValueId number, std::size_t wanted) {
    const auto value = static_cast<std::int64_t>(wanted);
    return op("stablehlo.compare",
              {number, constant(Array(kNumber, std::as_bytes(std::span(&value, 1))))},
              Type::tensor(DType::i1, {}),
              {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", "EQ"}}}});
  }

  Type type(ValueId v) const { return out_.type_of(v); }
  ValueId constant(Array value) {
    const Type wanted = value.type();
    return op("stablehlo.constant", {}, wanted, {{"value", Attr{std::move(value)}}});
  }
  ValueId op(std::string_view name, std::vector<ValueId> operands, const Type& result,
             AttrDict attrs = {}) {
    const TypeId wanted = out_.intern(result);
    const OpId id =
        out_.add_op(at_, *find_op(name), operands, {&wanted, 1}, std::move(attrs), {}, loc_);
    return out_.result(out_.op(id), 0);
  }

  const Type kNumber = Type::tensor(DType::i64, {});
  Program& out_;
  const RegionId at_;
  const LocId loc_;
  std::vector<std::int64_t> sender_of_, receiver_of_;
};

}  // namespace

bool are_apart(std::span<const Ids> some, std::span<const Ids> others) {
  std::unordered_set<std::int64_t> sources, targets;
  for (const Ids& pair : some) {
    sources.insert(pair[0]);
    targets.insert(pair[1]);
  }
  return std::ranges::none_of(others, [&](const Ids& pair) {
    return sources.contains(pair[0]) || targets.contains(pair[1]);
  });
}

std::vector<std::vector<ValueId>> write_joined_permutes(Program& out, RegionId at,
                                                        std::span<const PermutePart> parts,
                                                        AttrDict attrs, LocId loc) {
  return JoinedPermutes(out, at, loc).write(parts, std::move(attrs));
}

}  // namespace heddle
