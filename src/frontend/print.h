// Pieces of StableHLO text.
#pragma once

#include <string>

#include "heddle/program.h"

namespace heddle::frontend {

// Attributes that have no kind of their own are structures of these kinds; no text can spell them.
inline constexpr std::string_view kFunctionType = "function type";    // inputs, results
inline constexpr std::string_view kFloatArray = "float array";        // element, values
inline constexpr std::string_view kIndexElements = "index elements";  // value, as i64

std::string quote(std::string_view text);
std::string print_attr(const Attr& attr);
std::string print_dict(const AttrDict& dict);  // without braces
std::string print_dense(const Array& array);   // dense<…> : type
std::string print_sharding(const Sharding& sharding);
std::string print_axes(const std::vector<ShardingAxis>& axes, bool open);
std::string print_fields(const Attr::Struct& fields);  // a = 1, b = [2]
// A number as MLIR writes it, so that it reads back as the same bits of its type: f32, bf16, …
std::string print_float(double value, std::string_view type);
// Puts an attribute where its name belongs: dictionaries are sorted.
void put_attr(AttrDict& attrs, std::string_view name, Attr value);
std::string print_conv(const Attr::Struct& dims);

}  // namespace heddle::frontend
