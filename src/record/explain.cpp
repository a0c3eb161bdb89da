// The last windows in words.
#include "base/words.h"
#include "heddle/recorder.h"

namespace heddle {

std::string Recorder::explain() const {
  if (done_.empty()) return "no window of array calls has run yet\n";
  std::string text;
  for (const Done& done : done_) {
    text +=
        fmt::format("window {}: {} calls, {} ops, {} arguments, {} results, {}; ended because {}\n",
                    done.number, done.calls, done.ops, done.arguments, done.results,
                    done.was_direct  ? "done call by call"
                    : done.was_known ? "known before"
                                     : "compiled",
                    words(done.end));
    if (done.was_direct) continue;
    for (const StepInfo& step : done.executable.steps()) {
      text +=
          fmt::format("  {}{} {}: {}; {} bytes read, {} written", std::string(2 * step.depth, ' '),
                      step.kind, step.name, step.ops, step.bytes_read, step.bytes_written);
      if (!step.note.empty()) text += "; " + step.note;
      text += '\n';
    }
  }
  return text;
}

}  // namespace heddle
