// Checkpoints: from every mesh and layout to every other, and what is said of those that are torn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "heddle/checkpoint.h"
#include "heddle/sharding.h"
#include "heddle/transport.h"
#include "ir/eval/index_space.h"
#include "runtime/checkpoint_files.h"
#include "test_folder.h"

namespace heddle {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// A mesh with layouts for one tensor.
struct World {
  AxisRegistry axes = AxisRegistry::standard();
  MeshDecl mesh;

  explicit World(const AxisSizes& sizes) {
    mesh.name = "mesh";
    mesh.mesh = make_mesh(sizes, axes).value();
  }
  CheckpointMesh on() const { return {mesh.mesh, axes}; }

  Layout layout(const Type& type, const std::vector<std::vector<std::string>>& split) const {
    Sharding sharding;
    sharding.mesh = "mesh";
    for (const auto& names : split) {
      auto& dim = sharding.dims.emplace_back();
      for (const std::string& name : names) dim.axes.push_back({name});
    }
    return to_layout(sharding, mesh, type, axes.mem()).value().layout;
  }
};

// Bytes that tell every element apart.
Array numbered(const Type& type) {
  Array array(type);
  const auto bytes = array.mutable_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((i * 2654435761U) >> 11);
  if (type.dtype == DType::i1)
    for (std::byte& b : bytes) b &= std::byte{1};
  return array;
}

// What each rank holds, element by element from the layout's own words.
std::vector<Array> dealt(const Array& whole, const Layout& layout, const World& world) {
  const std::int64_t room = local_elements(layout, world.axes).value();
  std::vector<Array> parts(static_cast<std::size_t>(world.mesh.mesh.devices()),
                           Array(Type::tensor(whole.dtype(), {room})));
  const auto size = static_cast<std::size_t>(byte_size(whole.dtype()));
  const Index strides = row_major_strides(whole.shape());
  for (IndexWalk x(whole.shape()); x; ++x)
    for (const Coord& cell : cells(layout, *x).value()) {
      std::size_t rank = 0;
      for (const MeshAxis& axis : world.mesh.mesh.axes())
        rank = rank * static_cast<std::size_t>(axis.size) +
               static_cast<std::size_t>(coord_on(cell, axis.axis));
      const auto at = static_cast<std::size_t>(coord_on(cell, world.axes.mem()));
      const auto element = whole.element(flat_index(*x, strides));
      std::memcpy(parts[rank].mutable_bytes().data() + at * size, element.data(), size);
    }
  return parts;
}

void expect_restored(const fs::path& folder, const Type& type, const Layout& from,
                     const World& before, const Layout& to, const World& after) {
  const Array whole = numbered(type);
  const Verdict saved =
      save_checkpoint(folder, {{"w", type, from, dealt(whole, from, before)}}, before.on());
  ASSERT_TRUE(saved) << saved.reason();
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.reason();
  EXPECT_EQ(*checkpoint->type("w"), type);
  const auto wanted = dealt(whole, to, after);
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    const auto got = checkpoint->read("w", to, after.on(), static_cast<std::int64_t>(r));
    ASSERT_TRUE(got) << got.reason();
    EXPECT_EQ(*got, wanted[r]) << "rank " << r;
  }
  EXPECT_EQ(checkpoint->read_whole("w").value(), whole);
}

using Splits = std::vector<std::vector<std::string>>;

TEST(Checkpoint, FromEveryLayoutToEveryOther) {
  const TestFolder folder;
  const World a({{"x", 2}, {"y", 3}}), b({{"d", 4}});
  const std::vector<Splits> of_a = {{{}, {}}, {{"x"}, {"y"}}, {{"y", "x"}, {}}, {{}, {"x"}}};
  const std::vector<Splits> of_b = {{{}, {}}, {{"d"}, {}}, {{}, {"d"}}};
  for (const Shape& shape : {Shape{12, 8}, Shape{7, 5}, Shape{1, 13}}) {  // uneven ones too
    const Type type = Type::tensor(DType::f32, shape);
    for (const Splits& from : of_a)
      for (const Splits& to : of_b) {
        expect_restored(folder / "c", type, a.layout(type, from), a, b.layout(type, to), b);
        expect_restored(folder / "c", type, b.layout(type, to), b, a.layout(type, from), a);
      }
  }
}

