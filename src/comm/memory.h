// Reading the memory of other ranks, and copies between buffers that are cut into pieces.
#pragma once

#include "heddle/transport.h"

namespace heddle::comm {

// Runs of equal length at equal distances.
struct Runs {
  std::int64_t first = 0, run = 0, stride = 0, count = 1;
  std::int64_t bytes() const { return run * count; }
};
// Piece `k` of `members`; a dense piece.
Runs piece_of(const Pieces& pieces, std::int64_t k, std::int64_t members);
Runs dense(std::int64_t bytes);

// Where ranks find the buffers of others.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  // Whether addresses of other ranks can be used as they are.
  virtual bool direct() const { return true; }
  // Copies runs of a rank's buffer; both sides have as many bytes.
  virtual Verdict copy(int rank, const std::byte* from, const Runs& source, std::byte* to,
                       const Runs& target);
};

// The memory of other processes of the same user, by their ids.
class ProcessMemory : public PeerMemory {
 public:
  explicit ProcessMemory(std::vector<std::int64_t> pids) : pids_(std::move(pids)) {}
  bool direct() const override { return false; }
  Verdict copy(int rank, const std::byte* from, const Runs& source, std::byte* to,
               const Runs& target) override;

 private:
  std::vector<std::int64_t> pids_;
};

}  // namespace heddle::comm
