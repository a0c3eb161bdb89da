// The text of schedules.
#include <array>
#include <charconv>

#include "heddle/schedule_text.h"

namespace heddle {

namespace {

using Kind = ScheduleStep::Kind;
using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 6> kVerbs = {"split", "reorder", "as_slice",
                                                    "dead",  "fuse",    "overlap"};
constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr int kLargestNumber = 1 << 20;
constexpr int kMostLanes = 64;

constexpr std::string_view kForms =
    "split V [along D | to one]; reorder V ... under G; reorder V past S; as_slice V ...; "
    "dead V ...; fuse V V ...; fuse [P] S [G [P]] or fuse G P, each [in N] [by direct|ring|tree] "
    "[through direct|bandwidth|latency] [lanes N]; overlap V V in N [along D]";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ','; }

bool is_name(std::string_view word) {
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
  for (const char c : word) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

// Words of a line; a comment begins with a # of its own.
Words words_of(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && is_space(line[at])) ++at;
    const std::size_t begin = at;
    while (at < line.size() && !is_space(line[at])) ++at;
    if (at == begin || line[begin] == '#') break;
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

class LineParser {
 public:
  LineParser(Words words, int line) : words_(std::move(words)) { step_.line = line; }

  Expected<ScheduleStep> run() {
    HEDDLE_TRY_VOID(names());
    HEDDLE_TRY_VOID(verb());
    while (at_ < words_.size() && !is_keyword(words_[at_]))
      step_.values.emplace_back(words_[at_++]);
    HEDDLE_TRY_VOID(rest());
    HEDDLE_TRY_VOID(counts());
    return std::move(step_);
  }

 private:
  static bool is_keyword(std::string_view w) {
    return w == "under" || w == "past" || w == "in" || w == "along" || w == "to" ||
           w == "by" || w == "through" || w == "lanes";
  }

  Verdict names() {
    std::size_t equals = 0;
    while (equals < words_.size() && words_[equals] != "=") ++equals;
    if (equals == words_.size()) return yes();
    for (std::size_t i = 0; i < equals; ++i) {
      if (!is_name(words_[i]))
        return reason("`{}` is no name: letters, digits and _, a letter first", words_[i]);
      step_.names.emplace_back(words_[i]);
    }
    if (step_.names.empty()) return reason("there is no name before =");
    at_ = equals + 1;
    return yes();
  }

  Verdict verb() {
    if (at_ == words_.size()) return reason("there is no step behind =");
    const std::string_view word = words_[at_++];
    for (std::size_t k = 0; k < kVerbs.size(); ++k)
      if (kVerbs[k] == word) {
        step_.kind = static_cast<Kind>(k);
        return yes();
      }
    return reason("there is no step `{}`; steps are {}", word, kForms);
  }

  Expected<int> number(std::string_view what) {
    if (at_ == words_.size()) return reason("there is no number behind `{}`", what);
    const std::string_view word = words_[at_++];
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0 ||
        value > kLargestNumber)
      return reason("`{}` takes a number from 0 to {}, not `{}`", what, kLargestNumber, word);
    return value;
  }

  Verdict rest() {
    while (at_ < words_.size()) {
      const std::string_view word = words_[at_++];
      const bool cuts = step_.kind == Kind::split || step_.kind == Kind::overlap;
      if (word == "along" && cuts && step_.dim < 0) {
        HEDDLE_TRY(step_.dim, number(word));
      } else if (word == "by" && step_.kind == Kind::fuse && step_.by.empty() &&
                 at_ < words_.size()) {
        step_.by = words_[at_++];
        if (step_.by != "direct" && step_.by != "ring" && step_.by != "tree")
          return reason("there is no algorithm `{}`: direct, ring or tree", step_.by);
      } else if (word == "through" && step_.kind == Kind::fuse && step_.through.empty() &&
                 at_ < words_.size()) {
        step_.through = words_[at_++];
        if (step_.through != "direct" && step_.through != "bandwidth" &&
            step_.through != "latency")
          return reason("there is no protocol `{}`: direct, bandwidth or latency", step_.through);
      } else if (word == "lanes" && step_.kind == Kind::fuse && step_.lanes == 0) {
        HEDDLE_TRY(step_.lanes, number(word));
        if (step_.lanes < 1 || step_.lanes > kMostLanes)
          return reason("a rank has 1 to {} lanes, not {}", kMostLanes, step_.lanes);
      } else if (word == "in" && step_.chunks == 0 &&
                 (step_.kind == Kind::overlap || step_.kind == Kind::fuse)) {
        HEDDLE_TRY(step_.chunks, number(word));
      } else if (word == "to" && step_.kind == Kind::split && at_ < words_.size() &&
                 words_[at_] == "one") {
        ++at_;
        step_.to_one = true;
      } else if ((word == "under" || word == "past") && step_.kind == Kind::reorder &&
                 step_.of.empty() && at_ < words_.size()) {
        step_.past = word == "past";
        step_.of = words_[at_++];
      } else {
        return reason("`{}` does not fit there; steps are {}", word, kForms);
      }
    }
    return yes();
  }

  Verdict counts() const {
    const std::size_t n = step_.values.size();
    if (n == 0) return reason("it names no value");
    if (step_.kind == Kind::reorder && step_.of.empty())
      return reason("reorder names no collective: under an all_gather, or past a reduce_scatter");
    if (step_.kind == Kind::reorder && step_.past && n != 1)
      return reason("reorder ... past takes one value");
    if (step_.kind == Kind::split && step_.to_one && step_.dim >= 0)
      return reason("split to one has no dimension");
    if (step_.kind == Kind::overlap && n != 2)
      return reason(
          "overlap takes two values, the first and the last of a line of ops, and {} "
          "came in",
          n);
    if (step_.kind == Kind::overlap && step_.chunks < 2)
      return reason("overlap says in how many chunks, two or more: `in 4`");
    return yes();
  }

  const Words words_;
  std::size_t at_ = 0;
  ScheduleStep step_;
};

}  // namespace

