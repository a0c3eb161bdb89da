#include "runtime/packed.h"

#include <cstring>

#include "cost/fitted.h"

namespace heddle::runtime {

namespace {

// A tensor cut along a dimension into equal pieces.
Pieces pieces_along(const Type& piece, std::size_t dim) {
  Pieces pieces{1, byte_size(piece.dtype)};
  for (std::size_t d = 0; d < piece.rank(); ++d)
    (d < dim ? pieces.runs : pieces.run_bytes) *= piece.shape[d];
  return pieces;
}

Type exchanged_piece(const CollectiveOp& op, std::size_t i) {
  Type piece = op.operands[i];
  piece.shape[op.dim] /= op.split_count;
  return piece;
}

bool cuts_operands(CollectiveKind kind) {
  return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
}
bool cuts_results(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
}

bool may_be_packed(const CollectiveOp& op) {
  const CollectiveKind kind = op.kind;
  return !op.combiner && (kind == CollectiveKind::all_reduce || kind == CollectiveKind::permute ||
                          kind == CollectiveKind::all_gather || cuts_operands(kind));
}

bool is_small(const CollectiveOp& op, std::size_t i) {
  return std::max(op.operands[i].bytes(), op.results[i].bytes()) <= cost::kSmallOperand;
}

// Pieces of one tensor, dense behind each other, each so far behind the one before it.
struct PackedPieces {
  Pieces pieces;
  std::int64_t members = 1, distance = 0;
};

template <typename Copy>
void for_each_run(const PackedPieces& how, Copy copy) {
  const auto& [pieces, members, distance] = how;
  const auto bytes = static_cast<std::size_t>(pieces.run_bytes);
  if (bytes == 0) return;
  for (std::int64_t k = 0; k < members; ++k)
    for (std::int64_t r = 0; r < pieces.runs; ++r)
      copy(k * distance + r * pieces.run_bytes, (r * members + k) * pieces.run_bytes, bytes);
}

}  // namespace

Pieces pieces_in(const CollectiveOp& op, std::size_t i) {
  if (op.kind == CollectiveKind::reduce_scatter) return pieces_along(op.results[i], op.dim);
  if (op.kind == CollectiveKind::all_to_all) return pieces_along(exchanged_piece(op, i), op.dim);
  return whole(op.operands[i]);
}

Pieces pieces_out(const CollectiveOp& op, std::size_t i) {
  if (op.kind == CollectiveKind::all_gather) return pieces_along(op.operands[i], op.dim);
  if (op.kind == CollectiveKind::all_to_all)
    return pieces_along(exchanged_piece(op, i), op.concat_dim);
  return whole(op.results[i]);
}

std::vector<Pack> packs_of(const CollectiveOp& op) {
  std::vector<Pack> packs;
  const bool may = may_be_packed(op);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const bool joins = may && i > 0 && is_small(op, i) && is_small(op, i - 1) &&
                       op.operands[i].dtype == op.operands[i - 1].dtype;
    if (!joins) packs.push_back({i, 0});
    ++packs.back().count;
  }
  return packs;
}

Collective pack(const StartStep& step, const Pack& pack, std::int64_t members, Collective basis,
                RunState& run) {
  const CollectiveOp& op = *step.op;
  std::int64_t bytes = 0;  // of what one member sends to another, or to all
  for (std::size_t i = pack.first; i < pack.end(); ++i) bytes += pieces_in(op, i).bytes();
  const std::int64_t sent = cuts_operands(op.kind) ? members : 1;
  const std::int64_t received = cuts_results(op.kind) ? members : 1;
  PackedBuffers& buffers = run.under_way[step.number].packed.emplace_back();
  buffers.in = Block::raw(static_cast<std::size_t>(bytes * sent));
  buffers.out = Block::raw(static_cast<std::size_t>(bytes * received));
  std::int64_t at = 0;
  for (std::size_t i = pack.first; i < pack.end(); ++i) {
    const Pieces pieces = pieces_in(op, i);
    const std::byte* const from = host_pointer(run.now[step.operands[i]]);
    std::byte* const to = buffers.in->data() + at;
    for_each_run({pieces, sent, bytes},
                 [&](std::int64_t packed, std::int64_t dealt, std::size_t n) {
                   std::memcpy(to + packed, from + dealt, n);
                 });
    at += pieces.bytes();
  }
  basis.in = buffers.in->data();
  basis.out = buffers.out->data();
  basis.in_pieces = basis.out_pieces = {1, bytes};
  return basis;
}

void unpack(const CollectiveOp& op, std::span<const SlotId> results, const Pack& pack,
            std::int64_t members, RunState& run, const PackedBuffers& buffers) {
  const std::int64_t received = cuts_results(op.kind) ? members : 1;
  const auto bytes = static_cast<std::int64_t>(buffers.out->size()) / received;
  std::int64_t at = 0;
  for (std::size_t i = pack.first; i < pack.end(); ++i) {
    const Pieces pieces = pieces_out(op, i);
    std::byte* const to = host_pointer(run.now[results[i]]);
    const std::byte* const from = buffers.out->data() + at;
    for_each_run({pieces, received, bytes},
                 [&](std::int64_t packed, std::int64_t dealt, std::size_t n) {
                   std::memcpy(to + dealt, from + packed, n);
                 });
    at += pieces.bytes();
  }
}

}  // namespace heddle::runtime
