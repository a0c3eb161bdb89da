// Along which axes of its mesh the devices of a collective meet.
#pragma once

#include <optional>

#include "heddle/program.h"
#include "heddle/split.h"

namespace heddle {

struct Meeting {
  std::uint32_t mesh = kNone;  // into Program::meshes
  SplitAxes axes;
  std::int64_t members = 1;
  friend bool operator==(const Meeting&, const Meeting&) = default;
};

// A reason where the op is none of all_reduce, all_gather, reduce_scatter, all_to_all, reduce and
// broadcast, or its groups are lists of devices that lie along no axes.
Expected<Meeting> meeting_of(const Program& program, const Op& op);

// The group of a device: the position of its first member, and the place of the device in it.
std::pair<std::int64_t, std::int64_t> member_of(const Mesh& mesh, const SplitAxes& axes,
                                                std::int64_t position);

// "over dp"
std::string over_text(const Program& program, const Meeting& meeting);

// The dimension that an all_gather, a reduce_scatter has; none for the others.
std::optional<std::size_t> gathered_dim(const Program& program, const Op& op);
std::optional<std::size_t> scattered_dim(const Program& program, const Op& op);

}  // namespace heddle
