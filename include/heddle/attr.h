// Attributes of ops, functions and modules. Pretty and generic text give the same attributes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/array.h"
#include "heddle/name.h"
#include "heddle/type.h"

namespace heddle {

struct Attr;
struct NamedAttr;
using AttrDict = std::vector<NamedAttr>;

// One axis of a sharding, or a part of it: "x" or "x":(2)4, which is positions (c / (n/2/4)) % 4.
struct ShardingAxis {
  std::string name;
  std::int64_t pre_size = 1, size = 0;  // size 0: the whole axis
  friend bool operator==(const ShardingAxis&, const ShardingAxis&) = default;
};
struct ShardingDim {
  std::vector<ShardingAxis> axes;
  bool open = false;           // may be split further
  std::int64_t priority = -1;  // -1: none given
  friend bool operator==(const ShardingDim&, const ShardingDim&) = default;
};
// sdy.sharding: which mesh axes split which dimension.
struct Sharding {
  std::string mesh;
  std::vector<ShardingDim> dims;
  std::vector<ShardingAxis> replicated, unreduced;
  friend bool operator==(const Sharding&, const Sharding&) = default;
};

struct Attr {
  struct Unit {
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  struct Integer {
    std::int64_t value = 0;
    Name type = i64();  // i64, i32, ui8, …
    friend bool operator==(const Integer&, const Integer&) = default;
  };
  struct Float {
    double value = 0;
    Name type = f64();
    // Equal bits: NaN is itself, and -0 is not 0.
    friend bool operator==(const Float& a, const Float& b) {
      return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) &&
             a.type == b.type;
    }
  };
  struct Symbol {
    std::string name;  // without @
    friend bool operator==(const Symbol&, const Symbol&) = default;
  };
  // A word such as LT, DEFAULT or FFT; `kind` is what the generic form calls it.
  struct Enum {
    Name kind, word;
    friend bool operator==(const Enum& a, const Enum& b) { return a.word == b.word; }
  };
  using Integers = std::vector<std::int64_t>;  // array<i64: …> and lists in pretty forms
  using Booleans = std::vector<bool>;
  // #stablehlo.gather<offset_dims = […], …>; an empty kind is a plain {…}.
  struct Struct {
    Name kind;
    AttrDict fields;
    friend bool operator==(const Struct&, const Struct&);
  };
  using List = std::vector<Attr>;

  // Copied, moved and destroyed in attr.cpp alone: the tables that take it are long to compile.
  struct Value : std::variant<Unit, bool, Integer, Float, std::string, Type, Integers, Booleans,
                              Array, Symbol, Enum, Struct, List, Sharding> {
    using variant::variant;
    Value() noexcept;
    Value(const Value&);
    Value(Value&&) noexcept;
    Value& operator=(const Value&);
    Value& operator=(Value&&) noexcept;
    ~Value();
  };
  Value value;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  // Equal for equal attributes, the same in every process. Of a large array, a few elements count.
  std::uint64_t hash() const;
  friend bool operator==(const Attr&, const Attr&);

  // The common element types of numbers.
  static const Name& i64();
  static const Name& f64();
};

struct NamedAttr {
  Name name;
  Attr value;
  friend bool operator==(const NamedAttr&, const NamedAttr&);
};

// Equal for equal attributes in any order.
std::uint64_t hash_of(const AttrDict& dict);

const Attr* find_attr(const AttrDict& dict, std::string_view name);

}  // namespace heddle
