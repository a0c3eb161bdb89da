// Figures of devices and links: what is fitted, and how they are kept.
#include <gtest/gtest.h>

#include "compile/calibrate_mesh.h"
#include "heddle/cost.h"
#include "layout/move_cost.h"
#include "parallel/here.h"

namespace heddle {
namespace {

TEST(CalibrateMesh, FindsTheLinkThatMovesWereTimedWith) {
  const Link link{7e-6, 3e9};
  std::vector<MeasuredMove> moves;
  for (const MoveKind kind : {MoveKind::all_reduce, MoveKind::all_gather, MoveKind::permute})
    for (const double bytes : {1e3, 1e5, 1e7})
      moves.push_back({kind, bytes, collective_seconds(kind, {4, link, Medium::network}, bytes)});
  const Link fitted = fit_link(moves, 4);
  EXPECT_NEAR(fitted.latency, link.latency, 1e-3 * link.latency);
  EXPECT_NEAR(fitted.bandwidth, link.bandwidth, 1e-3 * link.bandwidth);
}

TEST(CalibrateMesh, ALinkWithoutLatencyOrWithoutEndHasBothAboveZero) {
  const std::vector<MeasuredMove> alike = {{MoveKind::permute, 1e3, 1e-5},
                                           {MoveKind::permute, 1e6, 1e-5}};
  const std::vector<MeasuredMove> steep = {{MoveKind::permute, 1e3, 1e-9},
                                           {MoveKind::permute, 1e6, 1e-3}};
  for (const auto& moves : {alike, steep}) {
    const Link link = fit_link(moves, 2);
    EXPECT_GT(link.latency, 0);
    EXPECT_GT(link.bandwidth, 0);
  }
}

TEST(CalibrateMesh, DevicesThatShareCoresAreSlowerEach) {
  const MachineFigures machine = default_figures(2);
  const Cluster two = default_cluster_here(2, machine), four = default_cluster_here(4, machine);
  EXPECT_EQ(two.devices(), 2);
  EXPECT_EQ(four.device.compute_rate, two.device.compute_rate / 2);
  EXPECT_LE(four.device.memory_rate, two.device.memory_rate / 2);
  EXPECT_EQ(parse_cluster(cluster_text(four), "here").value(), four);
}

}  // namespace
}  // namespace heddle
