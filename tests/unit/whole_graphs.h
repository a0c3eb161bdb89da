// Whole models as programs, built op by op: what whole-graph tests plan for.
#pragma once

#include "heddle/builder.h"

namespace heddle::graphs {

using Dims = Builder::Dims;

inline Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

inline Dims first_dims(std::size_t n) {
  Dims dims;
  for (std::size_t d = 0; d < n; ++d) dims.push_back(static_cast<std::int64_t>(d));
  return dims;
}

// A value per row, at every element of the rows.
inline Var along_rows(Builder& b, Var per_row, const Shape& shape) {
  return b.broadcast(per_row, shape, first_dims(shape.size() - 1));
}
inline Var along_columns(Builder& b, Var per_column, const Shape& shape) {
  return b.broadcast(per_column, shape, {static_cast<std::int64_t>(shape.size() - 1)});
}

inline Var softmax(Builder& b, Var x) {
  const Shape shape = x.type().shape;
  const auto last = static_cast<std::int64_t>(shape.size() - 1);
  const Var e = b.op("exponential", {x - along_rows(b, b.reduce(x, {last}, "maximum"), shape)});
  return e / along_rows(b, b.reduce(e, {last}, "add"), shape);
}

inline Var layer_norm(Builder& b, Var x, Var gain, Var bias) {
  const Shape shape = x.type().shape;
  const auto last = static_cast<std::int64_t>(shape.size() - 1);
  const auto width = static_cast<double>(shape.back());
  const Var centred = x - along_rows(b, b.reduce(x, {last}, "add") / width, shape);
  const Var variance = b.reduce(centred * centred, {last}, "add") / width;
  const Var scale = b.op("rsqrt", {variance + 1e-5});
  return centred * along_rows(b, scale, shape) * along_columns(b, gain, shape) +
         along_columns(b, bias, shape);
}

inline Var gelu(Builder& b, Var x) {
  return 0.5 * x * (1.0 + b.op("tanh", {0.7978846 * (x + 0.044715 * x * x * x)}));
}

inline Var dense(Builder& b, Var x, Var weight, Var bias) {
  const Var y = b.dot(x, weight);
  return y + along_columns(b, bias, y.type().shape);
}

inline Type vector_of(std::int64_t n) { return f32({n}); }

// Adam with bias corrections that are there already.
inline Program adam_like() {
  Builder b;
  std::vector<Type> types;
  for (std::int64_t i = 0; i < 100; ++i)
    for (int k = 0; k < 4; ++k)
      types.push_back(i % 3 == 0 ? vector_of(64 + i) : f32({32 + i % 7, 48 + i}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    Vars out;
    for (std::size_t i = 0; i < in.size(); i += 4) {
      const Var p = in[i], g = in[i + 1];
      const Var m = 0.9 * in[i + 2] + 0.1 * g, v = 0.999 * in[i + 3] + 0.001 * (g * g);
      out.push_back(p - 1e-3 * (m / (b.op("sqrt", {v}) + 1e-8)));
      out.push_back(m);
      out.push_back(v);
    }
    return out;
  });
  return b.finish().value();
}

inline Program lamb_like() {
  Builder b;
  std::vector<Type> types;
  for (std::int64_t i = 0; i < 60; ++i)
    for (int k = 0; k < 4; ++k)
      types.push_back(i % 3 == 0 ? vector_of(256 + i) : f32({64 + i % 5, 512 + 8 * i}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    Vars out;
    for (std::size_t i = 0; i < in.size(); i += 4) {
      const Var p = in[i], g = in[i + 1];
      const Var m = 0.9 * in[i + 2] + 0.1 * g, v = 0.999 * in[i + 3] + 0.001 * (g * g);
      const Var u = m / (b.op("sqrt", {v}) + 1e-6) + 0.01 * p;
      const Dims all = first_dims(p.type().rank());
      const Var ratio = b.op("sqrt", {b.reduce(p * p, all, "add")}) /
                        (b.op("sqrt", {b.reduce(u * u, all, "add")}) + 1e-6);
      out.push_back(p - b.broadcast(1e-3 * ratio, p.type().shape) * u);
      out.push_back(m);
      out.push_back(v);
    }
    return out;
  });
  return b.finish().value();
}

// Attention of all heads over [rows, width].
inline Var attention(Builder& b, Var x, const Vars& w, std::size_t& next, std::int64_t heads,
                     bool causal) {
  const Shape shape = x.type().shape;
  const std::int64_t rows = shape[0], width = shape[1], size = width / heads;
  auto split = [&](Var y) { return b.transpose(b.reshape(y, {rows, heads, size}), {1, 0, 2}); };
  Var parts[3];
  for (Var& part : parts) {
    part = split(dense(b, x, w[next], w[next + 1]));
    next += 2;
  }
  Var scores = b.dot(parts[0], parts[1], {{0}, {0}, {2}, {2}});
  scores = scores * 0.125;
  if (causal) {
    const Type index = Type::tensor(DType::i32, {heads, rows, rows});
    const Var below = b.compare("GE", b.iota(index, 1), b.iota(index, 2));
    scores = b.select(below, scores, b.full_like(scores, -1e9));
  }
  const Var mixed = b.dot(softmax(b, scores), parts[2], {{0}, {0}, {2}, {1}});
  const Var joined = b.reshape(b.transpose(mixed, {1, 0, 2}), shape);
  const Var out = dense(b, joined, w[next], w[next + 1]);
  next += 2;
  return out;
}

inline void add_attention_types(std::int64_t width, std::vector<Type>& types) {
  for (int k = 0; k < 4; ++k) {
    types.push_back(f32({width, width}));
    types.push_back(vector_of(width));
  }
}
inline void add_feed_forward_types(std::int64_t width, std::vector<Type>& types) {
  types.push_back(f32({width, 4 * width}));
  types.push_back(vector_of(4 * width));
  types.push_back(f32({4 * width, width}));
  types.push_back(vector_of(width));
}

// Two layers, normalised after each part.
inline Program bert_like() {
  constexpr std::int64_t kRows = 512, kWidth = 768;
  Builder b;
  std::vector<Type> types = {f32({kRows, kWidth})};
  for (int layer = 0; layer < 2; ++layer) {
    add_attention_types(kWidth, types);
    add_feed_forward_types(kWidth, types);
    for (int k = 0; k < 4; ++k) types.push_back(vector_of(kWidth));
  }
  b.function("main", types, [&](const Vars& w) -> Vars {
    Var x = w[0];
    std::size_t next = 1;
    for (int layer = 0; layer < 2; ++layer) {
      const Var mixed = attention(b, x, w, next, 12, false);
      const Vars f(w.begin() + static_cast<std::ptrdiff_t>(next), w.end());
      x = layer_norm(b, x + mixed, f[4], f[5]);
      const Var up = gelu(b, dense(b, x, f[0], f[1]));
      x = layer_norm(b, x + dense(b, up, f[2], f[3]), f[6], f[7]);
      next += 8;
    }
    return {x};
  });
  return b.finish().value();
}

// A decoder layer: causal attention, normalised before each part, and the loss of its output.
inline Program transformer_like() {
  constexpr std::int64_t kRows = 256, kWidth = 512, kWords = 8000;
  Builder b;
  std::vector<Type> types = {f32({kRows, kWidth})};
  for (int k = 0; k < 4; ++k) types.push_back(vector_of(kWidth));
  add_attention_types(kWidth, types);
  add_feed_forward_types(kWidth, types);
  types.push_back(f32({kWidth, kWords}));
  types.push_back(Type::tensor(DType::i32, {kRows}));
  b.function("main", types, [&](const Vars& w) -> Vars {
    std::size_t next = 5;
    Var x = w[0];
    x = x + attention(b, layer_norm(b, x, w[1], w[2]), w, next, 8, true);
    const Var hidden = gelu(b, dense(b, layer_norm(b, x, w[3], w[4]), w[next], w[next + 1]));
    x = x + dense(b, hidden, w[next + 2], w[next + 3]);
    const Var scores = b.dot(x, w[next + 4]);
    const Var chance = softmax(b, scores);
    const Type words = Type::tensor(DType::i32, {kRows, kWords});
    const Var is_word =
        b.compare("EQ", b.iota(words, 1), b.broadcast(w[next + 5], words.shape, {0}));
    const Var gradient = chance - b.convert(is_word, DType::f32);
    const Var zero = b.full_like(chance, 0);
    const Var loss = b.reduce(b.select(is_word, b.op("log", {chance}), zero), {0, 1}, "add");
    return {loss, gradient};
  });
  return b.finish().value();
}

// One step of a gated recurrent unit.
inline Var gru_cell(Builder& b, Var x, Var h, const Vars& w) {
  auto gate = [&](std::size_t k) {
    const Var y = b.dot(x, w[k]) + b.dot(h, w[k + 1]);
    return y + along_columns(b, w[k + 2], y.type().shape);
  };
  const Var z = b.op("logistic", {gate(0)}), r = b.op("logistic", {gate(3)});
  const Var n = b.dot(x, w[6]) + b.dot(r * h, w[7]);
  const Var c = b.op("tanh", {n + along_columns(b, w[8], n.type().shape)});
  return z * h + (1.0 - z) * c;
}

// Interest that changes over time: a recurrent unit over what a user did, weighted by attention to
// an item, and a small network behind it.
inline Program dien_like() {
  constexpr std::int64_t kBatch = 256, kSteps = 12, kWidth = 64;
  Builder b;
  std::vector<Type> types = {f32({kSteps, kBatch, kWidth}), f32({kBatch, kWidth})};
  for (int k = 0; k < 3; ++k) {
    types.push_back(f32({kWidth, kWidth}));
    types.push_back(f32({kWidth, kWidth}));
    types.push_back(vector_of(kWidth));
  }
  types.push_back(f32({2 * kWidth, 80}));
  types.push_back(vector_of(80));
  types.push_back(f32({80, 2}));
  types.push_back(vector_of(2));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Vars cell(in.begin() + 2, in.begin() + 11);
    const Shape shape = {kBatch, kWidth};
    Var h = b.full(f32(shape), 0), interest = h;
    Vars scores;
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const Var x = b.reshape(b.slice(in[0], {t, 0, 0}, {t + 1, kBatch, kWidth}), {kBatch, kWidth});
      h = gru_cell(b, x, h, cell);
      const Var score = b.op("logistic", {b.reduce(h * in[1], {1}, "add")});
      interest = interest + along_rows(b, score, shape) * h;
    }
    const Var both = b.concatenate({interest, in[1]}, 1);
    const Var y = dense(b, both, in[11], in[12]);
    const Var hidden = b.select(b.compare("GT", y, b.full_like(y, 0)), y, 0.1 * y);
    return {softmax(b, dense(b, hidden, in[13], in[14]))};
  });
  return b.finish().value();
}

