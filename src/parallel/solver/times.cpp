#include <algorithm>

#include "parallel/solver/model.h"

namespace heddle::solver {
namespace {

// What every value takes is less room; what is left begins at 0. Returns whether anything is left.
bool take_least(Piece& piece, std::vector<std::int64_t>& room, const std::vector<Cost>& costs) {
  std::int64_t least = kForbidden;
  for (std::size_t v = 0; v < costs.size(); ++v)
    if (costs[v] != kForbidden) least = std::min(least, piece.amounts[v]);
  if (least == kForbidden) return false;
  bool varies = false;
  for (std::size_t v = 0; v < costs.size(); ++v) {
    // Where a value is forbidden any number will do.
    piece.amounts[v] = costs[v] == kForbidden ? 0 : piece.amounts[v] - least;
    varies = varies || piece.amounts[v] != 0;
  }
  // A step that is summed up below.
  room[piece.begin] -= least;
  room[piece.end] += least;
  return varies;
}

// For each time whether pieces begin with it, and whether pieces ended just before it.
struct Edges {
  std::vector<char> begins, ends;
};

Edges edges_of(const Model& model) {
  Edges edges{std::vector<char>(model.room.size() + 1), std::vector<char>(model.room.size() + 1)};
  for (const Variable& variable : model.variables)
    for (const Piece& piece : variable.pieces) {
      edges.begins[piece.begin] = 1;
      edges.ends[piece.end] = 1;
    }
  return edges;
}

// The most that could be taken at each time.
std::vector<std::int64_t> most_taken(const Model& model) {
  std::vector<std::int64_t> taken(model.room.size() + 1);
  for (const Variable& variable : model.variables)
    for (const Piece& piece : variable.pieces) {
      const std::int64_t most = *std::max_element(piece.amounts.begin(), piece.amounts.end());
      taken[piece.begin] += most;
      taken[piece.end] -= most;
    }
  for (std::size_t t = 1; t < taken.size(); ++t) taken[t] += taken[t - 1];
  return taken;
}

// A time that is kept, and what happened between the one before it and it.
struct Kept {
  int time = 0;
  bool begins = false, ends = false;
};

// A time at which all that lives lives at another one too, with no more room, says nothing.
std::vector<int> kept_times(const Model& model) {
  const Edges edges = edges_of(model);
  const std::vector<std::int64_t> most = most_taken(model);
  std::vector<Kept> kept;
  bool begins = false, ends = false;  // since the last one that is kept
  for (int t = 0; t < static_cast<int>(model.room.size()); ++t) {
    begins = begins || edges.begins[t] != 0;
    ends = ends || edges.ends[t] != 0;
    if (most[t] <= model.room[t]) continue;
    bool drop = false;
    while (!kept.empty()) {
      const Kept& last = kept.back();
      if (!ends && model.room[last.time] >= model.room[t]) {
        begins = begins || last.begins;
        ends = last.ends;
        kept.pop_back();
        continue;
      }
      drop = !begins && model.room[t] >= model.room[last.time];
      break;
    }
    if (drop) continue;
    kept.push_back({t, begins, ends});
    begins = ends = false;
  }
  std::vector<int> times;
  for (const Kept& one : kept) times.push_back(one.time);
  return times;
}

void renumber(Model& model, const std::vector<int>& kept) {
  std::vector<int> at(model.room.size() + 1);  // how many kept times come before
  std::size_t next = 0;
  for (std::size_t t = 0; t < at.size(); ++t) {
    while (next < kept.size() && kept[next] < static_cast<int>(t)) ++next;
    at[t] = static_cast<int>(next);
  }
  std::vector<std::int64_t> room;
  for (const int time : kept) room.push_back(model.room[time]);
  model.room = std::move(room);
  for (Variable& variable : model.variables) {
    for (Piece& piece : variable.pieces) {
      piece.begin = at[piece.begin];
      piece.end = at[piece.end];
    }
    std::erase_if(variable.pieces, [](const Piece& piece) { return piece.begin == piece.end; });
  }
}

// Pieces of one variable with the same lifetime are one.
void join_pieces(Variable& variable) {
  auto& pieces = variable.pieces;
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::vector<Piece> joined;
  for (Piece& piece : pieces) {
    if (joined.empty() || joined.back().begin != piece.begin || joined.back().end != piece.end) {
      joined.push_back(std::move(piece));
      continue;
    }
    for (std::size_t v = 0; v < piece.amounts.size(); ++v)
      joined.back().amounts[v] += piece.amounts[v];
  }
  pieces = std::move(joined);
}

}  // namespace

Verdict compress_times(Model& model) {
  std::vector<std::int64_t> less(model.room.size() + 1);
  for (Variable& variable : model.variables) {
    join_pieces(variable);
    std::erase_if(variable.pieces,
                  [&](Piece& piece) { return !take_least(piece, less, variable.costs); });
  }
  std::int64_t change = 0;
  for (std::size_t t = 0; t < model.room.size(); ++t) {
    model.room[t] += change += less[t];
    if (model.room[t] < 0)
      return reason("the values that take least take {} more than the limit", -model.room[t]);
  }
  renumber(model, kept_times(model));
  for (Variable& variable : model.variables) join_pieces(variable);
  return yes();
}

void drop_times(Model& model, const std::vector<char>& dropped) {
  std::vector<int> kept;
  for (std::size_t t = 0; t < dropped.size(); ++t)
    if (dropped[t] == 0) kept.push_back(static_cast<int>(t));
  renumber(model, kept);
  for (Variable& variable : model.variables) join_pieces(variable);
}

}  // namespace heddle::solver
