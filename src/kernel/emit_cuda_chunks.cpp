#include "kernel/emit_cuda_chunks.h"

#include <algorithm>
#include <map>

#include "kernel/emit_cuda.h"
#include "kernel/reduce_scalar.h"

namespace heddle {

namespace {

using chunks::Chunk;
using chunks::ChunkOp;
using chunks::ChunkProgram;
using Kind = ChunkOp::Kind;

constexpr std::string_view kClock = R"cuda(
__device__ __forceinline__ ui64 h_now() {
  ui64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
__device__ __forceinline__ void h_fail() { __trap(); }
)cuda";

// What waits, copies and adds up; the program is in tables.
constexpr std::string_view kMachine = R"cuda(
struct Op { int kind, function, channel, counter, from_buffer, to_buffer, bar, whole, first_taken, taken; i64 from, to, count; ui64 number; };
struct Channel { int from, to, protocol, slots; i64 share_bytes, slot_at; ui64 messages; };

struct Memory {
  void* at[RANKS][BUFFERS];
  void* extra[RANKS][EXTRA];
  char* slots;
  ui64* flags;
  ui64* stop;
  ui64 patience;
};

__device__ __forceinline__ volatile ui64* h_sent(const Memory& m, int channel, unsigned block) {
  return (volatile ui64*)m.flags + (i64)channel * BLOCKS + block;
}
__device__ __forceinline__ volatile ui64* h_taken(const Memory& m, int channel, unsigned block) {
  return (volatile ui64*)m.flags + (i64)(CHANNELS + channel) * BLOCKS + block;
}
__device__ __forceinline__ volatile ui64* h_counter(const Memory& m, int counter) {
  return (volatile ui64*)m.flags + (i64)2 * CHANNELS * BLOCKS + counter;
}
__device__ __forceinline__ volatile ui64* h_bar(const Memory& m, int lane) {
  return (volatile ui64*)m.flags + (i64)2 * CHANNELS * BLOCKS + COUNTERS + lane;
}

// Whether it is time to give up: somebody has, or this took too long.
__device__ bool h_gives_up(const Memory& m, ui64 begun) {
  if (m.stop != nullptr && *(volatile ui64*)m.stop != 0) return true;
  if (h_now() - begun < m.patience) return false;
  if (m.stop == nullptr) h_fail();
  *(volatile ui64*)m.stop = 1;
  return true;
}
__device__ void h_spin(const Memory& m, volatile ui64* at, ui64 least) {
  const ui64 begun = h_now();
  for (unsigned turn = 1; *at < least; ++turn)
    if (turn % 1024 == 0 && h_gives_up(m, begun)) return;
}
// All threads of the block go on once the number is there, and see what was written before it.
__device__ __forceinline__ void h_await(const Memory& m, volatile ui64* at, ui64 least) {
  if (threadIdx.x == 0) {
    h_spin(m, at, least);
    __threadfence();
  }
  __syncthreads();
}
// What all threads of the block have done can be seen by who sees the number.
__device__ __forceinline__ void h_tell(volatile ui64* at, ui64 value) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *at = value;
  }
}
// All blocks of a lane meet.
__device__ void h_meet(const Memory& m, int lane, ui64& meetings) {
  __syncthreads();
  meetings += BLOCKS;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd((ui64*)h_bar(m, lane), 1ull);
    h_spin(m, h_bar(m, lane), meetings);
    __threadfence();
  }
  __syncthreads();
}

// A block's share of a chunk.
__device__ __forceinline__ void h_share(i64 count, unsigned block, i64& begin, i64& end) {
  const i64 units = (count + GRAIN - 1) / GRAIN;
  begin = units * block / BLOCKS * GRAIN;
  end = units * (block + 1) / BLOCKS * GRAIN;
  begin = begin < count ? begin : count;
  end = end < count ? end : count;
}