TEST(Checkpoint, StridedLayouts) {
  const TestFolder folder;
  const World world({{"d", 4}});
  const AxisId d = world.mesh.mesh.axes()[0].axis;
  LayoutParts cyclic;  // element x lies on device x % 4
  cyclic.dims = {{.size = 22, .padded = 24}};
  cyclic.digits = {{6, 1, world.axes.mem()}, {4, 1, d}};
  const Type type = Type::tensor(DType::i64, {22});
  const Layout layout = Layout::make(cyclic).value();
  const World other({{"x", 3}});
  expect_restored(folder / "c", type, layout, world, other.layout(type, {{"x"}}), other);
  expect_restored(folder / "c", type, other.layout(type, {{"x"}}), other, layout, world);
}

TEST(Checkpoint, EveryElementTypeAndScalars) {
  const TestFolder folder;
  const World a({{"x", 2}}), b({{"y", 3}});
  for (DType dtype : all_dtypes()) {
    const Type type = Type::tensor(dtype, {5, 3}), scalar = Type::tensor(dtype, {});
    expect_restored(folder / "c", type, a.layout(type, {{"x"}, {}}), a, b.layout(type, {{}, {"y"}}),
                    b);
    expect_restored(folder / "c", scalar, a.layout(scalar, {}), a, b.layout(scalar, {}), b);
  }
}

// Three values on two devices.
std::vector<CheckpointValue> some_values(const World& world, float first) {
  std::vector<CheckpointValue> values;
  for (int i = 0; i < 3; ++i) {
    const Type type = Type::tensor(DType::f32, {64, 16});
    Array whole(type);
    for (float& x : whole.as_mutable<float>()) x = first++;
    const Layout layout = world.layout(type, {{"x"}, {}});
    values.push_back({fmt::format("v{}", i), type, layout, dealt(whole, layout, world)});
  }
  return values;
}

void expect_first(const fs::path& folder, float value) {
  const auto checkpoint = Checkpoint::open(folder);
  ASSERT_TRUE(checkpoint) << checkpoint.reason();
  EXPECT_EQ(checkpoint->read_whole("v0").value().as<float>()[0], value);
}

TEST(Checkpoint, DamageIsSeenAndTheOneBeforeStaysGood) {
  const TestFolder folder;
  const World world({{"x", 2}});
  const auto path = folder / "step-100";
  ASSERT_TRUE(save_checkpoint(folder / "step-90", some_values(world, 90), world.on()));
  const auto save = [&] {
    const Verdict saved = save_checkpoint(path, some_values(world, 100), world.on());
    ASSERT_TRUE(saved) << saved.reason();
  };
  save();
  EXPECT_EQ(last_good_checkpoint(folder / "").value(), path);
  const auto expect_bad = [&](const std::string& message) {
    const auto got = Checkpoint::open(path);
    ASSERT_FALSE(got);
    EXPECT_THAT(got.reason(), HasSubstr(message));
    std::vector<std::string> warnings;
    EXPECT_EQ(last_good_checkpoint(folder / "", &warnings).value(), folder / "step-90");
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], HasSubstr(message));
    fs::remove_all(path);
    save();
  };
  fs::resize_file(path / "rank-1.safetensors", 1000);
  expect_bad("rank-1.safetensors is torn: it has 1000 bytes, and ");
  fs::remove(path / "rank-0.json");
  expect_bad("rank-0.json is missing");
  {
    std::fstream file(path / "rank-0.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);
    file.put('x');
  }
  expect_bad("rank-0.safetensors is damaged");
  fs::resize_file(path / "index.json", 30);
  expect_bad("index.json is torn");
  fs::remove(path / "index.json");
  expect_bad("index.json is missing");
}