// One step of a long short-term memory: all gates in one product.
inline Vars lstm_cell(Builder& b, Var x, const Vars& state, Var wx, Var wh, Var bias) {
  Var gates = b.dot(x, wx) + b.dot(state[0], wh);
  gates = gates + along_columns(b, bias, gates.type().shape);
  const std::int64_t rows = gates.type().shape[0], width = gates.type().shape[1] / 4;
  auto gate = [&](std::int64_t k) {
    return b.slice(gates, {0, k * width}, {rows, (k + 1) * width});
  };
  const Var c = b.op("logistic", {gate(1)}) * state[1] +
                b.op("logistic", {gate(0)}) * b.op("tanh", {gate(2)});
  return {b.op("logistic", {gate(3)}) * b.op("tanh", {c}), c};
}

inline std::vector<Type> lstm_types(std::int64_t in, std::int64_t width) {
  return {f32({in, 4 * width}), f32({width, 4 * width}), vector_of(4 * width)};
}

// Features that are normalised over time, recurrent layers, and log probabilities of letters.
inline Program asr_like() {
  constexpr std::int64_t kBatch = 8, kSteps = 16, kIn = 80, kWidth = 256, kLetters = 32;
  Builder b;
  std::vector<Type> types = {f32({kSteps, kBatch, kIn}), vector_of(kIn), vector_of(kIn)};
  for (const Type& t : lstm_types(kIn, kWidth)) types.push_back(t);
  types.push_back(f32({kWidth, kLetters}));
  types.push_back(vector_of(kLetters));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var features = layer_norm(b, b.op("log", {in[0] * in[0] + 1e-6}), in[1], in[2]);
    Vars state = {b.full(f32({kBatch, kWidth}), 0), b.full(f32({kBatch, kWidth}), 0)};
    Vars out;
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const Var x = b.reshape(b.slice(features, {t, 0, 0}, {t + 1, kBatch, kIn}), {kBatch, kIn});
      state = lstm_cell(b, x, state, in[3], in[4], in[5]);
      out.push_back(b.op("log", {softmax(b, dense(b, state[0], in[6], in[7]))}));
    }
    return out;
  });
  return b.finish().value();
}

