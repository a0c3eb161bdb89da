#include "runtime/run_collective.h"

#include <algorithm>
#include <cstring>

#include "heddle/interpreter.h"
#include "ir/eval/reduce_common.h"
#include "runtime/packed.h"

namespace heddle::runtime {

namespace {

// What is smaller is over sooner than another thread has begun with it.
constexpr std::int64_t kWorthAThread = std::int64_t{1} << 18;

class CollectiveRun {
 public:
  CollectiveRun(const StartStep& step, const ResolvedCollective& resolved, RunState& run,
                Transport& transport, const RunOptions& options)
      : step_(step),
        op_(*step.op),
        resolved_(resolved),
        run_(run),
        queue_(*run.queue),
        transport_(transport),
        options_(options) {}

  Verdict start() {
    switch (op_.kind) {
      case CollectiveKind::partition_id:
        return write_id(grid().number_of(transport_.rank()) % grid().partitions);
      case CollectiveKind::replica_id:
        return write_id(grid().number_of(transport_.rank()) / grid().partitions);
      case CollectiveKind::send:
        return send();
      case CollectiveKind::receive:
        return receive();
      default:
        break;
    }
    if (!resolved_.member) return all_zero();
    if (op_.combiner) return gather_and_combine();
    const bool is_packed = queue_.device().in_host_memory() && resolved_.size > 1;
    for (const Pack& one : op_.packs) {
      if (is_packed && one.count > 1) {
        HEDDLE_TRY_VOID(start_packed(one));
        continue;
      }
      for (std::size_t i = one.first; i < one.end(); ++i) HEDDLE_TRY_VOID(start_alone(i));
    }
    return yes();
  }

 private:
  RankGrid grid() const { return rank_grid(transport_, options_).value(); }
  std::vector<RequestId>& requests() { return run_.under_way[step_.number].requests; }
  DeviceAddress operand(std::size_t i) const { return run_.now[step_.operands[i]]; }
  DeviceAddress result(std::size_t i) const { return run_.now[step_.results[i]]; }

  Verdict start_alone(std::size_t i) {
    HEDDLE_TRY(const Collective c, collective(i));
    HEDDLE_TRY(const RequestId request, transport_.start_on(queue_, c, operand(i), result(i)));
    requests().push_back(request);
    const std::int64_t bytes = std::max(op_.operands[i].bytes(), op_.results[i].bytes());
    if (step_.beside && bytes >= kWorthAThread) transport_.go_on_meanwhile(request);
    return yes();
  }

  Verdict start_packed(const Pack& one) {
    HEDDLE_TRY(const Collective c, collective(one.first));
    HEDDLE_TRY_VOID(queue_.finish());
    HEDDLE_TRY(const RequestId request,
               transport_.start(pack(step_, one, resolved_.size, c, run_)));
    requests().push_back(request);
    return yes();
  }

  Verdict write_id(std::int64_t id) {
    const auto value = std::make_shared<const std::uint32_t>(static_cast<std::uint32_t>(id));
    return queue_.write(std::as_bytes(std::span(value.get(), 1)), result(0), value);
  }

  Verdict all_zero() {
    for (std::size_t i = 0; i < step_.results.size(); ++i) HEDDLE_TRY_VOID(zero(i));
    return yes();
  }
  Verdict zero(std::size_t i) { return queue_.zero(result(i), op_.results[i].bytes()); }

  Collective basis(CollectiveKind kind, std::size_t i) const {
    Collective c{.kind = kind, .group = resolved_.group};
    c.in_pieces = whole(op_.operands[i]);
    c.dtype = op_.operands[i].dtype;
    c.reduce = op_.reduce;
    c.what = op_.label;
    return c;
  }

  Expected<Collective> collective(std::size_t i) const {
    switch (op_.kind) {
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_to_all: {
        Collective c = basis(op_.kind, i);
        c.in_pieces = pieces_in(op_, i);
        c.out_pieces = pieces_out(op_, i);
        return c;
      }
      case CollectiveKind::permute: {
        Collective c = basis(CollectiveKind::permute, i);
        c.from = resolved_.from;
        c.to = resolved_.to;
        return c;
      }
      case CollectiveKind::broadcast: {
        Collective c = basis(CollectiveKind::broadcast, i);
        HEDDLE_TRY(c.from, root(i));
        return c;
      }
      default:
        return basis(CollectiveKind::all_reduce, i);
    }
  }