__device__ void h_copy(char* to, const char* from, i64 bytes) {
  i64 done = 0;
  if ((((ui64)to | (ui64)from) & 15) == 0) {
    done = bytes / 16 * 16;
    const i64 last = bytes / 16;
    i64 i = threadIdx.x;
    for (; i + 3 * (i64)blockDim.x < last; i += 4 * (i64)blockDim.x) {
      ulonglong2 some[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) some[k] = ((const ulonglong2*)from)[i + k * (i64)blockDim.x];
#pragma unroll
      for (int k = 0; k < 4; ++k) ((ulonglong2*)to)[i + k * (i64)blockDim.x] = some[k];
    }
    for (; i < last; i += blockDim.x) ((ulonglong2*)to)[i] = ((const ulonglong2*)from)[i];
  }
  for (i64 i = done + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

struct alignas(16) Several { Element at[PACK]; };
__device__ __forceinline__ Element h_both(Element a, Element b) { return (Element)COMBINE; }
__device__ __forceinline__ Several h_all(const Several& x, const Several& y) {
  Several both;
#pragma unroll
  for (int k = 0; k < PACK; ++k) both.at[k] = h_both(x.at[k], y.at[k]);
  return both;
}
__device__ void h_combine(Element* to, const Element* a, const Element* b, i64 count) {
  i64 done = 0;
  if ((((ui64)to | (ui64)a | (ui64)b) & 15) == 0) {
    done = count / PACK * PACK;
    const i64 last = count / PACK;
    i64 i = threadIdx.x;
    for (; i + (i64)blockDim.x < last; i += 2 * (i64)blockDim.x) {
      const i64 j = i + blockDim.x;
      const Several x = ((const Several*)a)[i], y = ((const Several*)b)[i], z = ((const Several*)a)[j], w = ((const Several*)b)[j];
      ((Several*)to)[i] = h_all(x, y);
      ((Several*)to)[j] = h_all(z, w);
    }
    for (; i < last; i += blockDim.x) ((Several*)to)[i] = h_all(((const Several*)a)[i], ((const Several*)b)[i]);
  }
  for (i64 i = done + threadIdx.x; i < count; i += blockDim.x) to[i] = h_both(a[i], b[i]);
}

// Words of four bytes, each with the number of its message beside it.
__device__ void h_send_words(char* slot, const char* from, i64 bytes, unsigned flag) {
  for (i64 w = threadIdx.x; w * 4 < bytes; w += blockDim.x) {
    unsigned word = 0;
    for (int b = 0; b < 4; ++b)
      if (w * 4 + b < bytes) word |= (unsigned)(ui8)from[w * 4 + b] << (8 * b);
    *(volatile ui64*)(slot + w * 8) = (ui64)flag << 32 | word;
  }
}
// To where such words are wanted as they were; what they are combined with comes later.
__device__ void h_take_words(const Memory& m, char* to, const char* slot, i64 bytes, unsigned flag) {
  for (i64 w = threadIdx.x; w * 4 < bytes; w += blockDim.x) {
    const ui64 begun = h_now();
    ui64 word = *(volatile const ui64*)(slot + w * 8);
    for (unsigned turn = 1; (unsigned)(word >> 32) != flag; ++turn) {
      if (turn % 1024 == 0 && h_gives_up(m, begun)) return;
      word = *(volatile const ui64*)(slot + w * 8);
    }
    for (int b = 0; b < 4; ++b)
      if (w * 4 + b < bytes) to[w * 4 + b] = (char)(word >> (8 * b));
  }
}
)cuda";

constexpr std::string_view kRun = R"cuda(
// Every block has a place of its own in a slot: messages differ in size, and so do shares, so that the
// share of one block would lie where another one's of an earlier message is still to be read.
__device__ __forceinline__ char* h_slot(const Memory& m, const Channel& way, i64 slot, unsigned block) {
  return m.slots + way.slot_at + (slot * BLOCKS + block) * way.share_bytes;
}

__device__ void h_send(const Memory& m, const Op& op, int rank, unsigned block, ui64 before) {
  const Channel& way = h_channels[op.channel];
  const ui64 number = before + op.number;
  if (number >= (ui64)way.slots) h_await(m, h_taken(m, op.channel, block), number - way.slots + 1);
  i64 begin, end;
  h_share(op.count, block, begin, end);
  const i64 bytes = h_element_bytes[op.from_buffer];
  const char* from = (const char*)m.at[rank][op.from_buffer] + (op.from + begin) * bytes;
  char* slot = h_slot(m, way, (i64)(number % way.slots), block);
  if (way.protocol == LATENCY) return h_send_words(slot, from, (end - begin) * bytes, (unsigned)(number + 1));
  if (way.protocol == BANDWIDTH) h_copy(slot, from, (end - begin) * bytes);
  h_tell(h_sent(m, op.channel, block), number + 1);
}

__device__ void h_take(const Memory& m, const Op& op, int rank, unsigned block, ui64 before, i64 sent_from, int sent_buffer) {
  const Channel& way = h_channels[op.channel];
  const ui64 number = before + op.number;
  i64 begin, end;
  h_share(op.count, block, begin, end);
  const i64 bytes = h_element_bytes[op.to_buffer];
  char* to = (char*)m.at[rank][op.to_buffer] + (op.to + begin) * bytes;
  const char* slot = h_slot(m, way, (i64)(number % way.slots), block);
  const char* comes = way.protocol == DIRECT ? (const char*)m.at[way.from][sent_buffer] + (sent_from + begin) * bytes : slot;
  if (way.protocol != LATENCY) h_await(m, h_sent(m, op.channel, block), number + 1);
  if (way.protocol == LATENCY) {
    // Behind the slots there is room for what has come and is still to be combined.
    char* room = op.kind == REDUCE ? h_slot(m, way, way.slots, block) : to;
    h_take_words(m, room, slot, (end - begin) * bytes, (unsigned)(number + 1));
    __syncthreads();
    comes = room;
  }
  if (op.kind == REDUCE) {
    const char* mine = (const char*)m.at[rank][op.from_buffer] + (op.from + begin) * bytes;
    h_combine((Element*)to, (const Element*)mine, (const Element*)comes, end - begin);
  } else if (way.protocol != LATENCY) {
    h_copy(to, comes, (end - begin) * bytes);
  }
  h_tell(h_taken(m, op.channel, block), number + 1);
}

// Messages whose parts a kernel loads by itself.
__device__ __forceinline__ void h_await_all(const Memory& m, const Op& op, unsigned block, ui64 turn) {
  for (int t = threadIdx.x; t < op.taken; t += blockDim.x) {
    const int channel = h_taken_channel[op.first_taken + t];
    h_spin(m, h_sent(m, channel, block), turn * h_channels[channel].messages + h_taken_number[op.first_taken + t] + 1);
    __threadfence();
  }
  __syncthreads();
}
__device__ __forceinline__ void h_tell_all(const Memory& m, const Op& op, unsigned block, ui64 turn) {
  __syncthreads();
  for (int t = threadIdx.x; t < op.taken; t += blockDim.x) {
    const int channel = h_taken_channel[op.first_taken + t];
    __threadfence();
    *h_taken(m, channel, block) = turn * h_channels[channel].messages + h_taken_number[op.first_taken + t] + 1;
  }
}

__device__ void h_run(const Memory& m, int first, int end, int lane, int rank, unsigned block, ui64 turn) {
  ui64 meetings = turn * h_meetings[lane] * BLOCKS;
  for (int o = first; o < end; ++o) {
    const Op op = h_ops[o];
    if (op.bar) h_meet(m, lane, meetings);
    else __syncthreads();
    const ui64 before = op.channel < 0 ? 0 : turn * h_channels[op.channel].messages;
    const i64 to_bytes = op.to_buffer < 0 ? 0 : h_element_bytes[op.to_buffer];
    char* to = op.to_buffer < 0 ? nullptr : (char*)m.at[rank][op.to_buffer] + op.to * to_bytes;
    const char* from = op.from_buffer < 0 ? nullptr : (const char*)m.at[rank][op.from_buffer] + op.from * h_element_bytes[op.from_buffer];
    i64 begin, last;
    h_share(op.count, block, begin, last);
    if (op.kind == SEND) h_send(m, op, rank, block, before);
    else if (op.kind == RECEIVE || (op.kind == REDUCE && op.channel >= 0)) h_take(m, op, rank, block, before, h_sent_from[o], h_sent_buffer[o]);
    else if (op.kind == REDUCE) h_combine((Element*)to + begin, (const Element*)to + begin, (const Element*)from + begin, last - begin);
    else if (op.kind == COPY) h_copy(to + begin * to_bytes, from + begin * to_bytes, (last - begin) * to_bytes);
    else if (op.kind == COMPUTE) {
      if (op.taken > 0) h_await_all(m, op, block, turn);
      h_compute(op.function, m, rank, op.from, op.to, op.whole ? 0 : begin, op.whole ? op.count : last);
      if (op.taken > 0) h_tell_all(m, op, block, turn);
    } else if (op.kind == SIGNAL) {
      if (block == 0 && threadIdx.x == 0) atomicAdd((ui64*)h_counter(m, op.counter), 1ull);
    } else if (op.channel >= 0) {
      if (op.number > 0) h_await(m, h_taken(m, op.channel, block), before + op.number);
    } else {
      h_await(m, h_counter(m, op.counter), turn * h_signals[op.counter] + op.number);
    }
  }
  // What others read in this rank's own buffers they have read when the launch is over.
  for (int c = 0; c < CHANNELS; ++c)
    if (h_senders[c] == lane && h_channels[c].protocol == DIRECT) h_await(m, h_taken(m, c, block), (turn + 1) * h_channels[c].messages);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) chunks(const __grid_constant__ Memory m, int first_rank, ui64 turn) {
  const unsigned block = blockIdx.x % BLOCKS;
  const int lane = first_rank * RANK_LANES + (int)(blockIdx.x / BLOCKS);
  h_run(m, h_first[lane], h_first[lane + 1], lane, lane / RANK_LANES, block, turn);
}
)cuda";

