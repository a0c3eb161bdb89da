#include "comm/board.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

namespace heddle::comm {

namespace {

constexpr std::uint64_t kMagic = 0x6865'6464'6c65'0032;
constexpr std::size_t kAlign = 128;
// Nanoseconds of computing that count as a sign of life.
constexpr std::uint64_t kComputing = 20'000'000;
// Between two looks: what is longer, this process has slept through.
constexpr double kLongestGap = 1;
// Taken only as far as it is used.
constexpr std::size_t kLeastRoom = std::size_t{8} << 20;
constexpr std::size_t kRoomPerRank = std::size_t{1} << 20;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::size_t area_at(int ranks) {
  return aligned(sizeof(BoardHeader)) + aligned(sizeof(RankCell)) * static_cast<std::size_t>(ranks);
}

std::size_t room_for(int ranks) {
  return std::max(kLeastRoom, kRoomPerRank * static_cast<std::size_t>(ranks));
}

// The letter of /proc/PID/stat: R, S, T, Z, …; 0 where there is no such process.
char process_state(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return 0;
  const std::size_t close = text.rfind(')');  // a name may hold anything
  return close == std::string::npos || close + 2 >= text.size() ? '?' : text[close + 2];
}

bool process_exists(std::int64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format(" (signal {})", WTERMSIG(status));
  if (WIFEXITED(status)) return fmt::format(" (exit status {})", WEXITSTATUS(status));
  return "";
}

// What is too long loses its middle: a rank's place stands at the beginning, and what went wrong at
// the end of what Python says of it.
std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kGap = "\n  ...\n";
  if (text.size() <= most) return std::string(text);
  const std::size_t first = most / 4, last = most - first - kGap.size();
  return fmt::format("{}{}{}", text.substr(0, first), kGap, text.substr(text.size() - last));
}

}  // namespace

bool process_is_stopped(std::int64_t pid) {
  const char state = process_state(pid);
  return state == 'T' || state == 't';
}

std::size_t board_bytes(int ranks) { return area_at(ranks) + room_for(ranks); }

BoardMemory private_board(int ranks) {
  const std::size_t bytes = board_bytes(ranks);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return {{static_cast<std::byte*>(data), [bytes](std::byte* p) { ::munmap(p, bytes); }}, bytes};
}

Expected<int> create_board_file(int ranks) {
  const int file = ::memfd_create("heddle-ranks", 0);
  if (file < 0) return reason("no memory to share between ranks: {}", std::strerror(errno));
  if (::ftruncate(file, static_cast<off_t>(board_bytes(ranks))) == 0) return file;
  const int error = errno;
  ::close(file);
  return reason("no memory to share between {} ranks: {}", ranks, std::strerror(error));
}

Expected<BoardMemory> map_board(int file, int ranks) {
  const std::size_t bytes = board_bytes(ranks);
  struct stat about = {};
  if (::fstat(file, &about) != 0 || static_cast<std::size_t>(about.st_size) < bytes)
    return reason("file {} is no memory shared by {} ranks", file, ranks);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED)
    return reason("memory shared between ranks cannot be mapped: {}", std::strerror(errno));
  return BoardMemory{{static_cast<std::byte*>(data), [bytes](std::byte* p) { ::munmap(p, bytes); }},
                     bytes};
}

Board::Board(BoardMemory memory, int ranks, bool fresh)
    : memory_(std::move(memory)),
      ranks_(ranks),
      header_(reinterpret_cast<BoardHeader*>(memory_.data.get())),
      cells_(reinterpret_cast<RankCell*>(memory_.data.get() + aligned(sizeof(BoardHeader)))),
      area_(memory_.data.get() + area_at(ranks)) {
  if (!fresh) {
    HEDDLE_CHECK(header_->magic == kMagic && header_->ranks == ranks, "the board is another's");
    return;
  }
  header_->magic = kMagic;
  header_->ranks = ranks;
  header_->room = room_for(ranks);
  header_->used = kAlign;  // 0 is no group
}

