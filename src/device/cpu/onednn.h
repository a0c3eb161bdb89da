// oneDNN, opened when the first convolution or short product is prepared: versions 2 and 3 are
// known. What is made runs on the thread that calls it, and on no other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heddle/dtype.h"

namespace heddle::cpu::dnn {

using Dims = std::vector<std::int64_t>;

// Whether it was found, and whether it takes this element type at all.
bool is_there();
bool has_type(DType dtype);

// How a tensor lies: by strides, or as a primitive wants it.
class Desc {
 public:
  // Null where the library refuses.
  static std::optional<Desc> strided(DType dtype, const Dims& dims, const Dims& strides);
  static std::optional<Desc> any(DType dtype, const Dims& dims);

  std::int64_t bytes() const;
  const void* get() const { return held_.get(); }

 private:
  friend class Primitive;
  explicit Desc(std::shared_ptr<const void> held) : held_(std::move(held)) {}

  std::shared_ptr<const void> held_;
};

// Memory of somebody else, seen as a tensor.
class Memory {
 public:
  Memory(const Desc& desc, const std::byte* data);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

// y = conv(x, w), and the sizes of its window, by spatial dimension.
struct Window {
  Dims stride, dilation, padding, padding_behind;
};

// What two operands and a result are.
struct Tensors {
  Desc x, w, y;
};

class Primitive {
 public:
  // Null where there is no fast implementation.
  static std::optional<Primitive> forward(const Tensors& of, const Window& window);
  static std::optional<Primitive> data_gradient(const Tensors& of, const Window& window);
  static std::optional<Primitive> weight_gradient(const Tensors& of, const Window& window);
  static std::optional<Primitive> product(const Tensors& of);
  static std::optional<Primitive> reorder(const Desc& from, const Desc& to);

  // As the primitive wants the kernel, or writes its gradient.
  const Desc& weights() const { return weights_; }
  std::int64_t scratch_bytes() const { return scratch_ ? scratch_->bytes() : 0; }
  std::string implementation() const;

  // Two operands and a result; a reorder has one. Scratch begins at a line of the caches.
  void run(const Memory& first, const Memory* second, const Memory& result,
           std::byte* scratch) const;

 private:
  enum class Kind : std::uint8_t { forward, data_gradient, weight_gradient, product, reorder };

  Primitive(Kind kind, Desc weights) : kind_(kind), weights_(std::move(weights)) {}
  static std::optional<Primitive> convolution(Kind kind, const Tensors& of, const Window& window);
  static std::optional<Primitive> made(Kind kind, void* description, const Desc& weights);

  Kind kind_;
  Desc weights_;
  std::optional<Desc> scratch_ = {};
  std::shared_ptr<void> description_ = {}, primitive_ = {};
};

}  // namespace heddle::cpu::dnn
