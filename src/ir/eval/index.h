// Evaluations of the ops that move elements by indices, and their longer type rules.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

Expected<std::vector<Array>> eval_dynamic_slice(EvalContext& ctx);
Expected<std::vector<Array>> eval_dynamic_update_slice(EvalContext& ctx);
Expected<std::vector<Array>> eval_gather(EvalContext& ctx);
Expected<std::vector<Array>> eval_dynamic_gather(EvalContext& ctx);
Expected<std::vector<Array>> eval_scatter(EvalContext& ctx);
Expected<std::vector<Array>> eval_sort(EvalContext& ctx);
Expected<std::vector<Array>> eval_torch_index_select(EvalContext& ctx);

Expected<ResultTypes> gather_rule(const Program& program, const Op& op);
Verdict dynamic_gather_rule(const Program& program, const Op& op);
Expected<ResultTypes> scatter_rule(const Program& program, const Op& op);
Expected<ResultTypes> sort_rule(const Program& program, const Op& op);

}  // namespace heddle
