// The parts of the checks of a chunk program.
#pragma once

#include "schedule/chunks/check_chunks.h"
#include "schedule/chunks/chunk_machine.h"

namespace heddle::chunks {

// All that can be seen without running.
std::optional<Fault> find_malformed(const ChunkProgram& program);

// What elements hold while a program runs, by whose they are and what was done to them; the first
// thing that is wrong with them.
class ChunkContents {
 public:
  explicit ChunkContents(const ChunkProgram& program);

  // One op as a whole. Messages are what they were when they were taken, or sent where they have
  // slots.
  void do_op(int rank, const ChunkOp& op);
  const std::optional<Fault>& fault() const { return fault_; }
  // After the last op.
  std::optional<Fault> find_uncovered() const;

  // Stretches of elements that every op takes whole.
  std::size_t cells() const { return cuts_.empty() ? 0 : cuts_.size() - 1; }
  std::size_t first_cell(const Chunk& chunk) const;
  std::size_t end_cell(const Chunk& chunk) const;
  std::int64_t first_element(std::size_t cell) const { return cuts_[cell]; }

 private:
  struct Content {
    bool there = false;
    std::int64_t element = 0;               // of the first of the cell
    std::vector<std::int32_t> shares = {};  // how often each rank's is in it
    Function last = Function::none;         // that was done to it
  };
  using Contents = std::vector<Content>;

  Content& at(int rank, std::uint32_t buffer, std::size_t cell);
  const Content& at(int rank, std::uint32_t buffer, std::size_t cell) const;
  Contents read(int rank, const Chunk& chunk, const ChunkOp& op);
  void write(int rank, const Chunk& chunk, const Contents& contents, const ChunkOp& op);
  void combine(Contents& sum, const Contents& with, int rank, const ChunkOp& op);
  void compute(int rank, const ChunkOp& op);
  Contents take(const ChunkOp& op);
  void add_fault(int rank, const ChunkOp& op, std::string what);
  std::optional<Fault> find_uncovered(const Result& result, int rank) const;

  const ChunkProgram& program_;
  std::vector<std::int64_t> cuts_;
  std::vector<Content> contents_;  // by rank, buffer, cell
  std::vector<std::vector<std::pair<Chunk, Contents>>> messages_;
  std::vector<std::size_t> taken_;
  std::optional<Fault> fault_;
};

}  // namespace heddle::chunks
