#include "heddle/cost_network_file.h"

#include <algorithm>
#include <optional>

#include "parallel/solver/byte_source.h"
#include "parallel/solver/json_stream.h"

namespace heddle {
namespace {

using Cost = CostNetwork::Cost;

// Lists of numbers, one after the other.
struct Rows {
  std::vector<std::int64_t> numbers;
  std::vector<std::size_t> ends;

  std::size_t size() const { return ends.size(); }
  std::span<const std::int64_t> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(numbers).subspan(begin, ends[i] - begin);
  }
};

// What a file says, in whichever order it says it.
struct Sections {
  std::optional<Rows> intervals, costs, usages, edges, tables;
  std::optional<std::int64_t> limit;
};

void read_rows(JsonStream& json, std::optional<Rows>& rows, const char* what) {
  if (rows) json.fail(fmt::format("{} is there twice", what));
  rows.emplace();
  json.array([&] {
    json.array([&] { rows->numbers.push_back(json.integer()); });
    rows->ends.push_back(rows->numbers.size());
  });
}

void read_nodes(JsonStream& json, Sections& sections) {
  json.object([&](const std::string& key) {
    if (key == "intervals") return read_rows(json, sections.intervals, "nodes.intervals");
    if (key == "costs") return read_rows(json, sections.costs, "nodes.costs");
    if (key == "usages") return read_rows(json, sections.usages, "nodes.usages");
    json.skip();
  });
}

void read_edges(JsonStream& json, Sections& sections) {
  json.object([&](const std::string& key) {
    if (key == "nodes") return read_rows(json, sections.edges, "edges.nodes");
    if (key == "costs") return read_rows(json, sections.tables, "edges.costs");
    json.skip();
  });
}

Sections read_sections(JsonStream& json) {
  Sections sections;
  bool found = false;
  json.object([&](const std::string& top) {
    if (top != "problem") return json.skip();
    found = true;
    json.object([&](const std::string& key) {
      if (key == "nodes") return read_nodes(json, sections);
      if (key == "edges") return read_edges(json, sections);
      if (key != "usage_limit") return json.skip();
      sections.limit = json.integer();
    });
  });
  json.end();
  if (!found) throw Error("there is no \"problem\": is this an instance of the contest?");
  return sections;
}

const Rows& required(const std::optional<Rows>& rows, const char* what) {
  if (!rows) throw Error(fmt::format("{} is missing", what));
  return *rows;
}

void require_rows(const Rows& rows, std::size_t wanted, const char* what, const char* per) {
  if (rows.size() == wanted) return;
  throw Error(fmt::format("{} has {} entries: there are {} {}", what, rows.size(), wanted, per));
}

void add_nodes(CostNetwork& network, const Sections& sections) {
  const Rows& costs = required(sections.costs, "nodes.costs");
  const Rows& usages = required(sections.usages, "nodes.usages");
  const Rows& intervals = required(sections.intervals, "nodes.intervals");
  require_rows(usages, costs.size(), "nodes.usages", "nodes");
  require_rows(intervals, costs.size(), "nodes.intervals", "nodes");
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const auto interval = intervals.row(i);
    if (interval.size() != 2)
      throw Error(fmt::format("nodes.intervals[{}] has {} numbers: write begin and end", i,
                              interval.size()));
    if (interval[0] > interval[1])
      throw Error(fmt::format("nodes.intervals[{}] is [{}, {}]: it ends before it begins", i,
                              interval[0], interval[1]));
    const int variable = network.add_variable(costs.row(i));
    network.add_usage(variable, {interval[0], interval[1]}, usages.row(i));
  }
}

int node_of(std::int64_t number, const CostNetwork& network, std::size_t edge) {
  if (number >= 0 && number < network.variables()) return static_cast<int>(number);
  throw Error(fmt::format("edges.nodes[{}] names node {}: there are {}", edge, number,
                          network.variables()));
}