// A rank reads what it needs, and only that has to be good.
TEST(Checkpoint, OnlyWhatIsNeededIsRead) {
  const TestFolder folder;
  const World world({{"x", 2}});
  const auto path = folder / "c";
  ASSERT_TRUE(save_checkpoint(path, some_values(world, 7), world.on(), nullptr, 300));
  {
    std::fstream file(path / "rank-1.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);  // in the last value
    file.put('x');
  }
  EXPECT_FALSE(Checkpoint::open(path));
  const auto checkpoint = Checkpoint::open(path, CheckpointCheck::sizes);
  ASSERT_TRUE(checkpoint) << checkpoint.reason();
  EXPECT_EQ(checkpoint->step(), 300);
  const Layout layout = world.layout(Type::tensor(DType::f32, {64, 16}), {{"x"}, {}});
  EXPECT_TRUE(checkpoint->read("v2", layout, world.on(), 0));
  EXPECT_TRUE(checkpoint->read("v1", layout, world.on(), 1));
  EXPECT_THAT(checkpoint->read("v2", layout, world.on(), 1).reason(),
              HasSubstr("rank-1.safetensors is damaged: its bytes of value v2"));
  fs::resize_file(path / "rank-0.safetensors", 1000);
  EXPECT_THAT(Checkpoint::open(path, CheckpointCheck::sizes).reason(), HasSubstr("is torn"));
}

// With a hash that fits, so that what it says is looked at.
std::string hashed(const char* text) {
  auto index = Json::parse(text);
  if (index.is_object()) index["hash"] = runtime::index_hash(index);
  return index.dump();
}

TEST(Checkpoint, AnIndexThatIsAnythingElse) {
  const TestFolder folder;
  fs::create_directory(folder / "c");
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "format 0"},
      {"[]", "no correct JSON"},
      {R"({"format": "x"})", "format 0"},
      {R"({"format": 3, "step": 1, "ranks": 1, "files": 7})", "does not list the files"},
      {R"({"format": 3, "step": 1, "ranks": 1, "files": [{}, {"file": 3}]})", "does not list"},
      {R"({"format": 3, "step": 1, "ranks": 1, "files": [{"file": "rank-0.safetensors"}, {}]})",
       "missing"},
      {R"({"format": 3, "ranks": 1, "files": [{}, {}]})", "no step"},
      {R"({"format": 3, "step": -3, "ranks": 1, "files": [{}, {}]})", "no step"},
      {R"({"format": 3, "step": "2", "ranks": 1, "files": [{}, {}]})", "no step"},
      {R"({"format": 3, "step": 18446744073709551615, "ranks": 1, "files": [{}, {}]})", "no step"},
  };
  for (const auto& [text, why] : cases) {
    std::ofstream(folder / "c" / "index.json") << hashed(text);
    EXPECT_THAT(Checkpoint::open(folder / "c").reason(), HasSubstr(why)) << text;
  }
}

// Any number that was changed is noticed, also where the new one makes sense.
TEST(Checkpoint, AnIndexThatWasChanged) {
  const TestFolder folder;
  const World world({{"x", 2}});
  EXPECT_THAT(
      save_checkpoint(folder / "c", some_values(world, 1), world.on(), nullptr, -1).reason(),
      HasSubstr("no step -1"));
  ASSERT_TRUE(save_checkpoint(folder / "c", some_values(world, 1), world.on(), nullptr, 300));
  const std::string saved = runtime::read_all(folder / "c" / "index.json").value();
  for (const auto& [before, after] : {std::pair{"300", "-3"},
                                      {"300", "301"},
                                      {"\"hash\"", "\"dash\""},
                                      {"\"step\"", "\"stop\""}}) {
    std::string text = saved;
    text.replace(text.find(before), std::strlen(before), after);
    std::ofstream(folder / "c" / "index.json") << text;
    EXPECT_THAT(Checkpoint::open(folder / "c").reason(), HasSubstr("index.json is damaged"))
        << text;
  }
}

// Ranks that the mesh numbers in another order.
TEST(Checkpoint, DevicesInAnotherOrder) {
  const TestFolder folder;
  const World world({{"x", 3}});
  const Type type = Type::tensor(DType::f32, {6});
  const Layout layout = world.layout(type, {{"x"}});
  const std::vector<std::int64_t> ids = {2, 0, 1};
  const auto by_position = dealt(numbered(type), layout, world);
  std::vector<Array> by_rank(3);
  for (std::size_t p = 0; p < 3; ++p) by_rank[static_cast<std::size_t>(ids[p])] = by_position[p];
  const CheckpointMesh mesh{world.mesh.mesh, world.axes, ids};
  ASSERT_TRUE(save_checkpoint(folder / "c", {{"w", type, layout, by_rank}}, mesh));
  const auto checkpoint = Checkpoint::open(folder / "c").value();
  EXPECT_EQ(checkpoint.read_whole("w").value(), numbered(type));
  for (std::int64_t r = 0; r < 3; ++r)
    EXPECT_EQ(checkpoint.read("w", layout, mesh, r).value(), by_rank[static_cast<std::size_t>(r)]);
}

TEST(Checkpoint, IsReplacedAsAWhole) {
  const TestFolder folder;
  const World world({{"x", 2}});
  ASSERT_TRUE(save_checkpoint(folder / "c", some_values(world, 1), world.on()));
  ASSERT_TRUE(save_checkpoint(folder / "c", some_values(world, 2), world.on()));
  expect_first(folder / "c", 2);
  EXPECT_EQ(folder.count(), 1);  // nothing else is left
}

