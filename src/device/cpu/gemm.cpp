#include "device/cpu/gemm.h"

#include <algorithm>

#include "cost/sharing.h"
#include "device/cpu/element.h"

namespace heddle::cpu {

GemmCut gemm_cut(const GemmShape& s, std::int64_t turns, int threads) {
  const double work = static_cast<double>(s.m) * static_cast<double>(s.n) *
                      static_cast<double>(std::max<std::int64_t>(s.k, 1));
  if (work < 2 * cost::kSharedProducts || turns >= 2 * threads || threads == 1) return {};
  const bool columns = s.n > s.m;
  const std::int64_t along = columns ? s.n : s.m;
  const std::int64_t wanted = (2 * threads + turns - 1) / turns;
  const auto by_work = static_cast<std::int64_t>(work / cost::kSharedProducts);
  const std::int64_t parts = std::min({wanted, by_work, along / cost::kLeastRows});
  return {columns, std::max<std::int64_t>(parts, 1)};
}

std::int64_t gemm_turns(const GemmBatch& batch) {
  std::int64_t turns = 1;
  for (const GemmLoop& loop : batch.loops) turns *= loop.count;
  return turns;
}

std::int64_t gemm_groups(const GemmShape& s, std::int64_t turns, int threads) {
  const double each = static_cast<double>(s.m) * static_cast<double>(s.n) *
                      static_cast<double>(std::max<std::int64_t>(s.k, 1));
  const auto together = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(cost::kSharedProducts / std::max(each, 1.0)));
  return std::min((turns + together - 1) / together, std::int64_t{8} * threads);
}

namespace {

template <typename T>
void run_band(const GemmShape& whole, const GemmCut& cut, std::int64_t part, const T* a, const T* b,
              T* c) {
  GemmShape s = whole;
  std::int64_t& along = cut.columns ? s.n : s.m;
  const std::int64_t total = along;
  const std::int64_t first = cut.border(part, total);
  along = cut.border(part + 1, total) - first;
  if (along == 0) return;
  if (cut.columns) {
    b += first * (s.transpose_b ? s.ldb : 1);
    c += first;
  } else {
    a += first * (s.transpose_a ? 1 : s.lda);
    c += first * s.ldc;
  }
  gemm(s, a, b, c);
}

template <typename T>
void run_typed(const GemmBatch& batch, const T* a, const T* b, T* c, ThreadPool& pool) {
  const GemmShape& s = batch.shape;
  const std::int64_t turns = gemm_turns(batch);
  if (turns == 0 || s.m == 0 || s.n == 0) return;
  const GemmCut cut = gemm_cut(s, turns, pool.threads());
  const auto one = [&](std::int64_t turn, std::int64_t part) {
    const T *at = a, *bt = b;
    T* ct = c;
    for (std::size_t l = batch.loops.size(); l-- > 0;) {
      const GemmLoop& loop = batch.loops[l];
      const std::int64_t i = turn % loop.count;
      turn /= loop.count;
      at += i * loop.a;
      bt += i * loop.b;
      ct += i * loop.c;
    }
    run_band(s, cut, part, at, bt, ct);
  };
  if (cut.parts > 1) {
    pool.parallel_for(turns * cut.parts,
                      [&](std::int64_t i, int) { one(i / cut.parts, i % cut.parts); });
    return;
  }
  const std::int64_t groups = gemm_groups(s, turns, pool.threads());
  const auto group = [&](std::int64_t g, int) {
    for (std::int64_t t = turns * g / groups; t < turns * (g + 1) / groups; ++t) one(t, 0);
  };
  if (groups == 1) return group(0, 0);
  pool.parallel_for(groups, group);
}

}  // namespace

std::int64_t gemm_parts(const GemmBatch& batch, int threads) {
  const std::int64_t turns = gemm_turns(batch);
  const GemmCut cut = gemm_cut(batch.shape, turns, threads);
  return cut.parts > 1 ? turns * cut.parts : gemm_groups(batch.shape, turns, threads);
}

void run_gemm(const GemmBatch& batch, const std::byte* a, const std::byte* b, std::byte* c,
              ThreadPool& pool) {
  with_product_type(batch.dtype, [&](auto tag) {
    using T = decltype(tag);
    run_typed(batch, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
              reinterpret_cast<T*>(c), pool);
  });
}

}  // namespace heddle::cpu