// Pictures whose channels are normalised by what they are over the batch, halved, read column by
// column by a recurrent layer.
inline Program crnn_like() {
  constexpr std::int64_t kBatch = 8, kHeight = 16, kColumns = 32, kChannels = 32, kWidth = 64;
  Builder b;
  const Shape picture = {kBatch, kHeight, kColumns, kChannels};
  std::vector<Type> types = {f32(picture), vector_of(kChannels), vector_of(kChannels)};
  for (const Type& t : lstm_types(kHeight / 2 * kChannels, kWidth)) types.push_back(t);
  types.push_back(f32({kWidth, 40}));
  types.push_back(vector_of(40));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const double count = kBatch * kHeight * kColumns;
    const Dims pixels = {0, 1, 2};
    const Var mean = b.reduce(in[0], pixels, "add") / count;
    const Var centred = in[0] - along_columns(b, mean, picture);
    const Var variance = b.reduce(centred * centred, pixels, "add") / count;
    const Var scale = b.op("rsqrt", {variance + 1e-5}) * in[1];
    Var x = centred * along_columns(b, scale, picture) + along_columns(b, in[2], picture);
    x = b.op("maximum", {x, b.full_like(x, 0)});
    x = b.reshape(x, {kBatch, kHeight / 2, 2, kColumns / 2, 2, kChannels});
    x = b.reduce(x, {2, 4}, "maximum");
    const Var columns =
        b.reshape(b.transpose(x, {2, 0, 1, 3}), {kColumns / 2, kBatch, kHeight / 2 * kChannels});
    Vars state = {b.full(f32({kBatch, kWidth}), 0), b.full(f32({kBatch, kWidth}), 0)};
    Vars out;
    for (std::int64_t t = 0; t < kColumns / 2; ++t) {
      const std::int64_t width = kHeight / 2 * kChannels;
      const Var column =
          b.reshape(b.slice(columns, {t, 0, 0}, {t + 1, kBatch, width}), {kBatch, width});
      state = lstm_cell(b, column, state, in[3], in[4], in[5]);
      out.push_back(softmax(b, dense(b, state[0], in[6], in[7])));
    }
    return out;
  });
  return b.finish().value();
}

