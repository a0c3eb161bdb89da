// Whole models: how few launches they become, and how few bytes those move, beside every op by
// itself. Nothing runs here; that results are right is shown elsewhere.
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle/compile.h"

namespace heddle {
namespace {

using Dims = Builder::Dims;

struct Cost {
  std::size_t launches = 0;
  double bytes = 0;
};

Cost cost_of(const Program& program, bool fuse) {
  CompileOptions options;
  options.machine_code = false;
  options.machine = MachineFigures{};
  options.stitch.fuse = fuse;
  const Executable executable = compile(program, options).value();
  Cost cost;
  for (const StepInfo& step : executable.steps())
    if (step.kind == "kernel") {
      ++cost.launches;
      cost.bytes += static_cast<double>(step.bytes_read + step.bytes_written);
    } else {
      EXPECT_TRUE(step.kind == "library") << step.kind << " " << step.name;
    }
  return cost;
}

struct Fractions {
  double launches = 1, bytes = 1;  // of what every op by itself would take
  std::size_t fused = 0;
};

Fractions fractions(Builder& b) {
  const Program program = b.finish().value();
  const Cost fused = cost_of(program, true), apart = cost_of(program, false);
  return {static_cast<double>(fused.launches) / static_cast<double>(apart.launches),
          fused.bytes / apart.bytes, fused.launches};
}

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

Dims first_dims(std::size_t n) {
  Dims dims;
  for (std::size_t d = 0; d < n; ++d) dims.push_back(static_cast<std::int64_t>(d));
  return dims;
}

// A value per row, at every element of the rows.
Var along_rows(Builder& b, Var per_row, const Shape& shape) {
  return b.broadcast(per_row, shape, first_dims(shape.size() - 1));
}
Var along_columns(Builder& b, Var per_column, const Shape& shape) {
  return b.broadcast(per_column, shape, {static_cast<std::int64_t>(shape.size() - 1)});
}

Var softmax(Builder& b, Var x) {
  const Shape shape = x.type().shape;
  const auto last = static_cast<std::int64_t>(shape.size() - 1);
  const Var e = b.op("exponential", {x - along_rows(b, b.reduce(x, {last}, "maximum"), shape)});
  return e / along_rows(b, b.reduce(e, {last}, "add"), shape);
}

Var layer_norm(Builder& b, Var x, Var gain, Var bias) {
  const Shape shape = x.type().shape;
  const auto last = static_cast<std::int64_t>(shape.size() - 1);
  const auto width = static_cast<double>(shape.back());
  const Var centred = x - along_rows(b, b.reduce(x, {last}, "add") / width, shape);
  const Var variance = b.reduce(centred * centred, {last}, "add") / width;
  const Var scale = b.op("rsqrt", {variance + 1e-5});
  return centred * along_rows(b, scale, shape) * along_columns(b, gain, shape) +
         along_columns(b, bias, shape);
}

Var gelu(Builder& b, Var x) {
  return 0.5 * x * (1.0 + b.op("tanh", {0.7978846 * (x + 0.044715 * x * x * x)}));
}

Var dense(Builder& b, Var x, Var weight, Var bias) {
  const Var y = b.dot(x, weight);
  return y + along_columns(b, bias, y.type().shape);
}

Type vector_of(std::int64_t n) { return f32({n}); }

// Adam with bias corrections that are there already.
TEST(WholeGraphs, AdamOverAHundredTensorsIsAtMostTwoLaunches) {
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
  EXPECT_LE(fractions(b).fused, 2U);
}

TEST(WholeGraphs, LambOverSixtyTensorsIsAtMostThreeLaunches) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.fused, 3U);
  EXPECT_LE(got.bytes, 0.25);
}

// Attention of all heads over [rows, width].
Var attention(Builder& b, Var x, const Vars& w, std::size_t& next, std::int64_t heads,
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

void add_attention_types(std::int64_t width, std::vector<Type>& types) {
  for (int k = 0; k < 4; ++k) {
    types.push_back(f32({width, width}));
    types.push_back(vector_of(width));
  }
}
void add_feed_forward_types(std::int64_t width, std::vector<Type>& types) {
  types.push_back(f32({width, 4 * width}));
  types.push_back(vector_of(4 * width));
  types.push_back(f32({4 * width, width}));
  types.push_back(vector_of(width));
}

// Two layers, normalised after each part.
TEST(WholeGraphs, BertLike) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.25);
}

// A decoder layer: causal attention, normalised before each part, and the loss of its output.
TEST(WholeGraphs, TransformerLike) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.25);
}

// One step of a gated recurrent unit.
Var gru_cell(Builder& b, Var x, Var h, const Vars& w) {
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
TEST(WholeGraphs, DienLike) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

// One step of a long short-term memory: all gates in one product.
Vars lstm_cell(Builder& b, Var x, const Vars& state, Var wx, Var wh, Var bias) {
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

std::vector<Type> lstm_types(std::int64_t in, std::int64_t width) {
  return {f32({in, 4 * width}), f32({width, 4 * width}), vector_of(4 * width)};
}

// Features that are normalised over time, recurrent layers, and log probabilities of letters.
TEST(WholeGraphs, AsrLike) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

// Pictures whose channels are normalised by what they are over the batch, halved, read column by
// column by a recurrent layer.
TEST(WholeGraphs, CrnnLike) {
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
  const Fractions got = fractions(b);
  RecordProperty("launches", std::to_string(got.launches));
  RecordProperty("bytes", std::to_string(got.bytes));
  EXPECT_LE(got.launches, 0.2);
  EXPECT_LE(got.bytes, 0.3);
}

}  // namespace
}  // namespace heddle
