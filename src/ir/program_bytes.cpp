#include "ir/program_bytes.h"

#include "heddle/op.h"

namespace heddle {

namespace {

class Bytes {
 public:
  Bytes(const Program& program, ByteWriter& to) : program_(program), to_(to) {}

  void all() {
    to_.number(program_.type_count());
    for (TypeId t = 0; t < program_.type_count(); ++t) type(program_.type(t));
    dict(program_.attrs);
    list(program_.functions, [&](const Function& f) { function(f); });
  }

  void kind_of(const Op& op) {
    to_.text(op.def->name);
    dict(program_.attrs_of(op));
    list(program_.operands(op), [&](ValueId v) { type(program_.type_of(v)); });
    to_.number(op.result_count);
    for (std::size_t i = 0; i < op.result_count; ++i)
      type(program_.type_of(program_.result(op, i)));
  }

 private:
  template <typename List, typename Write>
  void list(const List& of, Write write) {
    to_.number(of.size());
    for (const auto& one : of) write(one);
  }

  void type(const Type& type) {
    to_.number(static_cast<std::uint64_t>(type.kind));
    to_.number(static_cast<std::uint64_t>(type.dtype));
    list(type.shape, [&](std::int64_t size) { to_.integer(size); });
    list(type.parts, [&](const Type& part) { this->type(part); });
  }

  void function(const Function& f) {
    to_.text(f.name);
    to_.number(f.is_private ? 1 : 0);
    list(f.results, [&](TypeId t) { to_.number(t); });
    list(f.inputs, [&](TypeId t) { to_.number(t); });
    list(f.arg_attrs, [&](const AttrDict& attrs) { dict(attrs); });
    list(f.result_attrs, [&](const AttrDict& attrs) { dict(attrs); });
    dict(f.attrs);
    to_.number(f.body);
    if (f.body != kNone) region(program_.region(f.body));
  }

  void region(const Region& region) {
    list(region.args, [&](ValueId v) {
      to_.number(v);
      to_.number(program_.value(v).type);
    });
    list(region.ops, [&](OpId id) { op(id); });
  }

  void op(OpId id) {
    const Op& op = program_.op(id);
    to_.number(id);
    to_.text(op.def->name);
    list(program_.operands(op), [&](ValueId v) { to_.number(v); });
    to_.number(op.results);
    to_.number(op.result_count);
    for (std::size_t i = 0; i < op.result_count; ++i)
      to_.number(program_.value(program_.result(op, i)).type);
    dict(program_.attrs_of(op));
    list(program_.regions(op), [&](RegionId r) {
      to_.number(r);
      region(program_.region(r));
    });
  }

  // ---- attributes

  void dict(const AttrDict& attrs) {
    list(attrs, [&](const NamedAttr& attr) {
      to_.text(attr.name);
      to_.number(attr.value.value.index());
      std::visit([&](const auto& value) { write(value); }, attr.value.value);
    });
  }

  void write(const Attr::Unit&) {}
  void write(bool value) { to_.number(value ? 1 : 0); }
  void write(const Attr::Integer& value) {
    to_.integer(value.value);
    to_.text(value.type);
  }
  void write(const Attr::Float& value) {
    to_.real(value.value);
    to_.text(value.type);
  }
  void write(const std::string& value) { to_.text(value); }
  void write(const Type& value) { type(value); }
  void write(const Attr::Integers& value) {
    list(value, [&](std::int64_t number) { to_.integer(number); });
  }
  void write(const Attr::Booleans& value) {
    list(value, [&](bool one) { to_.number(one ? 1 : 0); });
  }
  void write(const Array& value) {
    type(value.type());
    to_.number(value.is_splat() ? 1 : 0);
    const auto bytes = value.is_splat() ? value.element(0) : value.bytes();
    to_.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void write(const Attr::Symbol& value) { to_.text(value.name); }
  void write(const Attr::Enum& value) {
    to_.text(value.kind);
    to_.text(value.word);
  }
  void write(const Attr::Struct& value) {
    to_.text(value.kind);
    dict(value.fields);
  }
  void write(const Attr::List& value) {
    list(value, [&](const Attr& attr) {
      to_.number(attr.value.index());
      std::visit([&](const auto& one) { write(one); }, attr.value);
    });
  }
  void write(const Sharding& value) {
    to_.text(value.mesh);
    list(value.dims, [&](const ShardingDim& dim) {
      axes(dim.axes);
      to_.number(dim.open ? 1 : 0);
      to_.integer(dim.priority);
    });
    axes(value.replicated);
    axes(value.unreduced);
  }
  void axes(const std::vector<ShardingAxis>& of) {
    list(of, [&](const ShardingAxis& axis) {
      to_.text(axis.name);
      to_.integer(axis.pre_size);
      to_.integer(axis.size);
    });
  }

  const Program& program_;
  ByteWriter& to_;
};

}  // namespace

void write_program(const Program& program, ByteWriter& to) { Bytes(program, to).all(); }

bool write_op_kind(const Program& program, const Op& op, ByteWriter& to) {
  if (op.region_count > 0) return false;
  Bytes(program, to).kind_of(op);
  return true;
}

}  // namespace heddle