  Expected<int> root(std::size_t i) const {
    if (!op_.dynamic_root) return 0;
    const std::size_t last = step_.operands.size() - 1;
    const DType dtype = op_.operands[last].dtype;
    const auto size = static_cast<std::size_t>(byte_size(dtype));
    std::int64_t root = 0;  // what is read is small enough to be positive, or refused
    HEDDLE_TRY_VOID(read_now(queue_, operand(last) + static_cast<std::int64_t>(i * size),
                             std::as_writable_bytes(std::span(&root, 1)).first(size)));
    if (root < 0 || root >= resolved_.size)
      return reason("{}: root {} is none of the {} ranks of the group", op_.label, root,
                    resolved_.size);
    return static_cast<int>(root);
  }

  // A reduction that transports do not know: everyone gets everything and combines in order.
  Verdict gather_and_combine() {
    const Type& type = op_.operands[0];
    const auto bytes = static_cast<std::size_t>(type.bytes());
    const auto members = static_cast<std::size_t>(resolved_.size);
    const auto mine = Block::raw(bytes), all = Block::raw(bytes * members);
    HEDDLE_TRY_VOID(read_now(queue_, operand(0), {mine->data(), bytes}));
    Collective c = basis(CollectiveKind::all_gather, 0);
    c.in = mine->data();
    c.out = all->data();
    c.out_pieces = whole(type);
    HEDDLE_TRY_VOID(run_collective(transport_, c));
    const Type wide = Type::tensor(op_.results[0].dtype, type.shape);
    HEDDLE_TRY(Array sum, combined(*all, wide));
    return write_reduced(sum);
  }