class ChunkProgramEmitter {
 public:
  ChunkProgramEmitter(const ChunkProgram& program, const CudaChunkWork& work)
      : program_(program), work_(work) {}

  Expected<CudaChunks> emit() {
    HEDDLE_TRY_VOID(check());
    sort_lanes();
    write_names();
    text_ += kMachine;
    write_channels();
    write_ops();
    text_ += work_.compute;
    text_ += kRun;
    CudaChunks made;
    made.text = std::move(text_);
    made.slot_bytes = slot_bytes_;
    made.flags = static_cast<std::int64_t>(2 * program_.channels.size()) * work_.blocks +
                 static_cast<std::int64_t>(program_.counters.size() + program_.lanes.size());
    made.rank_blocks = std::int64_t{lanes_} * work_.blocks;
    return made;
  }

 private:
  // Computes with all of a chunk in every block.
  static bool is_whole(const ChunkOp& op) {
    return op.function == chunks::Function::partial || op.function == chunks::Function::total;
  }

  Verdict check() {
    if (work_.grain < 1 || work_.grain * byte_size(work_.dtype) % 16 != 0 || work_.blocks < 1)
      return reason("{} blocks have shares of {} elements: of whole 16 bytes is due", work_.blocks,
                    work_.grain);
    std::vector<int> lanes(static_cast<std::size_t>(program_.ranks), 0);
    for (const chunks::Lane& lane : program_.lanes) ++lanes[static_cast<std::size_t>(lane.rank)];
    lanes_ = lanes[0];
    if (std::ranges::any_of(lanes, [&](int n) { return n != lanes_; }))
      return reason("ranks have different numbers of lanes");
    std::map<std::pair<std::uint32_t, std::int64_t>, Chunk> cuts;
    for (const chunks::Lane& lane : program_.lanes)
      for (const ChunkOp& op : lane.ops) {
        if (is_whole(op)) continue;
        HEDDLE_TRY_VOID(check_channel(op));
        if (!op.reads.empty()) HEDDLE_TRY_VOID(check_cut(cuts, op.reads[0]));
        for (const Chunk& chunk : {op.from, op.to}) HEDDLE_TRY_VOID(check_cut(cuts, chunk));
      }
    return yes();
  }
  // Chunks are the same or apart: a block has the same share whoever looks.
  Verdict check_cut(std::map<std::pair<std::uint32_t, std::int64_t>, Chunk>& cuts,
                    const Chunk& chunk) const {
    if (chunk.count == 0) return yes();
    const auto [at, fresh] = cuts.try_emplace({chunk.buffer, chunk.first}, chunk);
    const auto next = std::next(at);
    const bool clear = (fresh || at->second == chunk) &&
                       (next == cuts.end() || next->first.first != chunk.buffer ||
                        next->first.second >= chunk.end()) &&
                       (at == cuts.begin() || std::prev(at)->first.first != chunk.buffer ||
                        std::prev(at)->second.end() <= chunk.first);
    if (clear) return yes();
    return reason("{}[{}..{}) is cut in two ways, so that blocks would wait for each other",
                  program_.buffers[chunk.buffer].name, chunk.first, chunk.end());
  }
  Verdict check_channel(const ChunkOp& op) const {
    if (op.kind != Kind::reduce || op.to.count == 0 ||
        program_.buffers[op.to.buffer].element_bytes == byte_size(work_.dtype))
      return yes();
    return reason("sums of {} bytes are no {}", program_.buffers[op.to.buffer].element_bytes,
                  name(work_.dtype));
  }

