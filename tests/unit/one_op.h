// Runs one op on arrays: a program of one function with one op, checked and interpreted.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "ir/eval/scalar.h"

namespace heddle {

struct OneOp {
  std::string_view name;
  std::vector<Array> operands;
  std::vector<Type> results;
  AttrDict attrs = {};
  // Fills the op's region, if it has one: adds arguments and ops to it.
  std::function<void(Program&, RegionId)> region = {};

  Expected<std::vector<Array>> run() const {
    Program program;
    RegionId body = program.add_region();
    std::vector<ValueId> args;
    for (const Array& a : operands) args.push_back(program.add_arg(body, program.intern(a.type())));
    std::vector<TypeId> types;
    for (const Type& t : results) types.push_back(program.intern(t));
    std::vector<RegionId> regions;
    if (region) {
      regions.push_back(program.add_region());
      region(program, regions[0]);
    }
    OpId id = program.add_op(body, *find_op(name), args, types, attrs, regions);
    std::vector<ValueId> returned;
    for (std::size_t i = 0; i < types.size(); ++i)
      returned.push_back(program.result(program.op(id), i));
    program.add_op(body, *find_op("func.return"), returned, {});
    Function main;
    main.name = "main";
    main.results = types;
    main.body = body;
    main.arg_attrs.resize(args.size());
    main.result_attrs.resize(types.size());
    program.functions.push_back(main);
    return interpret(program, program.functions[0], operands);
  }

  // The first result; the test fails where there is none.
  Array value() const {
    auto got = run();
    if (!got) ADD_FAILURE() << got.reason();
    return got ? (*got)[0] : Array();
  }
  // Why it does not run; empty where it does.
  std::string why() const {
    auto got = run();
    return got ? "" : got.reason();
  }
};

template <typename T>
Type tensor(Shape shape) {
  return Type::tensor(dtype_of<T>(), std::move(shape));
}

// Arrays of i32 in short.
inline Array vec(std::vector<std::int32_t> v) {
  Shape shape{static_cast<std::int64_t>(v.size())};
  return make_array<std::int32_t>(shape, v);
}
inline Array grid(std::int64_t rows, std::int64_t columns, std::vector<std::int32_t> v) {
  return make_array<std::int32_t>(Shape{rows, columns}, v);
}

inline NamedAttr ints(std::string name, Attr::Integers values) {
  return {std::move(name), Attr{std::move(values)}};
}
inline NamedAttr whole(std::string name, std::int64_t value) {
  return {std::move(name), Attr{Attr::Integer{value, "i64"}}};
}

}  // namespace heddle
