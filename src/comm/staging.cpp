// Collectives in the memory of a device, by transports that know only the host's.
#include "heddle/device.h"
#include "heddle/transport.h"

namespace heddle {

namespace {

struct Sizes {
  std::int64_t in = 0, out = 0;  // bytes of the whole buffers
};

Sizes sizes_of(const Collective& c, std::int64_t members) {
  const std::int64_t piece = c.in_pieces.bytes();
  switch (c.kind) {
    case CollectiveKind::all_gather:
      return {piece, c.out_pieces.bytes() * members};
    case CollectiveKind::reduce_scatter:
      return {piece * members, piece};
    case CollectiveKind::all_to_all:
      return {piece * members, c.out_pieces.bytes() * members};
    case CollectiveKind::send:
      return {piece, 0};
    case CollectiveKind::receive:
      return {0, piece};
    default:
      return {piece, piece};
  }
}

std::shared_ptr<Block> block_of_size(std::int64_t bytes) {
  return bytes > 0 ? Block::raw(static_cast<std::size_t>(bytes)) : nullptr;
}

}  // namespace

Expected<RequestId> Transport::start_on(Queue& queue, Collective collective, DeviceAddress in,
                                        DeviceAddress out) {
  HEDDLE_CHECK(collective.kind != CollectiveKind::exchange, "parts of an exchange have no address");
  if (queue.device().in_host_memory()) {
    HEDDLE_TRY_VOID(queue.finish());
    collective.in = host_pointer(in);
    collective.out = host_pointer(out);
    return start(collective);
  }
  const auto members = static_cast<std::int64_t>(this->members(collective.group).size());
  const Sizes sizes = sizes_of(collective, members);
  Staged staged{block_of_size(sizes.in), block_of_size(sizes.out), out};
  if (staged.in) HEDDLE_TRY_VOID(queue.read(in, {staged.in->data(), staged.in->size()}));
  HEDDLE_TRY_VOID(queue.record().wait());
  collective.in = staged.in ? staged.in->data() : nullptr;
  collective.out = staged.out ? staged.out->data() : nullptr;
  HEDDLE_TRY(const RequestId request, start(collective));
  staged_.emplace(request, std::move(staged));
  return request;
}

Verdict Transport::wait_on(Queue& queue, RequestId request) {
  HEDDLE_TRY_VOID(wait(request));
  const auto found = staged_.find(request);
  if (found == staged_.end()) return yes();
  const Staged staged = std::move(found->second);
  staged_.erase(found);
  if (!staged.out) return yes();
  return queue.write({staged.out->data(), staged.out->size()}, staged.to, staged.out);
}

}  // namespace heddle
