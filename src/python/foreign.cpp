#include "python/foreign.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include "python/host_array.h"
#include "python/places.h"

namespace heddle::python {

namespace {

using Foreign = nb::ndarray<nb::ro>;

// The stream that is meant where none is named: CUDA's default one, which others wait for.
constexpr std::uintptr_t kDefaultStream = 1;

// What calls have borrowed and may still read, with the GIL.
std::deque<std::pair<Event, std::vector<std::shared_ptr<void>>>>& lent() {
  static auto& list =
      *new std::deque<std::pair<Event, std::vector<std::shared_ptr<void>>>>();  // never destroyed
  return list;
}

// DLPack's own structure, which Python lets go of.
std::shared_ptr<void> owner_of(Foreign array) {
  auto* held = std::make_unique<Foreign>(std::move(array)).release();
  return {held, [](void* pointer) {
            if (!Py_IsInitialized()) return;
            const nb::gil_scoped_acquire gil;
            delete static_cast<Foreign*>(pointer);
          }};
}

// Asked for once; it lives as long as the process.
nb::handle borrowed_function() {
  static const nb::handle function =
      nb::object(nb::module_::import_("heddle._device").attr("borrowed")).release();
  return function;
}

void want_dense(const Foreign& array, const Type& type) {
  std::int64_t step = 1;
  bool fits = array.ndim() == type.rank() &&
              static_cast<std::int64_t>(array.itemsize()) == byte_size(type.dtype);
  for (std::size_t d = type.rank(); fits && d-- > 0;) {
    const auto size = static_cast<std::int64_t>(array.shape(d));
    fits = size == type.shape[d] && (size == 1 || array.stride(d) == step);
    step *= size;
  }
  if (!fits)
    throw Error(fmt::format("{} was expected, dense, and DLPack gave something else", type.str()));
}

// Codes of DLPack's element types.
nb::dlpack::dtype dlpack_dtype(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  constexpr auto kBfloat = static_cast<std::uint8_t>(Code::Bfloat);
  const auto width = static_cast<std::uint8_t>(8 * byte_size(dtype));
  if (dtype == DType::i1) return {static_cast<std::uint8_t>(Code::Bool), 8, 1};
  if (dtype == DType::bf16) return {kBfloat, width, 1};
  if (is_complex(dtype)) return {static_cast<std::uint8_t>(Code::Complex), width, 1};
  const bool usual = bits(dtype) >= 8 && (!is_float(dtype) || bits(dtype) >= 16);
  if (!usual)
    throw Error(fmt::format("DLPack has no element type for {}: use numpy.asarray", name(dtype)));
  if (is_float(dtype)) return {static_cast<std::uint8_t>(Code::Float), width, 1};
  const bool is_signed = name(dtype)[0] == 'i';
  return {static_cast<std::uint8_t>(is_signed ? Code::Int : Code::UInt), width, 1};
}

// A value that somebody else looks at. When they let go, what is on their stream may still read it:
// the memory goes back after that.
class Lent {
 public:
  Lent(DeviceValue value, std::uintptr_t stream) : value_(std::move(value)), stream_(stream) {}
  ~Lent() {
    if (value_.in_host_memory()) return;
    const auto queue = queues_of(*value_.buffer().device).take();
    if (!queue->come_after(stream_)) (void)queue->finish();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  DeviceValue value_;
  const std::uintptr_t stream_;
};

nb::object capsule_of(const void* data, const Type& type, DlpackDevice where, DeviceValue value,
                      std::uintptr_t stream) {
  const std::vector<std::size_t> shape(type.shape.begin(), type.shape.end());
  auto held = std::make_unique<Lent>(std::move(value), stream);
  const nb::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<Lent*>(p); });
  return nb::cast(nb::ndarray<>(const_cast<void*>(data), shape.size(), shape.data(), owner, nullptr,
                                dlpack_dtype(type.dtype), where.kind, where.number));
}

nb::object host_capsule(Array whole, bool copy) {
  if (copy && whole.block()) whole = Array(whole.type(), Block::copy_of(whole.bytes()));
  const Type type = whole.type();
  const void* data = whole.bytes().data();
  return capsule_of(data, type, {}, std::move(whole), 0);
}

}  // namespace

