#include "comm/nccl/nccl_transport.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <numeric>
#include <optional>
#include <thread>

#include "comm/nccl/nccl_library.h"
#include "heddle/log.h"

namespace heddle::comm {

namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
constexpr RequestId kOurs = RequestId{1} << 63;  // of requests that are NCCL's

std::optional<int> type_of(DType dtype) {
  switch (dtype) {
    case DType::i1:
    case DType::ui8:
      return Nccl::kU8;
    case DType::i8:
      return Nccl::kI8;
    case DType::i32:
      return Nccl::kI32;
    case DType::ui32:
      return Nccl::kU32;
    case DType::i64:
      return Nccl::kI64;
    case DType::ui64:
      return Nccl::kU64;
    case DType::f16:
      return Nccl::kF16;
    case DType::bf16:
      return Nccl::kBF16;
    case DType::f32:
      return Nccl::kF32;
    case DType::f64:
      return Nccl::kF64;
    default:
      return {};
  }
}

// And and or of truths are their least and their most.
std::optional<int> op_of(ReduceOp op, DType dtype) {
  const bool is_truth = dtype == DType::i1;
  switch (op) {
    case ReduceOp::sum:
      return is_truth ? std::optional<int>() : Nccl::kSum;
    case ReduceOp::product:
      return is_truth ? std::optional<int>() : Nccl::kProduct;
    case ReduceOp::max:
      return Nccl::kMax;
    case ReduceOp::min:
      return Nccl::kMin;
    case ReduceOp::logical_and:
      return is_truth ? std::optional<int>(Nccl::kMin) : std::nullopt;
    case ReduceOp::logical_or:
      return is_truth ? std::optional<int>(Nccl::kMax) : std::nullopt;
  }
  return {};
}

// Whether NCCL does it: whole pieces, of element types that it knows. Depends on nothing that
// differs from rank to rank.
bool is_for_nccl(const Collective& c) {
  switch (c.kind) {
    case CollectiveKind::all_reduce:
      return type_of(c.dtype) && op_of(c.reduce, c.dtype);
    case CollectiveKind::reduce_scatter:
      return type_of(c.dtype) && op_of(c.reduce, c.dtype) && c.in_pieces.runs == 1;
    case CollectiveKind::all_gather:
      return c.out_pieces.runs == 1;
    case CollectiveKind::all_to_all:
      return c.in_pieces.runs == 1 && c.out_pieces.runs == 1;
    case CollectiveKind::permute:
    case CollectiveKind::broadcast:
      return true;
    default:
      return false;
  }
}

Expected<GroupId> everyone(Transport& ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks.size()));
  std::iota(all.begin(), all.end(), 0);
  return ranks.group(all, 0);
}

// Whether all of them say yes.
Expected<bool> all_say(Transport& ranks, bool yes_here) {
  HEDDLE_TRY(const GroupId group, everyone(ranks));
  const std::uint8_t mine = yes_here ? 1 : 0;
  std::vector<std::uint8_t> all(static_cast<std::size_t>(ranks.size()));
  Collective c{.kind = CollectiveKind::all_gather, .group = group};
  c.in = reinterpret_cast<const std::byte*>(&mine);
  c.out = reinterpret_cast<std::byte*>(all.data());
  c.in_pieces = c.out_pieces = {1, 1};
  c.what = "looking for NCCL on all ranks";
  HEDDLE_TRY_VOID(run_collective(ranks, c));
  return std::ranges::all_of(all, [](std::uint8_t word) { return word != 0; });
}

class NcclTransport final : public Transport {
 public:
  NcclTransport(const Nccl& nccl, std::unique_ptr<Transport> ranks, Device& device)
      : nccl_(nccl), ranks_(std::move(ranks)), queue_(device.queue()) {
    take_signs_of(*ranks_);
  }
  ~NcclTransport() override {
    end_watch();
    (void)(is_aborted_ ? yes() : queue_->finish());
    if (!is_aborted_)
      for (const auto& [group, comm] : comms_) nccl_.destroy(comm);
  }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  // All ranks together: whether every one of them can.
  Expected<bool> connect() {
    HEDDLE_TRY(const GroupId group, everyone(*ranks_));
    const Expected<Nccl::Comm> joined = comm_of(group);
    if (!joined) log(kLogSteps, "{}", joined.reason());
    return all_say(*ranks_, joined.ok());
  }
  std::unique_ptr<Transport> give_back() { return std::move(ranks_); }

