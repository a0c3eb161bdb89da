#include "heddle/interpreter.h"

#include <algorithm>
#include <new>
#include <optional>

#include "heddle/trace.h"
#include "heddle/verify.h"
#include "ir/call_graph.h"
#include "ir/eval/eval.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

// Spans of ops in one trace. The recorder takes more: what ends last, the functions, must fit too.
constexpr std::int64_t kMostOpSpans = 500'000;

// After which op each value is used for the last time, as a list of values per op.
class LastUses {
 public:
  explicit LastUses(const Program& program)
      : program_(program), home_(program.op_count(), kNone), last_(program.value_count(), kNone) {
    for (const Function& f : program.functions)
      if (f.body != kNone) walk(f.body);
    fill();
  }

  std::span<const ValueId> after(OpId op) const {
    return {values_.data() + first_[op], first_[op + 1] - first_[op]};
  }

 private:
  void walk(RegionId id) {
    for (OpId user : program_.region(id).ops) {
      home_[user] = id;
      const Op& op = program_.op(user);
      path_.push_back({id, user});
      for (ValueId v : program_.operands(op)) last_[v] = level(v);
      for (RegionId inner : program_.regions(op)) walk(inner);
      for (std::size_t i = 0; i < op.result_count; ++i) last_[program_.result(op, i)] = user;
      path_.pop_back();
    }
  }

  // The op of the value's own region that the current op is, or is inside of.
  OpId level(ValueId v) const {
    const Value& value = program_.value(v);
    const RegionId home = value.op == kNone ? value.region : home_[value.op];
    for (auto it = path_.rbegin(); it != path_.rend(); ++it)
      if (it->first == home) return it->second;
    return path_.back().second;
  }

  // Sorts the values by their last op.
  void fill() {
    first_.assign(program_.op_count() + 1, 0);
    for (OpId op : last_)
      if (op != kNone) ++first_[op + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    values_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (ValueId v = 0; v < last_.size(); ++v)
      if (last_[v] != kNone) values_[next[last_[v]]++] = v;
  }

  const Program& program_;
  std::vector<RegionId> home_;                   // of each op
  std::vector<OpId> last_;                       // of each value
  std::vector<std::pair<RegionId, OpId>> path_;  // from the function down to the current op
  std::vector<std::uint32_t> first_;
  std::vector<ValueId> values_;
};

// One per run: all processes share it. Only one of them runs at a time.
struct Shared {
  const Program& program;
  const InterpretOptions& options;
  LastUses uses;
  std::int64_t live_bytes = 0, op_spans = 0;
  std::map<std::string, Arrays, std::less<>> probes = {};
};

std::int64_t taken_bytes(const Array& array) {
  return array.is_splat() ? byte_size(array.dtype()) : array.type().bytes();
}

void append_leaf_types(const Type& type, std::vector<Type>& out) {
  if (type.kind != Type::Kind::tuple) {
    out.push_back(type);
    return;
  }
  for (const Type& part : type.parts) append_leaf_types(part, out);
}

// One process. Every region and function is active at most once, so that each value has one slot.
class Interpreter final : public Machine {
 public:
  Interpreter(Shared& shared, Process process, Interpreter* outer)
      : shared_(shared),
        program_(shared.program),
        process_(std::move(process)),
        outer_(outer),
        slots_(program_.value_count()) {
    if (outer) {
      active_ = outer->active_;
      depth_ = outer->depth_;
      per_element_ = outer->per_element_;
    }
    if (shared.options.trace != nullptr) lane_ = shared.options.trace->lane("heddle", lane_name());
  }

  ~Interpreter() override {
    for (Slot& slot : slots_) shared_.live_bytes -= slot.bytes;
  }

  Expected<Arrays> call(const Function& f, Arrays arguments) {
    if (f.body == kNone) return reason("function @{} is only declared: it has no body", f.name);
    if (std::find(active_.begin(), active_.end(), &f) != active_.end())
      return reason("functions call one another in a circle: {}", circle(f));
    active_.push_back(&f);
    auto results = traced_call(f, std::move(arguments));
    active_.pop_back();
    return results;
  }

  Expected<Arrays> run_region(RegionId id, Arrays arguments) {
    if (depth_ >= kMostNesting)
      return reason("functions and regions run more than {} deep inside one another: {}",
                    kMostNesting, chain_text(active_));
    ++depth_;
    const Region& region = program_.region(id);
    define_arguments(region, std::move(arguments));
    Arrays returned;
    for (OpId op : region.ops) {
      if (program_.op(op).def->form == Form::terminator) {
        returned = gather(program_.op(op));
        release(op);
      } else {
        HEDDLE_TRY_VOID(execute(op));
      }
    }
    // Arguments that nothing uses are in no list.
    for (ValueId v : region.args) drop(v);
    --depth_;
    return returned;
  }

