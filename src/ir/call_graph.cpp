#include "ir/call_graph.h"

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/eval/eval.h"

namespace heddle {

std::string_view callee_key(const Op& op) {
  if (op.def->form == Form::call) return "callee";
  return op.def->form == Form::composite ? "decomposition" : "";
}

std::string chain_text(const std::vector<const Function*>& chain) {
  constexpr std::size_t kEnds = 3;
  const bool is_long = chain.size() > 2 * kEnds + 1;
  std::string text;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i > 0) text += " -> ";
    if (is_long && i == kEnds) {
      text += fmt::format("({} more) -> ", chain.size() - 2 * kEnds);
      i = chain.size() - kEnds;
    }
    text += "@" + chain[i]->name;
  }
  return text;
}

CallGraph::CallGraph(const Program& program) : program_(program) {
  for (const Function& f : program.functions) by_name_.emplace(f.name, &f);
  for (const Function& f : program.functions)
    if (f.body != kNone) collect(f.body, calls_[&f]);
}

const Function* CallGraph::callee(const Op& op) const {
  const std::string_view key = callee_key(op);
  if (key.empty()) return nullptr;
  const auto it = by_name_.find(text_or(program_.attr(op, key), ""));
  return it == by_name_.end() ? nullptr : it->second;
}

void CallGraph::collect(RegionId region, std::vector<Call>& calls) const {
  for (OpId id : program_.region(region).ops) {
    const Op& op = program_.op(id);
    if (const Function* to = callee(op)) calls.push_back({id, to});
    for (RegionId inner : program_.regions(op)) collect(inner, calls);
  }
}

// Depth first, without recursion: a file may chain any number of functions.
Verdict CallGraph::without_circles() const {
  enum class State : std::uint8_t { fresh, open, done };
  std::unordered_map<const Function*, State> states;
  struct Step {
    const Function* function;
    std::size_t next = 0;  // which of its calls comes next
  };
  auto circle = [&](const std::vector<Step>& path, const Call& closing) {
    std::vector<const Function*> chain;
    for (const Step& step : path)
      if (!chain.empty() || step.function == closing.to) chain.push_back(step.function);
    chain.push_back(closing.to);
    return located(program_, program_.op(closing.op),
                   fmt::format("functions call one another in a circle: {}; a program cannot "
                               "recurse, stablehlo.while repeats",
                               chain_text(chain)));
  };
  for (const Function& start : program_.functions) {
    if (states[&start] != State::fresh) continue;
    std::vector<Step> path{{&start}};
    states[&start] = State::open;
    while (!path.empty()) {
      Step& step = path.back();
      const auto calls = calls_.find(step.function);
      if (calls == calls_.end() || step.next == calls->second.size()) {
        states[step.function] = State::done;
        path.pop_back();
        continue;
      }
      const Call& call = calls->second[step.next++];
      State& state = states[call.to];
      if (state == State::open) return circle(path, call);
      if (state == State::done) continue;
      state = State::open;
      path.push_back({call.to});
    }
  }
  return yes();
}

}  // namespace heddle