// ---- training steps

// Channels normalised by what they are over batch and pixels, and what is above zero of that.
struct Normed {
  Var out, scaled, scale;  // scaled: before gain and bias
};
inline Normed batch_norm(Builder& b, Var x, Var gain, Var bias) {
  const Shape shape = x.type().shape;
  const Dims pixels = {0, 1, 2};
  const auto count = static_cast<double>(shape[0] * shape[1] * shape[2]);
  const Var mean = b.reduce(x, pixels, "add") / count;
  const Var variance = b.reduce(x * x, pixels, "add") / count - mean * mean;
  const Var scale = b.op("rsqrt", {variance + 1e-5});
  const Var scaled = (x - along_columns(b, mean, shape)) * along_columns(b, scale, shape);
  const Var y = scaled * along_columns(b, gain, shape) + along_columns(b, bias, shape);
  return {b.op("maximum", {y, b.full_like(y, 0)}), scaled, scale};
}

// Gradients of its input, gain and bias.
inline Vars batch_norm_back(Builder& b, const Normed& n, Var gain, Var up) {
  const Shape shape = up.type().shape;
  const Dims pixels = {0, 1, 2};
  const auto count = static_cast<double>(shape[0] * shape[1] * shape[2]);
  const Var g = b.select(b.compare("GT", n.out, b.full_like(n.out, 0)), up, b.full_like(up, 0));
  const Var of_bias = b.reduce(g, pixels, "add"), of_gain = b.reduce(g * n.scaled, pixels, "add");
  const Var rest = g - along_columns(b, of_bias / count, shape) -
                   n.scaled * along_columns(b, of_gain / count, shape);
  return {rest * along_columns(b, gain * n.scale, shape), of_gain, of_bias};
}

