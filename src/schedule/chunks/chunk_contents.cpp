#include <algorithm>

#include "schedule/chunks/chunk_faults.h"

namespace heddle::chunks {

namespace {

using Kind = ChunkOp::Kind;

std::vector<std::int64_t> cuts_of(const ChunkProgram& program) {
  std::vector<std::int64_t> cuts;
  const auto cut = [&](const Chunk& chunk) {
    if (chunk.buffer == kNone) return;
    cuts.push_back(chunk.first);
    cuts.push_back(chunk.end());
  };
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b)
    for (int r = 0; r < program.ranks; ++r) cut(program.slice(b, r));
  for (const Lane& lane : program.lanes)
    for (const ChunkOp& op : lane.ops) {
      cut(op.from);
      cut(op.to);
      for (const Chunk& chunk : op.reads) cut(chunk);
    }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

ChunkContents::ChunkContents(const ChunkProgram& program)
    : program_(program),
      cuts_(cuts_of(program)),
      contents_(static_cast<std::size_t>(program.ranks) * program.buffers.size() * cells()),
      messages_(program.channels.size()),
      taken_(program.channels.size(), 0) {
  for (int r = 0; r < program.ranks; ++r)
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      const ChunkBuffer& buffer = program.buffers[b];
      if (!buffer.given) continue;
      const Chunk held = program.held(b, r);
      for (std::size_t c = first_cell(held); c < end_cell(held); ++c) {
        Content& content = at(r, b, c);
        content = {true, cuts_[c],
                   std::vector<std::int32_t>(static_cast<std::size_t>(program.ranks)),
                   Function::none};
        content.shares[static_cast<std::size_t>(r)] = 1;
      }
    }
}

std::size_t ChunkContents::first_cell(const Chunk& chunk) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, chunk.first) - cuts_.begin());
}
std::size_t ChunkContents::end_cell(const Chunk& chunk) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, chunk.end()) - cuts_.begin());
}

ChunkContents::Content& ChunkContents::at(int rank, std::uint32_t buffer, std::size_t cell) {
  const std::size_t row = static_cast<std::size_t>(rank) * program_.buffers.size() + buffer;
  return contents_[row * cells() + cell];
}
const ChunkContents::Content& ChunkContents::at(int rank, std::uint32_t buffer,
                                                std::size_t cell) const {
  return const_cast<ChunkContents*>(this)->at(rank, buffer, cell);
}

void ChunkContents::add_fault(int rank, const ChunkOp& op, std::string what) {
  if (!fault_)
    fault_ = {FaultKind::coverage,
              fmt::format("rank {}, \"{}\": {}", rank, text(program_, op), what)};
}

ChunkContents::Contents ChunkContents::read(int rank, const Chunk& chunk, const ChunkOp& op) {
  Contents all;
  for (std::size_t c = first_cell(chunk); c < end_cell(chunk); ++c) {
    all.push_back(at(rank, chunk.buffer, c));
    if (!all.back().there)
      add_fault(rank, op,
                fmt::format("nothing has been written to {}[{}] before",
                            program_.buffers[chunk.buffer].name, cuts_[c]));
  }
  return all;
}

void ChunkContents::write(int rank, const Chunk& chunk, const Contents& contents,
                          const ChunkOp& op) {
  const std::size_t first = first_cell(chunk), end = end_cell(chunk);
  for (std::size_t c = first; c < end; ++c) {
    if (c - first >= contents.size() || contents[c - first].element != cuts_[c]) {
      add_fault(rank, op, fmt::format("what comes is not element {}", cuts_[c]));
      return;
    }
    at(rank, chunk.buffer, c) = contents[c - first];
  }
  if (contents.size() != end - first) add_fault(rank, op, "more comes than it has room for");
}

void ChunkContents::combine(Contents& sum, const Contents& with, int rank, const ChunkOp& op) {
  if (sum.size() != with.size()) return add_fault(rank, op, "the two are not of one size");
  for (std::size_t c = 0; c < sum.size(); ++c) {
    if (!sum[c].there || !with[c].there) return;
    if (sum[c].element != with[c].element)
      return add_fault(
          rank, op,
          fmt::format("element {} is combined with element {}", sum[c].element, with[c].element));
    if (sum[c].last != Function::none || with[c].last != Function::none)
      return add_fault(rank, op, "one of the two is finished already");
    for (std::size_t r = 0; r < sum[c].shares.size(); ++r) sum[c].shares[r] += with[c].shares[r];
  }
}

