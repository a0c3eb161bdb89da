// Reading the memory of other ranks, and copies between buffers that are cut into pieces.
#pragma once

#include "comm/board.h"
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

// The memory of other processes of the same user, by the board's word.
class ProcessMemory : public PeerMemory {
 public:
  explicit ProcessMemory(std::shared_ptr<const Board> board) : board_(std::move(board)) {}
  bool direct() const override { return false; }
  Verdict copy(int rank, const std::byte* from, const Runs& source, std::byte* to,
               const Runs& target) override;

 private:
  Verdict copy_short(int rank, const std::byte* from, const Runs& source, std::byte* to,
                     const Runs& target);

  std::shared_ptr<const Board> board_;
  std::unique_ptr<std::byte[]> window_;
};

}  // namespace heddle::comm
