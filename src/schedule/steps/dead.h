// dead: an op whose results nobody needs goes, with all that only it needed.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

Expected<Rewritten> remove_dead(const Program& program, std::uint32_t mesh, OpId op);

}  // namespace heddle