  // Those of a rank one after the other.
  void sort_lanes() {
    for (std::size_t l = 0; l < program_.lanes.size(); ++l) order_.push_back(l);
    std::ranges::stable_sort(order_, {}, [&](std::size_t l) { return program_.lanes[l].rank; });
  }

  void define(std::string_view name, std::int64_t value) {
    text_ += fmt::format("#define {} {}\n", name, value);
  }
  void write_names() {
    define("RANKS", program_.ranks);
    define("BUFFERS", static_cast<std::int64_t>(program_.buffers.size()));
    define("EXTRA", std::max(1, work_.extra));
    define("CHANNELS", static_cast<std::int64_t>(program_.channels.size()));
    define("COUNTERS", static_cast<std::int64_t>(program_.counters.size()));
    define("BLOCKS", work_.blocks);
    define("THREADS", kChunkThreads);
    define("GRAIN", work_.grain);
    define("RANK_LANES", lanes_);
    define("PACK", 16 / byte_size(work_.dtype));
    for (const Kind kind : {Kind::send, Kind::receive, Kind::reduce, Kind::compute, Kind::copy,
                            Kind::signal, Kind::wait}) {
      std::string word(chunks::name(kind));
      std::ranges::transform(word, word.begin(), [](char c) { return c - 'a' + 'A'; });
      define(word, static_cast<int>(kind));
    }
    define("DIRECT", static_cast<int>(chunks::Protocol::direct));
    define("BANDWIDTH", static_cast<int>(chunks::Protocol::bandwidth));
    define("LATENCY", static_cast<int>(chunks::Protocol::latency));
    text_ += fmt::format("typedef {} Element;\n", cuda_memory_type(work_.dtype));
    const std::string_view truth = work_.dtype == DType::i1 ? " != 0" : "";
    text_ += fmt::format("#define COMBINE h_{0}(({1})(a{2}), ({1})(b{2}))\n",
                         name(scalar_of(work_.reduce)), cuda_type(work_.dtype), truth);
  }

