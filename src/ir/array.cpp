#include "heddle/array.h"

#include <new>

namespace heddle {

namespace {

std::shared_ptr<Block> allocate(const Type& type, std::int64_t bytes) {
  try {
    return Block::zeroed(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("there is no memory for {} ({} bytes)", type.str(), bytes));
  }
}

}  // namespace

Array::Array(Type type) : type_(std::move(type)) { data_ = allocate(type_, type_.bytes()); }

Array::Array(Type type, std::span<const std::byte> bytes) : type_(std::move(type)) {
  HEDDLE_CHECK(static_cast<std::int64_t>(bytes.size()) == type_.bytes(), "{} bytes for {}",
               bytes.size(), type_.str());
  data_ = Block::copy_of(bytes);
}

Array::Array(Type type, std::shared_ptr<Block> block) : type_(std::move(type)) {
  HEDDLE_CHECK(block && block->size() >= static_cast<std::size_t>(type_.bytes()), "a block for {}",
               type_.str());
  data_ = std::move(block);
}

Array Array::splat(Type type, std::span<const std::byte> element) {
  HEDDLE_CHECK(static_cast<int>(element.size()) == byte_size(type.dtype),
               "a splat of {} bytes for {}", element.size(), type.str());
  Array a;
  a.type_ = std::move(type);
  a.data_ = Block::copy_of(element);
  a.splat_ = a.type_.elements() != 1;
  return a;
}

std::span<const std::byte> Array::bytes() const {
  if (!data_) return {};
  if (splat_) {
    auto whole = allocate(type_, type_.bytes());
    const std::size_t step = data_->size();
    if (step == 1) std::memset(whole->data(), static_cast<int>(data_->data()[0]), whole->size());
    for (std::size_t at = 0; step > 1 && at < whole->size(); at += step)
      std::memcpy(whole->data() + at, data_->data(), step);
    data_ = std::move(whole);
    splat_ = false;
  }
  return {data_->data(), static_cast<std::size_t>(type_.bytes())};
}

const std::shared_ptr<Block>& Array::block() const {
  (void)bytes();
  return data_;
}

std::span<std::byte> Array::mutable_bytes() {
  (void)bytes();
  if (!data_) return {};
  const auto size = static_cast<std::size_t>(type_.bytes());
  if (data_.use_count() > 1 || data_->is_view()) {
    data_ = Block::copy_of({data_->data(), size});
  }
  return {data_->data(), size};
}

std::span<const std::byte> Array::element(std::int64_t flat) const {
  const auto size = static_cast<std::size_t>(byte_size(type_.dtype));
  if (splat_) return {data_->data(), size};
  return {data_->data() + static_cast<std::size_t>(flat) * size, size};
}

Array Array::reinterpreted(Type type) const {
  (void)bytes();
  HEDDLE_CHECK(type.bytes() == type_.bytes(), "{} as {}", type_.str(), type.str());
  Array a = *this;
  a.type_ = std::move(type);
  return a;
}

bool operator==(const Array& a, const Array& b) {
  if (!(a.type_ == b.type_)) return false;
  if (a.data_ == b.data_ && a.splat_ == b.splat_) return true;
  if (a.splat_ && b.splat_)
    return std::memcmp(a.data_->data(), b.data_->data(), a.data_->size()) == 0;
  // A splat is not written out for a question: another thread may be reading it.
  if (a.splat_ != b.splat_) {
    const Array& dense = a.splat_ ? b : a;
    const std::size_t step = (a.splat_ ? a : b).data_->size();
    const std::byte* element = (a.splat_ ? a : b).data_->data();
    const auto all = dense.bytes();
    for (std::size_t at = 0; at < all.size(); at += step)
      if (std::memcmp(all.data() + at, element, step) != 0) return false;
    return true;
  }
  auto x = a.bytes();
  auto y = b.bytes();
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0);
}

}  // namespace heddle
