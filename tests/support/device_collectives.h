// Collectives of ranks that are threads on one device: by the device alone, and by way of the host.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>
#include <thread>

#include "comm/device_transport.h"
#include "heddle/device.h"

namespace heddle::test {

struct CollectiveCase {
  Collective what;
  std::int64_t in_bytes = 0, out_bytes = 0;
  bool in_place = false, backwards = false;  // the group has its members the other way round
};

// Every kind with runs of several sizes; `ranks` members.
inline std::vector<CollectiveCase> collective_cases(int ranks) {
  std::vector<CollectiveCase> cases;
  const auto add = [&](CollectiveKind kind, Pieces in, Pieces out, DType dtype = DType::f32,
                       ReduceOp op = ReduceOp::sum) -> CollectiveCase& {
    CollectiveCase made;
    made.what.kind = kind;
    made.what.in_pieces = in;
    made.what.out_pieces = out;
    made.what.dtype = dtype;
    made.what.reduce = op;
    made.what.what = "a test";
    const bool in_cut =
        kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
    const bool out_cut = kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all;
    made.in_bytes = in.bytes() * (in_cut ? ranks : 1);
    made.out_bytes = (out_cut ? out.bytes() * ranks : in.bytes());
    cases.push_back(made);
    return cases.back();
  };
  for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{4000}, std::int64_t{160'000}}) {
    for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64, DType::i32, DType::ui8})
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max})
        add(CollectiveKind::all_reduce, {1, bytes}, {1, bytes}, dtype, op).in_place =
            op == ReduceOp::sum;
    add(CollectiveKind::all_reduce, {1, bytes}, {1, bytes}).backwards = true;
    add(CollectiveKind::all_reduce, {1, bytes}, {1, bytes}, DType::i32, ReduceOp::logical_and);
    add(CollectiveKind::broadcast, {1, bytes}, {1, bytes}).what.from = ranks - 1;
    add(CollectiveKind::permute, {1, bytes}, {1, bytes});
  }
  for (const Pieces& cut : {Pieces{1, 4000}, Pieces{5, 400}, Pieces{100, 8}}) {
    add(CollectiveKind::all_gather, {1, cut.bytes()}, cut).backwards = cut.runs == 5;
    add(CollectiveKind::reduce_scatter, cut, {1, cut.bytes()});
    add(CollectiveKind::reduce_scatter, cut, {1, cut.bytes()}, DType::bf16).backwards = true;
    add(CollectiveKind::all_to_all, cut, {1, cut.bytes()});
    add(CollectiveKind::all_to_all, {1, cut.bytes()}, cut);
    add(CollectiveKind::all_to_all, {cut.runs * 2, cut.run_bytes / 2}, cut);
  }
  return cases;
}

using RankResults = std::vector<std::vector<std::byte>>;  // by case

// What one rank gets. Two are under way at a time; operands are written over at once behind a wait.
inline Verdict run_rank(Device& device, Transport& transport,
                        const std::vector<CollectiveCase>& cases, RankResults& results) {
  const int ranks = transport.size(), me = transport.rank();
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  HEDDLE_TRY(const GroupId forth, transport.group(all));
  const std::vector<int> reversed(all.rbegin(), all.rend());
  HEDDLE_TRY(const GroupId back, transport.group(reversed));
  const auto queue = device.queue();
  struct UnderWay {
    Buffer in, out;
    RequestId request = 0;
    std::size_t number = 0;
  };
  std::deque<UnderWay> under_way;
  std::vector<std::vector<std::byte>> kept;
  results.resize(cases.size());
  const auto end_first = [&]() -> Verdict {
    const UnderWay first = std::move(under_way.front());
    under_way.pop_front();
    HEDDLE_TRY_VOID(transport.wait_on(*queue, first.request));
    const bool in_place = first.in.address == first.out.address;
    if (!in_place) HEDDLE_TRY_VOID(queue->zero(first.in.address, first.in.bytes));
    auto& result = results[first.number];
    result.resize(static_cast<std::size_t>(cases[first.number].out_bytes));
    return read_now(*queue, first.out.address, result);
  };
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const CollectiveCase& one = cases[n];
    UnderWay next;
    next.number = n;
    HEDDLE_TRY(next.in, device.allocate(one.in_bytes));
    next.out = next.in;
    if (!one.in_place) {
      HEDDLE_TRY(next.out, device.allocate(one.out_bytes));
    }
    // Bytes of all kinds but those of infinities and NaN, whose bits say nothing.
    std::mt19937 random(static_cast<unsigned>(1000 * n + static_cast<unsigned>(me)));
    std::vector<std::byte>& bytes = kept.emplace_back(static_cast<std::size_t>(one.in_bytes));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 64);
    HEDDLE_TRY_VOID(queue->write(bytes, next.in.address, nullptr));
    Collective c = one.what;
    c.group = one.backwards ? back : forth;
    if (c.kind == CollectiveKind::permute) {
      c.from = me == 0 ? -1 : me - 1;
      c.to = me + 1 == ranks ? -1 : me + 1;
    }
    HEDDLE_TRY(next.request, transport.start_on(*queue, c, next.in.address, next.out.address));
    under_way.push_back(std::move(next));
    if (under_way.size() == 2) HEDDLE_TRY_VOID(end_first());
  }
  while (!under_way.empty()) HEDDLE_TRY_VOID(end_first());
  return queue->finish();
}

inline std::vector<RankResults> run_ranks(Device& device,
                                          std::vector<std::unique_ptr<Transport>> transports,
                                          const std::vector<CollectiveCase>& cases) {
  std::vector<RankResults> results(transports.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < transports.size(); ++r)
    threads.emplace_back([&, r] {
      transports[r]->enter();
      const Verdict ran = run_rank(device, *transports[r], cases, results[r]);
      EXPECT_TRUE(ran) << (ran ? "" : ran.reason());
      if (!ran) transports[r]->abort(ran.reason());
      transports[r]->leave();
    });
  for (std::thread& thread : threads) thread.join();
  return results;
}

// Both ways give the same bits.
inline void expect_same_collectives(Device& device, int ranks) {
  const auto cases = collective_cases(ranks);
  const auto by_host = run_ranks(device, thread_transports(ranks), cases);
  const auto by_device = run_ranks(device, comm::on_shared_device(thread_transports(ranks)), cases);
  for (std::size_t r = 0; r < by_host.size(); ++r)
    for (std::size_t n = 0; n < cases.size(); ++n)
      EXPECT_TRUE(by_device[r][n] == by_host[r][n])
          << "case " << n << ", " << name(cases[n].what.kind) << " of " << name(cases[n].what.dtype)
          << " (" << name(cases[n].what.reduce) << "), rank " << r << " of " << ranks;
}

}  // namespace heddle::test
