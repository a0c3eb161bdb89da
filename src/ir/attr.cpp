#include "heddle/attr.h"

namespace heddle {

bool operator==(const NamedAttr& a, const NamedAttr& b) {
  return a.name == b.name && a.value == b.value;
}

bool operator==(const Attr::Struct& a, const Attr::Struct& b) {
  return a.kind == b.kind && a.fields == b.fields;
}

bool operator==(const Attr& a, const Attr& b) { return a.value == b.value; }

const Attr* find_attr(const AttrDict& dict, std::string_view name) {
  for (const NamedAttr& a : dict)
    if (a.name == name) return &a.value;
  return nullptr;
}

}  // namespace heddle
