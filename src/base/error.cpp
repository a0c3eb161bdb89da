#include "heddle/error.h"

#include <string_view>

#include "base/source_path.h"

namespace heddle {

InternalError::InternalError(std::string_view condition, std::string_view detail,
                             std::source_location raised)
    : message_(fmt::format(
          "internal error in Heddle (a defect of ours, not of your program): {} does not hold at "
          "{}:{}{}{}. Please report it with the command that led here.",
          condition, source_path(raised.file_name()), raised.line(), detail.empty() ? "" : ": ",
          detail)),
      raised_(raised) {}

}  // namespace heddle
