#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/shards.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using testing::HasSubstr;

Sharding parsed(const std::string& text) { return parse_sharding(text, "m", "shard").value(); }

std::string why_not(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shards, BothNotations) {
  const Sharding split = parsed(R"([{"x", "y":(2)4}, {?}p1, {}], replicated={"z"})");
  EXPECT_EQ(split.mesh, "m");
  ASSERT_EQ(split.dims.size(), 3U);
  EXPECT_EQ(split.dims[0].axes, (std::vector<ShardingAxis>{{"x", 1, 0}, {"y", 2, 4}}));
  EXPECT_TRUE(split.dims[1].open);
  EXPECT_EQ(split.dims[1].priority, 1);
  EXPECT_EQ(split.replicated, (std::vector<ShardingAxis>{{"z", 1, 0}}));
  EXPECT_EQ(parsed("[{x, y:(2)4}, {?}p1, {}], replicated={z}"), split);
  EXPECT_EQ(parsed("x+y:(2)4,_,-"), parsed(R"([{"x","y":(2)4},{},{}])"));
  EXPECT_EQ(parsed(" x + ? , _ "), parsed(R"([{"x", ?}, {}])"));
  EXPECT_TRUE(parsed("").dims.empty());
  EXPECT_TRUE(parsed("[]").dims.empty());
}

TEST(Shards, WhatIsNoSharding) {
  for (const char* text : {"x,", ",x", "x++y", "x:(0)0", "x:(1", "x:", "[{x}", "[{x}]]", "[x]",
                           "{x}", "[{x}]> {", "[{x}], other={y}", "[{x}p]", "x>y", "[{\"x}]", "\n"})
    EXPECT_THAT(why_not([&] { (void)parsed(text); }), HasSubstr("shard: ")) << text;
}

// Of the text that somebody wrote, not of what is read around it.
TEST(Shards, WhatIsCutOff) {
  EXPECT_THAT(parse_sharding("[{\"a\"", "m", "shard").reason(),
              HasSubstr("expected '}' or ',' after an axis but found its end"));
}

TEST(Shards, WhereTheNameEnds) {
  const auto ends = [](const std::string& option, const char* name, const char* sharding) {
    const ShardEntry entry = shard_entry(option).value();
    EXPECT_EQ(entry.name, name);
    EXPECT_EQ(entry.sharding, sharding);
  };
  ends("arg0=x,_", "arg0", "x,_");
  ends("p['a=b']=x", "p['a=b']", "x");
  ends("p['a']=[{}], replicated={x}", "p['a']", "[{}], replicated={x}");
  for (const char* text : {"", "arg0", "=x"})
    EXPECT_THAT(why_not([&] { (void)shard_entry(text).value(); }), HasSubstr("NAME=SHARDING"))
        << text;
}

struct Chosen {
  Program program = read_stablehlo(R"(
    func.func @main(%a: tensor<4x4xf32> {jax.arg_info = "w"}, %b: tensor<4x4xf32>, %c: tensor<4xf32>)
        -> (tensor<4x4xf32>, tensor<4xf32>) {
      return %a, %c : tensor<4x4xf32>, tensor<4xf32>
    })",
                                   "test")
                        .value();

  // "a0=x a1=y r0=x": what is said of arguments and results, by the first axis.
  std::string operator()(const std::vector<std::string>& options) {
    std::vector<ShardEntry> entries;
    for (const std::string& option : options) {
      entries.push_back(shard_entry(option[0] == '@' ? option.substr(1) : option).value());
      entries.back().from_file = option[0] == '@';
    }
    std::string text;
    const auto seeds = seeds_of(program, program.functions[0], "m", entries).value();
    for (const Seed& s : seeds)
      text += fmt::format("{}{}{}={}", text.empty() ? "" : " ", s.is_result ? "r" : "a", s.index,
                          s.sharding.dims[0].axes[0].name);
    return text;
  }
};

