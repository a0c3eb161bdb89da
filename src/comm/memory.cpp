#include "comm/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::comm {

namespace {

constexpr std::size_t kMostParts = 512;
constexpr std::int64_t kShort = 2048, kWindow = std::int64_t{1} << 18;
// One call of the system copies at most this much, so that ends of ranks are seen in time.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;

// Walks two lists of runs of the same bytes in steps that are whole in both.
template <typename Visit>
void in_lockstep(const Runs& source, const Runs& target, Visit visit) {
  if (source.bytes() == 0) return;
  const std::int64_t step = std::min(source.run, target.run);
  for (std::int64_t at = 0; at < source.bytes(); at += step)
    visit(source.first + at / source.run * source.stride + at % source.run,
          target.first + at / target.run * target.stride + at % target.run, step);
}

// Runs that follow each other without gaps are one.
Runs joined(Runs runs) {
  if (runs.run == runs.stride || runs.count == 1) {
    runs.run *= runs.count;
    runs.stride = runs.run;
    runs.count = 1;
  }
  return runs;
}

Reason unreadable(int rank, std::int64_t pid, int error) {
  return reason("the memory of rank {} (process {}) cannot be read: {}{}", rank, pid,
                std::strerror(error),
                error == EPERM ? "; the system forbids it: use --transport mpi" : "");
}

}  // namespace

Runs piece_of(const Pieces& pieces, std::int64_t k, std::int64_t members) {
  return joined({k * pieces.run_bytes, pieces.run_bytes, pieces.run_bytes * members, pieces.runs});
}

Runs dense(std::int64_t bytes) { return {0, bytes, bytes, 1}; }

Verdict PeerMemory::copy(int, const std::byte* from, const Runs& source, std::byte* to,
                         const Runs& target) {
  in_lockstep(source, target, [&](std::int64_t s, std::int64_t t, std::int64_t bytes) {
    std::memcpy(to + t, from + s, static_cast<std::size_t>(bytes));
  });
  return yes();
}

// Many short runs: the stretch that they lie in is read as a whole, and they are picked from it.
Verdict ProcessMemory::copy_short(int rank, const std::byte* from, const Runs& source,
                                  std::byte* to, const Runs& target) {
  const auto pid = static_cast<pid_t>(board_->cell(rank).pid.load(std::memory_order_relaxed));
  const std::int64_t end = source.first + (source.count - 1) * source.stride + source.run;
  if (!window_) window_ = std::make_unique<std::byte[]>(kWindow);
  std::int64_t begins = 0, ends = 0;
  int error = 0;
  in_lockstep(source, target, [&](std::int64_t s, std::int64_t t, std::int64_t bytes) {
    if (s < begins || s + bytes > ends) {
      begins = s;
      ends = std::min(end, s + kWindow);
      const auto size = static_cast<std::size_t>(ends - begins);
      const iovec here{window_.get(), size};
      const iovec there{const_cast<std::byte*>(from) + begins, size};
      const ssize_t got = error != 0 ? 0 : ::process_vm_readv(pid, &here, 1, &there, 1, 0);
      if (error == 0 && got != static_cast<ssize_t>(size)) error = got < 0 ? errno : EFAULT;
    }
    std::memcpy(to + t, window_.get() + (s - begins), static_cast<std::size_t>(bytes));
  });
  return error == 0 ? yes() : Verdict(unreadable(rank, pid, error));
}

Verdict ProcessMemory::copy(int rank, const std::byte* from, const Runs& source, std::byte* to,
                            const Runs& target) {
  const std::int64_t pid = board_->cell(rank).pid.load(std::memory_order_relaxed);
  if (pid == static_cast<std::int64_t>(::getpid()))
    return PeerMemory::copy(rank, from, source, to, target);
  const std::int64_t step = std::min(source.run, target.run);
  if (step < kShort && step < source.bytes()) return copy_short(rank, from, source, to, target);
  std::vector<iovec> there, here;
  std::int64_t gathered = 0;
  int error = 0;
  const auto flush = [&] {
    const auto parts = static_cast<unsigned long>(here.size());
    if (parts > 0 && error == 0) {
      const ssize_t got =
          ::process_vm_readv(static_cast<pid_t>(pid), here.data(), parts, there.data(), parts, 0);
      if (got != gathered) error = got < 0 ? errno : EFAULT;
    }
    there.clear();
    here.clear();
    gathered = 0;
  };
  in_lockstep(source, target, [&](std::int64_t s, std::int64_t t, std::int64_t bytes) {
    for (std::int64_t at = 0; at < bytes; at += kMostBytes) {
      const std::int64_t part = std::min(kMostBytes, bytes - at);
      there.push_back({const_cast<std::byte*>(from) + s + at, static_cast<std::size_t>(part)});
      here.push_back({to + t + at, static_cast<std::size_t>(part)});
      gathered += part;
      if (here.size() == kMostParts || gathered >= kMostBytes) flush();
    }
  });
  flush();
  if (error == 0) return yes();
  return unreadable(rank, pid, error);
}

}  // namespace heddle::comm
