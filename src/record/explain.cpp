// The last windows in words.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/words.h"
#include "heddle/recorder.h"

namespace heddle {

// "prog.py:12, prog.py:13, ..."
std::string Recorder::lines() const {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::vector<std::uint64_t> seen;
  for (std::uint64_t place : call_places_) {
    if (std::ranges::find(seen, place) != seen.end()) continue;
    seen.push_back(place);
    const auto name = place_names_.find(place);
    if (seen.size() > kMost || name == place_names_.end()) continue;
    text += (seen.size() > 1 ? ", " : "") + name->second;
  }
  if (seen.size() > kMost) text += fmt::format(" and {} more lines", seen.size() - kMost);
  return text;
}

void Recorder::set_profiling(bool on) {
  profiling_ = on;
  if (on) profiled_.clear();
}

void Recorder::profile_run(const Done& done) {
  Profiled& all = profiled_[done.was_direct ? nullptr : &done.executable.steps()];
  ++all.windows;
  all.seconds += done.seconds;
  if (all.lines.empty()) all.lines = done.lines;
  if (done.was_direct) return;
  all.executable = done.executable;
  all.times.resize(done.executable.steps().size());
  for (std::size_t i = 0; i < std::min(times_.size(), all.times.size()); ++i) {
    all.times[i].calls += times_[i].calls;
    all.times[i].seconds += times_[i].seconds;
  }
}

std::string Recorder::profile() const {
  if (profiled_.empty()) return "no window of array calls has run since profiling began\n";
  std::vector<const Profiled*> order;
  for (const auto& [key, one] : profiled_) order.push_back(&one);
  std::ranges::sort(order, std::greater<>(), &Profiled::seconds);
  std::string text;
  for (const Profiled* one : order) {
    const bool is_direct = one->times.empty();
    text += fmt::format("{:9.3f} ms  {} {}{}\n", one->seconds * 1e3, one->windows,
                        is_direct ? "windows, call by call" : "windows of one program",
                        one->lines.empty() ? "" : ", as of " + one->lines);
    for (std::size_t i = 0; i < one->times.size(); ++i) {
      const StepInfo& step = one->executable.steps()[i];
      text += fmt::format("  {:9.3f} ms  {}{} {}: {}", one->times[i].seconds * 1e3,
                          std::string(2 * static_cast<std::size_t>(step.depth), ' '), step.kind,
                          step.name, step.ops);
      if (!step.from.empty()) text += fmt::format("; from {}", fmt::join(step.from, ", "));
      text += '\n';
    }
  }
  return text;
}

std::string Recorder::explain() const {
  if (done_.empty()) return "no window of array calls has run yet\n";
  std::vector<std::string> texts;
  for (const Done& done : done_) {
    const auto reader = done.read_at == 0 ? place_names_.end() : place_names_.find(done.read_at);
    std::string text = fmt::format(
        "{} calls{}, {}{} arguments, {} results, {}{}; ended because {}{}\n", done.calls,
        done.lines.empty() ? "" : " of " + done.lines,
        done.ops == 0 ? "" : fmt::format("{} ops, ", done.ops),  // not written: it came once
        done.arguments, done.results,
        !done.failed.empty() ? "done call by call, as it failed as a whole: " + done.failed
        : done.was_direct    ? "done call by call, without code of its own yet"
        : done.was_known     ? "known before"
                             : "compiled",
        done.was_direct || done.executable.in_host_memory()
            ? ""
            : fmt::format(", run on {}", done.executable.device().name()),
        words(done.end), reader == place_names_.end() ? "" : ", at " + reader->second);
    if (done.pieces > 1)
      text += fmt::format("  run in {} pieces, for want of memory; as a whole:\n", done.pieces);
    for (const StepInfo& step :
         done.was_direct ? std::vector<StepInfo>() : done.executable.steps()) {
      text +=
          fmt::format("  {}{} {}: {}; {} bytes read, {} written", std::string(2 * step.depth, ' '),
                      step.kind, step.name, step.ops, step.bytes_read, step.bytes_written);
      if (!step.note.empty()) text += "; " + step.note;
      if (!step.from.empty()) text += fmt::format("; from {}", fmt::join(step.from, ", "));
      text += '\n';
    }
    texts.push_back(std::move(text));
  }
  // Turns of a loop are told once.
  std::string all;
  for (std::size_t i = 0, next = 0; i < texts.size(); i = next) {
    while (next < texts.size() && texts[next] == texts[i]) ++next;
    const auto first = done_[i].number, last = done_[next - 1].number;
    all += next == i + 1 ? fmt::format("window {}: {}", first, texts[i])
                         : fmt::format("windows {} to {}, alike: {}", first, last, texts[i]);
  }
  return all;
}

}  // namespace heddle
