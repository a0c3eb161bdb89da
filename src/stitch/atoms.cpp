#include "stitch/atoms.h"

#include <algorithm>

namespace heddle {

AtomId AtomSpace::make(std::int64_t size) {
  nodes_.push_back({.size = size, .same_as = kNone, .major = kNone, .minor = kNone, .users = {}});
  return static_cast<AtomId>(nodes_.size() - 1);
}

void AtomSpace::add(ValueId value, const Shape& shape) {
  if (values_.contains(value)) return;
  AtomList dims;
  for (std::int64_t size : shape) {
    dims.push_back(make(size));
    nodes_.back().users.push_back(value);
  }
  values_.emplace(value, std::move(dims));
}

AtomId AtomSpace::find(AtomId atom) const {
  while (nodes_[atom].same_as != kNone) atom = nodes_[atom].same_as;
  return atom;
}

void AtomSpace::add_leaves(AtomId atom, AtomList& out) const {
  atom = find(atom);
  const Node& node = nodes_[atom];
  if (node.major != kNone) {
    add_leaves(node.major, out);
    add_leaves(node.minor, out);
  } else if (node.size != 1) {
    out.push_back(atom);
  }
}

AtomList AtomSpace::leaves(std::span<const AtomId> atoms) const {
  AtomList out;
  for (AtomId atom : atoms) add_leaves(atom, out);
  return out;
}

AtomList AtomSpace::atoms(ValueId value, std::size_t dim) const {
  return leaves(std::span(values_.at(value)).subspan(dim, 1));
}

AtomList AtomSpace::atoms(ValueId value) const { return leaves(values_.at(value)); }

void AtomSpace::split(AtomId atom, std::int64_t minor_size) {
  const AtomId major = make(nodes_[atom].size / minor_size), minor = make(minor_size);
  nodes_[major].users = nodes_[minor].users = nodes_[atom].users;
  nodes_[atom].users.clear();
  nodes_[atom].major = major;
  nodes_[atom].minor = minor;
}

// Two leaves of one size become one, unless a value has both.
void AtomSpace::join(AtomId a, AtomId b) {
  if (a == b) return;
  if (nodes_[a].users.size() < nodes_[b].users.size()) std::swap(a, b);
  std::vector<ValueId>& to = nodes_[a].users;
  std::vector<ValueId>& from = nodes_[b].users;
  std::vector<ValueId> all;
  all.reserve(to.size() + from.size());
  std::merge(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(all));
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) return;
  to = std::move(all);
  from.clear();
  nodes_[b].same_as = a;
}

void AtomSpace::unify(std::span<const AtomId> a, std::span<const AtomId> b) {
  AtomList x = leaves(a), y = leaves(b);
  while (!x.empty() && !y.empty()) {
    const AtomId p = x.back(), q = y.back();
    const std::int64_t m = nodes_[p].size, n = nodes_[q].size;
    if (m == 0 || n == 0) return;
    if (m == n) {
      x.pop_back();
      y.pop_back();
      join(p, q);
      continue;
    }
    // The larger one is split, and its minor part is the smaller one.
    const bool first = m > n;
    if (first ? m % n != 0 : n % m != 0) return;
    split(first ? p : q, std::min(m, n));
    x = leaves(x);
    y = leaves(y);
  }
}

bool is_plain(const DimRule& rule, const IndexRule& all, std::int64_t size) {
  if (rule.offset != 0 || rule.dilation != 1 || rule.slides) return false;
  std::int64_t stride = 1;
  for (std::size_t i = rule.terms.size(); i-- > 0;) {
    const IndexTerm& term = rule.terms[i];
    const Factor& factor = all.factors[static_cast<std::size_t>(term.factor)];
    if (factor.size == 1) continue;
    if (term.stride != stride || term.divide != 1 || term.modulo != 0) return false;
    stride *= factor.size;
  }
  return stride == size;
}

void AtomSpace::relate_dim(ValueId value, std::size_t dim, const DimRule& rule,
                           std::span<const AtomId> factors) {
  AtomList of_rule;
  for (const IndexTerm& term : rule.terms)
    of_rule.push_back(factors[static_cast<std::size_t>(term.factor)]);
  unify(std::span(values_.at(value)).subspan(dim, 1), of_rule);
}

void AtomSpace::align(ValueId a, ValueId b) {
  const AtomList &x = values_.at(a), &y = values_.at(b);
  for (std::size_t d = 0; d < x.size(); ++d)
    unify(std::span(x).subspan(d, 1), std::span(y).subspan(d, 1));
}

void AtomSpace::relate(const Program& program, const Op& op, const IndexRule& rule) {
  AtomList factors;
  for (const Factor& factor : rule.factors) factors.push_back(make(factor.size));
  auto relate_value = [&](ValueId value, const std::vector<DimRule>& dims) {
    if (!contains(value)) return;
    const Shape& shape = program.type_of(value).shape;
    for (std::size_t d = 0; d < shape.size() && d < dims.size(); ++d)
      if (shape[d] != 1 && is_plain(dims[d], rule, shape[d]))
        relate_dim(value, d, dims[d], factors);
  };
  for (std::size_t i = 0; i < rule.results.size(); ++i)
    relate_value(program.result(op, i), rule.results[i].dims);
  const auto operands = program.operands(op);
  for (std::size_t i = 0; i < operands.size(); ++i)
    relate_value(operands[i], rule.operands[i].dims);
}

}  // namespace heddle
