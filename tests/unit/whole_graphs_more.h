// More whole models, of kinds whose plans once changed most with the number of workers.
#pragma once

#include "whole_graphs.h"

namespace heddle::graphs {

// Layers forward and back, each tensor updated by LAMB where its gradient is there: many updates
// that nobody waits for beside a long chain that everybody does.
inline Program lamb_step_like() {
  constexpr std::int64_t kRows = 2048, kWidth = 512;
  constexpr std::size_t kLayers = 8;
  Builder b;
  std::vector<Type> types = {f32({kRows, kWidth}), f32({})};
  for (std::size_t k = 0; k < kLayers; ++k)
    for (int i = 0; i < 3; ++i) {
      types.push_back(f32({kWidth, kWidth}));
      types.push_back(vector_of(kWidth));
    }
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var correction = 1.0 - b.op("exponential", {in[1] * -0.1});
    Vars inputs = {in[0]}, out;
    for (std::size_t k = 0; k < kLayers; ++k)
      inputs.push_back(gelu(b, dense(b, inputs[k], in[2 + 6 * k], in[3 + 6 * k])));
    auto update = [&](std::size_t at, Var g) {
      const Var m = 0.9 * in[at + 2] + 0.1 * g, v = 0.999 * in[at + 4] + 0.001 * (g * g);
      const Shape shape = g.type().shape;
      const Var u = m / b.broadcast(correction, shape) / (b.op("sqrt", {v}) + 1e-6);
      const Dims all = first_dims(shape.size());
      const Var ratio = b.op("sqrt", {b.reduce(in[at] * in[at], all, "add")}) /
                        (b.op("sqrt", {b.reduce(u * u, all, "add")}) + 1e-6);
      out.insert(out.end(), {in[at] - b.broadcast(1e-3 * ratio, shape) * u, m, v});
    };
    Var up = 2.0 * inputs.back();
    for (std::size_t k = kLayers; k-- > 0;) {
      const Var t = b.op("tanh", {inputs[k + 1]});
      const Var g = up * (1.0 - t * t);
      update(2 + 6 * k, b.dot(inputs[k], g, {{}, {}, {0}, {0}}));
      update(3 + 6 * k, b.reduce(g, {0}, "add"));
      up = b.dot(g, in[2 + 6 * k], {{}, {}, {1}, {1}});
    }
    return out;
  });
  return b.finish().value();
}

// Gas in a box that closes on itself: slopes of four quantities, what flows between cells, and the
// time step that the fastest of them allows.
inline Program gas_like() {
  constexpr std::int64_t kSide = 1024;
  const Shape shape = {kSide, kSide};
  Builder b;
  const std::vector<Type> types(4, f32(shape));
  b.function("main", types, [&](const Vars& in) -> Vars {
    auto roll = [&](Var x, std::size_t d, std::int64_t by) {
      Dims zero = {0, 0}, end = {kSide, kSide}, cut = end, from = zero;
      cut[d] = from[d] = by;
      return b.concatenate({b.slice(x, from, end), b.slice(x, zero, cut)},
                           static_cast<std::int64_t>(d));
    };
    auto larger = [&](Var x, Var y) { return b.op("maximum", {x, y}); };
    auto speed = [&](const Vars& q, std::size_t d) {
      const Var u = q[1] / q[0], v = q[2] / q[0];
      const Var pressure = 0.4 * (q[3] - 0.5 * (q[1] * u + q[2] * v));
      return b.op("abs", {d == 0 ? u : v}) + b.op("sqrt", {1.4 * pressure / q[0]});
    };
    auto flow = [&](const Vars& q, std::size_t d) -> Vars {
      const Var u = q[1] / q[0], v = q[2] / q[0], w = d == 0 ? u : v;
      const Var pressure = 0.4 * (q[3] - 0.5 * (q[1] * u + q[2] * v));
      return {q[0] * w, q[1] * w + (d == 0 ? pressure : 0.0 * pressure),
              q[2] * w + (d == 1 ? pressure : 0.0 * pressure), (q[3] + pressure) * w};
    };
    const Var most = larger(b.reduce(speed(in, 0), {0, 1}, "maximum"),
                            b.reduce(speed(in, 1), {0, 1}, "maximum"));
    const Var step = b.broadcast(0.4 / most, shape);
    Vars now = in;
    for (int stage = 0; stage < 2; ++stage) {
      Vars next = now;
      for (std::size_t d = 0; d < 2; ++d) {
        Vars low, high;
        for (const Var& x : now) {
          const Var back = x - roll(x, d, kSide - 1), on = roll(x, d, 1) - x;
          const Var small = b.op("minimum", {b.op("abs", {back}), b.op("abs", {on})});
          const Var same = b.compare("GT", back * on, b.full_like(x, 0));
          const Var slope = b.select(same, b.op("sign", {on}) * small, b.full_like(x, 0));
          low.push_back(x + 0.5 * slope);
          high.push_back(roll(x - 0.5 * slope, d, 1));
        }
        const Vars left = flow(low, d), right = flow(high, d);
        const Var fastest = larger(speed(low, d), speed(high, d));
        for (std::size_t k = 0; k < 4; ++k) {
          const Var f = 0.5 * (left[k] + right[k]) - 0.5 * fastest * (high[k] - low[k]);
          next[k] = next[k] - step * (f - roll(f, d, kSide - 1));
        }
      }
      now = next;
    }
    now.push_back(most);
    return now;
  });
  return b.finish().value();
}

