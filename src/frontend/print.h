// Pieces of StableHLO text.
#pragma once

#include <string>

#include "heddle/program.h"

namespace heddle::frontend {

std::string quote(std::string_view text);
std::string print_attr(const Attr& attr);
std::string print_dict(const AttrDict& dict);  // without braces
std::string print_dense(const Array& array);   // dense<…> : type
std::string print_sharding(const Sharding& sharding);
std::string print_axes(const std::vector<ShardingAxis>& axes, bool open);
std::string print_conv(const Attr::Struct& dims);

}  // namespace heddle::frontend