// Layers of one-by-one convolutions that widen, forward and back.
inline Program resnet_step_like() {
  constexpr std::int64_t kBatch = 64, kSide = 28;
  const std::int64_t widths[] = {64, 64, 256, 512};
  Builder b;
  std::vector<Type> types = {f32({kBatch, kSide, kSide, widths[0]})};
  for (int layer = 0; layer < 3; ++layer) {
    types.push_back(f32({widths[layer], widths[layer + 1]}));
    types.push_back(vector_of(widths[layer + 1]));
    types.push_back(vector_of(widths[layer + 1]));
  }
  b.function("main", types, [&](const Vars& in) -> Vars {
    Vars inputs = {in[0]}, out;
    std::vector<Normed> normed;
    for (std::size_t k = 0; k < 3; ++k) {
      normed.push_back(
          batch_norm(b, b.dot(inputs.back(), in[1 + 3 * k]), in[2 + 3 * k], in[3 + 3 * k]));
      inputs.push_back(normed.back().out);
    }
    Var up = 2.0 * inputs.back();
    for (std::size_t k = 3; k-- > 0;) {
      const Vars back = batch_norm_back(b, normed[k], in[2 + 3 * k], up);
      out.push_back(b.dot(inputs[k], back[0], {{}, {}, {0, 1, 2}, {0, 1, 2}}));
      out.insert(out.end(), {back[1], back[2]});
      up = b.dot(back[0], in[1 + 3 * k], {{}, {}, {3}, {1}});
    }
    return out;
  });
  return b.finish().value();
}

// Groups of channels normalised per picture, twice, with what came in added.
inline Program unet_block_like() {
  const Shape shape = {16, 64, 64, 320}, grouped = {16, 64, 64, 32, 10};
  Builder b;
  const std::vector<Type> types = {f32(shape),     f32({320, 320}), f32({320, 320}), vector_of(320),
                                   vector_of(320), vector_of(320),  vector_of(320)};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Dims inside = {1, 2, 4}, kept = {0, 3};
    auto norm = [&](Var x, Var gain, Var bias) {
      const Var y = b.reshape(x, grouped);
      const double count = 64 * 64 * 10;
      const Var centred = y - b.broadcast(b.reduce(y, inside, "add") / count, grouped, kept);
      const Var variance = b.reduce(centred * centred, inside, "add") / count;
      const Var scale = b.op("rsqrt", {variance + 1e-5});
      const Var z = b.reshape(centred * b.broadcast(scale, grouped, kept), shape) *
                        along_columns(b, gain, shape) +
                    along_columns(b, bias, shape);
      return z * b.op("logistic", {z});
    };
    Var x = b.dot(norm(in[0], in[3], in[4]), in[1]);
    x = b.dot(norm(x, in[5], in[6]), in[2]);
    return {in[0] + x};
  });
  return b.finish().value();
}

// The way back from the loss of a language model: words, a norm, a feed-forward part.
inline Program language_back_like() {
  constexpr std::int64_t kRows = 4096, kWidth = 768, kWords = 50257;
  const Shape wide = {kRows, 4 * kWidth}, shape = {kRows, kWidth}, words = {kRows, kWords};
  Builder b;
  const std::vector<Type> types = {
      f32(words), Type::tensor(DType::i32, {kRows}), f32({kWidth, kWords}), f32(shape),
      f32(wide),  f32({4 * kWidth, kWidth}),         vector_of(kWidth)};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var is_word =
        b.compare("EQ", b.iota(Type::tensor(DType::i32, words), 1), b.broadcast(in[1], words, {0}));
    const Var gradient = (softmax(b, in[0]) - b.convert(is_word, DType::f32)) / 4096.0;
    const Var up = b.dot(gradient, in[2], {{}, {}, {1}, {1}});
    // Norm of in[3] with gain in[6].
    const auto width = static_cast<double>(kWidth);
    const Var centred = in[3] - along_rows(b, b.reduce(in[3], {1}, "add") / width, shape);
    const Var scale = b.op("rsqrt", {b.reduce(centred * centred, {1}, "add") / width + 1e-5});
    const Var normed = centred * along_rows(b, scale, shape);
    const Var of_gain = b.reduce(up * normed, {0}, "add"), of_bias = b.reduce(up, {0}, "add");
    const Var g = up * along_columns(b, in[6], shape);
    const Var mean = b.reduce(g, {1}, "add") / width;
    const Var along = b.reduce(g * normed, {1}, "add") / width;
    const Var down = (g - along_rows(b, mean, shape) - normed * along_rows(b, along, shape)) *
                     along_rows(b, scale, shape);
    const Var into = b.dot(down, in[5], {{}, {}, {1}, {1}});
    const Var inner = 0.7978846 * (in[4] + 0.044715 * in[4] * in[4] * in[4]);
    const Var t = b.op("tanh", {inner});
    const Var slope = 0.5 * (1.0 + t) +
                      0.5 * in[4] * (1.0 - t * t) * 0.7978846 * (1.0 + 0.134145 * in[4] * in[4]);
    const Var back = into * slope;
    return {of_gain, of_bias, down, back, b.reduce(back, {0}, "add")};
  });
  return b.finish().value();
}

