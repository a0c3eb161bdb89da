// Ops that are handed on as custom calls.
#pragma once

#include "ir/rewrite.h"

namespace heddle::pjrt {

// Writes a custom call with these attributes in place of an op, which gives the same results.
inline void write_custom_call(Rewriter& r, const Op& op, AttrDict attrs) {
  std::vector<Type> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(r.from.type_of(r.from.result(op, i)));
  const Vars results = r.to.ops("custom_call", r.operands(op), types, std::move(attrs));
  if (!r.to.failed()) r.define_results(op, results);
}

}  // namespace heddle::pjrt
