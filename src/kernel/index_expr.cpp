#include "kernel/index_expr.h"

#include <algorithm>
#include <unordered_set>

namespace heddle {

LeafId IndexSpace::leaf(NodeId node, std::int64_t size) {
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    if (leaves_[i].node == node) return static_cast<LeafId>(i);
  Leaf leaf;
  leaf.node = node;
  leaf.most = std::max<std::int64_t>(0, size - 1);
  leaves_.push_back(std::move(leaf));
  return static_cast<LeafId>(leaves_.size() - 1);
}

// d * (x / d) + x % d is x.
bool IndexSpace::recombine(IndexSum& a) {
  for (const IndexSum::Term& r : a.terms) {
    const Leaf& rest = leaves_[r.leaf];
    if (!rest.is_remainder) continue;
    for (const IndexSum::Term& q : a.terms) {
      const Leaf& whole = leaves_[q.leaf];
      if (!whole.is_quotient || whole.divisor != rest.divisor ||
          q.factor != r.factor * rest.divisor || whole.base != rest.base)
        continue;
      const IndexSum base = scaled(rest.base, r.factor);
      const LeafId gone[] = {r.leaf, q.leaf};
      std::erase_if(
          a.terms, [&](const IndexSum::Term& t) { return t.leaf == gone[0] || t.leaf == gone[1]; });
      a = add(a, base);
      return true;
    }
  }
  return false;
}

IndexSum IndexSpace::add(const IndexSum& a, const IndexSum& b) {
  IndexSum sum{{}, a.offset + b.offset};
  std::size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].leaf < b.terms[j].leaf)) {
      sum.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].leaf < a.terms[i].leaf) {
      sum.terms.push_back(b.terms[j++]);
    } else {
      const std::int64_t factor = a.terms[i].factor + b.terms[j].factor;
      if (factor != 0) sum.terms.push_back({a.terms[i].leaf, factor});
      ++i;
      ++j;
    }
  }
  while (recombine(sum)) {
  }
  return sum;
}

IndexSum IndexSpace::scaled(const IndexSum& a, std::int64_t factor) {
  if (factor == 0) return constant(0);
  IndexSum out = a;
  out.offset *= factor;
  for (IndexSum::Term& t : out.terms) t.factor *= factor;
  return out;
}

IndexSpace::Range IndexSpace::range(const IndexSum& a) const {
  Range r{a.offset, a.offset};
  for (const IndexSum::Term& t : a.terms) {
    const std::int64_t far = t.factor * leaves_[t.leaf].most;
    (far < 0 ? r.least : r.most) += far;
  }
  return r;
}

// Terms that the divisor divides come out whole where what is left stays below it.
IndexSum IndexSpace::part(const IndexSum& a, std::int64_t divisor, bool quotient) {
  if (divisor == 1) return quotient ? a : constant(0);
  IndexSum whole{{}, 0}, rest{{}, 0};
  whole.offset = a.offset >= 0 ? a.offset / divisor : -((-a.offset + divisor - 1) / divisor);
  rest.offset = a.offset - whole.offset * divisor;
  for (const IndexSum::Term& t : a.terms) {
    if (t.factor % divisor == 0)
      whole.terms.push_back({t.leaf, t.factor / divisor});
    else
      rest.terms.push_back(t);
  }
  const Range r = range(rest);
  if (r.least >= 0 && r.most < divisor) return quotient ? whole : rest;
  const Range all = range(r.least >= 0 ? rest : a);
  const IndexSum base = r.least >= 0 ? rest : a;
  if (r.least < 0) whole = constant(0);
  auto [it, fresh] = parts_.try_emplace({base, divisor}, kNone, kNone);
  if (fresh) {
    const NodeId from = node(base), by = nodes_.integer(divisor);
    for (bool is_quotient : {true, false}) {
      Leaf leaf;
      leaf.node =
          nodes_.scalar(is_quotient ? ScalarOp::divide : ScalarOp::remainder, DType::i64, from, by);
      leaf.most = is_quotient ? std::max<std::int64_t>(0, all.most / divisor) : divisor - 1;
      leaf.is_quotient = is_quotient;
      leaf.is_remainder = !is_quotient;
      leaf.base = base;
      leaf.divisor = divisor;
      leaves_.push_back(std::move(leaf));
      (is_quotient ? it->second.first : it->second.second) =
          static_cast<LeafId>(leaves_.size() - 1);
    }
  }
  return quotient ? add(whole, of(it->second.first)) : of(it->second.second);
}

IndexSum IndexSpace::quotient(const IndexSum& a, std::int64_t divisor) {
  return part(a, divisor, true);
}
IndexSum IndexSpace::remainder(const IndexSum& a, std::int64_t divisor) {
  return part(a, divisor, false);
}

NodeId IndexSpace::node(const IndexSum& a) {
  NodeId sum = kNone;
  for (const IndexSum::Term& t : a.terms) {
    NodeId term = leaves_[t.leaf].node;
    if (t.factor != 1)
      term = nodes_.scalar(ScalarOp::multiply, DType::i64, term, nodes_.integer(t.factor));
    sum = sum == kNone ? term : nodes_.scalar(ScalarOp::add, DType::i64, sum, term);
  }
  if (sum == kNone) return nodes_.integer(a.offset);
  if (a.offset != 0) sum = nodes_.scalar(ScalarOp::add, DType::i64, sum, nodes_.integer(a.offset));
  return sum;
}

NodeId IndexSpace::inside(const IndexSum& a, std::int64_t size) {
  const Range r = range(a);
  NodeId guard = kNone;
  if (r.least < 0)
    guard = nodes_.scalar(ScalarOp::greater_equal, DType::i1, node(a), nodes_.integer(0));
  if (r.most >= size)
    guard =
        nodes_.both(guard, nodes_.scalar(ScalarOp::less, DType::i1, node(a), nodes_.integer(size)));
  return guard;
}

NodeId IndexSpace::multiple(const IndexSum& a, std::int64_t of) {
  bool always = a.offset % of == 0;
  for (const IndexSum::Term& t : a.terms) always = always && t.factor % of == 0;
  if (always) return kNone;
  const NodeId rest = nodes_.scalar(ScalarOp::remainder, DType::i64, node(a), nodes_.integer(of));
  return nodes_.scalar(ScalarOp::equal, DType::i1, rest, nodes_.integer(0));
}

bool IndexSpace::depends(LeafId leaf, LeafId on) const {
  if (leaf == on) return true;
  std::vector<NodeId> open = {leaves_[leaf].node};
  std::unordered_set<NodeId> seen;
  while (!open.empty()) {
    const NodeId n = open.back();
    open.pop_back();
    if (n == leaves_[on].node) return true;
    for (NodeId in : nodes_.nodes()[n].in)
      if (in != kNone && seen.insert(in).second) open.push_back(in);
  }
  return false;
}

IndexSpace::Step IndexSpace::step(const IndexSum& a, LeafId of) const {
  Step s;
  for (const IndexSum::Term& t : a.terms) {
    if (t.leaf == of)
      s.size += t.factor;
    else if (depends(t.leaf, of))
      s.known = false;
  }
  return s;
}

}  // namespace heddle
