#include "comm/mpi/mpi_transport.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "comm/mpi/mpi_library.h"
#include "comm/mpi/start_guard.h"
#include "comm/rooms.h"
#include "heddle/hash.h"

namespace heddle::comm {

namespace {

// How often a rank looks before it sleeps. The one that is waited for may be waiting for this very
// core, so that it is given up every few microseconds.
constexpr int kSpins = 5000, kSpinsInARow = 32, kYields = 2000;
constexpr double kToArrive = 1;           // seconds
constexpr std::uint64_t kMostAtOnce = 8;  // of one group, apart by their tags

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Verdict succeeded(const HeddleMpi& mpi, int status, std::string_view what) {
  if (status == 0) return yes();
  return reason("MPI: {}: {}", what, mpi.error_text(status));
}

// The first rank of a machine makes the board, the others of the machine map it; then its name
// goes.
Expected<std::shared_ptr<Board>> shared_board(const HeddleMpi& mpi, int rank, int size) {
  std::vector<int> near(static_cast<std::size_t>(size));
  HEDDLE_TRY_VOID(succeeded(mpi, mpi.neighbours(near.data()), "finding the ranks of this machine"));
  const bool first = std::ranges::find(near, 1) - near.begin() == rank;
  char name[64] = {};
  int file = -1;
  if (first) {
    std::snprintf(name, sizeof name, "/heddle-%d-%lld", static_cast<int>(::getpid()),
                  static_cast<long long>(Clock::now().time_since_epoch().count()));
    file = ::shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(board_bytes(size))) != 0) name[0] = 0;
  }
  std::shared_ptr<Board> board;
  const auto map = [&]() -> Verdict {
    HEDDLE_TRY(BoardMemory memory, map_board(file, size));
    board = std::make_shared<Board>(std::move(memory), size, first);
    return yes();
  };
  Verdict mapped = first && name[0] != 0 ? map() : yes();
  HEDDLE_TRY_VOID(succeeded(mpi, mpi.broadcast_near(name, sizeof name), "sharing memory"));
  if (!first && name[0] != 0) {
    file = ::shm_open(name, O_RDWR, 0600);
    mapped = map();
  }
  // Everybody of this machine has it open by now, and nobody else is to.
  HEDDLE_TRY_VOID(succeeded(mpi, mpi.barrier_near(), "sharing memory"));
  if (first && name[0] != 0) ::shm_unlink(name);
  if (file >= 0) ::close(file);
  HEDDLE_TRY_VOID(mapped);
  if (!board)
    return reason("no memory to share between the ranks of this machine: {}", std::strerror(errno));
  return board;
}

// Launchers end all ranks as soon as one exits with an error, and some wait for ever for one that
// is stopped. So a rank that fails says so, leaves the others the time to do the same, and ends
// all.
std::shared_ptr<Board> board_at_exit;
const HeddleMpi* mpi_at_exit = nullptr;

void end_all_at_exit() {
  if (!board_at_exit || !board_at_exit->failed()) return;
  std::this_thread::sleep_for(kToSpeak);
  mpi_at_exit->abort(1);
}

}  // namespace

Expected<std::unique_ptr<Transport>> mpi_transport(const WatchdogOptions& watchdog) {
  HEDDLE_TRY(const HeddleMpi* mpi, mpi_library());
  const StartGuard guard(watchdog.seconds);
  HEDDLE_TRY_VOID(succeeded(*mpi, mpi->start(), "starting"));
  HEDDLE_TRY(auto board, shared_board(*mpi, mpi->rank(), mpi->size()));
  return std::unique_ptr<Transport>(std::make_unique<MpiTransport>(*mpi, board, watchdog));
}

MpiTransport::MpiTransport(const HeddleMpi& mpi, std::shared_ptr<Board> board,
                           const WatchdogOptions& watchdog)
    : mpi_(mpi),
      board_(std::move(board)),
      watchdog_(watchdog),
      rank_(mpi.rank()),
      size_(mpi.size()),
      spins_(size_ <= static_cast<int>(std::thread::hardware_concurrency()) ? kSpins : 0),
      cell_(&board_->cell(rank_)),
      monitor_(std::make_unique<Monitor>(board_, rank_, watchdog.seconds)) {
  step_ = &cell_->step;
  moves_ = &cell_->moves;
  failed_ = &board_->header().failed;
  cell_->phase = Phase::resting;
  if (!board_at_exit) std::atexit(end_all_at_exit);
  board_at_exit = board_;
  mpi_at_exit = &mpi_;
}