  Expected<Arrays> run_region_as(const Process& process, RegionId region,
                                 Arrays arguments) override {
    return Interpreter(shared_, process, this).run_region(region, std::move(arguments));
  }
  Expected<Arrays> call_as(const Process& process, const Function& f, Arrays arguments) override {
    return Interpreter(shared_, process, this).call(f, std::move(arguments));
  }
  std::map<std::string, Arrays, std::less<>>& probes() override { return shared_.probes; }
  void print(std::string_view text) override {
    if (shared_.options.print)
      shared_.options.print(text);
    else
      fmt::print("{}", text);
  }

  bool is_stopped() const override { return shared_.options.stop && shared_.options.stop(); }
  const HostCaller* host_caller() const override {
    return shared_.options.host_call ? &shared_.options.host_call : nullptr;
  }
  const ParallelRunner* parallel_runner() const override {
    return shared_.options.run_parallel ? &shared_.options.run_parallel : nullptr;
  }

 private:
  struct Slot {
    Arrays arrays;           // one, or the leaves of a tuple
    std::int64_t bytes = 0;  // that were counted for it
    bool defined = false;
  };

  // Processes take turns, so that each has a row of its own.
  std::string lane_name() const {
    if (outer_ == nullptr) return "interpreter";
    return fmt::format("process {},{}", process_.replica, process_.partition);
  }

  std::string circle(const Function& f) const {
    std::vector<const Function*> chain(std::find(active_.begin(), active_.end(), &f),
                                       active_.end());
    chain.push_back(&f);
    return chain_text(chain);
  }

  // Bodies that run once per element, as a reduction's do, would drown all else.
  bool is_traced() const { return shared_.options.trace != nullptr && !per_element_; }

  Expected<Arrays> traced_call(const Function& f, Arrays arguments) {
    if (!is_traced()) return run_region(f.body, std::move(arguments));
    TraceSpan span(*shared_.options.trace, lane_, "@" + f.name, "function");
    auto results = run_region(f.body, std::move(arguments));
    if (active_.size() == 1 && shared_.op_spans > kMostOpSpans)
      span.arg("ops without a span", shared_.op_spans - kMostOpSpans);
    return results;
  }

  Expected<Arrays> traced_evaluate(const Op& op) {
    if (!is_traced()) return evaluate(op);
    const bool fits = ++shared_.op_spans <= kMostOpSpans;
    per_element_ = op.region_count > 0 && op.def->cls != OpClass::control;
    const auto start = TraceClock::now();
    auto results = evaluate(op);
    per_element_ = false;
    if (fits)
      shared_.options.trace->complete(lane_, std::string(op.def->name), "op", start,
                                      TraceClock::now() - start,
                                      {{"where", program_.where(op.loc)}});
    return results;
  }

  void define(ValueId v, Arrays arrays) {
    Slot& slot = slots_[v];
    shared_.live_bytes -= slot.bytes;
    slot.bytes = 0;
    for (const Array& a : arrays) slot.bytes += taken_bytes(a);
    shared_.live_bytes += slot.bytes;
    slot.arrays = std::move(arrays);
    slot.defined = true;
  }

  void drop(ValueId v) {
    Slot& slot = slots_[v];
    shared_.live_bytes -= slot.bytes;
    slot = {};
  }

  void release(OpId op) {
    for (ValueId v : shared_.uses.after(op)) drop(v);
  }

  // A region that another process runs sees the values around it.
  const Arrays& find(ValueId v) const {
    for (const Interpreter* i = this; i; i = i->outer_)
      if (i->slots_[v].defined) return i->slots_[v].arrays;
    HEDDLE_CHECK(false, "value {} is not defined", v);
    return slots_[v].arrays;
  }

  Arrays gather(const Op& op) const {
    Arrays arrays;
    arrays.reserve(op.operand_count);
    for (ValueId v : program_.operands(op)) {
      const Arrays& more = find(v);
      arrays.insert(arrays.end(), more.begin(), more.end());
    }
    return arrays;
  }

