// Values with a row for each turn of a loop that are worked on row by row together.
#pragma once

#include "heddle/index_rule.h"

namespace heddle {

class RowGroups {
 public:
  RowGroups(const Program& program, const Function& function, std::int64_t rows);

  // The group of a value is worked on in parts, as loops take or put its rows.
  void mark(ValueId v) { in_parts_[find(v)] = true; }
  bool is_in_parts(ValueId v) { return in_parts_[find(v)]; }
  void unite(ValueId a, ValueId b);

  // The factor that runs over the rows of a value; -1 where there is none.
  int row_factor(const Type& type, const std::vector<DimRule>& dims, const IndexRule& rule) const;

 private:
  ValueId find(ValueId v);
  bool has_rows(const Type& type) const;
  void join(const Op& op);

  const Program& program_;
  const std::int64_t rows_;
  std::vector<ValueId> parent_;
  std::vector<bool> in_parts_;  // by the first of a group
};

}  // namespace heddle
