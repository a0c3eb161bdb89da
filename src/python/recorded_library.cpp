// Operations on recorded arrays that libraries bring: called by name, and registered from Python.
// A builder in Python gets a Builder and Values, which live as long as its call.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>

#include "heddle/array_ops.h"
#include "python/bindings.h"
#include "python/host_array.h"
#include "python/recorded.h"

namespace heddle::python {

namespace {

using Dims = Builder::Dims;

// What Python says of an attribute: truth values, numbers, words, lists of whole numbers, and dicts
// with a "kind" for structs such as gather's dimension numbers.
AttrDict attributes(const nb::dict& given);
Attr attribute(nb::handle value) {
  if (PyBool_Check(value.ptr())) return {value.ptr() == Py_True};
  if (PyLong_Check(value.ptr())) return {Attr::Integer{nb::cast<std::int64_t>(value)}};
  if (PyFloat_Check(value.ptr())) return {Attr::Float{nb::cast<double>(value)}};
  if (PyUnicode_Check(value.ptr())) return {nb::cast<std::string>(value)};
  if (PyDict_Check(value.ptr())) {
    nb::dict fields;
    std::string kind;
    for (auto [key, field] : nb::borrow<nb::dict>(value)) {
      if (nb::cast<std::string>(key) == "kind")
        kind = nb::cast<std::string>(field);
      else
        fields[key] = field;
    }
    return {Attr::Struct{Name(kind), attributes(fields)}};
  }
  Attr::Integers numbers;
  if (nb::try_cast(value, numbers)) return {std::move(numbers)};
  throw nb::type_error(
      "an attribute is a truth value, a number, a word, a list of whole numbers, or a dict");
}
AttrDict attributes(const nb::dict& given) {
  AttrDict all;
  for (auto [key, value] : given)
    all.push_back({Name(nb::cast<std::string>(key)), attribute(value)});
  return all;
}

// Python's builder: of a call that is being written, and of no use after it.
struct Writing {
  Builder* builder = nullptr;  // null afterwards
  Builder& get() const {
    if (builder == nullptr)
      throw Error(
          "the call that this builder was for is over; a builder lives as long as its call");
    return *builder;
  }
};
using WritingPtr = std::shared_ptr<Writing>;

struct Value {
  WritingPtr of;
  Var var;
};

Vars vars_of(const Writing& writing, const nb::handle& values) {
  Vars vars;
  const auto one = [&](nb::handle value) {
    Value* known = nullptr;
    if (!nb::try_cast(value, known) || known == nullptr)
      throw nb::type_error(
          "a builder works on its own values: operands, and what its methods give");
    if (known->of->builder != &writing.get())
      throw Error("this is a value of another builder, or of a call that is over");
    vars.push_back(known->var);
  };
  if (PyList_Check(values.ptr()) || PyTuple_Check(values.ptr()))
    for (const nb::handle value : nb::borrow<nb::object>(values)) one(value);
  else
    one(values);
  return vars;
}

Var var_of(const Writing& writing, const Value& value) {
  if (value.of->builder != &writing.get())
    throw Error("this is a value of another builder, or of a call that is over");
  return value.var;
}

// x ∘ y, where one is a number of Python's.
enum class Way : std::uint8_t { add, subtract, multiply, divide };
nb::object arithmetic(Way way, const Value& x, nb::handle y, bool turned) {
  Value* known = nullptr;
  Var other;
  Builder& b = x.of->get();
  if (nb::try_cast(y, known) && known != nullptr)
    other = var_of(*x.of, *known);
  else if (PyFloat_Check(y.ptr()) || PyLong_Check(y.ptr()))
    other = b.full_like(x.var, nb::cast<double>(y));
  else
    return nb::borrow(Py_NotImplemented);
  const Var first = turned ? other : x.var, second = turned ? x.var : other;
  switch (way) {
    case Way::add:
      return nb::cast(Value{x.of, first + second});
    case Way::subtract:
      return nb::cast(Value{x.of, first - second});
    case Way::multiply:
      return nb::cast(Value{x.of, first * second});
    case Way::divide:
      return nb::cast(Value{x.of, first / second});
  }
  return {};
}

// What a builder in Python gives: a value, or several.
Vars results_of(const Writing& writing, nb::handle results) {
  if (results.is_none()) throw nb::type_error("a builder returns its value, or a list of values");
  return vars_of(writing, results);
}

// The builder of an operation that Python registers. Python keeps the function, and lets go of it
// when it ends.
ArrayOperation::Write python_builder(const std::string& name) {
  return [name](Builder& b, std::span<const Var> operands, const AttrDict& parameters) -> Vars {
    const nb::object function =
        nb::module_::import_("heddle.library").attr("_builders")[name.c_str()];
    const auto writing = std::make_shared<Writing>(Writing{&b});
    struct End {
      WritingPtr of;
      ~End() { of->builder = nullptr; }
    } const end{writing};
    nb::list arguments;
    arguments.append(nb::cast(writing));
    for (const Var x : operands) arguments.append(nb::cast(Value{writing, x}));
    nb::dict named;
    for (const NamedAttr& parameter : parameters) {
      const nb::str name(std::string(parameter.name.str()).c_str());
      if (const auto* numbers = parameter.value.get<Attr::Integers>())
        named[name] = nb::cast(*numbers);
      else if (const auto* number = parameter.value.get<Attr::Integer>())
        named[name] = nb::cast(number->value);
      else if (const auto* real = parameter.value.get<Attr::Float>())
        named[name] = nb::cast(real->value);
      else if (const auto* word = parameter.value.get<std::string>())
        named[name] = nb::cast(*word);
      else if (const auto* truth = parameter.value.get<bool>())
        named[name] = nb::cast(*truth);
    }
    return results_of(*writing, function(*nb::tuple(arguments), **named));
  };
}

const ArrayOperation& operation_of(const std::string& name) {
  const ArrayOperation* found = Recording::get().library.find(name);
  if (found == nullptr) throw Error("there is no operation on arrays of the name \"" + name + "\"");
  return *found;
}

// A builder of somebody else's writes a program of its own first, so that a mistake of it is told
// and no window has it. Once for each kind of call.
void try_out(const ArrayOperation& operation, const std::vector<RecordedArray*>& arrays,
             const AttrDict& given) {
  static std::set<std::string>* const tried = new std::set<std::string>;
  if (operation.name.starts_with("sparse.") || operation.name.starts_with("numpy.")) return;
  std::vector<Type> types;
  std::string kind = operation.name + ' ' + std::to_string(hash_of(given));
  for (const RecordedArray* array : arrays) {
    types.push_back(Type::tensor(array->dtype(), array->shape()));
    kind += ' ' + types.back().str();
  }
  if (tried->contains(kind)) return;
  Builder b("operation");
  std::size_t results = 0;
  b.function("main", types, [&](const Vars& in) -> Vars {
    const Vars given_back = operation.write(b, in, given);
    results = given_back.size();
    return given_back;
  });
  const auto program = b.finish();
  if (!program) throw Error("operation " + operation.name + ": " + program.reason());
  if (results == 0)
    throw Error("operation " + operation.name + ": a builder gives at least one value");
  tried->insert(std::move(kind));
}

// Records an operation on arrays; what it gives, one array or several.
nb::object call_operation(const std::string& name, const std::vector<nb::object>& operands,
                          const nb::dict& parameters) {
  const ArrayOperation& operation = operation_of(name);
  std::vector<RecordedArray*> arrays;
  for (const nb::object& operand : operands) {
    RecordedArray* array = as_recorded(operand);
    if (array == nullptr) throw nb::type_error("an operation takes arrays of heddle.numpy");
    if (!can_show(*array))
      throw Error("operation " + name +
                  ": an operand that is empty, or that no box of its memory " +
                  "shows, has to be copied before");
    arrays.push_back(array);
  }
  const AttrDict given = attributes(parameters);
  try_out(operation, arrays, given);
  const std::vector<StorePtr> stores = Recording::get().recorder.keep_all([&](Builder& b) {
    Vars in;
    for (RecordedArray* array : arrays) in.push_back(read_array(*array));
    return operation.write(b, in, given);
  });
  if (stores.size() == 1) return to_object(stores[0]);
  nb::list results;
  for (const StorePtr& store : stores) results.append(to_object(store));
  return nb::tuple(results);
}

Value made(const WritingPtr& writing, Var var) { return {writing, var}; }

void add_values(nb::module_& module) {
  nb::class_<Value> value(module, "_Value", "A value of a program that a builder writes.");
  value.def_prop_ro("shape", [](const Value& v) { return shape_tuple(v.var.type().shape); })
      .def_prop_ro("ndim", [](const Value& v) { return v.var.type().rank(); })
      .def_prop_ro("dtype", [](const Value& v) { return numpy_dtype(v.var.type().dtype); })
      .def("__neg__", [](const Value& v) { return Value{v.of, (v.of->get(), -v.var)}; })
      .def("__repr__", [](const Value& v) { return "value of " + v.var.type().str(); });
  const auto operators = [&](const char* name, const char* turned, Way way) {
    value.def(name, [way](const Value& x, nb::handle y) { return arithmetic(way, x, y, false); });
    value.def(turned, [way](const Value& x, nb::handle y) { return arithmetic(way, x, y, true); });
  };
  operators("__add__", "__radd__", Way::add);
  operators("__sub__", "__rsub__", Way::subtract);
  operators("__mul__", "__rmul__", Way::multiply);
  operators("__truediv__", "__rtruediv__", Way::divide);
}

void add_builder(nb::module_& module) {
  nb::class_<Writing>(module, "_Builder", "Writes the ops of an operation on arrays.")
      .def(
          "op",
          [](const WritingPtr& w, const std::string& name, nb::handle operands,
             const nb::dict& attrs) {
            return made(w, w->get().op(name, vars_of(*w, operands), attributes(attrs)));
          },
          nb::arg("name"), nb::arg("operands"), nb::arg("attributes") = nb::dict(),
          "An op of StableHLO, by its name, whose type follows from its operands.")
      .def(
          "call",
          [](const WritingPtr& w, const std::string& name, const nb::args& operands,
             const nb::kwargs& named) {
            const Vars vars = vars_of(*w, nb::list(operands));
            const Vars given =
                operation_of(name).write(w->get(), vars, attributes(nb::borrow<nb::dict>(named)));
            if (given.size() == 1) return nb::cast(Value{w, given[0]});
            nb::list results;
            for (const Var x : given) results.append(nb::cast(Value{w, x}));
            return nb::object(nb::tuple(results));
          },
          "An operation that is registered.")
      .def("full",
           [](const WritingPtr& w, const Shape& shape, double number, nb::handle dtype) {
             return made(w, w->get().full(Type::tensor(dtype_of(dtype), shape), number));
           })
      .def("iota",
           [](const WritingPtr& w, const Shape& shape, std::int64_t dim, nb::handle dtype) {
             return made(w, w->get().iota(Type::tensor(dtype_of(dtype), shape), dim));
           })
      .def("convert",
           [](const WritingPtr& w, const Value& x, nb::handle dtype) {
             return made(w, cast(w->get(), var_of(*w, x), dtype_of(dtype)));
           })
      .def("reshape",
           [](const WritingPtr& w, const Value& x, const Shape& shape) {
             return made(w, w->get().reshape(var_of(*w, x), shape));
           })
      .def("broadcast",
           [](const WritingPtr& w, const Value& x, const Shape& shape, const Dims& dims) {
             return made(w, w->get().broadcast(var_of(*w, x), shape, dims));
           })
      .def(
          "spread",
          [](const WritingPtr& w, const Value& x, const Shape& shape) {
            const Shape from = var_of(*w, x).type().shape;
            const auto all = broadcast_shapes(shape, from);
            if (!all || *all != shape) throw Error("a value of another shape does not spread so");
            return made(w, spread(w->get(), x.var, shape));
          },
          "Over a shape, by NumPy's rule.")
      .def("transpose",
           [](const WritingPtr& w, const Value& x, const Dims& order) {
             return made(w, w->get().transpose(var_of(*w, x), order));
           })
      .def("slice",
           [](const WritingPtr& w, const Value& x, const Dims& start, const Dims& limit) {
             return made(w, w->get().slice(var_of(*w, x), start, limit));
           })
      .def("concatenate",
           [](const WritingPtr& w, nb::handle parts, std::int64_t dim) {
             return made(w, w->get().concatenate(vars_of(*w, parts), dim));
           })
      .def("compare",
           [](const WritingPtr& w, const std::string& direction, const Value& x, const Value& y) {
             return made(w, w->get().compare(direction, var_of(*w, x), var_of(*w, y)));
           })
      .def("select",
           [](const WritingPtr& w, const Value& where, const Value& yes, const Value& no) {
             return made(w, w->get().select(var_of(*w, where), var_of(*w, yes), var_of(*w, no)));
           })
      .def(
          "reduce",
          [](const WritingPtr& w, const Value& x, const Dims& dims, const std::string& combiner) {
            return made(w, w->get().reduce(var_of(*w, x), dims, combiner));
          },
          "combiner: add, multiply, maximum, minimum, and, or")
      .def("dot", [](const WritingPtr& w, const Value& x, const Value& y) {
        return made(w, w->get().dot(var_of(*w, x), var_of(*w, y)));
      });
}

}  // namespace

void add_recorded_library(nb::module_& module) {
  add_values(module);
  add_builder(module);
  nb::module_ calls = nb::borrow<nb::module_>(module.attr("_recorded"));
  calls.def("operation", call_operation);
  calls.def("operations", [] { return Recording::get().library.names(); });
  // Its builder is heddle.library._builders[name].
  calls.def("register", [](const std::string& name) {
    Recording::get().library.add({name, python_builder(name)});
  });
}

}  // namespace heddle::python
