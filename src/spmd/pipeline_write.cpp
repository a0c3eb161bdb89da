// Writes what each stage of a pipeline does.
#include <algorithm>

#include "heddle/builder.h"
#include "heddle/index_rule.h"
#include "heddle/op.h"
#include "ir/clone.h"
#include "spmd/micro_ops.h"
#include "spmd/pipeline_plan.h"

namespace heddle {

namespace {

Type wider(Type type) {
  if (type.dtype == DType::bf16 || type.dtype == DType::f16) type.dtype = DType::f32;
  return type;
}

class StageWriter {
 public:
  StageWriter(const Program& from, const Function& function, const MicroBatches& micro,
              const PipelinePlan& plan, int stage)
      : from_(from),
        function_(function),
        body_(from.region(function.body)),
        micro_(micro),
        plan_(plan),
        stage_(stage) {
    Program& to = b_.program;
    to.name = from.name;
    to.file = from.file;
    to.attrs = from.attrs;
    to.meshes = from.meshes;
    to.axes = from.axes;
  }

  Expected<StageProgram> write(const std::vector<PipelineTask>& tasks) {
    begin();
    for (const PipelineTask& task : tasks)
      if (task.kind != PipelineTask::Kind::update) work(task);
    come_after();
    end();
    HEDDLE_TRY(made_.program, b_.finish());
    return std::move(made_);
  }

 private:
  std::vector<ValueId> taken(const Op& op) const {
    std::vector<ValueId> all(from_.operands(op).begin(), from_.operands(op).end());
    for (ValueId v : captured_values(from_, op)) all.push_back(v);
    return all;
  }
  ValueId add(std::string_view name, const std::vector<ValueId>& operands, const Type& type,
              AttrDict attrs = {}) {
    return b_.add(at_, name, operands, {type}, std::move(attrs))[0];
  }
  const Type& type_of(ValueId v) const { return b_.program.type_of(v); }

  // ---- the function

  void begin() {
    Program& to = b_.program;
    head_ = function_;
    head_.result_layouts.clear();
    head_.arg_attrs.clear();
    head_.result_attrs.clear();
    head_.results.clear();
    head_.loc = to.add_location(from_.location(function_.loc));
    at_ = head_.body = to.add_region();
    for (std::size_t a = 0; a < plan_.arguments.size(); ++a) {
      if (!plan_.arguments[a].contains(stage_)) continue;
      Type type = from_.type_of(body_.args[a]);
      if (!plan_.argument_rows[a].empty()) {
        take_rows(a, std::move(type));
        continue;
      }
      if (const int dim = micro_.arguments[a]; dim >= 0)
        type.shape[static_cast<std::size_t>(dim)] *= micro_.count;
      once_[body_.args[a]] = add_argument(a, type);
    }
    token_ = b_.add(at_, "stablehlo.create_token", {}, {Type::token()})[0];
    for (const OnceMessage& m : plan_.argument_messages)
      if (m.from == stage_) send({once_.at(m.value)}, m.channel, m.value);
    for (const OnceMessage& m : plan_.argument_messages)
      if (m.to == stage_) once_[m.value] = receive({m.value}, m.channel)[0];
  }

  ValueId add_argument(std::size_t a, const Type& type) {
    Program& to = b_.program;
    made_.arguments.push_back(a);
    head_.arg_attrs.push_back(a < function_.arg_attrs.size() ? function_.arg_attrs[a] : AttrDict{});
    return to.add_arg(at_, to.intern(type));
  }

  // The rows that lie here, behind each other.
  void take_rows(std::size_t a, Type type) {
    const RowParts& parts = plan_.argument_rows[a];
    std::vector<const RowPart*> mine;
    type.shape[0] = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (plan_.argument_row_stages[a][k] != stage_) continue;
      mine.push_back(&parts[k]);
      type.shape[0] += parts[k].rows.count();
    }
    const ValueId rows = add_argument(a, type);
    if (mine.size() == 1) {
      once_[mine[0]->value] = rows;
      return;
    }
    std::int64_t begin = 0;
    for (const RowPart* part : mine) {
      once_[part->value] = rows_from(rows, {begin, begin + part->rows.count()});
      begin += part->rows.count();
    }
  }