void add_edges(CostNetwork& network, const Sections& sections) {
  if (!sections.edges && !sections.tables)
    throw Error("edges is missing: where there are none, write {\"nodes\": [], \"costs\": []}");
  const Rows& edges = required(sections.edges, "edges.nodes");
  const Rows& tables = required(sections.tables, "edges.costs");
  require_rows(tables, edges.size(), "edges.costs", "edges");
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto ends = edges.row(e);
    if (ends.size() != 2)
      throw Error(fmt::format("edges.nodes[{}] has {} nodes: an edge joins two", e, ends.size()));
    try {
      network.add_edge(node_of(ends[0], network, e), node_of(ends[1], network, e), tables.row(e));
    } catch (const Error& error) {
      throw Error(fmt::format("edges.costs[{}]: {}", e, error.what()));
    }
  }
}

CostNetwork read_network(JsonStream::Source source) {
  JsonStream json(std::move(source));
  const Sections sections = read_sections(json);
  CostNetwork network;
  add_nodes(network, sections);
  add_edges(network, sections);
  if (sections.limit) network.set_limit(*sections.limit);
  return network;
}

Cost written(Cost cost) {
  return cost == CostNetwork::kForbidden ? 1'000'000'000'000'000'000 : cost;
}

template <typename Numbers>
std::string list_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ",", number);
  return "[" + text + "]";
}

std::string costs_text(std::span<const Cost> costs) {
  std::vector<Cost> numbers(costs.begin(), costs.end());
  std::transform(numbers.begin(), numbers.end(), numbers.begin(), written);
  return list_text(numbers);
}

std::string joined_lists(const std::vector<std::string>& lists) {
  return fmt::format("[{}]", fmt::join(lists, ","));
}

}  // namespace

Expected<CostNetwork> parse_cost_network(std::string_view text) {
  try {
    return read_network([text](char* buffer, std::size_t size) mutable {
      const std::size_t count = text.copy(buffer, size);
      text.remove_prefix(count);
      return count;
    });
  } catch (const Error& error) {
    return Reason{error.what()};
  }
}

Expected<CostNetwork> read_cost_network(const std::filesystem::path& file) {
  HEDDLE_TRY(JsonStream::Source source, open_bytes(file));
  try {
    return read_network(std::move(source));
  } catch (const Error& error) {
    return reason("{}: {}", file.string(), error.what());
  }
}

Expected<std::string> format_cost_network(const CostNetwork& network) {
  std::vector<std::string> intervals, costs, usages, edges, tables;
  for (int v = 0; v < network.variables(); ++v) {
    intervals.emplace_back("[0,0]");
    costs.push_back(costs_text(network.costs(v)));
    usages.push_back(list_text(std::vector<int>(network.values(v), 0)));
  }
  std::vector<bool> said(network.variables());
  for (const CostNetwork::Usage& usage : network.usages()) {
    if (said[usage.variable])
      return reason("variable {} takes memory in two lifetimes: the format has one",
                    usage.variable);
    said[usage.variable] = true;
    intervals[usage.variable] = fmt::format("[{},{}]", usage.life.begin, usage.life.end);
    usages[usage.variable] = list_text(usage.amounts);
  }
  for (const CostNetwork::Edge& edge : network.edges()) {
    edges.push_back(fmt::format("[{},{}]", edge.first, edge.second));
    tables.push_back(costs_text(network.table(edge.table)));
  }
  const std::string limit = network.limit() == CostNetwork::kNoLimit
                                ? ""
                                : fmt::format(",\"usage_limit\":{}", network.limit());
  return fmt::format(
      "{{\"problem\":{{\"nodes\":{{\"intervals\":{},\"costs\":{},\"usages\":{}}},"
      "\"edges\":{{\"nodes\":{},\"costs\":{}}}{}}}}}",
      joined_lists(intervals), joined_lists(costs), joined_lists(usages), joined_lists(edges),
      joined_lists(tables), limit);
}

}  // namespace heddle
