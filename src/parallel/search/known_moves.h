// What the planner takes for moves: searches on one mesh follow each other, as those for pipelines
// do, and ask for the same ones.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "heddle/split.h"

namespace heddle::search {

class KnownMoves {
 public:
  // Those of a mesh, shared by all who are at work on it.
  static std::shared_ptr<KnownMoves> of(const Mesh& mesh);

  struct Question {
    Split from, to;
    int step = 0;  // of bytes
    friend bool operator==(const Question&, const Question&) = default;
  };
  // Asks `planned` where nobody has asked before. The answer has to follow from the question.
  template <typename Planned>
  double seconds(const Question& question, Planned planned) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = seconds_.find(question); known != seconds_.end()) return known->second;
    }
    const double answer = planned();
    const std::lock_guard lock(mutex_);
    if (seconds_.size() >= kMost) seconds_.clear();
    seconds_.emplace(question, answer);
    return answer;
  }

 private:
  static constexpr std::size_t kMost = 200'000;
  struct Hash {
    std::size_t operator()(const Question& question) const;
  };
  std::mutex mutex_;
  std::unordered_map<Question, double, Hash> seconds_;
};

}  // namespace heddle::search
