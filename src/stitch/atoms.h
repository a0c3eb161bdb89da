// Atoms: the loop indices that the values of a group have in common.
//
// Every dimension of every value is an ordered list of atoms, major first. Ops make atoms equal, as
// their index rules say: adding two tensors makes their dimensions one, reshaping [320] to [32, 10]
// splits an atom in two, everywhere. What is left is the loop nest that the whole group shares.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "heddle/index_rule.h"
#include "heddle/program.h"

namespace heddle {

using AtomId = std::uint32_t;
using AtomList = std::vector<AtomId>;

class AtomSpace {
 public:
  // A value gets an atom per dimension.
  void add(ValueId value, const Shape& shape);
  bool contains(ValueId value) const { return values_.contains(value); }

  // Makes atoms of the op's operands and results equal as its rule says. Where that would give a
  // value one atom twice (x + transpose(x)), or where sizes do not nest, they stay apart.
  void relate(const Program& program, const Op& op, const IndexRule& rule);

  // Makes the atoms of two values of one shape equal, where nothing stands against it.
  void align(ValueId a, ValueId b);

  // Of one dimension, or of all of them in order; atoms of size 1 are left out.
  AtomList atoms(ValueId value, std::size_t dim) const;
  AtomList atoms(ValueId value) const;
  std::int64_t size(AtomId atom) const { return nodes_[atom].size; }

 private:
  struct Node {
    std::int64_t size = 1;
    AtomId same_as = kNone;               // of another that it was found equal to
    AtomId major = kNone, minor = kNone;  // that it was split into
    std::vector<ValueId> users;           // values that have it; of a leaf
  };
  AtomId make(std::int64_t size);
  AtomId find(AtomId atom) const;
  void add_leaves(AtomId atom, AtomList& out) const;
  AtomList leaves(std::span<const AtomId> atoms) const;
  void relate_dim(ValueId value, std::size_t dim, const DimRule& rule,
                  std::span<const AtomId> factors);
  void unify(std::span<const AtomId> a, std::span<const AtomId> b);
  void join(AtomId a, AtomId b);
  void split(AtomId atom, std::int64_t minor_size);

  std::vector<Node> nodes_;
  std::unordered_map<ValueId, AtomList> values_;  // one per dimension
};

// Whether the index of a dimension is nothing but its factors, major before minor, all of them.
bool is_plain(const DimRule& rule, const IndexRule& all, std::int64_t size);

}  // namespace heddle