// A linear recurrence over time in as many steps as its length has bits, as selective state spaces
// have it.
inline Program scan_like() {
  constexpr std::int64_t kBatch = 4, kTime = 256, kWidth = 512, kStates = 16;
  const Shape shape = {kBatch, kTime, kWidth, kStates}, wide = {kBatch, kTime, kWidth};
  Builder b;
  const std::vector<Type> types = {f32(wide), f32({kWidth, kStates}), f32({kBatch, kTime, kStates}),
                                   f32({kBatch, kTime, kStates}), vector_of(kWidth)};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var rate = b.op("logistic", {in[0]});
    Var decay = b.op("exponential",
                     {-(b.broadcast(rate, shape, {0, 1, 2}) * b.broadcast(in[1], shape, {2, 3}))});
    Var sum = b.broadcast(rate * in[0], shape, {0, 1, 2}) * b.broadcast(in[2], shape, {0, 1, 3});
    for (std::int64_t by = 1; by < kTime; by *= 2) {
      auto before = [&](Var x, double first) {
        const Shape front = {kBatch, by, kWidth, kStates};
        return b.concatenate({b.full(f32(front), first),
                              b.slice(x, {0, 0, 0, 0}, {kBatch, kTime - by, kWidth, kStates})},
                             1);
      };
      sum = sum + decay * before(sum, 0);
      decay = decay * before(decay, 1);
    }
    const Var y = b.reduce(sum * b.broadcast(in[3], shape, {0, 1, 3}), {3}, "add");
    return {y + in[0] * b.broadcast(in[4], wide, {2})};
  });
  return b.finish().value();
}

// Channels, few of them, normalised by a variance around their mean: three passes over all pixels,
// each of which waits for the one before.
inline Program variance_like() {
  constexpr std::int64_t kBatch = 64, kSide = 56;
  const std::int64_t widths[] = {32, 32, 64, 96, 96};
  Builder b;
  std::vector<Type> types = {f32({kBatch, kSide, kSide, widths[0]})};
  for (int layer = 0; layer < 4; ++layer) types.push_back(f32({widths[layer], widths[layer + 1]}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Dims pixels = {0, 1, 2};
    Var x = in[0];
    for (std::size_t k = 1; k < in.size(); ++k) {
      x = b.dot(x, in[k]);
      const Shape shape = x.type().shape;
      const auto count = static_cast<double>(shape[0] * shape[1] * shape[2]);
      const Var centred = x - along_columns(b, b.reduce(x, pixels, "add") / count, shape);
      const Var variance = b.reduce(centred * centred, pixels, "add") / count;
      const Var scaled = centred * along_columns(b, b.op("rsqrt", {variance + 1e-5}), shape);
      x = b.op("maximum", {scaled, b.full_like(scaled, 0)});
    }
    return {x};
  });
  return b.finish().value();
}

}  // namespace heddle::graphs
