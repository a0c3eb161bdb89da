#include "runtime/run_collective.h"

#include <algorithm>
#include <cstring>

#include "heddle/interpreter.h"
#include "ir/eval/reduce_common.h"

namespace heddle::runtime {

namespace {

// A tensor cut along a dimension into equal pieces.
Pieces pieces_along(const Type& piece, std::size_t dim) {
  Pieces pieces{1, byte_size(piece.dtype)};
  for (std::size_t d = 0; d < piece.rank(); ++d)
    (d < dim ? pieces.runs : pieces.run_bytes) *= piece.shape[d];
  return pieces;
}

Pieces whole(const Type& type) { return {1, type.bytes()}; }

class CollectiveRun {
 public:
  CollectiveRun(const CollectiveStep& step, const ResolvedCollective& resolved, RankState& rank,
                Transport& transport, const RunOptions& options)
      : step_(step),
        op_(*step.op),
        resolved_(resolved),
        rank_(rank),
        transport_(transport),
        options_(options) {}

  Verdict run() {
    switch (op_.kind) {
      case CollectiveKind::partition_id:
        return write_id(transport_.rank() % grid().partitions);
      case CollectiveKind::replica_id:
        return write_id(transport_.rank() / grid().partitions);
      case CollectiveKind::send:
        return send();
      case CollectiveKind::receive:
        return receive();
      default:
        break;
    }
    if (!resolved_.member) return all_zero();
    if (op_.combiner) return gather_and_combine();
    for (std::size_t i = 0; i < step_.results.size(); ++i) {
      HEDDLE_TRY(const Collective c, collective(i));
      HEDDLE_TRY(const RequestId request, transport_.start(c));
      requests_.push_back(request);
    }
    for (RequestId request : requests_) HEDDLE_TRY_VOID(transport_.wait(request));
    if (op_.kind == CollectiveKind::reduce && resolved_.me != 0) return all_zero();
    return yes();
  }

 private:
  RankGrid grid() const { return rank_grid(transport_, options_).value(); }
  std::byte* operand(std::size_t i) const { return rank_.now[step_.operands[i]]; }
  std::byte* result(std::size_t i) const { return rank_.now[step_.results[i]]; }

  Verdict write_id(std::int64_t id) {
    const auto value = static_cast<std::uint32_t>(id);
    std::memcpy(result(0), &value, sizeof value);
    return yes();
  }

  Verdict all_zero() {
    for (std::size_t i = 0; i < step_.results.size(); ++i) zero(i);
    return yes();
  }
  void zero(std::size_t i) {
    if (const auto bytes = static_cast<std::size_t>(op_.results[i].bytes()); bytes > 0)
      std::memset(result(i), 0, bytes);
  }

  Collective basis(CollectiveKind kind, std::size_t i) const {
    Collective c{.kind = kind, .group = resolved_.group};
    c.in = operand(i);
    c.out = i < step_.results.size() ? result(i) : nullptr;
    c.in_pieces = whole(op_.operands[i]);
    c.dtype = op_.operands[i].dtype;
    c.reduce = op_.reduce;
    c.what = op_.label;
    return c;
  }

