// How many cores this process may run on.
#pragma once

namespace heddle {

// Those that the system lets it use: taskset and batch systems give fewer than there are.
int usable_cores();

}  // namespace heddle
