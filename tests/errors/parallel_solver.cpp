// Networks and files that are wrong.
#include "heddle/cost_network_file.h"
#include "heddle/solve.h"
#include "wrong_use.h"

namespace heddle {
namespace {

using Costs = std::vector<CostNetwork::Cost>;

// What an addition to a network of a variable with two values and one with three says.
template <typename Change>
Expected<CostNetwork> changed(Change change) {
  CostNetwork network;
  network.add_variable(Costs{1, 2});
  network.add_variable(Costs{1, 2, 3});
  try {
    change(network);
  } catch (const Error& error) {
    return Reason{error.what()};
  }
  return network;
}

WRONG_USE(NetworkError, NoValues, changed([](auto& n) { n.add_variable(Costs{}); }),
          "variable 2 has no values")
WRONG_USE(NetworkError, NegativeCost, changed([](auto& n) { n.add_variable(Costs{-1}); }), "-1",
          "negative")
WRONG_USE(NetworkError, NoSuchVariable, changed([](auto& n) { n.add_edge(0, 2, Costs(4)); }),
          "variable 2", "there are 2")
WRONG_USE(NetworkError, EdgeWithItself, changed([](auto& n) { n.add_edge(1, 1, Costs(9)); }),
          "with itself")
WRONG_USE(NetworkError, WrongTable, changed([](auto& n) { n.add_edge(0, 1, Costs(5)); }), "5 costs",
          "need 6")
WRONG_USE(NetworkError, WrongUsages,
          changed([](auto& n) { n.add_usage(0, {0, 1}, Costs{1, 2, 3}); }), "2 values", "3 usages")
WRONG_USE(NetworkError, NegativeUsage,
          changed([](auto& n) { n.add_usage(0, {0, 1}, Costs{1, -2}); }), "usage of -2")
WRONG_USE(NetworkError, BackwardLifetime,
          changed([](auto& n) { n.add_usage(0, {5, 1}, Costs{1, 2}); }), "from 5 to 1")
WRONG_USE(NetworkError, NegativeLimit, changed([](auto& n) { n.set_limit(-1); }), "limit is -1")

// ---- files

const char* const kNoEdges = R"({"nodes":[],"costs":[]})";

Expected<CostNetwork> file(const std::string& nodes, const std::string& edges = kNoEdges,
                           const std::string& limit = "9") {
  return parse_cost_network(R"({"problem": {"nodes": )" + nodes + R"(, "edges": )" + edges +
                            R"(, "usage_limit": )" + limit + "}}");
}
const char* const kTwo = R"({"intervals":[[0,1],[0,2]],"costs":[[1],[2,3]],"usages":[[1],[2,3]]})";

WRONG_USE(NetworkFileError, Empty, parse_cost_network(""), "line 1, column 1", "the end")
WRONG_USE(NetworkFileError, NoProblem, parse_cost_network("{}"), "no \"problem\"")
WRONG_USE(NetworkFileError, CutOff,
          parse_cost_network("{\"problem\": {\"nodes\": {\"costs\": [[1,"),
          "expected a whole number", "the end")
WRONG_USE(NetworkFileError, MoreAfterTheEnd, parse_cost_network("{\"problem\": {}} x"),
          "expected nothing more, found 'x'")
WRONG_USE(NetworkFileError, NoUsages, file(R"({"intervals":[],"costs":[]})"),
          "nodes.usages is missing")
WRONG_USE(NetworkFileError, FewerIntervals,
          file(R"({"intervals":[],"costs":[[1]],"usages":[[1]]})"), "nodes.intervals has 0 entries",
          "1 nodes")
WRONG_USE(NetworkFileError, ShortInterval,
          file(R"({"intervals":[[1]],"costs":[[1]],"usages":[[1]]})"), "nodes.intervals[0]",
          "1 numbers")
WRONG_USE(NetworkFileError, IntervalTheWrongWayRound,
          file(R"({"intervals":[[5,1]],"costs":[[1]],"usages":[[1]]})"),
          "nodes.intervals[0] is [5, 1]", "ends before it begins")
WRONG_USE(NetworkFileError, NoEdges, file(kTwo, "{}"), "edges is missing", "\"nodes\": []")
WRONG_USE(NetworkFileError, NoEdgesAtAll,
          parse_cost_network(std::string(R"({"problem": {"nodes": )") + kTwo + "}}"),
          "edges is missing")
WRONG_USE(NetworkFileError, UsagesOfAnotherLength,
          file(R"({"intervals":[[0,1]],"costs":[[1]],"usages":[[1,2]]})"), "variable 0", "2 usages")
WRONG_USE(NetworkFileError, NegativeSize,
          file(R"({"intervals":[[0,1]],"costs":[[1]],"usages":[[-1]]})"), "usage of -1")
WRONG_USE(NetworkFileError, HalfACost,
          file(R"({"intervals":[[0,1]],"costs":[[1.5]],"usages":[[1]]})"), "whole number", "1.5")
WRONG_USE(NetworkFileError, EdgeOfThree, file(kTwo, R"({"nodes":[[0,1,0]],"costs":[[1,2]]})"),
          "edges.nodes[0]", "3 nodes")
WRONG_USE(NetworkFileError, EdgeToNowhere, file(kTwo, R"({"nodes":[[0,7]],"costs":[[1,2]]})"),
          "edges.nodes[0]", "node 7")
WRONG_USE(NetworkFileError, WrongTable, file(kTwo, R"({"nodes":[[0,1]],"costs":[[1,2,3]]})"),
          "edges.costs[0]", "3 costs", "need 2")
WRONG_USE(NetworkFileError, TablesWithoutEdges, file(kTwo, R"({"costs":[[1,2]]})"),
          "edges.nodes is missing")
WRONG_USE(NetworkFileError, NegativeLimit, file(kTwo, kNoEdges, "-4"), "limit is -4")
WRONG_USE(NetworkFileError, LimitInWords, file(kTwo, kNoEdges, "\"all\""), "whole number")
WRONG_USE(NetworkFileError, NoFile, read_cost_network("nowhere.json.gz"), "cannot read nowhere")
WRONG_USE(NetworkFileError, AFolder, read_cost_network("/"), "it is a folder")
WRONG_USE(NetworkFileError, DeepLists,
          parse_cost_network("{\"other\": " + std::string(100'000, '[')),
          "nested more than 64 deep")

// ---- what cannot be solved

Expected<Solution> solved(const std::string& nodes, const std::string& edges, const char* limit,
                          int level = 3) {
  SolveOptions options;
  options.level = level;
  return solve(file(nodes, edges, limit).value(), options);
}

WRONG_USE(SolveError, NothingIsAllowed,
          solved(kTwo, R"({"nodes":[[0,1]],"costs":[[1e18,1e18]]})", "9"),
          "no assignment is allowed")
WRONG_USE(SolveError, NothingFits, solved(kTwo, kNoEdges, "2"), "1 more than the limit")
WRONG_USE(SolveError, NoSuchLevel, solved(kTwo, kNoEdges, "9", 4), "level 4", "2 is quick")

}  // namespace
}  // namespace heddle