  // Deals arrays out to values by their types, the leaves of tuples together.
  template <typename ValueAt>
  void deal(std::size_t count, ValueAt value_at, Arrays arrays, const std::string_view what) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId v = value_at(i);
      const Type& type = program_.type_of(v);
      const std::size_t n = leaf_count(type);
      HEDDLE_CHECK(next + n <= arrays.size(), "{}: {} arrays are too few", what, arrays.size());
      if (n == 1 && type.kind != Type::Kind::tuple)
        HEDDLE_CHECK(arrays[next].type() == type, "{}: {} instead of {} at place {}", what,
                     arrays[next].type().str(), type.str(), i);
      const auto first = arrays.begin() + static_cast<std::ptrdiff_t>(next);
      define(v, Arrays(std::make_move_iterator(first),
                       std::make_move_iterator(first + static_cast<std::ptrdiff_t>(n))));
      next += n;
    }
    HEDDLE_CHECK(next == arrays.size(), "{}: {} arrays are too many", what, arrays.size());
  }

  void define_arguments(const Region& region, Arrays arguments) {
    deal(
        region.args.size(), [&](std::size_t i) { return region.args[i]; }, std::move(arguments),
        "the arguments of a region");
  }

  Verdict execute(OpId id) {
    const Op& op = program_.op(id);
    auto results = traced_evaluate(op);
    if (!results) {
      if (located_) return results.why();  // an op inside this one has said where
      located_ = true;
      return located(program_, op, results.reason());
    }
    deal(
        op.result_count, [&](std::size_t i) { return program_.result(op, i); }, *std::move(results),
        op.def->name);
    release(id);
    return yes();
  }

  Expected<Arrays> evaluate(const Op& op) {
    if (!op.def->evaluate) return reason("the interpreter cannot run {}", op.def->name);
    const Arrays operands = gather(op);
    HEDDLE_TRY_VOID(check_memory(op, operands));
    EvalContext context{program_, op, operands, run_region_, call_, process_, this};
    try {
      return op.def->evaluate(context);
    } catch (const Error& error) {
      return Reason{error.what()};
    } catch (const std::bad_alloc&) {
      return reason("there is not enough memory");
    }
  }

  // Before anything is allocated. What an op with regions needs is known only inside them.
  Verdict check_memory(const Op& op, const Arrays& operands) const {
    std::int64_t more = 0;
    const bool passes_on = op.def->cls == OpClass::control || op.def->form == Form::constant;
    auto add = [&](std::int64_t bytes) { more = std::min(more + bytes, std::int64_t{1} << 62); };
    if (!passes_on) {
      for (std::size_t i = 0; i < op.result_count; ++i)
        add(program_.type_of(program_.result(op, i)).bytes());
      for (const Array& a : operands)
        if (a.is_splat()) add(a.type().bytes());  // may be written out
    }
    const std::int64_t limit = shared_.options.memory_limit;
    if (shared_.live_bytes > limit || more > limit - shared_.live_bytes)
      return reason(
          "memory: it needs {} bytes, {} are in use and the limit is {}; memory_limit sets it, "
          "`heddle run --memory 64GB` on the command line",
          more, shared_.live_bytes, limit);
    return yes();
  }

  Shared& shared_;
  const Program& program_;
  Process process_;
  Interpreter* outer_;
  std::vector<Slot> slots_;
  std::vector<const Function*> active_;
  int depth_ = 0;
  bool located_ = false;
  bool per_element_ = false;  // inside an op that runs its body once per element
  TraceLane lane_ = {};
  const std::function<Expected<Arrays>(RegionId, Arrays)> run_region_ =
      [this](RegionId id, Arrays a) { return run_region(id, std::move(a)); };
  const std::function<Expected<Arrays>(const Function&, Arrays)> call_ =
      [this](const Function& f, Arrays a) { return call(f, std::move(a)); };
};

Verdict check_arguments(const Program& program, const Function& f, const Arrays& arguments) {
  if (f.body == kNone)
    return reason("{}: function @{} is only declared: it has no body", program.where(f.loc),
                  f.name);
  std::vector<Type> wanted;
  for (ValueId v : program.region(f.body).args) append_leaf_types(program.type_of(v), wanted);
  if (arguments.size() != wanted.size())
    return reason("{}: function @{} takes {} arguments, {} came in", program.where(f.loc), f.name,
                  wanted.size(), arguments.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!(arguments[i].type() == wanted[i]))
      return reason("{}: argument {} of function @{} is {}, {} came in", program.where(f.loc), i,
                    f.name, wanted[i].str(), arguments[i].type().str());
  return yes();
}

}  // namespace

Expected<std::vector<Array>> interpret(const Program& program, const Function& function,
                                       std::vector<Array> arguments,
                                       const InterpretOptions& options) {
  if (!options.verified) HEDDLE_TRY_VOID(verify(program));
  HEDDLE_TRY_VOID(check_arguments(program, function, arguments));
  Shared shared{program, options, LastUses(program)};
  return Interpreter(shared, Process{}, nullptr).call(function, std::move(arguments));
}

}  // namespace heddle