TEST(Shards, NamesOfArgumentsAndResults) {
  Chosen chosen;
  EXPECT_EQ(chosen({"arg1=x,_", "%result0=y,_"}), "a1=x r0=y");
  EXPECT_EQ(chosen({"arg0-1=x,_", "result0-1=y,_"}), "a0=x a1=x r0=y r1=y");
  EXPECT_EQ(chosen({"w=x,_"}), "a0=x");
  EXPECT_EQ(chosen({"tensor<4x4xf32>=x,_"}), "a0=x a1=x r0=x");
  EXPECT_EQ(chosen({"tensor<4x*&arg*=x,_"}), "a0=x a1=x a2=x");
  EXPECT_EQ(chosen({"*x4x*&arg*=x,_"}), "a0=x a1=x");
  EXPECT_EQ(chosen({"*4x4x*=x,_", "arg1=y,_"}), "a0=x a1=y r0=x");
  EXPECT_EQ(chosen({"@arg1=x,_", "arg1=y,_"}), "a1=y");
}

// As JAX gives them: quotes, brackets, dots, commas and = are letters of a name.
TEST(Shards, NamesOfThePrograms) {
  Program program = read_stablehlo(R"(
    sdy.mesh @m = <["x"=2, "y"=2]>
    func.func public @main(%a: tensor<4x4xf32> loc("params['q']"),
        %b: tensor<4x4xf32> {jax.arg_info = "state.opt[0].mu['a=b, c']"}, %c: tensor<4x4xf32>)
        -> (tensor<4x4xf32> {jax.result_info = "result[1]['q']"}) {
      return %a : tensor<4x4xf32>
    })",
                                   "test")
                        .value();
  const auto seeds = [&](const std::string& option) {
    return seeds_of(program, program.functions[0], "m", {shard_entry(option).value()});
  };
  const auto one = [&](const std::string& option) {
    const std::vector<Seed> all = seeds(option).value();
    EXPECT_EQ(all.size(), 1U);
    return fmt::format("{}{} {}", all[0].is_result ? "r" : "a", all[0].index,
                       all[0].sharding.dims.size());
  };
  EXPECT_EQ(one("params['q']=x,_"), "a0 2");
  EXPECT_EQ(one("params['q'] = [{x}, {}], replicated={y}"), "a0 2");
  EXPECT_EQ(one("state.opt[0].mu['a=b, c']=x,_"), "a1 2");
  EXPECT_EQ(one("state.*=x,_"), "a1 2");
  // All that lies in a group.
  EXPECT_EQ(one("params=x,_"), "a0 2");
  EXPECT_EQ(one("state.opt[0]=x,_"), "a1 2");
  EXPECT_EQ(one("result[1]=x,_"), "r0 2");
  EXPECT_EQ(one("result[1]['q']=x,_"), "r0 2");
  EXPECT_THAT(seeds("params[q]=x,_").reason(), HasSubstr("did you mean `params['q']`"));
  EXPECT_THAT(seeds("parms['q']=x,_").reason(), HasSubstr("did you mean `params['q']`"));
  EXPECT_THAT(seeds("agr2=x,_").reason(), HasSubstr("did you mean `arg2`"));
  EXPECT_THAT(seeds("args0=x,_").reason(), HasSubstr("did you mean `arg0`?"));
  EXPECT_THAT(seeds("parms=x,_").reason(), HasSubstr("did you mean `params`"));
  EXPECT_THAT(seeds("state.otp[0]=x,_").reason(), HasSubstr("did you mean `state.opt[0]`"));
}

TEST(Shards, WrongNames) {
  Chosen chosen;
  const auto why = [&](const std::vector<std::string>& options) {
    return why_not([&] { (void)chosen(options); });
  };
  EXPECT_THAT(why({"arg3=x"}), HasSubstr("of @main is called arg3; it has 3 arguments"));
  EXPECT_THAT(why({"result0-2=x"}), HasSubstr("result2; it has 2 results"));
  EXPECT_THAT(why({"arg1-0=x"}), HasSubstr("ends before it begins"));
  EXPECT_THAT(why({"arg99999999999999999999=x"}), HasSubstr("no argument or result"));
  EXPECT_THAT(why({"v=x"}), HasSubstr("no argument or result of @main is called v"));
  EXPECT_THAT(why({"arg0&arg1=x"}), HasSubstr("no argument or result"));
  EXPECT_THAT(why({"arg0=x,_", "arg0=x,_"}), HasSubstr("arg0 has been given a sharding before"));
  EXPECT_THAT(why({"arg0-1=x,_", "%arg1=x,_"}), HasSubstr("arg1 has been given"));
  EXPECT_THAT(why({"@w=x,_", "@w=y,_"}), HasSubstr("w has been given"));
  EXPECT_THAT(why({"value:tensor<5xf32>=x"}), HasSubstr("no value has the type"));
}

}  // namespace
}  // namespace heddle