// Files may not grow beyond some bytes: the same to a program as a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(Checkpoint, WhatCannotBeWrittenLeavesTheOldOne) {
  const TestFolder folder;
  const World world({{"x", 2}});
  ASSERT_TRUE(save_checkpoint(folder / "c", some_values(world, 1), world.on()));
  {
    const SmallFiles limit(4096);
    const Verdict saved = save_checkpoint(folder / "c", some_values(world, 2), world.on());
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.reason(), HasSubstr("rank-0.safetensors: File too large"));
  }
  expect_first(folder / "c", 1);
  EXPECT_EQ(folder.count(), 1);
}

TEST(Checkpoint, AFullDisk) {
  const TestFolder folder;
  const fs::path disk = folder / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "a small disk can be mounted only by root: " << std::strerror(errno);
  const World world({{"x", 2}});
  std::vector<CheckpointValue> small = some_values(world, 1);
  small.resize(1);
  const Verdict first = save_checkpoint(disk / "a", small, world.on());
  const Verdict second = save_checkpoint(disk / "b", some_values(world, 2), world.on());
  const Verdict third = save_checkpoint(disk / "b", some_values(world, 2), world.on());
  EXPECT_TRUE(first);
  ASSERT_TRUE(!second || !third);
  EXPECT_THAT((second ? third : second).reason(), HasSubstr("No space left on device"));
  if (first) expect_first(disk / "a", 1);
  ::umount(disk.c_str());
}

// ---- several ranks

std::vector<std::string> save_on_ranks(const fs::path& path, const World& world, float value,
                                       const std::function<void(int)>& before = {}) {
  auto transports = thread_transports(2);
  std::vector<std::string> ends(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      auto values = some_values(world, value);
      for (auto& v : values) v.parts[static_cast<std::size_t>(1 - r)] = Array();  // not ours
      if (before) before(r);
      const Verdict saved =
          save_checkpoint(path, values, world.on(), transports[static_cast<std::size_t>(r)].get());
      if (!saved) ends[static_cast<std::size_t>(r)] = saved.reason();
    });
  for (std::thread& t : threads) t.join();
  return ends;
}

TEST(Checkpoint, RanksSaveTogether) {
  const TestFolder folder;
  const World world({{"x", 2}});
  EXPECT_EQ(save_on_ranks(folder / "c", world, 5), std::vector<std::string>(2));
  expect_first(folder / "c", 5);
  // Where one cannot, none has saved.
  fs::create_directories(folder / "gone");
  const auto ends = save_on_ranks(folder / "missing" / "c", world, 6);
  EXPECT_THAT(ends[0], HasSubstr("cannot be made: No such file or directory"));
  EXPECT_THAT(ends[1], HasSubstr("rank 0 failed in making a folder"));
  expect_first(folder / "c", 5);
}

// ---- wrong uses

TEST(Checkpoint, WrongValues) {
  const TestFolder folder;
  const World world({{"x", 2}});
  const Type type = Type::tensor(DType::f32, {4});
  const Layout layout = world.layout(type, {{"x"}});
  const Array two(Type::tensor(DType::f32, {2})), one(Type::tensor(DType::f32, {1}));
  const auto save = [&](const CheckpointValue& value) {
    const Verdict saved = save_checkpoint(folder / "c", {value}, world.on());
    return saved ? "" : saved.reason();
  };
  EXPECT_EQ(save({"w", type, layout, {two}}),
            "value w comes in 1 parts, but the mesh has 2 devices");
  EXPECT_THAT(save({"w", Type::tensor(DType::f32, {5}), layout, {two, two}}),
              HasSubstr("value w: its layout is not one of tensor<5xf32>"));
  EXPECT_THAT(save({"w", type, layout, {one, two}}), HasSubstr("its layout needs more"));
  EXPECT_THAT(save({"w", type, layout, {Array(Type::tensor(DType::i32, {2})), two}}),
              HasSubstr("value w is tensor<4xf32>, but part 0 is tensor<2xi32>"));
  EXPECT_FALSE(fs::exists(folder / "c"));
  EXPECT_EQ(save({"w", type, layout, {two, two}}), "");
  const auto checkpoint = Checkpoint::open(folder / "c").value();
  EXPECT_THAT(checkpoint.read_whole("v").reason(), HasSubstr("has no value v"));
  EXPECT_THAT(Checkpoint::open(folder / "d").reason(), HasSubstr("there is no checkpoint"));
  EXPECT_THAT(last_good_checkpoint(folder / "d").reason(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace heddle