  Expected<Collective> collective(std::size_t i) const {
    switch (op_.kind) {
      case CollectiveKind::all_gather: {
        Collective c = basis(CollectiveKind::all_gather, i);
        c.out_pieces = pieces_along(op_.operands[i], op_.dim);
        return c;
      }
      case CollectiveKind::reduce_scatter: {
        Collective c = basis(CollectiveKind::reduce_scatter, i);
        c.in_pieces = pieces_along(op_.results[i], op_.dim);
        return c;
      }
      case CollectiveKind::all_to_all: {
        Collective c = basis(CollectiveKind::all_to_all, i);
        Type piece = op_.operands[i];
        piece.shape[op_.dim] /= op_.split_count;
        c.in_pieces = pieces_along(piece, op_.dim);
        c.out_pieces = pieces_along(piece, op_.concat_dim);
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
    std::int64_t root = 0;
    std::memcpy(&root, operand(last) + i * size, size);  // small enough to be positive, or refused
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
    const auto all = Block::raw(bytes * members);
    Collective c = basis(CollectiveKind::all_gather, 0);
    c.out = all->data();
    c.out_pieces = whole(type);
    HEDDLE_TRY_VOID(run_collective(transport_, c));
    const Type wide = Type::tensor(op_.results[0].dtype, type.shape);
    HEDDLE_TRY(Array sum, combined(*all, wide));
    return write_reduced(sum.bytes(), wide);
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
    Array sum = wide == op_.operands[0] ? part(0) : reduction::converted(part(0), wide.dtype);
    for (std::size_t i = 1; i < places.size(); ++i) {
      HEDDLE_TRY(auto both, interpret(program, program.functions[0], {sum, part(i)}, interpreted));
      sum = both[0];
    }
    return sum;
  }

  Verdict write_reduced(std::span<const std::byte> sum, const Type& wide) {
    if (op_.kind == CollectiveKind::reduce && resolved_.me != 0) return all_zero();
    if (sum.empty()) return yes();
    if (op_.kind != CollectiveKind::reduce_scatter) {
      std::memcpy(result(0), sum.data(), sum.size());
      return yes();
    }
    HEDDLE_CHECK(wide.rank() > op_.dim, "a reduction that is scattered");
    const Pieces pieces = pieces_along(op_.results[0], op_.dim);
    const auto run = static_cast<std::size_t>(pieces.run_bytes);
    for (std::int64_t r = 0; r < pieces.runs; ++r)
      std::memcpy(result(0) + r * pieces.run_bytes,
                  sum.data() + (r * resolved_.size + resolved_.me) * pieces.run_bytes, run);
    return yes();
  }

  // ---- transfers: the last operand or result is a token

  // What was sent may change right away; a copy travels.
  Verdict send() {
    if (!resolved_.member) return yes();
    for (std::size_t i = 0; i + 1 < step_.operands.size(); ++i) {
      Collective c = basis(CollectiveKind::send, i);
      PendingSend pending;
      pending.bytes.assign(c.in, c.in + c.in_pieces.bytes());
      c.in = pending.bytes.data();
      c.to = resolved_.to;
      HEDDLE_TRY(pending.request, transport_.start(c));
      rank_.sends.push_back(std::move(pending));
    }
    return yes();
  }

  Verdict receive() {
    for (std::size_t i = 0; i + 1 < step_.results.size(); ++i) {
      if (!resolved_.member) {
        zero(i);
        continue;
      }
      Collective c{.kind = CollectiveKind::receive, .group = resolved_.group};
      c.out = result(i);
      c.in_pieces = whole(op_.results[i]);
      c.from = resolved_.from;
      c.what = op_.label;
      HEDDLE_TRY_VOID(run_collective(transport_, c));
    }
    return yes();
  }

  const CollectiveStep& step_;
  const CollectiveOp& op_;
  const ResolvedCollective& resolved_;
  RankState& rank_;
  Transport& transport_;
  const RunOptions& options_;
  std::vector<RequestId> requests_;
};

}  // namespace

Expected<RankGrid> rank_grid(const Transport& transport, const RunOptions& options) {
  const std::int64_t ranks = transport.size(), replicas = options.replicas;
  const std::int64_t partitions = options.partitions;
  if (replicas >= 1 && partitions == 0 && ranks % replicas == 0)
    return RankGrid{replicas, ranks / replicas, options.channels};
  if (replicas >= 1 && partitions > 0 && replicas * partitions <= ranks &&
      transport.rank() < replicas * partitions)
    return RankGrid{replicas, partitions, options.channels};
  return reason("rank {} of {} ranks is not one of {} replicas of {} partitions", transport.rank(),
                ranks, replicas, partitions == 0 ? "equally many" : std::to_string(partitions));
}

Verdict run_collective_step(const CollectiveStep& step, RankState& rank, Transport& transport,
                            const RunOptions& options) {
  ResolvedCollective& resolved = rank.collectives[step.number];
  if (!resolved.done) {
    HEDDLE_TRY(const RankGrid grid, rank_grid(transport, options));
    HEDDLE_TRY(resolved, resolve(*step.op, transport, grid));
  }
  return CollectiveRun(step, resolved, rank, transport, options).run();
}

Verdict finish_sends(RankState& rank, Transport& transport) {
  Verdict verdict = yes();
  for (const PendingSend& pending : rank.sends)
    if (verdict) verdict = transport.wait(pending.request);
  rank.sends.clear();
  return verdict;
}

}  // namespace heddle::runtime