  // A table; one without entries has one that nobody reads.
  void table(std::string_view type, std::string_view name, const std::vector<std::string>& rows) {
    text_ += fmt::format("__device__ const {} {}[] = {{", type, name);
    for (const std::string& row : rows) text_ += row + ",\n";
    text_ += rows.empty() ? "{}};\n" : "};\n";
  }

  // What a block needs at most for its share of a message.
  std::int64_t share_bytes(chunks::Protocol protocol, const Chunk& message) const {
    const std::int64_t units = (message.count + work_.grain - 1) / work_.grain;
    const std::int64_t share = (units + work_.blocks - 1) / work_.blocks * work_.grain;
    const std::int64_t bytes = share * program_.buffers[message.buffer].element_bytes;
    return (chunks::bytes_in_slot(protocol, bytes) + 15) / 16 * 16;
  }

  void write_channels() {
    std::vector<std::string> ways, bytes, signals, senders;
    for (std::size_t c = 0; c < program_.channels.size(); ++c) {
      const chunks::Channel& way = program_.channels[c];
      std::int64_t messages = 0, sender = -1, share = 0;
      for (std::size_t i = 0; i < order_.size(); ++i)
        for (const ChunkOp& op : program_.lanes[order_[i]].ops)
          if (op.kind == Kind::send && op.channel == c) {
            ++messages;
            sender = static_cast<std::int64_t>(i);
            share = std::max(share, share_bytes(way.protocol, op.from));
          }
      ways.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}, {}ull}}", way.from, way.to,
                                 static_cast<int>(way.protocol), way.slots, share, slot_bytes_,
                                 messages));
      senders.push_back(fmt::format("{}", sender));
      // One more, where words wait to be combined.
      slot_bytes_ += share * work_.blocks * (way.slots + 1);
    }
    for (const chunks::ChunkBuffer& buffer : program_.buffers)
      bytes.push_back(fmt::format("{}", buffer.element_bytes));
    for (std::uint32_t c = 0; c < program_.counters.size(); ++c) {
      std::int64_t count = 0;
      for (const chunks::Lane& lane : program_.lanes)
        count += std::ranges::count_if(lane.ops, [&](const ChunkOp& op) {
          return op.kind == Kind::signal && op.counter == c;
        });
      signals.push_back(fmt::format("{}", count));
    }
    table("Channel", "h_channels", ways);
    table("i64", "h_element_bytes", bytes);
    table("ui64", "h_signals", signals);
    table("int", "h_senders", senders);
  }

  // What the other end of a channel sends as this message.
  Chunk sent(std::uint32_t channel, std::int64_t number) const {
    for (const chunks::Lane& lane : program_.lanes)
      for (const ChunkOp& op : lane.ops)
        if (op.kind == Kind::send && op.channel == channel && number-- == 0) return op.from;
    return {};
  }

  void write_ops() {
    std::vector<std::string> ops, from, buffer, firsts, meetings, taken_channel, taken_number;
    std::vector<std::int64_t> sends(program_.channels.size(), 0), takes = sends;
    const auto place = [](std::uint32_t n) { return n == kNone ? -1 : static_cast<int>(n); };
    for (const std::size_t l : order_) {
      firsts.push_back(fmt::format("{}", ops.size()));
      std::int64_t met = 0;
      bool after = false;  // the next op needs all blocks of the lane
      for (std::size_t o = 0; o < program_.lanes[l].ops.size(); ++o) {
        const ChunkOp& op = program_.lanes[l].ops[o];
        const bool takes_one =
            op.kind == Kind::receive || (op.kind == Kind::reduce && op.channel != kNone);
        std::int64_t number = op.value;
        if (op.kind == Kind::send) number = sends[op.channel]++;
        if (takes_one) number = takes[op.channel]++;
        if (work_.sums != nullptr && work_.sums->lanes[l].gone[o]) continue;
        const std::size_t first_taken = taken_channel.size();
        if (work_.sums != nullptr)
          for (const ChunkSums::Message& m : work_.sums->lanes[l].messages[o]) {
            taken_channel.push_back(fmt::format("{}", m.channel));
            taken_number.push_back(fmt::format("{}ull", m.number));
          }
        const Chunk comes = takes_one ? sent(op.channel, number) : Chunk{};
        const Chunk read = op.kind == Kind::compute && !op.reads.empty() ? op.reads[0] : op.from;
        const std::int64_t count = is_whole(op) ? read.count : std::max(op.from.count, op.to.count);
        const bool together = after || is_whole(op) || op.kind == Kind::signal;
        after = is_whole(op) || op.kind == Kind::wait;
        met += together ? 1 : 0;
        ops.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}ull}}",
                                  static_cast<int>(op.kind), static_cast<int>(op.function),
                                  place(op.channel), place(op.counter), place(read.buffer),
                                  place(op.to.buffer), together ? 1 : 0, is_whole(op) ? 1 : 0,
                                  first_taken, taken_channel.size() - first_taken, read.first,
                                  op.to.first, count, number));
        from.push_back(fmt::format("{}", comes.first));
        buffer.push_back(fmt::format("{}", place(comes.buffer)));
      }
      meetings.push_back(fmt::format("{}", met));
    }
    firsts.push_back(fmt::format("{}", ops.size()));
    table("Op", "h_ops", ops);
    table("i64", "h_sent_from", from);
    table("int", "h_sent_buffer", buffer);
    table("int", "h_first", firsts);
    table("ui64", "h_meetings", meetings);
    table("int", "h_taken_channel", taken_channel);
    table("ui64", "h_taken_number", taken_number);
  }

  const ChunkProgram& program_;
  const CudaChunkWork& work_;
  int lanes_ = 1;  // of a rank
  std::vector<std::size_t> order_;
  std::int64_t slot_bytes_ = 0;
  std::string text_;
};

}  // namespace

std::string_view cuda_chunk_clock() { return kClock; }

Expected<CudaChunks> emit_cuda_chunks(const ChunkProgram& program, const CudaChunkWork& work) {
  return ChunkProgramEmitter(program, work).emit();
}

}  // namespace heddle
