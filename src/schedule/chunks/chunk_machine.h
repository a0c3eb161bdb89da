// How a chunk program runs, without its data: which lanes may go on, and what messages wait for
// what. Interpreter and checkers all step this one machine, so that they mean the same.
#pragma once

#include <functional>

#include "schedule/chunks/chunk_program.h"

namespace heddle::chunks {

// Ops take two steps, so that accesses of two lanes can meet; signals and waits take one.
enum class Moment : std::uint8_t { begin, end };

class ChunkMachine {
 public:
  explicit ChunkMachine(const ChunkProgram& program);

  const ChunkProgram& program() const { return program_; }
  std::size_t lanes() const { return program_.lanes.size(); }
  bool lane_is_done(std::size_t lane) const;
  bool is_done() const;
  // The op that a lane is at, and whether it has begun.
  const ChunkOp& op(std::size_t lane) const;
  Moment next_moment(std::size_t lane) const {
    return at_[lane] % 2 == 0 ? Moment::begin : Moment::end;
  }
  bool may_step(std::size_t lane) const;
  void step(std::size_t lane);

  // Messages of a channel that were begun, sent, taken.
  std::int64_t begun(std::uint32_t channel) const { return begun_[channel]; }
  std::int64_t sent(std::uint32_t channel) const { return sent_[channel]; }
  std::int64_t taken(std::uint32_t channel) const { return taken_[channel]; }
  std::int64_t counted(std::uint32_t counter) const { return counted_[counter]; }

  // Where all lanes are; says everything, since counts follow from it.
  const std::vector<std::uint32_t>& places() const { return at_; }
  void go_to(const std::vector<std::uint32_t>& places);

  // What a lane that cannot go on waits for, in words.
  std::string waits_for(std::size_t lane) const;

 private:
  bool may_begin(const ChunkOp& op) const;
  void count(const ChunkOp& op, Moment moment);

  const ChunkProgram& program_;
  std::vector<std::uint32_t> at_;  // twice the number of ops done, plus one where one has begun
  std::vector<std::int64_t> begun_, sent_, taken_, counted_;
};

}  // namespace heddle::chunks