void Board::fail(std::string_view why) {
  std::uint32_t none = 0;
  if (!header_->failed.compare_exchange_strong(none, 1)) return;
  const std::string text = shortened(why, sizeof header_->failure - 1);
  std::memcpy(header_->failure, text.c_str(), text.size() + 1);
  header_->failed.store(2, std::memory_order_release);
}

std::string Board::failure() const {
  if (!failed()) return "";
  // Whoever writes may die on the way; what is there then has to do.
  for (int i = 0; i < 100 && header_->failed.load(std::memory_order_acquire) != 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::size_t size = ::strnlen(header_->failure, sizeof header_->failure - 1);
  return size == 0 ? "a rank has failed" : std::string(header_->failure, size);
}

std::string Board::trouble_of(int rank) const {
  const RankCell& its = cell(rank);
  const std::int64_t pid = its.pid.load(std::memory_order_relaxed);
  if (its.phase.load() == Phase::ended) return "";
  if (const int status = its.exit_status.load(); status != 0)
    return "its process is gone" + status_text(status - 1);
  if (pid == 0) return "";
  if (pid == static_cast<std::int64_t>(::getpid())) return "";
  if (!process_exists(pid)) return "its process is gone";
  const char state = process_state(pid);
  return state == 'Z' || state == 'X' ? "its process is gone" : "";
}

bool Board::is_stopped(int rank) const {
  const RankCell& its = cell(rank);
  const std::int64_t joined = its.pid.load(std::memory_order_relaxed);
  const std::int64_t pid = joined != 0 ? joined : its.child.load(std::memory_order_relaxed);
  return pid != 0 && process_is_stopped(pid);
}

bool Board::launcher_is_gone() const {
  const std::int64_t pid = header_->launcher.load(std::memory_order_relaxed);
  return pid != 0 && (!process_exists(pid) || process_state(pid) == 'Z');
}

void Board::lose(int rank, std::string_view why) {
  const RankCell& its = cell(rank);
  if (its.pid.load() == 0)
    return fail(fmt::format("rank {} of {} has not joined the run: {}", rank, ranks_, why));
  fail(fmt::format("rank {} of {} is lost in step {} of its program, after {} collectives: {}",
                   rank, ranks_, its.step.load(), its.collectives.load(), why));
}

void Board::fail_still(std::string_view missing, std::string_view where, double waited) {
  for (int r = 0; r < ranks_; ++r)
    if (cell(r).phase.load() != Phase::ended && is_stopped(r))
      return lose(r, "its process is stopped");
  for (int r = 0; r < ranks_; ++r)
    if (cell(r).pid.load() == 0 && cell(r).child.load() != 0)
      return lose(r, fmt::format("its process runs, but {} has waited for {:.1f} s; do all ranks "
                                 "run heddle with the same --transport?",
                                 where, waited));
  fail(
      fmt::format("rank {} of {} has not reached {} for {:.1f} s, and no rank moves: the ranks "
                  "wait for one another; do all run the same program?",
                  missing, ranks_, where, waited));
}

bool Stillness::all_stuck(const Board& board, double seconds) {
  std::uint64_t sum = 0;
  bool busy = false, slow = false;
  for (int r = 0; r < board.ranks(); ++r) {
    const RankCell& cell = board.cell(r);
    const Phase phase = cell.phase.load(std::memory_order_relaxed);
    const bool is_process = cell.pid.load(std::memory_order_relaxed) != 0;
    sum += cell.moves.load(std::memory_order_relaxed);
    if (phase == Phase::waiting || phase == Phase::ended) continue;
    if (is_process) sum += cell.cpu.load(std::memory_order_relaxed) / kComputing;
    slow = slow || is_process || phase == Phase::absent;
    busy = busy || (phase == Phase::running && !is_process);
  }
  const auto now = std::chrono::steady_clock::now();
  const double gap = std::chrono::duration<double>(now - looked_).count();
  looked_ = now;
  still_ += std::min(gap, kLongestGap);
  if (busy || sum != sum_) {
    sum_ = sum;
    still_ = 0;
    return false;
  }
  return still_ > (slow ? 10 * seconds : seconds * 4 / 3);
}

}  // namespace heddle::comm
