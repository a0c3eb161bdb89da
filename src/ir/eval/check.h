// How test programs compare arrays, and their evaluations.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

// All say which element differs most, with both values.

// The same bits, or both not numbers.
Verdict compare_equal(const Array& actual, const Array& expected);
// |a - b| within the tolerance, times the larger of |a|, |b| and 1.
Verdict compare_almost_equal(const Array& actual, const Array& expected, double tolerance);
// The number of representable values between the two lies in a range.
Verdict compare_close(const Array& actual, const Array& expected, std::uint64_t least_ulps,
                      std::uint64_t most_ulps);

// check.expect_eq and the like on two arrays, by the op's or custom call's name.
Expected<std::vector<Array>> run_check(std::string_view name, const Array& actual,
                                       const Array& expected, const AttrDict& attrs);

using Results = Expected<std::vector<Array>>;
Results eval_expect(EvalContext& ctx);
Results eval_expect_const(EvalContext& ctx);
Results eval_expect_serialized(EvalContext& ctx);
Results eval_probe(EvalContext& ctx);
Results eval_print(EvalContext& ctx);
Results eval_run_parallel(EvalContext& ctx);

// One element per place, nested in brackets as its dimensions are.
std::string array_text(const Array& array);

}  // namespace heddle