bool operator==(const ScheduleStep& a, const ScheduleStep& b) {
  return a.kind == b.kind && a.names == b.names && a.values == b.values && a.of == b.of &&
         a.past == b.past && a.to_one == b.to_one && a.dim == b.dim && a.chunks == b.chunks &&
         a.by == b.by && a.through == b.through && a.lanes == b.lanes;
}

Expected<DeviceSchedule> parse_schedule(std::string_view text, std::string file) {
  if (text.size() > kMostText) return reason("{} is no schedule: it is too long", file);
  DeviceSchedule schedule{std::move(file), {}};
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view now = text.substr(0, end);
    text = end == text.npos ? "" : text.substr(end + 1);
    Words words = words_of(now);
    if (words.empty()) continue;
    auto step = LineParser(std::move(words), line).run();
    if (!step) return reason("{}:{}: {}", schedule.file, line, step.reason());
    schedule.steps.push_back(*std::move(step));
  }
  return schedule;
}

std::string text_of(const ScheduleStep& step) {
  std::string text;
  for (const std::string& name : step.names) text += (text.empty() ? "" : ", ") + name;
  if (!text.empty()) text += " = ";
  text += kVerbs[static_cast<std::size_t>(step.kind)];
  for (const std::string& value : step.values) text += " " + value;
  if (!step.of.empty()) text += (step.past ? " past " : " under ") + step.of;
  if (step.to_one) text += " to one";
  if (step.chunks > 0) text += fmt::format(" in {}", step.chunks);
  if (step.dim >= 0) text += fmt::format(" along {}", step.dim);
  if (!step.by.empty()) text += " by " + step.by;
  if (!step.through.empty()) text += " through " + step.through;
  if (step.lanes > 0) text += fmt::format(" lanes {}", step.lanes);
  return text;
}

std::string text_of(const DeviceSchedule& schedule) {
  std::string text;
  for (const ScheduleStep& step : schedule.steps) text += text_of(step) + "\n";
  return text;
}

}  // namespace heddle