  Expected<Array> combined(const Block& all, const Type& wide) {
    const Program& program = *op_.combiner;
    InterpretOptions interpreted;
    interpreted.verified = true;
    const auto bytes = static_cast<std::size_t>(op_.operands[0].bytes());
    std::vector<int> order = transport_.members(resolved_.group);
    std::vector<std::size_t> places(order.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::ranges::sort(places, {}, [&](std::size_t i) { return order[i]; });
    const auto part = [&](std::size_t i) {
      return Array(op_.operands[0],
                   std::span<const std::byte>(all.data() + places[i] * bytes, bytes));
    };
    Array sum = wide == op_.operands[0] ? part(0) : converted(part(0), wide.dtype);
    for (std::size_t i = 1; i < places.size(); ++i) {
      HEDDLE_TRY(auto both, interpret(program, program.functions[0], {sum, part(i)}, interpreted));
      sum = both[0];
    }
    return sum;
  }

  Verdict write_reduced(const Array& sum) {
    if (op_.kind == CollectiveKind::reduce && resolved_.me != 0) return all_zero();
    const auto bytes = sum.bytes();
    if (bytes.empty()) return yes();
    if (op_.kind != CollectiveKind::reduce_scatter)
      return queue_.write(bytes, result(0), sum.block());
    HEDDLE_CHECK(sum.type().rank() > op_.dim, "a reduction that is scattered");
    const Pieces pieces = pieces_in(op_, 0);
    const auto run = static_cast<std::size_t>(pieces.run_bytes);
    const auto part = Block::raw(static_cast<std::size_t>(pieces.bytes()));
    for (std::int64_t r = 0; r < pieces.runs; ++r)
      std::memcpy(part->data() + r * pieces.run_bytes,
                  bytes.data() + (r * resolved_.size + resolved_.me) * pieces.run_bytes, run);
    return queue_.write({part->data(), part->size()}, result(0), part);
  }

  // ---- transfers: the last operand or result is a token

  // What was sent may change right away; a copy travels, all values of an op as one message.
  Verdict send() {
    const std::size_t values = step_.operands.size() - 1;
    if (!resolved_.member || values == 0) return yes();
    PendingSend pending;
    for (std::size_t i = 0; i < values; ++i) {
      const auto bytes = static_cast<std::size_t>(op_.operands[i].bytes());
      pending.bytes.resize(pending.bytes.size() + bytes);
      HEDDLE_TRY_VOID(
          read_now(queue_, operand(i), std::span<std::byte>(pending.bytes).last(bytes)));
    }
    Collective c{.kind = CollectiveKind::send, .group = resolved_.group};
    c.in_pieces = {1, static_cast<std::int64_t>(pending.bytes.size())};
    c.in = pending.bytes.data();
    c.to = resolved_.to;
    c.what = op_.label;
    HEDDLE_TRY(pending.request, transport_.start(c));
    run_.sends.push_back(std::move(pending));
    return yes();
  }

  Verdict receive() {
    const std::size_t values = step_.results.size() - 1;
    if (values == 0) return yes();
    if (!resolved_.member) {
      for (std::size_t i = 0; i < values; ++i) HEDDLE_TRY_VOID(zero(i));
      return yes();
    }
    Collective c{.kind = CollectiveKind::receive, .group = resolved_.group};
    c.from = resolved_.from;
    c.what = op_.label;
    if (values == 1) {
      c.in_pieces = whole(op_.results[0]);
      HEDDLE_TRY(const RequestId request, transport_.start_on(queue_, c, {}, result(0)));
      requests().push_back(request);
      return yes();
    }
    for (std::size_t i = 0; i < values; ++i) c.in_pieces.run_bytes += op_.results[i].bytes();
    const auto message = Block::raw(static_cast<std::size_t>(c.in_pieces.bytes()));
    c.out = message->data();
    HEDDLE_TRY(const RequestId request, transport_.start(c));
    requests().push_back(request);
    run_.under_way[step_.number].received = message;
    return yes();
  }

  const StartStep& step_;
  const CollectiveOp& op_;
  const ResolvedCollective& resolved_;
  RunState& run_;
  Queue& queue_;
  Transport& transport_;
  const RunOptions& options_;
};

}  // namespace

namespace {

// Of a rank of a pipeline: its stage, and channels between ranks instead of stages.
Expected<RankGrid> stage_grid(const Transport& transport, const RunOptions& options) {
  for (const std::vector<int>& stage : options.stages) {
    const auto at = std::ranges::find(stage, transport.rank());
    if (at == stage.end()) continue;
    RankGrid grid{1, static_cast<std::int64_t>(stage.size()), options.channels, stage};
    const auto place = static_cast<std::size_t>(at - stage.begin());
    for (ChannelEnds& ends : grid.channels) {
      ends.from = options.stages[static_cast<std::size_t>(ends.from)][place];
      ends.to = options.stages[static_cast<std::size_t>(ends.to)][place];
    }
    return grid;
  }
  return reason("rank {} of {} ranks is in no stage of the pipeline", transport.rank(),
                transport.size());
}

}  // namespace

Expected<RankGrid> rank_grid(const Transport& transport, const RunOptions& options) {
  if (!options.stages.empty()) return stage_grid(transport, options);
  const std::int64_t ranks = transport.size(), replicas = options.replicas;
  const std::int64_t partitions = options.partitions;
  if (replicas >= 1 && partitions == 0 && ranks % replicas == 0)
    return RankGrid{replicas, ranks / replicas, options.channels, {}};
  if (replicas >= 1 && partitions > 0 && replicas * partitions <= ranks &&
      transport.rank() < replicas * partitions)
    return RankGrid{replicas, partitions, options.channels, {}};
  return reason("rank {} of {} ranks is not one of {} replicas of {} partitions", transport.rank(),
                ranks, replicas, partitions == 0 ? "equally many" : std::to_string(partitions));
}

Verdict start_collective(const StartStep& step, RunState& run, Transport& transport,
                         const RunOptions& options) {
  ResolvedCollective& resolved = run.collectives[step.number];
  if (!resolved.done) {
    HEDDLE_TRY(const RankGrid grid, rank_grid(transport, options));
    HEDDLE_TRY(resolved, resolve(*step.op, transport, grid));
  }
  run.under_way[step.number].requests.clear();
  run.under_way[step.number].received = nullptr;
  run.under_way[step.number].packed.clear();
  return CollectiveRun(step, resolved, run, transport, options).start();
}

Verdict wait_for_collective(const WaitStep& step, RunState& run, Transport& transport) {
  for (RequestId request : run.under_way[step.number].requests)
    HEDDLE_TRY_VOID(transport.wait_on(*run.queue, request));
  if (const auto message = std::move(run.under_way[step.number].received)) {
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < step.results.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(step.op->results[i].bytes());
      HEDDLE_TRY_VOID(
          run.queue->write({message->data() + at, bytes}, run.now[step.results[i]], message));
      at += bytes;
    }
  }
  const ResolvedCollective& resolved = run.collectives[step.number];
  auto packed = run.under_way[step.number].packed.begin();
  if (packed != run.under_way[step.number].packed.end())
    for (const Pack& one : step.op->packs)
      if (one.count > 1) unpack(*step.op, step.results, one, resolved.size, run, *packed++);
  // Only the first of the group keeps what everybody has reduced.
  if (step.op->kind != CollectiveKind::reduce || resolved.me == 0) return yes();
  for (std::size_t i = 0; i < step.results.size(); ++i)
    HEDDLE_TRY_VOID(run.queue->zero(run.now[step.results[i]], step.op->results[i].bytes()));
  return yes();
}

Verdict finish_sends(RunState& run, Transport& transport) {
  Verdict verdict = yes();
  for (const PendingSend& pending : run.sends)
    if (verdict) verdict = transport.wait(pending.request);
  run.sends.clear();
  return verdict;
}

}  // namespace heddle::runtime
