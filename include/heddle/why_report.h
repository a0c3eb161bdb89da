// Why something of a plan is as it is: what else it could be, and what that would cost.
#pragma once

#include "heddle/plan_report.h"

namespace heddle {

struct WhyReport {
  std::string about;      // "arg6  params['w']  tensor<8x4xf32>"
  bool of_plan = true;    // false: of the op alone, with its operands as they lie
  bool settable = false;  // whether --fix may say it
  bool of_part = false;   // its type is that of one micro-batch
  PlanDetails::Chosen chosen;

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// `what` is an argument (arg6, params['w']), a result (result0), or the line of an op (12,
// f.mlir:12). A plan that was searched with details knows most; of others it is known op by op.
Expected<WhyReport> why_report(const Spmd& spmd, const std::string& function,
                               const std::string& what);

// Two plans beside each other: one that was found, and what another mesh would give.
struct OtherMesh {
  std::string question, mesh, other_mesh;
  double seconds = 0;
  std::int64_t bytes = 0;               // of a device
  std::int64_t limit = INT64_MAX;       // that it may take
  std::optional<double> other_seconds;  // none: there is no plan
  std::int64_t other_bytes = 0;
  std::string why_not = {};  // where there is none

  std::string text(const Style& style = Style::plain()) const;
  std::string json() const;
};

// The mesh with one axis of another size and as many devices: another axis makes up for it. `said`
// may name several axes, then it is the whole mesh.
Expected<std::string> other_mesh(const std::string& mesh, const std::string& said);

}  // namespace heddle
