// Random schedules: steps around the collectives of a program, as many of them as are legal.
#pragma once

#include <algorithm>
#include <map>

#include "choices.h"
#include "heddle/op.h"
#include "heddle/schedule_text.h"

namespace heddle::property {

// By kind of step, how often it was taken.
inline std::map<std::string, int>& steps_taken() {
  static std::map<std::string, int> counts;
  return counts;
}

class RandomSteps {
 public:
  RandomSteps(Choices& choices, Spmd& spmd) : choices_(choices), spmd_(spmd) {
    const Program& p = spmd.program;
    std::map<std::string_view, int> counts;
    for (OpId id : p.region(p.find_function(function())->body).ops) {
      const Op& op = p.op(id);
      if (op.result_count == 0) continue;
      // Numbers count ops of loops too, of which nothing is named here.
      names_[id] = fmt::format("{}.{}", op.def->short_name(), counts[op.def->short_name()]++);
      if (op.def->cls == OpClass::control && op.region_count > 0) has_loops_ = true;
    }
  }

  // Takes them, and says which.
  std::string take(const std::vector<Carried>& carried) {
    if (!has_loops_) write();
    if (choices_.one_in(2)) steps_.emplace_back("fuse all_reduce.*\n");
    if (!choices_.one_in(4)) steps_.emplace_back("as_slice *\n");
    std::string taken;
    for (const std::string& step : steps_) {
      Spmd tried = spmd_;
      const DeviceSchedule longer = parse_schedule(taken + step, "random").value();
      if (apply_schedule(tried, function(), longer, carried)) taken += step;
    }
    const DeviceSchedule all = parse_schedule(taken, "random").value();
    (void)apply_schedule(spmd_, function(), all, carried).value();
    for (const ScheduleStep& step : all.steps) {
      static constexpr const char* kKinds[] = {"split", "reorder", "as_slice",
                                               "dead",  "fuse",    "overlap"};
      ++steps_taken()[kKinds[static_cast<std::size_t>(step.kind)]];
    }
    return taken;
  }

 private:
  const std::string& function() const { return spmd_.functions[0].name; }
  std::string chunks() { return fmt::format(" in {}\n", 2 + choices_.below(3)); }

  void write() {
    const Program& p = spmd_.program;
    for (const auto& [id, name] : names_) {
      const Op& op = p.op(id);
      if (op.def->cls != OpClass::communicate || op.operand_count == 0) continue;
      const OpId maker = p.value(p.operands(op)[0]).op;
      const std::string before = names_.contains(maker) ? names_.at(maker) : "";
      if (op.def->collective == CollectiveKind::all_reduce) around_sum(name, before);
      if (op.def->collective == CollectiveKind::all_gather && !choices_.one_in(3))
        steps_.push_back("reorder * under " + name + "\n");
      if (choices_.one_in(3) && !before.empty())
        steps_.push_back("overlap " + before + " " + name + chunks());
      for (const auto& [user, of] : names_)
        if (std::ranges::count(p.operands(p.op(user)), op.results) > 0 && choices_.one_in(3))
          steps_.push_back(choices_.one_in(2) ? "overlap " + name + " " + of + chunks()
                                              : "fuse " + name + " " + of + inside());
    }
  }

  void around_sum(const std::string& sum, const std::string& before) {
    if (choices_.one_in(6)) steps_.push_back("r, b = split " + sum + " to one\n");
    std::string split = "rs, ag = split " + sum;
    if (choices_.one_in(2)) split += fmt::format(" along {}", choices_.below(3));
    steps_.push_back(split + "\n");
    if (choices_.one_in(3) && !before.empty())
      steps_.push_back("s, v = reorder " + before + " past rs\n");
    steps_.push_back("reorder * under ag\n");
    const bool has_product = before.starts_with("dot_general");
    if (choices_.one_in(3))
      steps_.push_back((has_product ? "fuse " + before + " rs *" : "fuse rs *") + inside());
    if (choices_.one_in(2) && !before.empty())
      steps_.push_back("overlap " + before + " rs" + chunks());
  }

  // How what goes inside of a collective is done.
  std::string inside() {
    static constexpr const char* kHow[] = {" by direct", " by ring", " by tree"};
    static constexpr const char* kThrough[] = {"", " through bandwidth", " through latency"};
    std::string how = kHow[choices_.below(3)];
    how += kThrough[choices_.below(3)];
    if (choices_.one_in(2)) how += fmt::format(" in {}", 1 + choices_.below(5));
    if (choices_.one_in(3)) how += " lanes 2";
    return how + "\n";
  }

  Choices& choices_;
  Spmd& spmd_;
  std::map<OpId, std::string> names_;
  bool has_loops_ = false;
  std::vector<std::string> steps_;
};

}  // namespace heddle::property