  // ---- as the ranks have it
  std::string_view name() const override { return ranks_->name(); }
  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }
  Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel) override {
    return ranks_->group(ranks, channel);
  }
  const std::vector<int>& members(GroupId group) const override { return ranks_->members(group); }
  Expected<RequestId> start(const Collective& c) override { return ranks_->start(c); }
  Expected<bool> test(RequestId request) override {
    if (!is_ours(request)) return ranks_->test(request);
    return under_way_.at(request).done();
  }
  Verdict wait(RequestId request) override {
    if (!is_ours(request)) return ranks_->wait(request);
    return finished(under_way_.extract(request).mapped().wait());
  }
  void go_on_meanwhile(RequestId request) override {
    if (!is_ours(request)) ranks_->go_on_meanwhile(request);
  }
  void forget_requests() override {
    under_way_.clear();
    ranks_->forget_requests();
  }
  void abort(std::string_view why) override {
    ranks_->abort(why);
    abort_all();
  }
  std::string failure() const override { return ranks_->failure(); }
  void enter() override { ranks_->enter(); }
  void leave() override { ranks_->leave(); }

  // ---- on the device
  // On a stream of its own, so that the queue's work goes on beside it.
  Expected<RequestId> start_on(Queue& queue, Collective c, DeviceAddress in,
                               DeviceAddress out) override {
    if (!is_for_nccl(c) || queue.stream_number() == 0) return ranks_->start_on(queue, c, in, out);
    HEDDLE_TRY(const Nccl::Comm comm, comm_of(c.group));
    HEDDLE_TRY_VOID(queue_->wait(queue.record()));
    HEDDLE_TRY_VOID(finished(put(c, comm, in, out)));
    const RequestId request = kOurs | ++last_;
    under_way_.emplace(request, queue_->record());
    return request;
  }
  Verdict wait_on(Queue& queue, RequestId request) override {
    if (!is_ours(request)) return ranks_->wait_on(queue, request);
    return finished(queue.wait(under_way_.extract(request).mapped()));
  }

 private:
  static bool is_ours(RequestId request) { return (request & kOurs) != 0; }

  // After a rank has failed, what NCCL says of it is not the reason.
  Verdict finished(const Verdict& how) const {
    return !how && ranks_->failed() ? Verdict(Reason{ranks_->failure()}) : how;
  }

  Verdict put(const Collective& c, Nccl::Comm comm, DeviceAddress in, DeviceAddress out) {
    const auto* from = reinterpret_cast<const void*>(in.value);
    auto* to = reinterpret_cast<void*>(out.value);
    auto* stream = reinterpret_cast<Nccl::Stream>(queue_->stream_number());
    const auto bytes = static_cast<std::size_t>(c.in_pieces.bytes());
    const auto elements = bytes / static_cast<std::size_t>(byte_size(c.dtype));
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        return checked(nccl_.all_reduce(from, to, elements, *type_of(c.dtype),
                                        *op_of(c.reduce, c.dtype), comm, stream),
                       c);
      case CollectiveKind::reduce_scatter:
        return checked(nccl_.reduce_scatter(from, to, elements, *type_of(c.dtype),
                                            *op_of(c.reduce, c.dtype), comm, stream),
                       c);
      case CollectiveKind::all_gather:
        return checked(nccl_.all_gather(from, to, bytes, Nccl::kI8, comm, stream), c);
      case CollectiveKind::broadcast:
        return checked(nccl_.broadcast(from, to, bytes, Nccl::kI8, c.from, comm, stream), c);
      case CollectiveKind::all_to_all:
        return exchange(c, comm, in, out, stream);
      default:
        return permute(c, comm, in, out, stream);
    }
  }

  Verdict exchange(const Collective& c, Nccl::Comm comm, DeviceAddress in, DeviceAddress out,
                   Nccl::Stream stream) {
    const std::int64_t bytes = c.in_pieces.bytes();
    int failed = nccl_.begin_group();
    for (int peer = 0; peer < static_cast<int>(members(c.group).size()) && failed == 0; ++peer) {
      failed = nccl_.send(reinterpret_cast<const void*>((in + peer * bytes).value),
                          static_cast<std::size_t>(bytes), Nccl::kI8, peer, comm, stream);
      if (failed == 0)
        failed = nccl_.receive(reinterpret_cast<void*>((out + peer * bytes).value),
                               static_cast<std::size_t>(bytes), Nccl::kI8, peer, comm, stream);
    }
    const int ended = nccl_.end_group();
    return checked(failed != 0 ? failed : ended, c);
  }

  Verdict permute(const Collective& c, Nccl::Comm comm, DeviceAddress in, DeviceAddress out,
                  Nccl::Stream stream) {
    const auto bytes = static_cast<std::size_t>(c.in_pieces.bytes());
    if (c.from < 0) HEDDLE_TRY_VOID(queue_->zero(out, c.in_pieces.bytes()));
    int failed = nccl_.begin_group();
    if (c.to >= 0 && failed == 0)
      failed =
          nccl_.send(reinterpret_cast<const void*>(in.value), bytes, Nccl::kI8, c.to, comm, stream);
    if (c.from >= 0 && failed == 0)
      failed =
          nccl_.receive(reinterpret_cast<void*>(out.value), bytes, Nccl::kI8, c.from, comm, stream);
    const int ended = nccl_.end_group();
    return checked(failed != 0 ? failed : ended, c);
  }

  Verdict checked(int status, const Collective& c) const {
    return status == 0 ? yes() : reason("{}: NCCL: {}", c.what, nccl_.error(status));
  }

  // Made when a group first meets; its first member says by which number.
  Expected<Nccl::Comm> comm_of(GroupId group) {
    if (const auto found = comms_.find(group); found != comms_.end()) return found->second;
    const std::vector<int>& ranks = members(group);
    const auto me = static_cast<int>(std::ranges::find(ranks, rank()) - ranks.begin());
    Nccl::Id made = {}, id = {};
    if (me == 0) HEDDLE_TRY_VOID(nccl_.checked(nccl_.make_id(&made), "begin"));
    Collective c{.kind = CollectiveKind::broadcast, .group = group};
    c.in = reinterpret_cast<const std::byte*>(made.bytes);
    c.out = reinterpret_cast<std::byte*>(id.bytes);
    c.in_pieces = {1, sizeof(id.bytes)};
    c.from = 0;
    c.what = "bringing a group of NCCL together";
    HEDDLE_TRY_VOID(run_collective(*ranks_, c));
    Nccl::Comm comm = nullptr;
    // The thread has to be at home on the device.
    HEDDLE_TRY_VOID(queue_->finish());
    HEDDLE_TRY_VOID(nccl_.checked(nccl_.join(&comm, static_cast<int>(ranks.size()), id, me),
                                  "bring the ranks together"));
    const std::lock_guard lock(mutex_);
    comms_.emplace(group, comm);
    begin_watch();
    return comm;
  }

  // NCCL waits for a lost rank for ever; the ranks' own transport notices, and this ends the wait.
  void begin_watch() {
    if (watch_.joinable() || size() == 1) return;
    watch_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      while (!is_over_) {
        change_.wait_for(lock, kBetweenLooks);
        if (!is_over_ && ranks_->failed()) {
          lock.unlock();
          return abort_all();
        }
      }
    });
  }
  void end_watch() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    change_.notify_all();
    if (watch_.joinable()) watch_.join();
  }
  void abort_all() {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) return;
    is_aborted_ = true;
    for (const auto& [group, comm] : comms_) nccl_.abort(comm);
  }

  const Nccl& nccl_;
  std::unique_ptr<Transport> ranks_;
  std::unique_ptr<Queue> queue_;
  std::map<RequestId, Event> under_way_;
  RequestId last_ = 0;
  std::mutex mutex_;  // of what the watch looks at
  std::condition_variable change_;
  std::map<GroupId, Nccl::Comm> comms_;
  bool is_over_ = false;
  std::atomic<bool> is_aborted_ = false;
  std::thread watch_;
};

}  // namespace

std::unique_ptr<Transport> nccl_over(std::unique_ptr<Transport> ranks, Device& device,
                                     const std::vector<std::filesystem::path>& candidates) {
  const auto nccl = nccl_library(candidates);
  const auto probe = device.queue();
  const bool is_here = nccl && probe != nullptr && probe->stream_number() != 0;
  const auto is_everywhere = all_say(*ranks, is_here);
  if (!is_everywhere || !*is_everywhere) return ranks;
  auto made = std::make_unique<NcclTransport>(**nccl, std::move(ranks), device);
  const auto connected = made->connect();
  if (connected && *connected) return made;
  log(kLogSteps, "collectives go through host memory{}{}", connected ? "" : ": ",
      connected ? "" : connected.reason());
  return made->give_back();
}

}  // namespace heddle::comm
