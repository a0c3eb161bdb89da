#include "pjrt/buffer.h"

#include <charconv>
#include <cstring>

#include "pjrt/elements.h"

namespace heddle::pjrt {

Array BufferValue::host() const {
  if (value_.in_host_memory()) return value_.array();
  const auto queue = queues_->take();
  return want(to_host(*queue, value_));
}

void BufferValue::read(std::int64_t offset, std::span<std::byte> to) const {
  if (to.empty()) return;
  if (value_.in_host_memory()) {
    std::memcpy(to.data(), value_.array().bytes().data() + offset, to.size());
    return;
  }
  const auto queue = queues_->take();
  want(queue->wait(value_.buffer().ready));
  want(read_now(*queue, value_.buffer().address + offset, to));
}

bool BufferHandle::is_deleted() const {
  const std::lock_guard lock(mutex_);
  return value_ == nullptr;
}

ValueRef BufferHandle::value() const {
  const std::lock_guard lock(mutex_);
  if (value_ == nullptr)
    throw Failure(Code::invalid_argument,
                  fmt::format("the buffer ({}) has been deleted or donated", type.str()));
  return value_;
}

void BufferHandle::remove() {
  const std::lock_guard lock(mutex_);
  value_ = nullptr;
  if (holders_ == 0) ordered_.reset();
}

void BufferHandle::hold() {
  const std::lock_guard lock(mutex_);
  if (holders_++ == 0) held_ = value_;
}

bool BufferHandle::let_go() {
  const std::lock_guard lock(mutex_);
  if (holders_ == 0) return false;
  if (--holders_ > 0) return true;
  held_ = nullptr;
  if (value_ == nullptr) ordered_.reset();
  return true;
}

Memory& place_of(Memory* memory, DeviceHandle* device) {
  if (memory != nullptr) return *memory;
  if (device == nullptr)
    throw Failure(Code::invalid_argument, "neither memory nor device is given");
  return *device->memory_list.front();
}

BufferHandle* new_buffer(Memory& memory, ValueRef value) {
  return std::make_unique<BufferHandle>(memory, std::move(value)).release();
}

ValueRef new_value(Memory& memory, Type type, EventRef ready, EventRef begun) {
  EventRef first = begun ? std::move(begun) : ready;
  return std::make_shared<BufferValue>(std::move(type), *memory.device, std::move(ready),
                                       std::move(first));
}

DeviceValue placed_in(const Memory& memory, DeviceValue value) {
  if (memory.in_host_memory() == value.in_host_memory() || !value.type().is_tensor()) return value;
  const auto queue = memory.device->queues->take();
  if (memory.in_host_memory()) return want(to_host(*queue, value));
  DeviceValue there = want(to_device(*queue, std::move(value)));
  want(queue->finish());
  return there;
}

ValueRef value_of(Memory& memory, Array array, std::shared_ptr<void> owner) {
  ValueRef value = new_value(memory, array.type(), passed_event());
  DeviceValue there = placed_in(memory, std::move(array));
  if (!there.in_host_memory()) owner = nullptr;
  value->fill(std::move(there), std::move(owner));
  return value;
}

namespace {

// Dimensions with their steps through foreign memory, outermost first.
struct Walk {
  std::vector<std::int64_t> sizes, steps;  // steps in bytes
};

// Copies between a foreign array and a dense one; `in` says which way. Runs of the innermost
// dimension that lie side by side go at once.
void walk(std::byte* dense, std::byte* foreign, const Walk& w, std::int64_t element, bool in) {
  const std::size_t rank = w.sizes.size();
  for (std::int64_t size : w.sizes)
    if (size == 0) return;
  const bool runs = rank > 0 && w.steps[rank - 1] == element;
  const std::int64_t run = runs ? w.sizes[rank - 1] * element : element;
  const std::size_t outer = runs ? rank - 1 : rank;
  std::vector<std::int64_t> at(outer, 0);
  for (;;) {
    std::memcpy(in ? dense : foreign, in ? foreign : dense, static_cast<std::size_t>(run));
    dense += run;
    std::size_t d = outer;
    while (d > 0) {
      --d;
      foreign += w.steps[d];
      if (++at[d] < w.sizes[d]) break;
      foreign -= w.steps[d] * w.sizes[d];
      at[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

std::vector<std::int64_t> dense_steps(const Shape& shape, std::int64_t element) {
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = element;
  for (std::size_t d = shape.size(); d-- > 0;) {
    steps[d] = step;
    step *= shape[d];
  }
  return steps;
}

// Steps of dimensions that count for nothing may be anything.
bool is_dense(const Walk& w, std::int64_t element) {
  const std::vector<std::int64_t> dense = dense_steps(w.sizes, element);
  for (std::size_t d = 0; d < w.sizes.size(); ++d)
    if (w.sizes[d] > 1 && w.steps[d] != dense[d]) return false;
  return true;
}

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % Block::kAlignment == 0;
}

// Tells the caller, when the last who looks at its memory is gone.
std::shared_ptr<void> holder_of(const EventRef& done) {
  return {done.get(), [done](void*) { done->set(); }};
}

// Of "{0,1}".
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    const auto end =
        std::from_chars(text.data() + i, text.data() + text.size(), numbers.emplace_back());
    i = static_cast<std::size_t>(end.ptr - text.data());
  }
  return numbers;
}

std::vector<std::int64_t> steps_of(const MemoryLayout* layout, const Shape& shape,
                                   std::int64_t element) {
  if (layout == nullptr) return dense_steps(shape, element);
  if (layout->kind == MemoryLayout::Kind::strides)
    return {layout->strides.bytes, layout->strides.bytes + layout->strides.rank};
  if (layout->tiled.tiles > 0)
    throw Failure(Code::unimplemented, "Heddle has no tiled layouts in host memory");
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = element;
  for (std::size_t i = 0; i < layout->tiled.rank; ++i) {
    const auto d = static_cast<std::size_t>(layout->tiled.minor_to_major[i]);
    steps[d] = step;
    step *= shape[d];
  }
  return steps;
}

}  // namespace

ValueRef value_from_host(Memory& memory, const FromHostArgs& args, const EventRef& done) {
  const Type type = type_of(args.type, args.dims, args.rank);
  if (!type.is_tensor() || type.bytes() == 0) {
    done->set();
    return value_of(memory, type.is_tensor() ? Array(type) : Array());
  }
  const std::int64_t element = byte_size(type.dtype);
  Walk w{type.shape, dense_steps(type.shape, element)};
  if (args.stride_count > 0) w.steps.assign(args.strides, args.strides + args.stride_count);
  if (w.steps.size() != w.sizes.size())
    throw Failure(Code::invalid_argument,
                  fmt::format("{} strides for {}", w.steps.size(), type.str()));
  const auto bytes = static_cast<std::size_t>(type.bytes());
  const bool dense = is_dense(w, element);
  const bool may_look =
      args.semantics == HostMemory::zero_copy || args.semantics == HostMemory::mutable_zero_copy;
  // What goes to a device of its own is copied anyhow, before this comes back.
  if (dense && ((may_look && is_aligned(args.data)) || !memory.in_host_memory())) {
    auto block = Block::view(static_cast<const std::byte*>(args.data), bytes);
    return value_of(memory, Array(type, std::move(block)), holder_of(done));
  }
  auto block = Block::raw(bytes);
  auto* from = const_cast<std::byte*>(static_cast<const std::byte*>(args.data));
  if (dense)
    std::memcpy(block->data(), from, bytes);
  else
    walk(block->data(), from, w, element, true);
  done->set();
  return value_of(memory, Array(type, std::move(block)));
}

namespace {

// Dimensions in the order that the layout says.
void put_in_order(const Array& array, const Walk& order, void* to) {
  walk(const_cast<std::byte*>(array.bytes().data()), static_cast<std::byte*>(to), order,
       byte_size(array.dtype()), false);
}

// The same bytes in memory of their own.
DeviceValue copied(const Memory& memory, const DeviceValue& value) {
  if (value.in_host_memory()) return Array(value.type(), Block::copy_of(value.array().bytes()));
  const auto queue = memory.device->queues->take();
  Buffer copy = want(queue->allocate(value.type().bytes()));
  want(queue->copy(value.buffer().address, copy.address, value.type().bytes()));
  want(queue->finish());
  return {value.type(), std::move(copy)};
}

}  // namespace

void copy_to_host(const BufferValue& value, const MemoryLayout* layout, void* to,
                  std::size_t size) {
  const Type& type = value.type();
  if (static_cast<std::int64_t>(size) < type.bytes())
    throw Failure(Code::invalid_argument,
                  fmt::format("{} does not fit into {} bytes", type.str(), size));
  if (type.bytes() == 0) return;
  const std::int64_t element = byte_size(type.dtype);
  const Walk w{type.shape, steps_of(layout, type.shape, element)};
  if (!is_dense(w, element)) return put_in_order(value.host(), w, to);
  value.read(0, {static_cast<std::byte*>(to), static_cast<std::size_t>(type.bytes())});
}

ValueRef copy_to(Memory& memory, const BufferHandle& buffer) {
  const ValueRef value = buffer.value();
  const bool shares = buffer.memory != &memory;
  ValueRef copy = new_value(memory, value->type(), new_event());
  value->ready()->then([copy, value, shares, &memory](const Status& status) {
    if (!status.ok()) return copy->ready()->set(status);
    try {
      const DeviceValue& from = value->value();
      const bool stays = memory.in_host_memory() == from.in_host_memory();
      if (stays && (shares || value->type().bytes() == 0))
        copy->fill(from, value->owner());
      else
        copy->fill(stays ? copied(memory, from) : placed_in(memory, from));
      copy->ready()->set();
    } catch (...) {
      copy->ready()->set(current_failure());
    }
  });
  return copy;
}

void* BufferHandle::address(const BufferValue& value) {
  const bool is_there = layout.empty() && value.value().in_host_memory();
  if (is_there || value.type().bytes() == 0) return address_of(value.host());
  const std::lock_guard lock(mutex_);
  if (!ordered_) {
    const Array host = value.host();
    ordered_ = host;
    if (!layout.empty()) {
      const std::vector<std::int64_t> order = numbers_in(layout);
      MemoryLayout told = {};
      told.kind = MemoryLayout::Kind::tiled;
      told.tiled.minor_to_major = order.data();
      told.tiled.rank = order.size();
      const Type& type = value.type();
      ordered_ = Array(type, Block::raw(static_cast<std::size_t>(type.bytes())));
      const Walk w{type.shape, steps_of(&told, type.shape, byte_size(type.dtype))};
      put_in_order(host, w, address_of(*ordered_));
    }
  }
  return address_of(*ordered_);
}

void* address_of(const Array& array) {
  alignas(Block::kAlignment) static std::byte nothing[Block::kAlignment];
  const auto bytes = array.bytes();
  return bytes.empty() ? nothing : const_cast<std::byte*>(bytes.data());
}

}  // namespace heddle::pjrt
