#include "parallel/search/known_moves.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heddle/hash.h"

namespace heddle::search {

std::size_t KnownMoves::Hash::operator()(const Question& question) const {
  return hash_combine(hash_combine(question.from.hash(), question.to.hash()),
                      static_cast<std::uint64_t>(question.step));
}

std::shared_ptr<KnownMoves> KnownMoves::of(const Mesh& mesh) {
  constexpr std::size_t kMeshes = 16;
  static std::mutex mutex;
  static std::vector<std::pair<Mesh, std::shared_ptr<KnownMoves>>> kept;  // the newest last
  const std::lock_guard lock(mutex);
  const auto known = std::ranges::find_if(kept, [&](const auto& one) { return one.first == mesh; });
  if (known != kept.end()) {
    std::rotate(known, known + 1, kept.end());
    return kept.back().second;
  }
  if (kept.size() == kMeshes) kept.erase(kept.begin());
  kept.emplace_back(mesh, std::make_shared<KnownMoves>());
  return kept.back().second;
}

}  // namespace heddle::search
