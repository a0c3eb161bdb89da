// Cluster files that are wrong, one mistake each.
#include "heddle/cluster.h"
#include "wrong_use.h"

namespace heddle {
namespace {

Expected<Cluster> cluster(const std::string& device, const std::string& levels) {
  return parse_cluster(
      "{\"name\": \"c\", \"device\": {" + device + "}, \"levels\": [" + levels + "]}", "c.json");
}
Expected<Cluster> with_device(const std::string& device) {
  return cluster(device, R"({"name": "gpu", "size": 8, "rate": "50GB/s", "latency": "3us"})");
}
Expected<Cluster> with_level(const std::string& level) {
  return cluster(R"("memory": "80GB", "memory_rate": "3TB/s", "compute_rate": "1TFLOP/s")", level);
}

WRONG_USE(ClusterError, NoJson, parse_cluster("{", "c.json"), "c.json", "JSON")
WRONG_USE(ClusterError, AList, parse_cluster("[]", "c.json"), "c.json", "JSON object")
WRONG_USE(ClusterError, NoName, parse_cluster("{}", "c.json"), "\"name\"")
WRONG_USE(ClusterError, UnknownKey, parse_cluster(R"({"name": "c", "devics": {}})", "c.json"),
          "\"devics\" is no key", "device")
WRONG_USE(ClusterError, NoDevice, parse_cluster(R"({"name": "c"})", "c.json"), "\"device\"")
WRONG_USE(ClusterError, UnknownKeyOfTheDevice, with_device(R"("memori": "80GB")"), "device",
          "\"memori\" is no key", "memory")
WRONG_USE(ClusterError, NoMemory,
          with_device(R"("memory": "0GB", "memory_rate": "3TB/s", "compute_rate": "1TFLOP/s")"),
          "device", "memory", "80GB")
WRONG_USE(ClusterError, NegativeMemory,
          with_device(R"("memory": "-80GB", "memory_rate": "3TB/s", "compute_rate": "1TFLOP/s")"),
          "memory")
WRONG_USE(ClusterError, RateWithoutUnit,
          with_device(R"("memory": "80GB", "memory_rate": "3", "compute_rate": "1TFLOP/s")"),
          "memory_rate", "3", "TB/s")
WRONG_USE(ClusterError, NoComputeRate, with_device(R"("memory": "80GB", "memory_rate": "3TB/s")"),
          "compute_rate")
WRONG_USE(ClusterError, NumberForARate,
          with_device(R"("memory": "80GB", "memory_rate": 3, "compute_rate": "1TFLOP/s")"),
          "memory_rate", "in quotes")
WRONG_USE(ClusterError, NegativeBandwidth,
          with_level(R"({"name": "gpu", "size": 8, "rate": "-50GB/s", "latency": "3us"})"),
          "level gpu", "rate", "-50GB/s", "above 0")
WRONG_USE(ClusterError, InfiniteBandwidth,
          with_level(R"({"name": "gpu", "size": 8, "rate": "infGB/s", "latency": "3us"})"),
          "level gpu", "rate")
WRONG_USE(ClusterError, NoLatency, with_level(R"({"name": "gpu", "size": 8, "rate": "50GB/s"})"),
          "level gpu", "latency")
WRONG_USE(ClusterError, SizeZero,
          with_level(R"({"name": "gpu", "size": 0, "rate": "50GB/s", "latency": "3us"})"),
          "level gpu", "size", "at least 1")
WRONG_USE(ClusterError, NegativeSize,
          with_level(R"({"name": "gpu", "size": -8, "rate": "50GB/s", "latency": "3us"})"),
          "level gpu", "size")
WRONG_USE(
    ClusterError, HugeSize,
    with_level(R"({"name": "g", "size": 9223372036854775807, "rate": "1GB/s", "latency": "1us"})"),
    "2^40")
WRONG_USE(
    ClusterError, SizeBeyondNumbers,
    with_level(R"({"name": "g", "size": 18446744073709551615, "rate": "1GB/s", "latency": "1us"})"),
    "level g", "size")
WRONG_USE(ClusterError, NoLevels, with_level(""), "\"levels\" is empty", "\"size\": 8")
WRONG_USE(ClusterError, TwoLevelsOfOneName,
          with_level(R"({"name": "g", "size": 2, "rate": "1GB/s", "latency": "1us"},
                        {"name": "g", "size": 2, "rate": "1GB/s", "latency": "1us"})"),
          "two levels are called g")
WRONG_USE(ClusterError, NoSuchName, find_cluster("h100-46"), "h100-46", "h100-64")

Expected<Mesh> on_eight(const std::string& mesh) {
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh parsed = Mesh::parse(mesh, axes).value();
  return find_cluster("h200-8").value().with_figures(parsed);
}
WRONG_USE(ClusterError, MeshLargerThanTheCluster, on_eight("dp=4,tp=4"), "16 devices", "h200-8",
          "8")

}  // namespace
}  // namespace heddle
