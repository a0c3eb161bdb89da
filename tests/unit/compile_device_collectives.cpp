// Ranks on one device exchange its memory without the host, with the bits that the host's way has.
#include "device/cpu/device.h"
#include "device_collectives.h"
#include "test_device.h"

namespace heddle {
namespace {

TEST(DeviceCollectives, HaveTheBitsOfTheHostsWay) {
  test::TestDevice device(cpu_device());
  for (int ranks : {1, 2, 3, 5}) test::expect_same_collectives(device, ranks);
  EXPECT_GT(device.combinations, 0U);
}

// Whoever waits for a rank that has failed gets the reason.
TEST(DeviceCollectives, ALostRankEndsTheOthers) {
  test::TestDevice device(cpu_device());
  auto transports = comm::on_shared_device(thread_transports(2));
  transports[1]->abort("a test wants it so");
  const int all[] = {0, 1};
  Transport& first = *transports[0];
  const auto queue = device.queue();
  const Buffer in = device.allocate(8).value(), out = device.allocate(8).value();
  Collective c{.kind = CollectiveKind::all_reduce, .group = first.group(all).value()};
  c.in_pieces = c.out_pieces = {1, 8};
  const auto request = first.start_on(*queue, c, in.address, out.address);
  const Verdict over = request ? first.wait_on(*queue, *request) : Verdict(request.why());
  ASSERT_FALSE(over);
  EXPECT_NE(over.reason().find("a test wants it so"), std::string::npos) << over.reason();
}

}  // namespace
}  // namespace heddle
