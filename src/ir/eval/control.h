// Evaluations of calls, loops, branches, tuples, tokens and custom calls.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

using Results = Expected<std::vector<Array>>;
Results eval_call(EvalContext& ctx);
Results eval_composite(EvalContext& ctx);
Results eval_while(EvalContext& ctx);
Results eval_if(EvalContext& ctx);
Results eval_case(EvalContext& ctx);
Results eval_same(EvalContext& ctx);  // the results are the operands
Results eval_get_tuple_element(EvalContext& ctx);
Results eval_token(EvalContext& ctx);
Results eval_infeed(EvalContext& ctx);
Results eval_custom_call(EvalContext& ctx);
Results eval_manual_computation(EvalContext& ctx);

// A custom call that only says where its operand lies or how it is split.
bool is_annotation(std::string_view target);
// A custom call of test programs: check.expect_eq and the like.
bool is_check(std::string_view target);

}  // namespace heddle