  ValueId rows_from(ValueId whole, RowRange rows) {
    Type part = type_of(whole);
    std::vector<std::int64_t> start(part.rank(), 0), limit = part.shape;
    start[0] = rows.begin;
    limit[0] = rows.end;
    part.shape[0] = rows.count();
    return slice(whole, start, limit, part);
  }
  ValueId slice(ValueId whole, const std::vector<std::int64_t>& start,
                const std::vector<std::int64_t>& limit, const Type& part) {
    return add("stablehlo.slice", {whole}, part,
               {{"start_indices", Attr{Attr::Integers(start)}},
                {"limit_indices", Attr{Attr::Integers(limit)}},
                {"strides", Attr{Attr::Integers(std::vector<std::int64_t>(part.rank(), 1))}}});
  }

  // What this stage has of a result; kNone: nothing.
  ValueId result(std::size_t i) {
    if (!plan_.result_rows[i].empty()) {
      std::vector<ValueId> parts;
      for (std::size_t k = 0; k < plan_.result_rows[i].size(); ++k)
        if (plan_.result_row_stages[i][k] == stage_)
          parts.push_back(value(plan_.result_rows[i][k].value, 0));
      return parts.empty() ? kNone : joined(parts, 0);
    }
    if (plan_.results[i] != stage_) return kNone;
    const ValueId v = from_.operands(from_.op(body_.ops.back()))[i];
    return micro_.results[i] >= 0 ? put_together(v, micro_.results[i]) : value(v, 0);
  }

  void end() {
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < micro_.results.size(); ++i) {
      const ValueId mine = result(i);
      if (mine == kNone) continue;
      values.push_back(mine);
      made_.results.push_back(i);
      head_.results.push_back(b_.program.value(values.back()).type);
      head_.result_attrs.push_back(i < function_.result_attrs.size() ? function_.result_attrs[i]
                                                                     : AttrDict{});
    }
    b_.add(at_, "func.return", values);
    b_.program.functions.push_back(std::move(head_));
  }

