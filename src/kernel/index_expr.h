// Index expressions of a stage: sums of loop positions times constants, with quotients and
// remainders where shapes demand them, kept as simple as their ranges allow.
#pragma once

#include <map>

#include "kernel/node_table.h"

namespace heddle {

using LeafId = std::uint32_t;

// offset + Σ factor * leaf
struct IndexSum {
  struct Term {
    LeafId leaf = 0;
    std::int64_t factor = 1;
    friend auto operator<=>(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;  // by leaf, none with factor 0
  std::int64_t offset = 0;
  friend auto operator<=>(const IndexSum&, const IndexSum&) = default;
  bool is(LeafId leaf) const {
    return offset == 0 && terms.size() == 1 && terms[0].leaf == leaf && terms[0].factor == 1;
  }
};

class IndexSpace {
 public:
  explicit IndexSpace(NodeTable& nodes) : nodes_(nodes) {}

  // A position in [0, size), computed by a node.
  LeafId leaf(NodeId node, std::int64_t size);

  static IndexSum constant(std::int64_t value) { return {{}, value}; }
  static IndexSum of(LeafId leaf) { return {{{leaf, 1}}, 0}; }
  IndexSum add(const IndexSum& a, const IndexSum& b);
  IndexSum scaled(const IndexSum& a, std::int64_t factor);
  // Of something that is never negative.
  IndexSum quotient(const IndexSum& a, std::int64_t divisor);
  IndexSum remainder(const IndexSum& a, std::int64_t divisor);

  struct Range {
    std::int64_t least = 0, most = 0;
  };
  Range range(const IndexSum& a) const;

  NodeId node(const IndexSum& a);
  // Whether it lies in [0, size); kNone where it always does.
  NodeId inside(const IndexSum& a, std::int64_t size);
  // Whether it is a multiple; kNone where it always is.
  NodeId multiple(const IndexSum& a, std::int64_t of);

  // How far the index goes with one step of a leaf; `known` false where that is no constant.
  struct Step {
    std::int64_t size = 0;
    bool known = true;
  };
  Step step(const IndexSum& a, LeafId of) const;

 private:
  struct Leaf {
    NodeId node = kNone;
    std::int64_t most = 0;
    // Of a quotient or remainder.
    bool is_quotient = false, is_remainder = false;
    IndexSum base;
    std::int64_t divisor = 1;
  };
  IndexSum part(const IndexSum& a, std::int64_t divisor, bool quotient);
  bool recombine(IndexSum& a);
  bool depends(LeafId leaf, LeafId on) const;

  NodeTable& nodes_;
  std::vector<Leaf> leaves_;
  std::map<std::pair<IndexSum, std::int64_t>, std::pair<LeafId, LeafId>> parts_;
};

}  // namespace heddle