std::optional<DeviceValue> Borrowings::borrow(nb::handle value, const Type& type, Device& device) {
  const DlpackDevice own = device.dlpack_device();
  const nb::object found = borrowed_function()(value, nb::make_tuple(own.kind, own.number),
                                               std::string(device.name()).c_str(),
                                               numpy_dtype(type.dtype), shape_tuple(type.shape));
  if (found.is_none()) return std::nullopt;
  const auto queue = queues_of(device).take();
  nb::object capsule = found[0];
  if (found[1].is_none()) {
    // Its owner lets our stream wait.
    const std::uintptr_t stream = queue->stream_number();
    const nb::object named = stream == 0 ? nb::none() : nb::object(nb::int_(stream));
    capsule = capsule.attr("__dlpack__")(nb::arg("stream") = named);
  } else {
    streams_.push_back(nb::cast<std::uintptr_t>(nb::object(found[1])));
    queue->come_after(streams_.back()).value();
  }
  const auto array = nb::cast<Foreign>(capsule);
  want_dense(array, type);
  Buffer buffer{.device = &device,
                .address = {reinterpret_cast<std::uintptr_t>(array.data())},
                .bytes = type.bytes(),
                .memory = owner_of(array)};
  held_.push_back(buffer.memory);
  const auto alignment = static_cast<std::uintptr_t>(device.limits().alignment);
  if (buffer.address.value % alignment != 0) {
    Buffer copy = queue->allocate(buffer.bytes).value();
    queue->copy(buffer.address, copy.address, buffer.bytes).value();
    buffer = std::move(copy);
  }
  buffer.ready = queue->record();
  return DeviceValue(type, std::move(buffer));
}

void Borrowings::give_back(Device& device, const Event& over) {
  return_borrowed();
  if (held_.empty()) return;
  const auto queue = queues_of(device).take();
  queue->wait(over).value();
  for (std::size_t i = 0; i < streams_.size(); ++i)  // nearly always one and the same
    if (i == 0 || streams_[i] != streams_[i - 1]) queue->go_before(streams_[i]).value();
  lent().emplace_back(over, std::move(held_));
}

void return_borrowed() {
  while (!lent().empty() && lent().front().first.done()) lent().pop_front();
}

void return_all_borrowed() {
  for (const auto& [over, held] : lent()) (void)over.wait();
  lent().clear();
}

nb::object to_dlpack(const DeviceArray& array, const nb::object& stream, bool copy) {
  const bool apart = !array.on_mesh() && !array.value().in_host_memory();
  if (!apart) {
    Array whole = [&] {
      const nb::gil_scoped_release free;
      return array.whole();
    }();
    return host_capsule(std::move(whole), copy);
  }
  DeviceValue value = array.value();
  Device& device = *value.buffer().device;
  const std::int64_t named = stream.is_none() ? 0 : nb::cast<std::int64_t>(stream);
  const auto reader = named > 0 ? static_cast<std::uintptr_t>(named) : kDefaultStream;
  const auto queue = queues_of(device).take();
  queue->wait(value.buffer().ready).value();
  if (copy) {
    Buffer own = queue->allocate(value.type().bytes()).value();
    queue->copy(value.buffer().address, own.address, own.bytes).value();
    own.ready = queue->record();
    if (!device.memory_outlasts_work()) queue->finish().value();
    value = DeviceValue(value.type(), std::move(own));
  }
  // -1: who asks takes care of the order himself.
  if (named >= 0) queue->go_before(reader).value();
  const auto* data = reinterpret_cast<const void*>(value.buffer().address.value);
  return capsule_of(data, value.type(), device.dlpack_device(), value, reader);
}

}  // namespace heddle::python
