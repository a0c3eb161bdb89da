#include "compile/best_mesh.h"

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "compile/distribute.h"

namespace heddle {

namespace {

// The mesh whose innermost level is cut in two is most often the best and takes longest: once it
// is through, others are given up early. Then the levels as they are, then cuts further outside.
std::vector<std::size_t> in_order_of_promise(std::size_t meshes) {
  std::vector<std::size_t> order;
  if (meshes > 1) order.push_back(meshes - 1);
  order.push_back(0);
  for (std::size_t i = meshes; i-- > 2;) order.push_back(i - 1);
  return order;
}

// Meshes know nothing of each other, so that the answer is the same however many threads there are.
class MeshSearch {
 public:
  MeshSearch(const Target& target, const Decide& decide)
      : target_(target),
        decide_(decide),
        meshes_(meshes_of(*target.cluster)),
        order_(in_order_of_promise(meshes_.size())) {}

  Expected<std::shared_ptr<Parallel>> run() {
    auto other = std::async(std::launch::async, [this] { work(); });
    work();
    other.get();
    if (!best_) return no_ ? *no_ : reason("there is no function to search a plan for");
    for (FunctionPlan& plan : best_->functions)
      if (plan.found) plan.found->seconds = seconds();
    return best_;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < meshes_.size(); i = next_++) {
      if (is_over()) return;
      const std::size_t mesh = order_[i];
      note(mesh, decide_(with_mesh(meshes_[mesh])));
    }
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

  // With a plan at hand, that is.
  bool is_over() {
    const std::lock_guard lock(mutex_);
    const double allowed = target_.layouts.search_seconds;
    return best_ &&
           (target_.layouts.search_stop.stop_requested() || (allowed > 0 && seconds() >= allowed));
  }

  Target with_mesh(const std::string& mesh) const {
    constexpr double kLeast = 0.01;
    Target tried = target_;
    tried.mesh = mesh;
    // Where all functions are searched, none of them is known to be the one that counts.
    if (!target_.options.entry.empty()) tried.layouts.search_to_beat = &to_beat_;
    double& allowed = tried.layouts.search_seconds;
    if (allowed > 0) allowed = std::max(kLeast, allowed - seconds());
    return tried;
  }

  void note(std::size_t mesh, Expected<std::shared_ptr<Parallel>> decided) {
    const std::lock_guard lock(mutex_);
    if (!decided) {
      if (!no_ || mesh < no_mesh_) no_ = decided.why();
      no_mesh_ = std::min(no_mesh_, mesh);
      return;
    }
    const FoundPlan* const found = found_in(**decided);
    if (found == nullptr) return;
    // What does not fit as it should is taken only where nothing does.
    const bool is_too_large = found->memory > memory_wish(target_);
    const std::tuple rank{is_too_large, found->cost, mesh};
    if (best_ && rank >= rank_) return;
    rank_ = rank;
    if (!is_too_large) to_beat_ = found->cost;
    best_ = *std::move(decided);
  }

  const Target& target_;
  const Decide& decide_;
  const std::vector<std::string> meshes_;
  const std::vector<std::size_t> order_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next_ = 0;
  std::atomic<double> to_beat_ = std::numeric_limits<double>::infinity();
  std::mutex mutex_;  // of all that follows
  std::shared_ptr<Parallel> best_;
  std::tuple<bool, double, std::size_t> rank_;  // of the best: whether it is too large, cost, mesh
  std::optional<Reason> no_;
  std::size_t no_mesh_ = SIZE_MAX;
};

}  // namespace

const FoundPlan* found_in(const Parallel& decided) {
  for (const FunctionPlan& plan : decided.functions)
    if (plan.found) return &*plan.found;
  return nullptr;
}

Expected<std::shared_ptr<Parallel>> best_of_meshes(const Target& target, const Decide& decide) {
  return MeshSearch(target, decide).run();
}

}  // namespace heddle
