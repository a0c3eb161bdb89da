#include "stitch/alike.h"

#include <algorithm>
#include <unordered_map>

#include "heddle/hash.h"
#include "heddle/op.h"

namespace heddle {

namespace {

// Enough to tell most attributes apart.
std::uint64_t hash_of(std::uint64_t hash, const Attr& attr) {
  if (const auto* list = attr.get<Attr::Integers>())
    for (std::int64_t n : *list) hash = hash_combine(hash, static_cast<std::uint64_t>(n));
  if (const auto* one = attr.get<Attr::Integer>())
    hash = hash_combine(hash, static_cast<std::uint64_t>(one->value));
  if (const auto* word = attr.get<Attr::Enum>()) hash = hash_combine(hash, word->word);
  return hash;
}

std::uint64_t hash_of(const Program& p, const Op& op) {
  std::uint64_t hash = hash_combine(p.attrs_of(op).size(), op.def->name);
  for (const NamedAttr& attr : p.attrs_of(op)) hash = hash_of(hash, attr.value);
  for (ValueId v : p.operands(op)) hash = hash_combine(hash, p.type_of(v).hash());
  for (std::size_t i = 0; i < op.result_count; ++i)
    hash = hash_combine(hash, p.type_of(p.result(op, i)).hash());
  return hash;
}

bool same_types(const Program& p, const Op& a, const Op& b) {
  const auto x = p.operands(a), y = p.operands(b);
  auto same = [&](ValueId v, ValueId w) { return p.type_of(v) == p.type_of(w); };
  if (a.result_count != b.result_count || !std::ranges::equal(x, y, same)) return false;
  for (std::size_t i = 0; i < a.result_count; ++i)
    if (!same(p.result(a, i), p.result(b, i))) return false;
  return true;
}

// Whether two regions do the same to their arguments. A value from around is nobody's twin.
bool same_region(const Program& p, RegionId a, RegionId b);

bool same_op(const Program& p, const Op& a, const Op& b) {
  if (a.def != b.def || !same_types(p, a, b) || !(p.attrs_of(a) == p.attrs_of(b))) return false;
  return std::ranges::equal(p.regions(a), p.regions(b),
                            [&](RegionId r, RegionId s) { return same_region(p, r, s); });
}

bool same_region(const Program& p, RegionId a, RegionId b) {
  const Region &x = p.region(a), &y = p.region(b);
  if (x.args.size() != y.args.size() || x.ops.size() != y.ops.size()) return false;
  std::unordered_map<ValueId, ValueId> twin;
  for (std::size_t i = 0; i < x.args.size(); ++i) twin[x.args[i]] = y.args[i];
  for (std::size_t k = 0; k < x.ops.size(); ++k) {
    const Op &f = p.op(x.ops[k]), &g = p.op(y.ops[k]);
    if (!same_op(p, f, g)) return false;
    for (std::size_t i = 0; i < f.operand_count; ++i) {
      const auto found = twin.find(p.operands(f)[i]);
      if (found == twin.end() || found->second != p.operands(g)[i]) return false;
    }
    for (std::size_t i = 0; i < f.result_count; ++i) twin[p.result(f, i)] = p.result(g, i);
  }
  return true;
}

}  // namespace

Alike::Alike(const Graph& graph)
    : graph_(graph),
      number_(graph.program->value_count()),
      stamp_(graph.program->value_count(), 0),
      member_(graph.size(), 0) {
  std::unordered_map<std::uint64_t, std::vector<Vertex>> first;  // of each kind
  for (Vertex v = 0; v < graph.size(); ++v) {
    std::vector<Vertex>& some = first[hash_of(*graph.program, graph.op(v))];
    const auto found = std::ranges::find_if(
        some, [&](Vertex w) { return same_op(*graph.program, graph.op(v), graph.op(w)); });
    kind_.push_back(found == some.end() ? v : *found);
    if (found == some.end()) some.push_back(v);
  }
}

std::uint64_t Alike::key(const Pattern& pattern) const {
  const Program& p = *graph_.program;
  ++epoch_;
  for (Vertex v : pattern) member_[v] = epoch_;
  std::uint32_t count = 0;
  auto number = [&](ValueId v) {
    if (stamp_[v] != epoch_) {
      stamp_[v] = epoch_;
      number_[v] = count++;
    }
    return number_[v];
  };
  std::uint64_t hash = pattern.size();
  for (Vertex v : pattern) {
    const Op& op = graph_.op(v);
    const bool leaves =
        graph_.escapes[v] ||
        std::ranges::any_of(graph_.consumers[v], [&](Vertex c) { return member_[c] != epoch_; });
    hash = hash_combine(hash, std::uint64_t{kind_[v]} << 1 | static_cast<unsigned>(leaves));
    for (ValueId in : p.operands(op)) hash = hash_combine(hash, number(in));
    for (std::size_t i = 0; i < op.result_count; ++i) number(p.result(op, i));
  }
  return hash;
}

}  // namespace heddle
