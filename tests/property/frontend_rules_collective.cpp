// Index rules of the ops between devices, run on two to four processes.
#include "index_check.h"

namespace heddle::index_check {
namespace {

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ", ") + text;
  return all;
}

// The op in @f, and a main that runs it on a grid of processes.
Instance parallel_instance(const std::string& op, const std::vector<std::string>& arguments,
                           std::string_view rest, const std::vector<std::string>& results,
                           std::int64_t replicas, std::int64_t partitions = 1) {
  Instance instance;
  instance.op = op;
  instance.replicas = replicas;
  instance.partitions = partitions;
  const Instance inner = generic_instance(op, arguments, rest, results);
  std::vector<std::string> all_arguments, all_results;
  for (std::size_t p = 0; p < instance.processes(); ++p) {
    all_arguments.insert(all_arguments.end(), arguments.begin(), arguments.end());
    all_results.insert(all_results.end(), results.begin(), results.end());
  }
  const std::string row = "[" + repeated("@f", static_cast<std::size_t>(partitions)) + "]";
  const std::string grid = "[" + repeated(row, static_cast<std::size_t>(replicas)) + "]";
  std::string f = inner.text;
  f.replace(f.find("@main"), 5, "@f");
  instance.text = f + generic_instance("interpreter.run_parallel", all_arguments,
                                       " {programs = " + grid + "}", all_results)
                          .text;
  return instance;
}

// One group of all, in some order.
std::string one_group(std::int64_t count, Random& random) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(i);
  std::shuffle(ids.begin(), ids.end(), random);
  return "replica_groups = dense<[[" + list_text(ids) + "]]> : tensor<1x" + std::to_string(count) +
         "xi64>";
}

const char* const kSum =
    " ({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
    "    %z = stablehlo.add %x, %y : tensor<f32>\n"
    "    stablehlo.return %z : tensor<f32>\n  })";

TEST(IndexRuleOf, AllReduce) {
  for (const char* op : {"stablehlo.all_reduce", "stablehlo.collective_reduce"})
    check_rule(3, [&](Random& random) {
      const std::int64_t n = pick(random, 2, 3);
      const std::string a = type_text(random_shape(random, 2, 3), "f32"),
                        b = type_text(random_shape(random, 1, 3), "f32");
      return parallel_instance(op, {a, b}, " <{" + one_group(n, random) + "}>" + kSum, {a, b}, n);
    });
}

TEST(IndexRuleOf, AllReduceInGroupsOfPartitions) {
  check_rule(1, [](Random&) {
    return parallel_instance(
        "stablehlo.all_reduce", {"tensor<3xf32>"},
        std::string(" <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, "
                    "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
                    "use_global_device_ids}>") +
            kSum,
        {"tensor<3xf32>"}, 2, 2);
  });
}

TEST(IndexRuleOf, CrossReplicaSum) {
  check_rule(3, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3);
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    return parallel_instance("stablehlo.cross-replica-sum", {a},
                             " <{" + one_group(n, random) + "}>", {a}, n);
  });
}

TEST(IndexRuleOf, AllGather) {
  check_rule(4, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3), dim = pick(random, 0, 1);
    const Shape from = random_shape(random, 2, 3);
    Shape to = from;
    to[static_cast<std::size_t>(dim)] *= n;
    const std::string a = type_text(from, "f32"), b = type_text(to, "f32");
    return parallel_instance(
        "stablehlo.all_gather", {a, a},
        " <{all_gather_dim = " + std::to_string(dim) + " : i64, " + one_group(n, random) + "}>",
        {b, b}, n);
  });
}

TEST(IndexRuleOf, ReduceScatter) {
  check_rule(4, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3), dim = pick(random, 0, 1);
    const Shape to = random_shape(random, 2, 3);
    Shape from = to;
    from[static_cast<std::size_t>(dim)] *= n;
    return parallel_instance("stablehlo.reduce_scatter", {type_text(from, "f32")},
                             " <{scatter_dimension = " + std::to_string(dim) + " : i64, " +
                                 one_group(n, random) + "}>" + kSum,
                             {type_text(to, "f32")}, n);
  });
}

TEST(IndexRuleOf, AllToAll) {
  for (std::int64_t split : {0, 1})
    for (std::int64_t concat : {0, 1})
      check_rule(2, [&](Random& random) {
        const std::int64_t n = pick(random, 2, 3);
        Shape from = random_shape(random, 2, 3);
        from[static_cast<std::size_t>(split)] *= n;
        Shape to = from;
        to[static_cast<std::size_t>(split)] /= n;
        to[static_cast<std::size_t>(concat)] *= n;
        const std::string count = std::to_string(n);
        return parallel_instance("stablehlo.all_to_all", {type_text(from, "f32")},
                                 " <{split_dimension = " + std::to_string(split) +
                                     " : i64, concat_dimension = " + std::to_string(concat) +
                                     " : i64, split_count = " + count + " : i64, " +
                                     one_group(n, random) + "}>",
                                 {type_text(to, "f32")}, n);
      });
}

TEST(IndexRuleOf, CollectivePermute) {
  check_rule(3, [](Random& random) {
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    return parallel_instance("stablehlo.collective_permute", {a},
                             " <{source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}>",
                             {a}, 3);
  });
}

TEST(IndexRuleOf, CollectiveBroadcast) {
  check_rule(3, [](Random& random) {
    const std::int64_t n = pick(random, 2, 3);
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    return parallel_instance("stablehlo.collective_broadcast", {a},
                             " <{" + one_group(n, random) + "}>", {a}, n);
  });
}

TEST(IndexRuleOf, CollectiveBroadcastFromARootThatIsData) {
  check_rule(2, [](Random& random) {
    const std::string a = type_text(random_shape(random, 2, 3), "f32");
    Instance instance =
        parallel_instance("stablehlo.collective_broadcast", {a, a, "tensor<2xi64>"},
                          " <{" + one_group(2, random) + ", has_dynamic_root = true}>", {a, a}, 2);
    instance.given[2] = {{0, 1}, {1, 0}, {1, 1}};
    return instance;
  });
  const Instance instance =
      parallel_instance("stablehlo.collective_broadcast", {"tensor<3xf32>", "tensor<1xi64>"},
                        " <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, "
                        "has_dynamic_root = true}>",
                        {"tensor<3xf32>"}, 2);
  EXPECT_TRUE(Checker(instance, 1).rule().results[0].independent_of.empty());
}

TEST(IndexRuleOf, ProcessIds) {
  for (const char* op : {"stablehlo.partition_id", "stablehlo.replica_id"})
    check_rule(1, [&](Random&) { return parallel_instance(op, {}, "", {"tensor<ui32>"}, 2, 2); });
}

}  // namespace
}  // namespace heddle::index_check
