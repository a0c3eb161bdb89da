#include "stoppable.h"

#include <chrono>

namespace heddle::cli {

Stoppable::Stoppable()
    : watch_([this](const std::stop_token& over) {
        while (!over.stop_requested()) {
          if (signals_.signal() != 0) stop_.request_stop();
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
      }) {}

}  // namespace heddle::cli