// After a failure MPI would wait for ranks that do not come any more.
MpiTransport::~MpiTransport() {
  progress_.forget();
  const bool well = !failed() && operations_.empty();
  if (well) cell_->phase = Phase::ended;
  if (well) monitor_->is_ending();
  if (well) mpi_.finish();
  cell_->phase = Phase::ended;
}

void MpiTransport::enter() {
  cell_->phase = Phase::running;
  at_step(0);
}
void MpiTransport::leave() { cell_->phase = Phase::resting; }

Verdict MpiTransport::wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                                 std::string_view what) {
  return wait_on_board({*board_, *cell_, stillness_, watchdog_.seconds, spins_}, ranks, there, what);
}

void MpiTransport::abort(std::string_view why) {
  board_->fail(
      fmt::format("rank {} of {} failed in step {}: {}", rank_, size_, cell_->step.load(), why));
}

Expected<GroupId> MpiTransport::group(std::span<const int> ranks, std::int64_t channel) {
  const std::lock_guard lock(progress_.mutex());
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].channel == channel && std::ranges::equal(groups_[g].ranks, ranks))
      return static_cast<GroupId>(g);
  Group made;
  made.channel = channel;
  made.ranks.assign(ranks.begin(), ranks.end());
  const auto place = std::ranges::find(made.ranks, rank_);
  if (place == made.ranks.end()) return reason("rank {} is not in the group", rank_);
  made.me = static_cast<std::size_t>(place - made.ranks.begin());
  std::uint64_t hash = hash_combine(1, static_cast<std::uint64_t>(channel));
  for (std::size_t i = 0; i < made.ranks.size(); ++i) {
    if (made.ranks[i] < 0 || made.ranks[i] >= size_)
      return reason("the group has rank {}, but there are {} ranks", made.ranks[i], size_);
    made.order.push_back(i);
    hash = hash_combine(hash, static_cast<std::uint64_t>(made.ranks[i]));
  }
  std::ranges::sort(made.order, {}, [&](std::size_t i) { return made.ranks[i]; });
  made.tag = static_cast<int>(hash % 2047);  // MPI has 32767 at least; 16 are for each of these
  groups_.push_back(std::move(made));
  return static_cast<GroupId>(groups_.size() - 1);
}

int MpiTransport::tag_of(const Operation& op) const {
  return group_of(op).tag * 16 + static_cast<int>(op.number % kMostAtOnce) * 2 +
         (op.stage > 1 ? 1 : 0);
}

Expected<RequestId> MpiTransport::start(const Collective& collective) {
  const std::lock_guard lock(progress_.mutex());
  Group& group = groups_.at(collective.group);
  Operation made{collective, std::string(collective.what), ++started_, 0};
  made.collective.what = {};
  auto& count = collective.kind == CollectiveKind::receive ? group.received : group.sent;
  made.number = ++count;
  cell_->collectives.store(started_, std::memory_order_relaxed);
  if (failed()) return ended(made);
  // What has the same tag must be over: of this group long ago, or of another by chance.
  for (Operation& op : operations_) {
    const bool same = &group_of(op) == &group;
    if (same ? op.number + kMostAtOnce <= made.number : group_of(op).tag == group.tag)
      HEDDLE_TRY_VOID(await(op));
  }
  operations_.push_back(std::move(made));
  HEDDLE_TRY_VOID(begin(operations_.back()));
  return operations_.back().id;
}

MpiTransport::Operation* MpiTransport::find(RequestId request) {
  for (Operation& op : operations_)
    if (op.id == request) return &op;
  return nullptr;
}

Expected<bool> MpiTransport::test(RequestId request) {
  const std::lock_guard lock(progress_.mutex());
  return advance_to(request);
}

Expected<bool> MpiTransport::advance_to(RequestId request) {
  Operation* op = find(request);
  if (op == nullptr) return true;
  for (Operation& each : operations_) HEDDLE_TRY_VOID(advance(each));
  if (!op->over) {
    if (failed()) return ended(*op);
    return false;
  }
  std::erase_if(operations_, [&](const Operation& o) { return o.id == request; });
  return true;
}

Verdict MpiTransport::wait(RequestId request) {
  const std::lock_guard lock(progress_.mutex());
  Operation* op = find(request);
  if (op == nullptr) return yes();
  HEDDLE_TRY_VOID(await(*op));
  std::erase_if(operations_, [&](const Operation& o) { return o.id == request; });
  return yes();
}

