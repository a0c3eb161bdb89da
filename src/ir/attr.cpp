#include "heddle/attr.h"

#include <algorithm>
#include <span>

#include "heddle/hash.h"

namespace heddle {

Attr::Value::Value() noexcept = default;
Attr::Value::Value(const Value&) = default;
Attr::Value::Value(Value&&) noexcept = default;
Attr::Value& Attr::Value::operator=(const Value&) = default;
Attr::Value& Attr::Value::operator=(Value&&) noexcept = default;
Attr::Value::~Value() = default;

const Name& Attr::i64() {
  static const Name name("i64");
  return name;
}

const Name& Attr::f64() {
  static const Name name("f64");
  return name;
}

bool operator==(const NamedAttr& a, const NamedAttr& b) {
  return a.name == b.name && a.value == b.value;
}

bool operator==(const Attr::Struct& a, const Attr::Struct& b) {
  return a.kind == b.kind && a.fields == b.fields;
}

bool operator==(const Attr& a, const Attr& b) { return a.value == b.value; }

namespace {

std::uint64_t hash_of(std::span<const ShardingAxis> axes) {
  std::uint64_t h = axes.size();
  for (const ShardingAxis& axis : axes)
    h = hash_combine(hash_combine(h, axis.name), static_cast<std::uint64_t>(axis.size));
  return h;
}

// Some elements at even distances: a comparison in full follows where it matters.
std::uint64_t hash_of(const Array& array) {
  static constexpr std::int64_t kMostElements = 16;
  std::uint64_t h = array.type().hash();
  const std::int64_t elements = array.elements();
  const std::int64_t step = elements / kMostElements + 1;
  for (std::int64_t i = 0; i < elements; i += step) {
    const auto bytes = array.element(i);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
    h = hash_combine(h, word);
  }
  return h;
}

struct HashOf {
  static std::uint64_t whole(std::int64_t v) { return static_cast<std::uint64_t>(v); }
  std::uint64_t operator()(const Attr::Unit&) const { return 0; }
  std::uint64_t operator()(bool b) const { return b ? 1 : 0; }
  std::uint64_t operator()(const Attr::Integer& i) const { return whole(i.value) ^ i.type.hash(); }
  std::uint64_t operator()(const Attr::Float& f) const {
    return std::bit_cast<std::uint64_t>(f.value) ^ f.type.hash();
  }
  std::uint64_t operator()(const std::string& text) const { return hash_combine(0, text); }
  std::uint64_t operator()(const Type& type) const { return type.hash(); }
  std::uint64_t operator()(const Attr::Integers& list) const {
    std::uint64_t h = list.size();
    for (std::int64_t v : list) h = hash_combine(h, whole(v));
    return h;
  }
  std::uint64_t operator()(const Attr::Booleans& list) const {
    std::uint64_t h = list.size();
    for (bool b : list) h = hash_combine(h, b ? 1 : 0);
    return h;
  }
  std::uint64_t operator()(const Array& array) const { return hash_of(array); }
  std::uint64_t operator()(const Attr::Symbol& symbol) const {
    return hash_combine(0, symbol.name);
  }
  std::uint64_t operator()(const Attr::Enum& e) const { return e.word.hash(); }
  std::uint64_t operator()(const Attr::Struct& s) const {
    return s.kind.hash() ^ heddle::hash_of(s.fields);
  }
  std::uint64_t operator()(const Attr::List& list) const {
    std::uint64_t h = list.size();
    for (const Attr& item : list) h = hash_combine(h, item.hash());
    return h;
  }
  std::uint64_t operator()(const Sharding& s) const {
    std::uint64_t h = hash_combine(s.dims.size(), s.mesh);
    for (const ShardingDim& dim : s.dims) h = hash_combine(h, hash_of(dim.axes));
    return hash_combine(hash_combine(h, hash_of(s.replicated)), hash_of(s.unreduced));
  }
};

}  // namespace

std::uint64_t Attr::hash() const {
  return hash_combine(value.index(), std::visit(HashOf{}, value));
}

std::uint64_t hash_of(const AttrDict& dict) {
  std::uint64_t h = dict.size();
  for (const NamedAttr& a : dict) h += hash_combine(a.name.hash(), a.value.hash());
  return h;
}

const Attr* find_attr(const AttrDict& dict, std::string_view name) {
  for (const NamedAttr& a : dict)
    if (a.name == name) return &a.value;
  return nullptr;
}

}  // namespace heddle
