// Steps of training as text: a network is recorded op by op, its gradients are written out behind
// it as JAX does, and every weight is moved against its gradient.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace heddle::training_text {

class Network {
 public:
  Network(int batch, int features) : batch_(batch) { add_value("x", features, -1, -1, Kind::data); }

  int input() const { return 0; }

  // tanh(value * W)
  int layer(int value, int features) {
    const std::string weight = fmt::format("w{}", weights_.size());
    weights_.push_back({weight, at(value).features, features});
    const int product = add_value(fmt::format("p{}", values_.size()), features, value,
                                  static_cast<int>(weights_.size()) - 1, Kind::product);
    return add_value(fmt::format("h{}", values_.size()), features, product, -1, Kind::tanh);
  }

  int add(int a, int b) {
    return add_value(fmt::format("s{}", values_.size()), at(a).features, a, b, Kind::sum);
  }

  // Of the step that makes the squares of the last value smaller.
  std::string step() const {
    std::string text = head();
    for (const Value& v : values_) text += forward(v);
    text += loss() + back();
    return text + tail();
  }

 private:
  enum class Kind { data, product, tanh, sum };
  struct Value {
    std::string name;
    int features, a, b;
    Kind kind;
  };
  struct Weight {
    std::string name;
    int rows, columns;
  };

  const Value& at(int v) const { return values_[static_cast<std::size_t>(v)]; }

  int add_value(std::string name, int features, int a, int b, Kind kind) {
    values_.push_back({std::move(name), features, a, b, kind});
    return static_cast<int>(values_.size()) - 1;
  }

  std::string type(int features) const {
    return fmt::format("tensor<{}x{}xf32>", batch_, features);
  }
  static std::string type(const Weight& w) {
    return fmt::format("tensor<{}x{}xf32>", w.rows, w.columns);
  }

  std::string head() const {
    std::string arguments, results = "tensor<f32>";
    for (const Weight& w : weights_) {
      arguments += fmt::format("%{}: {}, ", w.name, type(w));
      results += ", " + type(w);
    }
    return fmt::format("func.func public @main({}%x: {}) -> ({}) {{\n", arguments,
                       type(at(0).features), results);
  }

  std::string forward(const Value& v) const {
    const std::string t = type(v.features);
    switch (v.kind) {
      case Kind::data:
        return "";
      case Kind::product: {
        const Weight& w = weights_[static_cast<std::size_t>(v.b)];
        return fmt::format(
            "  %{} = stablehlo.dot_general %{}, %{}, contracting_dims = [1] x [0] : ({}, {}) -> "
            "{}\n",
            v.name, at(v.a).name, w.name, type(w.rows), type(w), t);
      }
      case Kind::tanh:
        return fmt::format("  %{} = stablehlo.tanh %{} : {}\n", v.name, at(v.a).name, t);
      case Kind::sum:
        return fmt::format("  %{} = stablehlo.add %{}, %{} : {}\n", v.name, at(v.a).name,
                           at(v.b).name, t);
    }
    return "";
  }

  std::string loss() const {
    const Value& last = values_.back();
    const std::string t = type(last.features);
    return fmt::format(
        "  %square = stablehlo.multiply %{0}, %{0} : {1}\n"
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = "
        "[0, 1] : ({1}, tensor<f32>) -> tensor<f32>\n"
        "  %g{0} = stablehlo.add %{0}, %{0} : {1}\n",
        last.name, t);
  }

  // The gradient of a value is the sum of what its users give back.
  std::string back() const {
    std::string text;
    std::vector<std::string> gradients(values_.size());
    gradients.back() = "g" + values_.back().name;
    auto give = [&](int v, const std::string& name) {
      std::string& known = gradients[static_cast<std::size_t>(v)];
      if (known.empty()) {
        known = name;
        return;
      }
      const std::string sum = fmt::format("{}_{}", known, name);
      text += fmt::format("  %{} = stablehlo.add %{}, %{} : {}\n", sum, known, name,
                          type(at(v).features));
      known = sum;
    };
    for (std::size_t i = values_.size(); i-- > 1;) {
      const Value& v = values_[i];
      const std::string g = gradients[i], t = type(v.features);
      if (g.empty()) continue;
      if (v.kind == Kind::sum) {
        give(v.a, g);
        give(v.b, g);
      } else if (v.kind == Kind::tanh) {
        text += fmt::format(
            "  %q{0} = stablehlo.multiply %{0}, %{0} : {2}\n"
            "  %r{0} = stablehlo.multiply %q{0}, %{1} : {2}\n"
            "  %d{0} = stablehlo.subtract %{1}, %r{0} : {2}\n",
            v.name, g, t);
        give(v.a, "d" + v.name);
      } else {
        const Weight& w = weights_[static_cast<std::size_t>(v.b)];
        text += fmt::format(
            "  %g{} = stablehlo.dot_general %{}, %{}, contracting_dims = [0] x [0] : ({}, {}) -> "
            "{}\n",
            w.name, at(v.a).name, g, type(w.rows), t, type(w));
        if (v.a == 0) continue;
        text += fmt::format(
            "  %d{} = stablehlo.dot_general %{}, %{}, contracting_dims = [1] x [1] : ({}, {}) -> "
            "{}\n",
            v.name, g, w.name, t, type(w), type(w.rows));
        give(v.a, "d" + v.name);
      }
    }
    return text;
  }

  std::string tail() const {
    std::string text, values = "%loss", types = "tensor<f32>";
    for (const Weight& w : weights_) {
      text += fmt::format(
          "  %rate{0} = stablehlo.constant dense<0.01> : {1}\n"
          "  %m{0} = stablehlo.multiply %g{0}, %rate{0} : {1}\n"
          "  %n{0} = stablehlo.subtract %{0}, %m{0} : {1}\n",
          w.name, type(w));
      values += ", %n" + w.name;
      types += ", " + type(w);
    }
    return text + fmt::format("  return {} : {}\n}}\n", values, types);
  }

  int batch_;
  std::vector<Value> values_;
  std::vector<Weight> weights_;
};

// A chain of equal layers.
inline std::string deep(int batch, int width, int layers) {
  Network network(batch, width);
  int value = network.input();
  for (int i = 0; i < layers; ++i) value = network.layer(value, width);
  return network.step();
}

// Down and up again: what each level has on its way down is added on its way up.
inline std::string u_shaped(int batch, int width, int levels) {
  Network network(batch, width);
  std::vector<int> skips;
  int value = network.layer(network.input(), width);
  for (int i = 0; i < levels; ++i) {
    skips.push_back(value);
    value = network.layer(value, width);
  }
  for (int i = levels; i-- > 0;)
    value = network.add(network.layer(value, width), skips[static_cast<std::size_t>(i)]);
  return network.step();
}

}  // namespace heddle::training_text