ChunkContents::Contents ChunkContents::take(const ChunkOp& op) {
  const Channel& channel = program_.channels[op.channel];
  auto& [chunk, contents] = messages_[op.channel][taken_[op.channel]++];
  return channel.protocol == Protocol::direct ? read(channel.from, chunk, op) : std::move(contents);
}

// Numbers of a norm are told apart by who made them; results by what was done last.
void ChunkContents::compute(int rank, const ChunkOp& op) {
  Contents result;
  const bool finishes = op.function == Function::finish;
  for (std::size_t i = 0; i < op.reads.size(); ++i) {
    Contents all = read(rank, op.reads[i], op);
    if (i > 0) continue;  // the first is what it works on
    for (const Content& content : all)
      if (finishes && content.last != Function::none)
        add_fault(rank, op, "it is finished a second time");
    if (finishes || op.function == Function::consume) result = std::move(all);
  }
  const std::size_t first = first_cell(op.to), count = end_cell(op.to) - first;
  result.resize(count);
  for (std::size_t c = 0; c < count; ++c) {
    Content& content = result[c];
    if (content.shares.empty()) {
      content.shares.assign(static_cast<std::size_t>(program_.ranks), 0);
      content.shares[static_cast<std::size_t>(rank)] = 1;
    }
    content.there = true;
    content.element = cuts_[first + c];
    content.last = op.function == Function::produce ? Function::none : op.function;
  }
  write(rank, op.to, result, op);
}

void ChunkContents::do_op(int rank, const ChunkOp& op) {
  switch (op.kind) {
    case Kind::send: {
      const bool stays = program_.channels[op.channel].protocol == Protocol::direct;
      Contents contents = read(rank, op.from, op);
      if (stays) contents.clear();
      messages_[op.channel].emplace_back(op.from, std::move(contents));
      return;
    }
    case Kind::receive:
      return write(rank, op.to, take(op), op);
    case Kind::reduce: {
      Contents sum = read(rank, op.from, op);
      combine(sum, op.channel == kNone ? read(rank, op.to, op) : take(op), rank, op);
      return write(rank, op.to, sum, op);
    }
    case Kind::copy:
      return write(rank, op.to, read(rank, op.from, op), op);
    case Kind::compute:
      return compute(rank, op);
    default:
      return;
  }
}

std::optional<Fault> ChunkContents::find_uncovered(const Result& result, int rank) const {
  const ChunkBuffer& buffer = program_.buffers[result.buffer];
  const Chunk wanted = result.holds == Holds::all ? Chunk{result.buffer, 0, buffer.elements}
                                                  : program_.slice(result.buffer, rank);
  for (std::size_t c = first_cell(wanted); c < end_cell(wanted); ++c) {
    const Content& content = at(rank, result.buffer, c);
    const std::string where =
        fmt::format("{}[{}..{}) of rank {}", buffer.name, cuts_[c], cuts_[c + 1], rank);
    if (!content.there) return Fault{FaultKind::coverage, where + " is never written"};
    if (content.last != result.last)
      return Fault{FaultKind::coverage, fmt::format("{} has seen {} last, not {}", where,
                                                    name(content.last), name(result.last))};
    int owner = 0;
    while (program_.slice(result.buffer, owner).end() <= cuts_[c]) ++owner;
    for (int r = 0; r < program_.ranks; ++r) {
      const bool belongs =
          result.of == Result::Of::all_ranks || r == (result.of == Result::Of::owner ? owner : 0);
      const std::int32_t times = content.shares[static_cast<std::size_t>(r)];
      if (times != (belongs ? 1 : 0))
        return Fault{FaultKind::coverage,
                     fmt::format("{} has what rank {} gave {} times", where, r, times)};
    }
  }
  return std::nullopt;
}

std::optional<Fault> ChunkContents::find_uncovered() const {
  for (const Result& result : program_.results)
    for (int r = 0; r < program_.ranks; ++r)
      if (result.at < 0 || result.at == r)
        if (auto fault = find_uncovered(result, r)) return fault;
  return std::nullopt;
}

}  // namespace heddle::chunks
