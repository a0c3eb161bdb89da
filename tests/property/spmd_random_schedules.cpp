// Random steps of training with random legal schedules give what one device gives.
#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/schedule.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "random_steps.h"

namespace heddle::property {
namespace {

// Gradients that are summed over the batch, and what an optimiser might do with them.
class RandomTraining {
 public:
  explicit RandomTraining(Choices& choices) : choices_(choices) {}

  Program make() {
    rows_ = 1 + static_cast<std::int64_t>(choices_.below(9));
    columns_ = 1 + static_cast<std::int64_t>(choices_.below(6));
    const std::int64_t batch = 24;
    const Type x = f32({batch, rows_}), y = f32({batch, columns_}), w = f32({rows_, columns_});
    b_.function("main", {x, y, w, w}, [&](const Vars& in) -> Vars {
      pool_ = {in[2], in[3]};
      const Var g = b_.dot(in[0], in[1], DotDims{{}, {}, {0}, {0}});
      pool_.push_back(choices_.one_in(2) ? g * 0.25 : b_.op("tanh", {g}));
      if (choices_.one_in(3)) {
        const Var sum = b_.op("tanh", {b_.reduce(in[1], {0}, "add")});
        pool_.push_back(b_.broadcast(sum, w.shape, {1}));
      }
      for (std::uint64_t i = 2 + choices_.below(8); i > 0; --i) pool_.push_back(next());
      Vars out = {pool_.back()};
      for (std::uint64_t i = choices_.below(3); i > 0; --i) out.push_back(any());
      return out;
    });
    return b_.finish().value();
  }

 private:
  static Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }
  Var any() { return pool_[choices_.below(pool_.size())]; }

  Var next() {
    const Shape shape = {rows_, columns_};
    switch (choices_.below(8)) {
      case 0:
        return any() + any();
      case 1:
        return any() * 0.5 - any();
      case 2:
        return b_.op("tanh", {any()});
      case 3: {  // a norm, or that of rows
        const bool whole = choices_.one_in(2);
        const Var v = any();
        const Var sum = b_.reduce(v * v, whole ? Builder::Dims{0, 1} : Builder::Dims{1}, "add");
        const Builder::Dims rows = {0};
        return v * b_.op("tanh", {b_.broadcast(sum, shape, whole ? Builder::Dims{} : rows)});
      }
      case 4:
        return b_.op("tanh", {b_.reshape(b_.reshape(any(), {rows_ * columns_}) * 2.0, shape)});
      case 5:
        return b_.transpose(b_.op("tanh", {b_.transpose(any(), {1, 0})}), {1, 0});
      case 6:
        return b_.broadcast(b_.reduce(any(), {0}, "maximum"), shape, {1}) - any();
      default: {  // what is multiplied with itself
        const Var v = b_.op("tanh", {any()});
        return b_.dot(b_.dot(v, v, DotDims{{}, {}, {1}, {1}}), v) * 0.125;
      }
    }
  }

  Choices& choices_;
  Builder b_{"training"};
  std::int64_t rows_ = 1, columns_ = 1;
  Vars pool_;
};

AxisSizes random_mesh_of_training(Choices& choices) {
  static const AxisSizes kMeshes[] = {
      {{"dp", 2}}, {{"dp", 3}}, {{"dp", 4}}, {{"dp", 8}}, {{"dp", 2}, {"tp", 2}}};
  return kMeshes[choices.below(std::size(kMeshes))];
}

Array numbers(const Type& type, Choices& choices) {
  Array array(type);
  for (float& v : array.as_mutable<float>())
    v = static_cast<float>(static_cast<double>(choices.below(17)) / 8 - 1);
  return array;
}

double largest_difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].as<float>().size(); ++k) {
      const double x = a[i].as<float>()[k], y = b[i].as<float>()[k];
      most = std::max(most, std::abs(x - y) / std::max(1.0, std::abs(x)));
    }
  return most;
}

void training_agrees(Choices& choices) {
  Program program = RandomTraining(choices).make();
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args)
    arguments.push_back(numbers(program.type_of(v), choices));
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  const AxisSizes mesh = random_mesh_of_training(choices);
  (void)program.add_mesh("mesh", mesh).value();
  SpmdOptions options;
  options.mesh = "mesh";
  for (std::size_t i = 0; i < 4; ++i) {
    Sharding s;
    s.mesh = "mesh";
    s.dims.resize(2);
    if (i < 2) s.dims[0].axes = {{"dp", 1, 0}};
    if (i == 1 && mesh.size() > 1) s.dims[1].axes = {{"tp", 1, 0}};
    options.seeds.push_back({false, i, s});
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Sharding s;
    s.mesh = "mesh";
    s.dims.resize(2);
    if (mesh.size() == 1) options.seeds.push_back({true, i, s});
  }
  Spmd spmd = partition(program, options).value();
  const std::string before = print_stablehlo(spmd.program);
  std::string steps, failure;
  try {
    steps = RandomSteps(choices, spmd).take({});
    if (choices.one_in(2)) spmd.program = schedule(spmd.program);
    if (const Verdict sound = verify(spmd.program); !sound) failure = sound.reason();
    const auto got = interpret_on_mesh(spmd, spmd.functions[0], arguments);
    if (!got)
      failure = got.reason();
    else if (const double by = largest_difference(wanted, *got); !(by < 1e-3))
      failure = fmt::format("results differ by {}", by);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  require(failure.empty(), [&] { return failure + "\n" + steps + before; });
}

TEST(TrainingPrograms, AgreeAsScheduled) {
  steps_taken().clear();
  run_law(training_agrees, 0, {.cases = 150, .decisions = 2000});
  std::string counts;
  for (const auto& [kind, count] : steps_taken()) counts += fmt::format(" {} {}", kind, count);
  RecordProperty("steps", counts);
  for (const char* kind : {"split", "reorder", "as_slice", "overlap"})
    EXPECT_GT(steps_taken()[kind], 10) << kind << ":" << counts;
}

}  // namespace
}  // namespace heddle::property
