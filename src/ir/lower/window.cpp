#include "ir/lower/window.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rules/scan.h"

namespace heddle {

Expected<bool> lower_window(Rewriter& r, const Op& op) {
  const std::size_t count = op.operand_count / 2;
  const Shape& shape = r.from.type_of(r.from.operands(op)[0]).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const OpAttrs attrs{r.from, op};
  HEDDLE_TRY(const auto padding, attrs.padding("padding", shape.size()));
  HEDDLE_TRY(const auto base, attrs.per_dimension("base_dilations", shape.size(), 1));
  Attr::Integers low, high, interior;
  Shape padded = shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    low.push_back(padding[d][0]);
    high.push_back(padding[d][1]);
    interior.push_back(base[d] - 1);
    padded[d] += low[d] + high[d] + std::max<std::int64_t>(shape[d] - 1, 0) * interior[d];
  }
  if (padded == shape || begins_as_nothing(r.from, op)) return false;
  const Vars given = r.operands(op);
  Vars operands;
  for (std::size_t i = 0; i < count; ++i)
    operands.push_back(r.to.op("pad", {given[i], given[count + i]},
                               Type::tensor(given[i].type().dtype, padded),
                               {{"edge_padding_high", Attr{high}},
                                {"edge_padding_low", Attr{low}},
                                {"interior_padding", Attr{interior}}}));
  operands.insert(operands.end(), given.begin() + static_cast<std::ptrdiff_t>(count), given.end());
  AttrDict now = copied_attrs(r.from, op);
  set_attr(now, "padding", Attr{Array(Type::tensor(DType::i64, {rank, 2}))});
  set_attr(now, "base_dilations", Attr{Attr::Integers(shape.size(), 1)});
  std::vector<Type> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(r.from.type_of(r.from.result(op, i)));
  HEDDLE_TRY(const RegionId body, r.copy_region(r.from.regions(op)[0]));
  r.define_results(op, r.to.ops(op.def->name, operands, types, now, {body}));
  return true;
}

}  // namespace heddle
