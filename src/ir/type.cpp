#include "heddle/type.h"

#include "heddle/hash.h"

namespace heddle {

std::int64_t Type::elements() const {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  return n;
}

std::int64_t Type::bytes() const { return is_tensor() ? elements() * byte_size(dtype) : 0; }

std::string Type::str() const {
  if (kind == Kind::token) return "!stablehlo.token";
  std::string text;
  if (kind == Kind::tuple) {
    for (const Type& p : parts) text += (text.empty() ? "" : ", ") + p.str();
    return "tuple<" + text + ">";
  }
  for (std::int64_t s : shape) text += std::to_string(s) + "x";
  return "tensor<" + text + std::string(name(dtype)) + ">";
}

std::uint64_t Type::hash() const {
  std::uint64_t h =
      hash_combine(hash_mix(static_cast<std::uint64_t>(kind)), static_cast<std::uint64_t>(dtype));
  for (std::int64_t s : shape) h = hash_combine(h, static_cast<std::uint64_t>(s));
  for (const Type& p : parts) h = hash_combine(h, p.hash());
  return h;
}

}  // namespace heddle
