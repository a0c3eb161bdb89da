// Whether a chunk program is right, before anything runs.
//
// check_chunks() is for any number of ranks. Each channel has one lane at each end and counters
// only grow, so that a step that can be taken stays possible whatever others do: all orders end
// alike, and one of them decides whether the program ends. Clocks along that order find accesses
// that nothing keeps apart. walk_chunks() tries all orders of a small program and needs none of
// this to be true.
#pragma once

#include <cstddef>
#include <optional>

#include "schedule/chunks/chunk_program.h"

namespace heddle::chunks {

enum class FaultKind : std::uint8_t {
  malformed,  // it names what is not there, or two lanes share the end of a channel
  too_small,  // a message does not fit its slot, a chunk not what the rank holds
  deadlock,   // lanes wait for ever
  race,       // two lanes touch the same elements, one of them writing, and nothing orders them
  coverage,   // a result lacks a rank's share, has it twice, or was never written
};
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::malformed;
  std::string text;  // names ranks, ops and elements
};

std::optional<Fault> check_chunks(const ChunkProgram& program);

struct Walked {
  std::optional<Fault> fault = {};
  std::size_t states = 0;
  bool all = true;  // false: it has more states than were allowed
};
Walked walk_chunks(const ChunkProgram& program, std::size_t most_states = 2'000'000);

}  // namespace heddle::chunks