// Ends messages that have arrived, and goes on where all have.
Verdict MpiTransport::advance(Operation& op) {
  for (bool more = true; more && !op.over;) {
    more = false;
    for (std::size_t i = 0; i < op.messages.size();) {
      int done = 0;
      const int status = mpi_.test(op.messages[i].first, &done);
      if (status != 0) {
        if (failed()) return ended(op);
        return reason("MPI: {} with rank {}: {}", op_name(op.collective.kind),
                      op.messages[i].second, mpi_.error_text(status));
      }
      if (done == 0) {
        ++i;
        continue;
      }
      op.messages[i] = op.messages.back();
      op.messages.pop_back();
      moves_->fetch_add(1, std::memory_order_relaxed);
    }
    if (!op.messages.empty()) return yes();
    HEDDLE_TRY_VOID(finish(op, more));
    op.over = !more;
  }
  return yes();
}

Verdict MpiTransport::await(Operation& op) {
  const auto start = Clock::now();
  auto moved = start;
  std::size_t left = op.messages.size();
  for (int i = 0; !op.over; ++i) {
    for (Operation& each : operations_) HEDDLE_TRY_VOID(advance(each));
    if (op.over) break;
    if (op.messages.size() != left) {
      left = op.messages.size();
      moved = Clock::now();
      i = 0;
    }
    if (i < spins_ && i % kSpinsInARow != kSpinsInARow - 1) continue;
    if (i < spins_ + kYields) {
      std::this_thread::yield();
      continue;
    }
    if (i == spins_ + kYields) cell_->phase = Phase::waiting;
    std::this_thread::sleep_for(std::chrono::microseconds(since(moved) < 0.1 ? 20 : 500));
    if (i % 16 == 0 || failed()) {
      const Verdict well = check(op, since(start), since(moved));
      if (!well) return well.why();
    }
  }
  cell_->phase = Phase::running;
  return yes();
}

// Whether those whose messages are missing can still come.
Verdict MpiTransport::check(Operation& op, double waited, double idle) {
  const std::string where = fmt::format("{} {}{}", op_name(op.collective.kind), op.id,
                                        op.what.empty() ? "" : " (" + op.what + ")");
  std::string missing;
  bool remote = false;
  for (const auto& [request, peer] : op.messages) {
    const Phase phase = board_->cell(peer).phase.load();
    std::string trouble = board_->trouble_of(peer);
    // What it has sent before may still be on its way.
    if (trouble.empty() && phase == Phase::ended && idle > kToArrive)
      trouble = "it has ended its part of the run";
    remote = remote || phase == Phase::absent;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", peer);
    if (trouble.empty() || board_->failed()) continue;
    board_->fail(fmt::format("rank {} of {} has not reached {} for {:.1f} s; {}", peer, size_,
                             where, waited, trouble));
  }
  const bool stuck = !remote && stillness_.all_stuck(*board_, watchdog_.seconds);
  // Ranks of other machines cannot be seen: they have longer.
  if (!board_->failed() && (stuck || (remote && idle > 20 * watchdog_.seconds)))
    board_->fail_still(missing, where, waited);
  return board_->failed() ? Verdict(ended(op)) : yes();
}

Reason MpiTransport::ended(const Operation& op) const {
  return reason("{}\n  rank {} was in {} {}{}", board_->failure(), rank_,
                op_name(op.collective.kind), op.id, op.what.empty() ? "" : ", " + op.what);
}

Verdict MpiTransport::send_to(Operation& op, std::size_t place, const std::byte* data,
                              std::int64_t bytes) {
  int request = -1;
  const int peer = group_of(op).ranks[place];
  HEDDLE_TRY_VOID(succeeded(mpi_, mpi_.send(data, bytes, peer, tag_of(op), &request), "sending"));
  op.messages.emplace_back(request, peer);
  return yes();
}

Verdict MpiTransport::receive_from(Operation& op, std::size_t place, std::byte* data,
                                   std::int64_t bytes) {
  int request = -1;
  const int peer = group_of(op).ranks[place];
  HEDDLE_TRY_VOID(
      succeeded(mpi_, mpi_.receive(data, bytes, peer, tag_of(op), &request), "receiving"));
  op.messages.emplace_back(request, peer);
  return yes();
}

}  // namespace heddle::comm
