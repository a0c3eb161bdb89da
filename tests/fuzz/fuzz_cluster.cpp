// Any bytes as a cluster, and as a schedule: an answer, never a crash; what reads has devices and
// meshes with links, and is read again as it is printed.
#include <cstdio>
#include <string>

#include "heddle/cluster.h"
#include "heddle/schedule_text.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto steps = heddle::parse_schedule(text, "f")) {
    const auto again = heddle::parse_schedule(heddle::text_of(*steps), "again");
    if (!again || !(*again == *steps)) __builtin_trap();
  }
  const auto cluster = heddle::parse_cluster(text, "f.json");
  if (!cluster) return 0;
  const auto again = heddle::parse_cluster(heddle::cluster_text(*cluster), "again.json");
  bool right = again && *again == *cluster && cluster->devices() >= 1;
  for (const std::string& mesh : heddle::meshes_of(*cluster)) {
    heddle::AxisRegistry axes = heddle::AxisRegistry::standard();
    const auto parsed = heddle::Mesh::parse(mesh, axes);
    if (parsed) right = right && cluster->with_figures(*parsed).ok();
  }
  if (right) return 0;
  std::fprintf(stderr, "fuzz_cluster: %s\n",
               again ? "another cluster comes back" : again.reason().c_str());
  __builtin_trap();
}