  ValueId put_together(ValueId v, int dim) {
    std::vector<ValueId> parts;
    for (int k = 0; k < micro_.count; ++k) parts.push_back(value(v, k));
    return joined(parts, dim);
  }
  ValueId joined(const std::vector<ValueId>& parts, int dim) {
    if (parts.size() == 1) return parts[0];
    Type type = type_of(parts[0]);
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t i = 1; i < parts.size(); ++i) type.shape[d] += type_of(parts[i]).shape[d];
    return add("stablehlo.concatenate", parts, type,
               {{"dimension", Attr{Attr::Integer{dim, "i64"}}}});
  }

  // ---- tasks

  void work(const PipelineTask& task) {
    const int position = position_of(plan_.shape, stage_, task), k = task.micro_batch;
    for (const StageMessage& m : plan_.messages) {
      if (m.edge.to != position || plan_.shape.stage_of(m.edge.from) == stage_) continue;
      const std::vector<ValueId> come = receive(m.values, m.channel);
      for (std::size_t i = 0; i < come.size(); ++i) each_[{m.values[i], k}] = come[i];
    }
    for (OpId id : body_.ops) {
      if (plan_.phases[id] != MicroPhase::each) continue;
      const bool sums = is_micro_sum(from_.op(id));
      const int own = sums ? std::max(plan_.positions[id], 0) : plan_.positions[id];
      if (own != position) continue;
      sums ? add_up(id, k) : compute(id, k);
    }
    for (const StageMessage& m : plan_.messages) {
      if (m.edge.from != position || plan_.shape.stage_of(m.edge.to) == stage_) continue;
      std::vector<ValueId> go;
      for (ValueId v : m.values) go.push_back(value(v, k));
      send(go, m.channel, m.values[0]);
    }
  }

  void add_up(OpId id, int k) {
    const ValueId mine = value(from_.operands(from_.op(id))[0], k);
    const Type type = wider(type_of(mine));
    const ValueId wide = type == type_of(mine) ? mine : add("stablehlo.convert", {mine}, type);
    const auto [sum, is_first] = sums_.try_emplace(id, wide);
    if (!is_first) sum->second = add("stablehlo.add", {sum->second, wide}, type);
  }

  // What comes once, in the order of the program on all stages.
  void come_after() {
    for (const auto& [id, sum] : sums_) {
      const ValueId result = from_.result(from_.op(id), 0);
      const Type& type = from_.type_of(result);
      once_[result] = type == type_of(sum) ? sum : add("stablehlo.convert", {sum}, type);
      tell_others(result);
    }
    for (OpId id : body_.ops) {
      if (plan_.phases[id] != MicroPhase::after || plan_.stages[id] != stage_) continue;
      compute(id, 0);
      const Op& op = from_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) tell_others(from_.result(op, i));
    }
  }

  void tell_others(ValueId v) {
    for (const OnceMessage& m : plan_.after_messages)
      if (m.value == v && m.from == stage_) send({once_.at(v)}, m.channel, v);
  }

  // ---- values

  // As this stage has it for a micro-batch; what is made wherever it is needed is made now.
  ValueId value(ValueId v, int k) {
    if (const auto it = each_.find({v, k}); it != each_.end()) return it->second;
    const Value& source = from_.value(v);
    if (source.op == kNone) return argument(v, source.index, k);
    if (const auto it = once_.find(v); it != once_.end()) return it->second;
    for (const OnceMessage& m : plan_.after_messages)
      if (m.value == v && m.to == stage_) return once_[v] = receive({v}, m.channel)[0];
    HEDDLE_CHECK(plan_.positions[source.op] < 0 && plan_.phases[source.op] != MicroPhase::after,
                 "stage {} of a pipeline lacks {}", stage_, from_.op(source.op).def->name);
    compute(source.op, k);
    return value(v, k);
  }

  ValueId argument(ValueId v, std::uint32_t index, int k) {
    if (index == micro_.number()) {
      Array number(Type::tensor(DType::ui32, {}));
      number.as_mutable<std::uint32_t>()[0] = static_cast<std::uint32_t>(k);
      return each_[{v, k}] = b_.constant(at_, std::move(number));
    }
    const ValueId whole = once_.at(v);
    const int dim = micro_.arguments[index];
    if (dim < 0 || micro_.count == 1) return whole;
    const Type& part = from_.type_of(v);
    std::vector<std::int64_t> start(part.rank(), 0), limit = part.shape;
    const auto d = static_cast<std::size_t>(dim);
    start[d] = k * part.shape[d];
    limit[d] += start[d];
    return each_[{v, k}] = slice(whole, start, limit, part);
  }

  void compute(OpId id, int k) {
    const Op& op = from_.op(id);
    ValueMap values;
    for (ValueId v : taken(op)) values[v] = value(v, k);
    clone_op(b_.program, at_, from_, op, values);
    for (std::size_t i = 0; i < op.result_count; ++i) {
      const ValueId v = from_.result(op, i);
      if (plan_.phases[id] == MicroPhase::each)
        each_[{v, k}] = values.at(v);
      else
        once_[v] = values.at(v);
    }
  }

  // ---- messages

  AttrDict on_channel(std::int64_t channel) {
    return {{"channel_handle", Attr{Attr::Struct{"channel_handle",
                                                 {{"handle", Attr{Attr::Integer{channel, "i64"}}},
                                                  {"type", Attr{Attr::Integer{1, "i64"}}}}}}},
            {"is_host_transfer", Attr{false}}};
  }
  // Messages are said to stand where the first of their values is made.
  void stand_at(ValueId first) {
    const OpId maker = from_.value(first).op;
    const LocId loc = maker == kNone ? function_.loc : from_.op(maker).loc;
    b_.at(b_.program.add_location(from_.location(loc)));
  }
  void send(std::vector<ValueId> values, std::int64_t channel, ValueId first) {
    stand_at(first);
    values.push_back(token_);
    b_.add(at_, "stablehlo.send", values, {Type::token()}, on_channel(channel));
  }
  std::vector<ValueId> receive(const std::vector<ValueId>& values, std::int64_t channel) {
    stand_at(values[0]);
    std::vector<Type> types;
    for (ValueId v : values) types.push_back(from_.type_of(v));
    types.push_back(Type::token());
    std::vector<ValueId> come = b_.add(at_, "stablehlo.recv", {token_}, types, on_channel(channel));
    come.pop_back();
    return come;
  }

  const Program& from_;
  const Function& function_;
  const Region& body_;
  const MicroBatches& micro_;
  const PipelinePlan& plan_;
  const int stage_;
  Builder b_;
  Function head_;
  StageProgram made_;
  RegionId at_ = kNone;
  ValueId token_ = kNone;
  std::map<std::pair<ValueId, int>, ValueId> each_;  // by value and micro-batch
  std::map<ValueId, ValueId> once_;
  std::map<OpId, ValueId> sums_;
};

