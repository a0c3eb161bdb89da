#include "report/json.h"

#include <fmt/format.h>

#include <cmath>

#include "frontend/message_place.h"
#include "heddle/failure_report.h"

namespace heddle {
namespace report {

std::string json_text(const Json& report) { return print_json(report, 2) + "\n"; }

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

Json failure_json(const std::string& message, int status) {
  Json report = {{"error", message}};
  if (std::string place = place_of(message); !place.empty()) report["where"] = std::move(place);
  report["status"] = status;
  return report;
}

}  // namespace report

std::string failure_report(const std::string& message, int status) {
  report::Json report = {{"ok", false}};
  report.update(report::failure_json(message, status));
  return report::json_text(report);
}

}  // namespace heddle
