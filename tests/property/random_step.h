// A step of training at random: layers in any graph, weights that several of them may share, the
// loss, its gradients and the new weights.
#pragma once

#include "choices.h"
#include "heddle/builder.h"
#include "heddle/parallel.h"

namespace heddle::property {

struct RandomStep {
  Program program;
  std::vector<Array> arguments;  // weights, then x and the target
  std::vector<Carried> carried;
  BatchDim batch;
};

class StepMaker {
 public:
  explicit StepMaker(Choices& choices) : choices_(choices) {}

  RandomStep make(std::int64_t most_layers = 6) {
    rows_ = choices_.pick({8, 16});
    wide_ = choices_.pick({4, 6});
    const std::int64_t layers = choices_.between(2, most_layers);
    for (std::int64_t i = 0; i < layers; ++i) {
      Layer layer;
      layer.from = choices_.below(i + 1);
      layer.skip = choices_.one_in(2) ? choices_.below(i + 1) : -1;
      layer.weight = weights_ > 0 && choices_.one_in(4) ? choices_.below(weights_) : weights_++;
      layers_.push_back(layer);
    }
    const Type weight = Type::tensor(DType::f32, {wide_, wide_});
    const Type data = Type::tensor(DType::f32, {rows_, wide_});
    std::vector<Type> types(static_cast<std::size_t>(weights_), weight);
    types.push_back(data);
    types.push_back(data);
    Builder b("step");
    b.function("main", types, [&](const Vars& in) { return step(b, in); });
    RandomStep made;
    made.program = b.finish().value();
    for (const Type& type : types) made.arguments.push_back(values(type));
    for (std::int64_t w = 0; w < weights_; ++w)
      made.carried.push_back({static_cast<std::size_t>(w), static_cast<std::size_t>(w) + 1});
    made.batch = {static_cast<std::size_t>(weights_), 0};
    return made;
  }

 private:
  struct Layer {
    std::int64_t from = 0, skip = -1,
                 weight = 0;  // values: 0 is the data, i + 1 what layer i gives
  };

  Array values(const Type& type) {
    Array array(type);
    for (float& v : array.as_mutable<float>())
      v = static_cast<float>(choices_.below(17) - 8) / 16.0F;
    return array;
  }

  // (weights, x, target) -> (loss, new weights, what the last layer gives)
  Vars step(Builder& b, const Vars& in) {
    const auto w = [&](const Layer& l) { return in[static_cast<std::size_t>(l.weight)]; };
    Vars values = {in[in.size() - 2]}, inputs;
    for (const Layer& l : layers_) {
      Var x = values[static_cast<std::size_t>(l.from)];
      if (l.skip >= 0) x = x + values[static_cast<std::size_t>(l.skip)];
      inputs.push_back(x);
      values.push_back(b.op("tanh", {b.dot(x, w(l))}));
    }
    const Var error = values.back() - in.back();
    const Var loss = b.reduce(error * error, {0, 1}, "add");
    Vars gradients(values.size()), of_weights(static_cast<std::size_t>(weights_));
    const auto add = [](Var& sum, Var more) { sum = sum.none() ? more : sum + more; };
    gradients.back() = error * 2.0;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const Layer& l = layers_[i];
      if (gradients[i + 1].none()) continue;  // nobody needs it
      const Var d = gradients[i + 1] * (1.0 - values[i + 1] * values[i + 1]);
      add(of_weights[static_cast<std::size_t>(l.weight)], b.dot(inputs[i], d, {{}, {}, {0}, {0}}));
      const Var back = b.dot(d, w(l), {{}, {}, {1}, {1}});
      add(gradients[static_cast<std::size_t>(l.from)], back);
      if (l.skip >= 0) add(gradients[static_cast<std::size_t>(l.skip)], back);
    }
    Vars results = {loss};
    for (std::size_t i = 0; i < of_weights.size(); ++i)
      results.push_back(of_weights[i].none() ? in[i] * 0.5 : in[i] - of_weights[i] * 0.1);
    results.push_back(values.back());
    return results;
  }

  Choices& choices_;
  std::int64_t rows_ = 8, wide_ = 4, weights_ = 0;
  std::vector<Layer> layers_;
};

inline Verdict close(const std::vector<Array>& wanted, const std::vector<Array>& got) {
  if (wanted.size() != got.size()) return reason("{} results, not {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto a = wanted[i].as<float>(), b = got[i].as<float>();
    if (a.size() != b.size()) return reason("result {} has {} elements", i, b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!(std::abs(a[k] - b[k]) <= 1e-4F + 1e-4F * std::abs(a[k])))
        return reason("result {} at {}: {} instead of {}", i, k, b[k], a[k]);
  }
  return yes();
}

}  // namespace heddle::property