std::int64_t bytes_of(const Program& program, const std::vector<ValueId>& values) {
  std::int64_t bytes = 0;
  for (ValueId v : values) bytes += program.type_of(v).bytes();
  return bytes;
}

std::vector<StageChannel> channels_of(const Program& program, const PipelinePlan& plan) {
  std::vector<StageChannel> channels;
  for (const StageMessage& m : plan.messages)
    channels.push_back({m.channel, plan.shape.stage_of(m.edge.from), plan.shape.stage_of(m.edge.to),
                        plan.shape.micro_batches * bytes_of(program, m.values),
                        plan.shape.micro_batches});
  for (const auto* once : {&plan.argument_messages, &plan.after_messages})
    for (const OnceMessage& m : *once)
      channels.push_back({m.channel, m.from, m.to, bytes_of(program, {m.value})});
  return channels;
}

StagesOfValue lying(const RowParts& parts, const std::vector<int>& stages_of_rows,
                    std::vector<int> stages) {
  if (parts.empty()) return {std::move(stages), {}};
  std::map<int, std::vector<RowRange>> rows;
  for (std::size_t k = 0; k < parts.size(); ++k) rows[stages_of_rows[k]].push_back(parts[k].rows);
  StagesOfValue made;
  for (auto& [stage, own] : rows) {
    made.stages.push_back(stage);
    made.rows.push_back(std::move(own));
  }
  return made;
}

}  // namespace

Expected<StagePrograms> stage_programs(const Program& device, const MicroBatches& micro,
                                       const PipelineShape& shape,
                                       const std::vector<Carried>& carried, bool written) {
  const Function& function = *device.find_function(micro.function);
  HEDDLE_TRY(const PipelinePlan plan, plan_pipeline(device, function, micro, shape, carried));
  HEDDLE_TRY(const PipelineOrder order, pipeline_order(shape));
  std::vector<PipelineEdge> edges;
  for (const StageMessage& m : plan.messages) edges.push_back(m.edge);
  HEDDLE_TRY_VOID(free_of_deadlock(steps_of(shape, order, edges), kMessageRoom));
  StagePrograms made;
  made.shape = shape;
  made.function = micro.function;
  made.channels = channels_of(device, plan);
  for (std::size_t a = 0; a < plan.arguments.size(); ++a)
    made.arguments.push_back(lying(plan.argument_rows[a], plan.argument_row_stages[a],
                                   {plan.arguments[a].begin(), plan.arguments[a].end()}));
  for (std::size_t i = 0; i < plan.results.size(); ++i)
    made.results.push_back(
        lying(plan.result_rows[i], plan.result_row_stages[i], {plan.results[i]}));
  for (int s = 0; s < shape.stages && written; ++s) {
    HEDDLE_TRY(
        StageProgram stage,
        StageWriter(device, function, micro, plan, s).write(order[static_cast<std::size_t>(s)]));
    made.stages.push_back(std::move(stage));
  }
  return made;
}

}  // namespace heddle
