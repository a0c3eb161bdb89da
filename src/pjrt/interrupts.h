// Ctrl-C, as runs see it. Python raises KeyboardInterrupt where it waits; a program that runs on
// another thread has to be told by itself.
#pragma once

#include <cstdint>

namespace heddle::pjrt {

// Counts SIGINT from now on, and then lets its handler have it. To be called before a long run:
// whenever a handler is set in Python, the one that counts is replaced.
void watch_interrupts();
// How often Ctrl-C has been pressed while it was watched.
std::uint64_t interrupts();
// Counts as pressing it twice, which ends all runs.
void interrupt_all();

}  // namespace heddle::pjrt