// Rows sent to one of many experts by a router, whose loss wants them evenly used.
inline Program experts_like() {
  constexpr std::int64_t kRows = 4096, kWidth = 512, kExperts = 64, kRoom = 96;
  const Shape routes = {kRows, kExperts}, places = {kRows, kExperts, kRoom};
  Builder b;
  const std::vector<Type> types = {f32({kRows, kWidth}), f32({kWidth, kExperts}),
                                   f32({kExperts, kWidth, 2 * kWidth}),
                                   f32({kExperts, 2 * kWidth, kWidth})};
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Var chance = softmax(b, b.dot(in[0], in[1]));
    const Var top = b.reduce(chance, {1}, "maximum");
    const Var chosen = b.convert(b.compare("EQ", chance, along_rows(b, top, routes)), DType::f32);
    const Var used = b.reduce(chosen, {0}, "add") / 4096.0;
    const Var loss = b.reduce(used * (b.reduce(chance, {0}, "add") / 4096.0), {0}, "add");
    const Var place = b.op("floor", {b.dot(chosen, b.full(f32({kExperts, kExperts}), 0.5))});
    const Var there = b.compare("EQ", b.broadcast(place, places, {0, 1}),
                                b.convert(b.iota(Type::tensor(DType::i32, places), 2), DType::f32));
    const Var send = b.select(there, b.broadcast(chosen, places, {0, 1}), b.full(f32(places), 0));
    const Var sent = b.dot(send, in[0], {{}, {}, {0}, {0}});
    const Var hidden = gelu(b, b.dot(sent, in[2], {{0}, {0}, {2}, {1}}));
    const Var done = b.dot(hidden, in[3], {{0}, {0}, {2}, {1}});
    const Var weighted = send * b.broadcast(top, places, {0});
    return {in[0] + b.dot(weighted, done, {{}, {}, {1, 2}, {0, 1}}), loss};
  });
  return b.finish().value();
}

// Water in a basin that closes on itself: every place looks at its neighbours.
inline Program water_like() {
  constexpr std::int64_t kSide = 2048;
  const Shape shape = {kSide, kSide};
  Builder b;
  b.function("main", {f32(shape), f32(shape), f32(shape)}, [&](const Vars& in) -> Vars {
    auto roll = [&](Var x, std::size_t d) {
      Dims zero = {0, 0}, end = {kSide, kSide}, cut = {kSide, kSide}, from = {0, 0};
      cut[d] = from[d] = 1;
      return b.concatenate({b.slice(x, from, end), b.slice(x, zero, cut)},
                           static_cast<std::int64_t>(d));
    };
    Var h = in[0], u = in[1], v = in[2];
    for (int step = 0; step < 2; ++step) {
      u = u - 0.1 * (roll(h, 0) - h);
      v = v - 0.1 * (roll(h, 1) - h);
      h = h - 0.05 * (roll(u, 0) - u + roll(v, 1) - v);
    }
    return {h, u, v, b.reduce(h, {0, 1}, "add")};
  });
  return b.finish().value();
}

}  // namespace heddle::graphs
